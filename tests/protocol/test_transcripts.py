"""Recorded conversations drive our sessions on both sides.

Where the transcript's client was correct our client session owes a line at the same places and
lets the same answers out, and our server session takes them; each fault is named as one.
"""

import contextlib
import json
import re

import pytest

from mjbot.protocol.codec import decode_line, encode
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.messages import Ankan, Error, Event, Hora, RequestAction, Ryukyoku, Skip, Tsumo
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.lockstep_server import FaultError, LockstepSession
from mjbot.protocol.sessions.request_server import RequestSession
from mjbot.protocol.sessions.stages import Stage
from mjbot.protocol.sessions.turns import Due, ReplyDuty

OWN = [
    ("tcp-riichi.txt", Dialect.TCP, None),
    ("tcp-pon.txt", Dialect.TCP, None),
    ("lines.txt", Dialect.STDIO_LINES, 2),
    ("arrays.txt", Dialect.STDIO_ARRAYS, 2),
    ("riichilab.txt", Dialect.RIICHILAB, None),
]
FAULTS = {
    "noactor": "Invalid actor.",
    "noneontsumo": "Unexpected response type 'none'",
    "notsumogiri": "tsumogiri missing.",
    "badjson2": "JSON syntax error: ",
    "errortype": "Invalid actor.",
}
HARMLESS = ("normal", "extrafield", "noneextra")


def client_follows(turns, dialect, seat=None):
    """Hear the server's lines and say what the client said; return the session at the end."""
    name = b'{"type":"join"' in turns[1].line and json.loads(turns[1].line)["name"]
    session = ClientSession(dialect, name=name or "", seat=seat)
    received = None
    for place, turn in enumerate(turns):
        if turn.by == "client":
            if received.due is Due.JOIN:
                assert session.reply(None) == turn.line
            else:
                (output,) = decode_line(turn.line)
                # Up to what the dialect leaves unsaid: mjai.app's own bot names the won tile.
                assert session.reply(output).startswith(encode(output, dialect)[:-1])
            continue
        received = session.receive(turn.line)
        answered = place + 1 < len(turns) and turns[place + 1].by == "client"
        if received.duty is ReplyDuty.MAY and not answered:
            assert session.reply(None) is None
        else:
            assert (received.duty is not ReplyDuty.MUST_NOT) == answered, turn.line
    return session


def server_follows(turns):
    """Say the server's lines and take in what the client said; return the session at the end."""
    session = LockstepSession()
    for place, turn in enumerate(turns):
        if place == 0:
            assert turn.line == session.hello()
        elif place == 1:
            session.join(turn.line)
        elif turn.by == "server":
            (event,) = decode_line(turn.line)
            assert encode(event, Dialect.TCP) == turn.line
            session.send(event)
        else:
            session.receive(turn.line)
    return session


@pytest.mark.parametrize(("name", "dialect", "seat"), OWN)
def test_own_transcripts_drive_the_client(own_turns, name, dialect, seat):
    assert client_follows(own_turns(name), dialect, seat).stage is Stage.OVER


@pytest.mark.parametrize("name", ["tcp-riichi.txt", "tcp-pon.txt"])
def test_own_transcripts_drive_the_server(own_turns, name):
    assert server_follows(own_turns(name)).due is Due.NOTHING


def test_the_own_riichilab_transcript_drives_the_server(own_turns):
    session = RequestSession()
    offers = ()
    for turn in own_turns("riichilab.txt"):
        (message,) = decode_line(turn.line)
        if turn.by == "client":
            verdict = session.receive(turn.line, 120)
            assert verdict.status == "accepted"
            assert offers[verdict.choice] == message
        elif isinstance(message, RequestAction):
            offers = [offer_of(hint) for hint in message.possible_actions]
            assert session.request(offers) == turn.line
        elif isinstance(message, Event):
            assert session.send(message) == turn.line


def offer_of(hint):
    """The action of a hint, which has no target and not where a discard is from: the hand, here."""
    fields = {"type": hint.type, "actor": hint.actor, "target": 3, "pai": hint.pai,
              "consumed": hint.consumed, "tsumogiri": False}  # fmt: skip
    return decode_line(json.dumps(fields))[0]


# --- faults, from our own transcript ---------------------------------------------------------


def own_turn(turns):
    """The conversation up to and with the second draw of the client."""
    draws = [place for place, turn in enumerate(turns) if b'"dahai"' in turn.line
             and turn.by == "client"]  # fmt: skip
    return turns[: draws[1]]


BAD_REPLIES = {
    "noactor": b'{"type":"dahai","pai":"1s","tsumogiri":true}',
    "noneontsumo": b'{"type":"none"}',
    "notsumogiri": b'{"type":"dahai","actor":2,"pai":"1s"}',
    "badjson2": b"{oops",
    "errortype": b'{"type":"error","message":"cannot play"}',
}


@pytest.mark.parametrize("fault", BAD_REPLIES)
def test_faults_are_named_by_the_server_session(own_turns, fault):
    session = server_follows(own_turn(own_turns("tcp-riichi.txt")))
    with pytest.raises(FaultError) as caught:
        session.receive(BAD_REPLIES[fault])
    assert caught.value.reason.startswith(FAULTS[fault])


@pytest.mark.parametrize(
    "extra", [b'"meta":{"a":1},"foo":2,"log":"hello"', b'"request_id":null,"fu":null']
)
def test_more_than_was_asked_for_is_no_fault(own_turns, extra):
    session = server_follows(own_turn(own_turns("tcp-riichi.txt")))
    session.receive(b'{"type":"dahai","actor":2,"pai":"1s","tsumogiri":true,' + extra + b"}")


def test_silence_and_a_closed_socket_are_named(own_turns):
    turns = own_turn(own_turns("tcp-riichi.txt"))
    assert server_follows(turns).timeout(60).reason == "Timeout. No response in 60 sec."
    with pytest.raises(FaultError, match="Unexpected response type 'none'"):
        server_follows(turns).vanish()


# --- the captured conversations --------------------------------------------------------------


@pytest.mark.parametrize("case", HARMLESS)
@pytest.mark.parametrize("client", range(4))
def test_captured_games_drive_both_sides(captured_turns, case, client):
    turns = captured_turns(f"gimite-tcp-{case}-client{client}.txt")
    assert client_follows(turns, Dialect.TCP).stage is Stage.OVER
    assert server_follows(turns).due is Due.NOTHING


@pytest.mark.parametrize("case", [*FAULTS, "disconnect", "wrongtsumogiri", "timeout"])
@pytest.mark.parametrize("client", range(4))
def test_captured_faults(captures, captured_turns, case, client):
    """One client fails, all four are told; the others were correct to the end."""
    name = f"gimite-tcp-{case}-client{client}.txt"
    if name not in captures:
        pytest.skip(f"nobody kept {name}")
    turns = captured_turns(name)
    (report,) = decode_line(captured_turns(f"gimite-tcp-{case}-client1.txt")[-1].line)
    assert isinstance(report, Error)
    before_error = turns[:-1] if turns[-1].line.startswith(b'{"type":"error"') else turns
    seat = json.loads(turns[2].line)["id"]
    if report.message.startswith(f"Error in player {seat}'s response: "):
        the_fault_is_named(case, before_error, report)
    else:
        assert client_follows(turns, Dialect.TCP).stage is Stage.OVER
        server_follows(before_error)


def the_fault_is_named(case, turns, report):
    if case == "timeout":
        fault = server_follows(turns).timeout(60)
    elif case == "disconnect":
        with pytest.raises(FaultError) as caught:
            server_follows(turns).vanish()
        fault = caught.value
    elif case == "wrongtsumogiri":  # only a table can tell
        server_follows(turns)
        client_follows(turns, Dialect.TCP)
        return
    else:
        with pytest.raises(FaultError) as caught:
            server_follows(turns)
        fault = caught.value
        the_client_would_not_have_said_it(case, turns)
    expected = FAULTS.get(case, fault.reason)
    assert fault.reason.startswith(expected)
    if case != "badjson2":  # there the parser's own words differ
        assert str(fault) == report.message


def the_client_would_not_have_said_it(case, turns):
    if case == "notsumogiri":  # our messages always say it
        return
    with pytest.raises((LocalProtocolError, ProtocolError)):
        client_follows(turns, Dialect.TCP)


@pytest.mark.parametrize("seat", range(4))
def test_captured_batches_drive_the_client(captured_turns, seat):
    turns = captured_turns(f"mjaiapp-batches-seat{seat}.txt")
    assert len(turns) > 100
    assert client_follows(turns, Dialect.STDIO_ARRAYS, seat).stage is Stage.OVER


def test_scripted_scenarios_are_read_and_their_refusals_shared(captures):
    event, refused = None, 0
    for row in captures["gimite-scenarios.txt"].splitlines():
        if row.startswith("VALIDATION: "):
            refused += is_refused(row, event)
        elif row.startswith("{"):
            try:
                (event,) = decode_line(row)
            except ProtocolError as error:  # some printed lines were clipped
                assert error.field == "line", row
    assert refused == 3  # the other two are kuikae and a red five that is none


def is_refused(row, event):
    """Whether our server session refuses the quoted reply too (some only a table can)."""
    reason, _, response = row.partition("'s response: ")[2].partition(" Response: ")
    seat = json.loads(response)["actor"]
    session = LockstepSession()
    session.send(decode_line(json.dumps({"type": "start_game", "id": seat}))[0])
    session.receive(b'{"type":"none"}')
    session.send(event)
    try:
        session.receive(response.encode())
    except FaultError as fault:
        return fault.reason == reason
    return False


def test_what_riichienv_was_seen_to_say(captures):
    seen = []
    for row in captures["riichienv-run.txt"].splitlines():
        shown = re.search(r"(\{[^{]*\})$", row)
        if shown and "..." not in row:
            output = shown[1].replace("'", '"').replace("True", "true").replace("False", "false")
            with contextlib.suppress(ProtocolError):  # offers are shown too: they lack a target
                seen += decode_line(output)
    assert Tsumo(actor=0, pai="5mr") in seen
    assert Ankan(actor=2, consumed=("W",) * 4) in seen
    assert Ryukyoku(reason="fanpai", deltas=(-1000, -1000, -1000, 3000)) in seen
    wins = [output for output in seen if isinstance(output, Hora)]
    assert {win.uradora_markers for win in wins} == {("6s",), ("2m",)}


def test_own_transcripts_of_a_pass(own_turns):
    """The Mortal transcript holds claims that were left alone without a word."""
    session = ClientSession(Dialect.STDIO_LINES, seat=2)
    silent = 0
    for turn in own_turns("lines.txt"):
        if turn.by == "server":
            received = session.receive(turn.line)
            silent += received.due is Due.CLAIM and session.reply(Skip()) is not None
        elif received.duty is ReplyDuty.MUST:
            session.reply(decode_line(turn.line)[0])
        else:
            assert isinstance(decode_line(turn.line)[0], Hora)
    assert silent > 5
