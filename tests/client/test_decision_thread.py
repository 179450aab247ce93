import asyncio
import threading

import pytest

from mjbot.client.decision_thread import CrashError, DecisionThread, LateError

GUARD_S = 300


def run(coroutine):
    async def guarded():
        async with asyncio.timeout(GUARD_S):
            return await coroutine

    return asyncio.run(guarded())


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


def test_a_thread_ends_with_who_held_it():
    class Owner:
        def __init__(self):
            self.thread = DecisionThread()

        def answer(self):
            return 7

    before = threading.active_count()
    owner = Owner()
    assert run(owner.thread.think(lambda owner=owner: owner.answer(), GUARD_S)) == 7
    (thread,) = [one for one in threading.enumerate() if one.name == "thread"][-1:]
    del owner
    thread.join(GUARD_S)
    assert threading.active_count() <= before
