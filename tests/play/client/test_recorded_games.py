"""The whole client, with its table in strict mode, in the place of a transcript's client."""

import asyncio
import json

import pytest

from mjbot.play.client.player import ClientPlayer
from mjbot.protocol.codec import decode_line, encode
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.messages import Error
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.turns import Due, ReplyDuty

OWN = [
    ("tcp-riichi.txt", Dialect.TCP, None),
    ("tcp-pon.txt", Dialect.TCP, None),
    ("lines.txt", Dialect.STDIO_LINES, 2),
    ("arrays.txt", Dialect.STDIO_ARRAYS, 2),
    ("riichilab.txt", Dialect.RIICHILAB, None),
]
FAULTS = "noactor", "noneontsumo", "notsumogiri", "badjson2", "errortype", "wrongtsumogiri"


def play_along(turns, echo, dialect, seat=None):
    """Return (our line, the client's line) wherever it spoke, and how often that was illegal."""
    player = ClientPlayer(lambda game: echo, dialect, strict=True, deadline_s=30)
    session = ClientSession(dialect, name="bot0", seat=seat)

    async def check():
        output = []
        for place, turn in enumerate(turns):
            if turn.by == "client":
                continue
            received = session.receive(turn.line)
            for event in received.events:
                await player.take(event, session.seat)
            follows = place + 1 < len(turns) and turns[place + 1].by == "client"
            if received.duty is ReplyDuty.MUST_NOT:
                assert not follows
                continue
            echo.line = turns[place + 1].line if follows else b'{"type":"none"}'
            action = None if received.due is Due.JOIN else await player.answer(received)
            line = session.reply(action)
            if follows:
                output.append((line, turns[place + 1].line))
            else:
                assert line is None or received.duty is ReplyDuty.MUST
        return output

    return asyncio.run(check()), player.faults.count.total()


def same(ours, theirs, dialect):
    """Whether both lines say the same in this dialect (joins differ by name only)."""
    (expected,) = decode_line(theirs)
    if b'"join"' in theirs:
        return b'"join"' in ours
    return decode_line(ours) == decode_line(encode(expected, dialect))


@pytest.mark.parametrize(("name", "dialect", "seat"), OWN)
def test_own_games(own_turns, echo, name, dialect, seat):
    turns = own_turns(name)
    pairs, illegal = play_along(turns, echo, dialect, seat)
    assert len(pairs) == sum(turn.by == "client" for turn in turns) > 5
    assert all(same(ours, theirs, dialect) for ours, theirs in pairs) and not illegal


@pytest.mark.parametrize("case", ["normal", "extrafield", "noneextra"])
@pytest.mark.parametrize("client", range(4))
def test_captured_games_over_tcp(captured_turns, echo, case, client):
    turns = captured_turns(f"gimite-tcp-{case}-client{client}.txt")
    pairs, illegal = play_along(turns, echo, Dialect.TCP)
    assert len(pairs) == sum(turn.by == "client" for turn in turns)
    assert all(kind(ours) == kind(theirs) for ours, theirs in pairs) and not illegal


def kind(line):
    return json.loads(line)["type"]


@pytest.mark.parametrize("seat", range(4))
def test_captured_games_in_batches(captured_turns, echo, seat):
    pairs, illegal = play_along(
        captured_turns(f"mjaiapp-batches-seat{seat}.txt"), echo, Dialect.STDIO_ARRAYS
    )
    assert len(pairs) > 100
    assert all(same(*pair, Dialect.STDIO_ARRAYS) for pair in pairs) and not illegal


@pytest.mark.parametrize("case", FAULTS)
def test_captured_faults_are_not_ours(captured_turns, echo, case):
    """Up to the fault our client says the same; the faulty line itself it does not say."""
    turns = captured_turns(f"gimite-tcp-{case}-client0.txt")
    *before, bad, error = turns
    assert bad.by == "client" and isinstance(decode_line(error.line)[0], Error)
    pairs, illegal = play_along(before[:-1], echo, Dialect.TCP)
    assert all(same(*pair, Dialect.TCP) for pair in pairs) and not illegal
    pairs, _ = play_along(turns, echo, Dialect.TCP)
    ours, theirs = pairs[-1]
    assert theirs == bad.line and ours != theirs
    assert kind(ours) == "dahai" and {"actor", "pai", "tsumogiri"} <= json.loads(ours).keys()
