import gc
import socket
import threading

import pytest

from mjbot.play.client.decision_thread import CrashError, DecisionThread, LateError
from mjbot.play.client.play import Settings, play
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.base import UnreachableError
from tests.play.client.test_player import run

GUARD_S = 300


def test_an_answer_in_time():
    assert run(DecisionThread().think(lambda: 6 * 7, GUARD_S)) == 42
    assert run(DecisionThread().think(lambda: 6 * 7, None)) == 42


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
def test_a_crash_of_any_kind_is_told(error):
    def crash():
        raise error

    with pytest.raises(CrashError, match=type(error).__name__) as caught:
        run(DecisionThread().think(crash, GUARD_S))
    assert caught.value.__cause__ is error


def test_a_late_answer_is_dropped_and_logged_and_the_next_job_waits_for_it(caplog):
    begun, release = threading.Event(), threading.Event()
    order = []

    def slow():
        begun.set()
        release.wait(GUARD_S)
        order.append("slow")
        return "too late"

    async def check():
        thread = DecisionThread()
        while not begun.is_set():  # on a busy machine it may be given up before it begins
            with pytest.raises(LateError):
                await thread.think(slow, 0.01)
        with pytest.raises(LateError):
            await thread.think(lambda: order.append("never begun"), 0.01)
        release.set()
        await thread.think(lambda: order.append("next"), GUARD_S)

    run(check())
    assert order == ["slow", "next"]
    assert [line for line in caplog.messages if "too late was dropped: too late" in line]


def test_a_late_crash_disturbs_nobody():
    release = threading.Event()

    def slow():
        release.wait(GUARD_S)
        raise ValueError("too late")

    async def check():
        thread = DecisionThread()
        with pytest.raises(LateError):
            await thread.think(slow, 0.01)
        release.set()
        assert await thread.think(lambda: 1, GUARD_S) == 1

    run(check())


def test_the_thread_ends_when_nobody_has_it_any_more():
    before = set(threading.enumerate())

    def use():
        thinker = DecisionThread()
        (thread,) = set(threading.enumerate()) - before
        run(thinker.think(lambda: thinker, GUARD_S))  # as a player's job has its player
        return thread

    thread = use()
    gc.collect()
    thread.join(GUARD_S)
    assert not thread.is_alive()


def test_a_closed_thread_ends_after_its_job_and_takes_no_more():
    before = set(threading.enumerate())
    release = threading.Event()

    async def check():
        thinker = DecisionThread()
        (thread,) = set(threading.enumerate()) - before
        with pytest.raises(LateError):
            await thinker.think(lambda: release.wait(GUARD_S), 0.01)
        thinker.close()
        thinker.close()
        with pytest.raises(AssertionError, match="closed"):
            await thinker.think(lambda: 1, GUARD_S)
        release.set()
        thread.join(GUARD_S)
        assert not thread.is_alive()

    run(check())


def test_a_client_whose_server_is_lost_leaves_no_thread_to_the_collector():
    """An error and its traceback hold one another and the player: the collector may be far."""
    before = set(threading.enumerate())
    kept = []
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]

    async def check():
        try:
            await play(Settings(parse_address(f"mjsonp://127.0.0.1:{port}/default")), None)
        except UnreachableError as error:
            kept.append(error)
        for thread in set(threading.enumerate()) - before:
            thread.join(GUARD_S)
            assert not thread.is_alive()

    run(check())
    assert kept
