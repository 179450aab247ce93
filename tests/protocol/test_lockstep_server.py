"""The original server's words and verdicts (docs/protocol.md, section 4)."""

import json

import pytest

from mjbot.protocol.errors import LocalProtocolError
from mjbot.protocol.messages import (
    Ankan,
    Dahai,
    EndGame,
    Error,
    Hora,
    Join,
    Kakan,
    Message,
    Pon,
    Reach,
    Ryukyoku,
    Skip,
    StartGame,
    Tsumo,
)
from mjbot.protocol.sessions.lockstep_server import (
    EXPECTED_JOIN,
    FaultError,
    JoinRefusedError,
    LockstepSession,
)
from mjbot.protocol.sessions.turns import Due

JOIN = b'{"type":"join","name":"p0","room":"default"}'
NAMES = ("a", "b", "c", "d")


def playing(event: Message, seat: int = 1) -> LockstepSession:
    session = LockstepSession()
    session.join(JOIN)
    session.send(StartGame(id=seat, names=NAMES))
    session.receive(b'{"type":"none"}')
    session.send(event)
    return session


DRAW = Tsumo(actor=1, pai="E", possible_actions=())
DISCARD = Dahai(actor=0, pai="E", tsumogiri=True)
PON = Pon(actor=1, target=0, pai="E", consumed=("E", "E"))
KAKAN = Kakan(actor=0, pai="E", consumed=("E", "E", "E"))

# --- handshake -------------------------------------------------------------------------------


def test_the_first_two_lines():
    session = LockstepSession()
    hello = b'{"type":"hello","protocol":"mjsonp","protocol_version":3}'
    assert session.hello() == hello
    assert session.join(JOIN) == Join(name="p0", room="default")
    assert session.name == "p0"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"type":"join","name":"x","room":"nope"}', "No such room. Available room: default"),
        (b'{"type":"join","name":"x"}', EXPECTED_JOIN),
        (b'{"type":"join","name":"","room":"default"}', EXPECTED_JOIN),
        (b'{"type":"join","name":"x","room":null}', EXPECTED_JOIN),
        (b'{"type":"join","name":5,"room":"default"}', EXPECTED_JOIN),
        (b'{"type":"none"}', EXPECTED_JOIN),
        (b"[]", EXPECTED_JOIN),
        (b"7", EXPECTED_JOIN),
        (b"{oops", "JSON syntax error: "),
        (b"\xff\xfe", "JSON syntax error: "),
        (b"[" * 100_000, "JSON syntax error: "),
    ],
)
def test_joins_are_refused_in_the_original_servers_words(line, text):
    with pytest.raises(JoinRefusedError) as caught:
        LockstepSession().join(line)
    output = json.loads(caught.value.line)
    assert output["type"] == "error" and output["message"].startswith(text)


def test_a_room_that_is_not_there_is_named():
    with pytest.raises(JoinRefusedError, match="No such room"):
        LockstepSession("lobby").join(JOIN)


# --- replies that stand ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "line", "action"),
    [
        (DRAW, '{"type":"dahai","actor":1,"pai":"E","tsumogiri":true}',
         Dahai(actor=1, pai="E", tsumogiri=True)),
        (DRAW, '{"type":"reach","actor":1,"pai":"E"}', Reach(actor=1)),
        (DRAW, '{"type":"ankan","actor":1,"consumed":["E","E","E","E"]}',
         Ankan(actor=1, consumed=("E",) * 4)),
        (DRAW, '{"type":"kakan","actor":1,"pai":"E","consumed":["E","E","E"]}',
         Kakan(actor=1, pai="E", consumed=("E",) * 3)),
        (DRAW, '{"type":"hora","actor":1,"target":1,"pai":"E"}',
         Hora(actor=1, target=1, pai="E")),
        (DRAW, '{"type":"ryukyoku","actor":1,"reason":"kyushukyuhai"}',
         Ryukyoku(actor=1, reason="kyushukyuhai")),
        (DISCARD, '{"type":"none"}', Skip()),
        (DISCARD, '{"type":"none","actor":1,"foo":1}', Skip(actor=1)),
        (DISCARD, '{"type":"none","log":"thinking"}', Skip(log="thinking")),
        (DISCARD, '{"type":"pon","actor":1,"target":0,"pai":"E","consumed":["E","E"]}', PON),
        (KAKAN, '{"type":"hora","actor":1,"target":0,"pai":"E"}',
         Hora(actor=1, target=0, pai="E")),
        (PON, '{"type":"dahai","actor":1,"pai":"W","tsumogiri":false,"meta":{"a":1},"fu":null}',
         Dahai(actor=1, pai="W", tsumogiri=False)),
    ],
)  # fmt: skip
def test_replies_that_stand(event, line, action):
    assert playing(event).receive(line.encode()) == action


# --- replies that void the game --------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "line", "reason"),
    [
        (DRAW, '{"type":"dahai","pai":"E","tsumogiri":true}', "Invalid actor."),
        (DRAW, '{"type":"dahai","actor":2,"pai":"E","tsumogiri":true}', "Invalid actor."),
        (DRAW, '{"type":"error","message":"cannot play"}', "Invalid actor."),
        (DRAW, '{"type":"error","actor":1,"message":"cannot play"}', "cannot play"),
        (DRAW, '{"type":"none"}',
         """Unexpected response type 'none' for {"type":"tsumo","actor":1,"pai":"E"}."""),
        (DISCARD, '{"type":"reach","actor":1}', "Unexpected response type 'reach' for"),
        (PON, '{"type":"none"}', "Unexpected response type 'none' for"),
        (DRAW, '{"type":"dance","actor":1}', "Unexpected response type 'dance' for"),
        (DRAW, '{"type":"dahai","actor":1,"pai":"E"}', "tsumogiri missing."),
        (DRAW, '{"type":"dahai","actor":1,"tsumogiri":true}', "pai missing."),
        (DRAW, '{"type":"hora","actor":1,"target":1}', "pai missing."),
        (DRAW, '{"type":"hora","actor":1,"pai":"E"}', "target missing."),
        (DRAW, '{"type":"ryukyoku","actor":1}', "reason missing."),
        (DRAW, '{"type":"ryukyoku","actor":1,"reason":"bored"}', "Unexpected reason."),
        (DRAW, '{"type":"ankan","actor":1,"pai":"E","consumed":["E","E","E","E"]}',
         "The furo is not allowed."),
        (DISCARD, '{"type":"pon","actor":1,"target":0,"pai":"E","consumed":["E"]}',
         "The furo is not allowed."),
        (DRAW, "{oops", "JSON syntax error: "),
        (DRAW, "", "JSON syntax error: "),
        (DRAW, '{"type":"none","x":' + "[" * 100_000, "JSON syntax error: "),
        (DRAW, '{"type":"dahai","actor":1.0,"pai":"E","tsumogiri":true}', "Validation failed: "),
        (DRAW, '{"type":"dahai","actor":1,"pai":"E","tsumogiri":1}', "Validation failed: "),
        (DRAW, '{"type":"dahai","actor":1,"pai":"0p","tsumogiri":true}', "Validation failed: "),
        (DISCARD, '{"type":"none","actor":7}', "Validation failed: "),
        (DISCARD, '{"type":"none","fu":"many"}', "Validation failed: "),
        (DISCARD, '[{"type":"none"}]', "Validation failed: "),
        (DISCARD, "3", "Validation failed: "),
    ],
)  # fmt: skip
def test_replies_that_void_the_game(event, line, reason):
    with pytest.raises(FaultError) as caught:
        playing(event).receive(line.encode())
    fault = caught.value
    assert fault.reason.startswith(reason)
    assert str(fault).startswith(f"Error in player 1's response: {fault.reason} Response: ")


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"dahai","actor":1.0,"pai":"E","tsumogiri":true}',
        '{"type":"dahai","actor":1,"pai":"6z","tsumogiri":true}',
        '{"type":"dahai","actor":1,"pai":"E","tsumogiri":1}',
        '{"type":"dahai","actor":NaN,"pai":"E","tsumogiri":true}',
        "[]",
        "3",
        "{oops",
        "",
    ],
)
def test_a_complaint_quotes_a_reply_that_cannot_be_read_as_it_came(line):
    with pytest.raises(FaultError) as caught:
        playing(DRAW).receive(line.encode())
    assert caught.value.response == line
    with pytest.raises(FaultError) as caught:
        playing(DRAW).receive(b"{oops \xff")
    assert caught.value.response == "{oops \ufffd"


def test_a_byte_order_mark_is_no_fault():
    action = playing(DISCARD).receive(b'\xef\xbb\xbf{"type":"none"}')
    assert action == Skip()


def test_a_complaint_quotes_the_reply_without_what_the_server_does_not_know():
    with pytest.raises(FaultError) as caught:
        playing(DRAW).receive(b'{"pai":"E","foo":1,"type":"dahai","tsumogiri":true}')
    assert caught.value.response == '{"type":"dahai","pai":"E","tsumogiri":true}'


def test_a_late_reply():
    fault = playing(DRAW).timeout(60.0)
    inner = '{"type":"error","actor":1,"message":"Timeout. No response in 60 sec."}'
    expected = f"Error in player 1's response: Timeout. No response in 60 sec. Response: {inner}"
    assert str(fault) == expected


def test_a_closed_socket_passes_where_it_can():
    assert playing(DISCARD).vanish() == Skip()
    with pytest.raises(FaultError, match="Unexpected response type 'none' for"):
        playing(DRAW).vanish()


# --- lock-step -------------------------------------------------------------------------------


def test_one_reply_per_line_and_one_line_per_reply():
    session = playing(DISCARD)
    with pytest.raises(LocalProtocolError, match="still awaits its reply"):
        session.send(DRAW)
    session.receive(b'{"type":"none"}')
    assert session.due is Due.NOTHING
    with pytest.raises(LocalProtocolError, match="none is awaited"):
        session.receive(b'{"type":"none"}')


@pytest.mark.parametrize("last", [EndGame(scores=(1, 2, 3, 4)), Error(message="void")])
def test_the_last_line_awaits_no_reply(last):
    session = playing(DISCARD)
    session.receive(b'{"type":"none"}')
    session.send(last)
    assert session.due is Due.NOTHING
