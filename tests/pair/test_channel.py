"""One end of a channel as a process is given it."""

import asyncio
from pathlib import Path

import pytest
from loguru import logger

from mjbot.pair.channel import SECRET_VARIABLE, End, _open, take_secret
from mjbot.pair.rehearsal import _first_alone, rehearse_pair
from mjbot.pair.session import Side
from mjbot.pair.socket_link import HAS_UNIX_SOCKETS, SocketLink
from mjbot.registry import make_strategy, strategy_class

BOTS = Path(__file__).parents[1] / "duo" / "pair_bots.py"


@pytest.mark.parametrize("text", ["host:4711", "guest:/tmp/some folder/channel"])
def test_an_end_survives_the_command_line(text):
    if not HAS_UNIX_SOCKETS and "/" in text:
        pytest.skip("no Unix domain sockets here")
    assert str(End.parse(text)) == text


@pytest.mark.parametrize("text", ["", "host", "host:", "4711", "other:4711", "Host:4711"])
def test_what_is_no_end_is_refused(text):
    with pytest.raises(ValueError, match="expected host:PLACE or guest:PLACE"):
        End.parse(text)


def test_the_secret_is_taken_out_of_the_environment(monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, "hush")
    assert take_secret() == b"hush"
    with pytest.raises(ValueError, match=f"set {SECRET_VARIABLE}"):
        take_secret()


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
def test_a_channel_that_cannot_be_opened_is_said_and_play_goes_on(tmp_path):
    said: list[str] = []
    sink = logger.add(lambda message: said.append(str(message)), level="WARNING")

    async def play() -> str:
        link = SocketLink(Side.HOST, tmp_path / "no" / "such" / "folder", b"secret")
        async with _open(link):
            while not said:
                await asyncio.sleep(0)
            assert link.newest(lambda holding: True) is None
            return "played"

    try:
        assert asyncio.run(asyncio.wait_for(play(), 20)) == "played"
    finally:
        logger.remove(sink)
    assert "cannot be opened" in said[0]
    assert "playing alone" in said[0]


def test_a_rehearsal_is_a_game_in_which_the_partner_is_heard():
    talker, listener = (strategy_class(f"{BOTS}:{name}") for name in ("Talker", "Listener"))
    heard = []

    class Witness(listener):
        def hear(self, view):
            ally = super().hear(view)
            heard.append(ally is not None)
            return ally

    rehearse_pair(Witness, talker)
    assert sum(heard) > 30
    with pytest.raises(TypeError, match="Tsumogiri is no strategy for a pair"):
        rehearse_pair(lambda: make_strategy("tsumogiri"), talker)


def test_the_first_rehearsal_keeps_others_out_until_it_is_through(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    marker = tmp_path / "rehearsed" / "x"
    with _first_alone(marker), marker.with_suffix(".lock").open("w") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert not marker.exists()
    assert marker.exists()
    with _first_alone(marker), marker.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # from then on nobody waits


def test_where_no_lock_can_be_had_all_rehearse(tmp_path):
    (tmp_path / "file").touch()
    with _first_alone(tmp_path / "file" / "x"):
        pass


def test_a_rehearsal_that_fails_is_not_taken_for_one(tmp_path):
    marker = tmp_path / "x"
    with pytest.raises(ZeroDivisionError), _first_alone(marker):
        raise ZeroDivisionError
    assert not marker.exists()
