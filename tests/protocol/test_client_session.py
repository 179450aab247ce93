import json

import pytest

from mjbot.protocol.dialects import Dialect
from mjbot.protocol.errors import LocalProtocolError, ProtocolError, ThreePlayersError
from mjbot.protocol.messages import (
    Dahai,
    Error,
    Hint,
    Hora,
    Kita,
    Pon,
    Reach,
    Skip,
    StartGame,
    Tsumo,
)
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.stages import Stage
from mjbot.protocol.sessions.turns import Due, ReplyDuty

HIDDEN = ["?"] * 13
DEAL = {
    "type": "start_kyoku", "bakaze": "S", "kyoku": 3, "honba": 1, "kyotaku": 0, "oya": 2,
    "dora_marker": "N", "scores": [25000] * 4,
    "tehais": [HIDDEN, ["1m"] * 13, HIDDEN, HIDDEN],
}  # fmt: skip
START = {"type": "start_game", "id": 1, "names": ["a", "b", "c", "d"]}
OWN_DRAW = {"type": "tsumo", "actor": 1, "pai": "E"}
DISCARD = {"type": "dahai", "actor": 0, "pai": "E", "tsumogiri": False}
OWN_DISCARD = {"type": "dahai", "actor": 1, "pai": "E", "tsumogiri": True}
KAKAN = {"type": "kakan", "actor": 0, "pai": "E", "consumed": ["E", "E", "E"]}
OWN_PON = {"type": "pon", "actor": 1, "target": 0, "pai": "E", "consumed": ["E", "E"]}
OWN_RIICHI = {"type": "reach", "actor": 1}
OWN_KAN = {"type": "daiminkan", "actor": 1, "target": 0, "pai": "E", "consumed": ["E"] * 3}
DORA = {"type": "dora", "dora_marker": "C"}
ACCEPTED = {"type": "reach_accepted", "actor": 0}
NEWS = {"type": "something_new"}
HELLO = {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
REQUEST = {"type": "request_action", "request_id": 5, "possible_actions": [{"type": "none"}]}

END = {"type": "end_kyoku"}
TALKING = (Dialect.TCP, Dialect.STDIO_LINES, Dialect.STDIO_ARRAYS, Dialect.RIICHILAB)

KYOKU_LINES = [
    (OWN_DRAW, Due.TURN),
    (OWN_PON, Due.DISCARD),
    (OWN_RIICHI, Due.DISCARD),
    (DISCARD, Due.CLAIM),
    (KAKAN, Due.ROB),
    (OWN_DISCARD, Due.NONE),
    (OWN_KAN, Due.NONE),
    ({**KAKAN, "actor": 1}, Due.NONE),
    ({"type": "tsumo", "actor": 0, "pai": "?"}, Due.NONE),
    ({"type": "reach", "actor": 0}, Due.NONE),
    ({**OWN_PON, "actor": 2}, Due.NONE),
    ({"type": "ankan", "actor": 1, "consumed": ["E"] * 4}, Due.NONE),
    (DORA, Due.NONE),
    (ACCEPTED, Due.NONE),
    ({"type": "hora", "actor": 0, "target": 1}, Due.NONE),
    ({"type": "ryukyoku"}, Due.NONE),
    ({"type": "end_kyoku"}, Due.NONE),
    (NEWS, Due.NONE),
]


def hear(session, *events):
    """Let the session hear the events, one line each, and answer as briefly as it may."""
    for event in events:
        received = session.receive(json.dumps(event))
        if received.duty is ReplyDuty.MUST and received.due in (Due.NONE, Due.JOIN, Due.CLAIM):
            session.reply(None)
    return session


def hear_and_answer(session, *events):
    """Do the same, with a discard of East where one is due."""
    for event in events:
        hear(session, event)
        if session._received.duty is ReplyDuty.MUST:
            discards = session._received.due in (Due.TURN, Due.DISCARD)
            session.reply(DISCARD_E if discards else None)
    return session


def hear_batch(session, *events):
    return session.receive(json.dumps(events))


def at_kyoku(dialect):
    session = ClientSession(dialect)
    return hear(session, *([HELLO] if dialect is Dialect.TCP else []), START, DEAL)


DISCARD_E = Dahai(actor=1, pai="E", tsumogiri=True)

# --- what each family owes -------------------------------------------------------------------


@pytest.mark.parametrize(("event", "due"), KYOKU_LINES)
def test_over_tcp_every_line_owes_one(event, due):
    received = at_kyoku(Dialect.TCP).receive(json.dumps(event))
    assert (received.due, received.duty) == (due, ReplyDuty.MUST)


@pytest.mark.parametrize(("event", "due"), KYOKU_LINES)
def test_mortal_speaks_only_when_there_is_something_to_decide(event, due):
    received = at_kyoku(Dialect.STDIO_LINES).receive(json.dumps(event))
    expected = {Due.TURN: ReplyDuty.MUST, Due.DISCARD: ReplyDuty.MUST, Due.CLAIM: ReplyDuty.MAY}
    expected[Due.ROB] = ReplyDuty.MAY
    assert (received.due, received.duty) == (due, expected.get(due, ReplyDuty.MUST_NOT))


@pytest.mark.parametrize(("event", "due"), KYOKU_LINES)
def test_an_array_owes_one_line_for_its_last_event(event, due):
    received = hear_batch(at_kyoku(Dialect.STDIO_ARRAYS), OWN_DISCARD, event)
    assert (received.due, received.duty) == (due, ReplyDuty.MUST)


@pytest.mark.parametrize(("event", "due"), KYOKU_LINES)
def test_riichilab_is_answered_only_on_request(event, due):
    session = at_kyoku(Dialect.RIICHILAB)
    assert session.receive(json.dumps(event)).duty is ReplyDuty.MUST_NOT
    if due.is_choice:
        received = session.receive(json.dumps(REQUEST))
        assert (received.due, received.duty) == (due, ReplyDuty.MUST)


@pytest.mark.parametrize("between", [DORA, ACCEPTED, NEWS])
def test_what_comes_between_an_event_and_the_answer_changes_nothing(between):
    assert hear_batch(at_kyoku(Dialect.STDIO_ARRAYS), OWN_DRAW, between).due is Due.TURN
    session = hear(at_kyoku(Dialect.RIICHILAB), OWN_DRAW, between)
    assert session.receive(json.dumps(REQUEST)).due is Due.TURN
    # Over TCP each line has had its own answer.
    session = at_kyoku(Dialect.TCP)
    session.receive(json.dumps(OWN_DRAW))
    session.reply(DISCARD_E)
    assert session.receive(json.dumps(between)).due is Due.NONE


def test_mortals_bot_keeps_quiet_while_it_catches_up():
    session = at_kyoku(Dialect.STDIO_LINES)
    assert session.receive(json.dumps(OWN_DRAW | {"can_act": False})).duty is ReplyDuty.MUST_NOT
    assert session.receive(json.dumps(OWN_DRAW)).duty is ReplyDuty.MUST


def test_the_end_of_a_game_owes_nothing_but_to_arrays():
    for dialect in Dialect.TCP, Dialect.STDIO_LINES, Dialect.RIICHILAB:
        session = hear(at_kyoku(dialect), {"type": "end_kyoku"})
        assert session.receive('{"type":"end_game"}').duty is ReplyDuty.MUST_NOT
        assert session.stage is Stage.OVER
    session = at_kyoku(Dialect.STDIO_ARRAYS)
    assert hear_batch(session, {"type": "end_game"}).duty is ReplyDuty.MUST
    assert session.reply(None) == b'{"type":"none"}'


def test_blank_lines_owe_nothing():
    for dialect in (Dialect.TCP, Dialect.STDIO_LINES, Dialect.STDIO_ARRAYS, Dialect.RIICHILAB):
        assert at_kyoku(dialect).receive(b" \r").duty is ReplyDuty.MUST_NOT


# --- handshake, seat, stages -----------------------------------------------------------------


def test_hello_is_answered_by_join():
    session = ClientSession(Dialect.TCP, name="bot", room="0_0")
    assert session.receive(json.dumps(HELLO)).due is Due.JOIN
    assert session.reply(None) == b'{"type":"join","name":"bot","room":"0_0"}'
    assert session.stage is Stage.JOINED


@pytest.mark.parametrize(
    ("dialect", "report", "output", "seat"),
    [
        (Dialect.TCP, None, 1, 1),
        (Dialect.TCP, 3, 1, 1),
        (Dialect.RIICHILAB, None, 1, 1),
        (Dialect.STDIO_ARRAYS, 3, 1, 1),
        (Dialect.STDIO_ARRAYS, 3, None, 3),
        (Dialect.STDIO_LINES, 3, 1, 3),
        (Dialect.STDIO_LINES, None, 1, 1),
    ],
)
def test_the_own_seat(dialect, report, output, seat):
    session = ClientSession(dialect, seat=report)
    hear(
        session, *([HELLO] if dialect is Dialect.TCP else []), {"type": "start_game", "id": output}
    )
    assert session.seat == seat


@pytest.mark.parametrize("dialect", [Dialect.RIICHILAB, Dialect.STDIO_LINES])
def test_no_seat_at_all_is_named(dialect):
    with pytest.raises(ProtocolError, match=r"start_game\.id: missing, and no seat was given"):
        ClientSession(dialect).receive('{"type":"start_game"}')


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([START], "start_game: out of order, the client is waiting for hello"),
        ([HELLO, HELLO], "hello: out of order, the client is waiting for start_game"),
        ([HELLO, DEAL], "start_kyoku: out of order, the client is waiting for start_game"),
        ([HELLO, START, OWN_DRAW], "tsumo: out of order, the client is between two kyokus"),
        (
            [HELLO, START, DEAL, DEAL | {"honba": 2}],
            "start_kyoku: out of order, the client is in a kyoku",
        ),
        ([HELLO, START, DEAL, START], "start_game: out of order, the client is in a kyoku"),
        ([HELLO, START, {"type": "end_kyoku"}], "end_kyoku: out of order"),
        ([HELLO, START, {"type": "end_game"}, DORA], "dora: out of order, .* the game is over"),
    ],
)
def test_over_tcp_events_come_in_order(events, problem):
    with pytest.raises(ProtocolError, match=problem):
        hear(ClientSession(Dialect.TCP), *events)


def test_an_error_ends_the_game_and_owes_nothing():
    session = at_kyoku(Dialect.TCP)
    received = session.receive('{"type":"error","message":"void"}')
    assert received.others == (Error(message="void"),)
    assert (received.duty, session.stage) == (ReplyDuty.MUST_NOT, Stage.OVER)


def test_riichilabs_errors_do_not_end_the_game():
    session = at_kyoku(Dialect.RIICHILAB)
    assert session.receive('{"error":"slow down"}').others == (Error(message="slow down"),)
    assert session.stage is Stage.PLAYING


def test_mjai_app_may_restart_its_players_in_mid_game():
    session = at_kyoku(Dialect.STDIO_ARRAYS)
    for batch in ([START], [{"type": "end_kyoku"}], [DEAL, OWN_DRAW]):
        received = hear_batch(session, *batch)
        session.reply(DISCARD_E if received.due is Due.TURN else None)
    assert session.stage is Stage.PLAYING


def test_a_result_may_never_be_delivered():
    session = at_kyoku(Dialect.STDIO_ARRAYS)
    for batch in ([{"type": "end_kyoku"}], [DEAL, DISCARD], [DEAL, OWN_DRAW]):
        received = hear_batch(session, *batch)
        session.reply(DISCARD_E if received.due is Due.TURN else None)


def test_a_new_game_on_the_same_pipe():
    session = hear(at_kyoku(Dialect.STDIO_LINES), {"type": "end_game"}, START, DEAL)
    assert session.stage is Stage.PLAYING


def test_a_gateway_that_says_little():
    session = ClientSession(Dialect.TCP, room="0_0")
    hear(session, HELLO, {"type": "start_game", "id": 0, "names": ["me", "b", "c", "d"]})
    hear(session, DEAL | {"kyoku": 2, "tehais": [["1m"] * 13, HIDDEN, HIDDEN, HIDDEN]})
    draw = {"type": "tsumo", "actor": 0, "pai": "1m", "possible_actions": [{"type": "hora"}]}
    received = session.receive(json.dumps(draw))
    assert received.hints == (Hint(type="hora"),)
    session.reply(Hora(actor=0, target=0, pai="1m"))
    end = session.receive('{"type":"hora","scores":[1,2,3,4]}')
    assert end.events == () and end.duty is ReplyDuty.MUST
    session.reply(None)
    hear(session, {"type": "end_kyoku"})
    deal = session.receive(json.dumps({name: DEAL[name] for name in DEAL if name != "scores"}))
    assert deal.events[0].scores == (1, 2, 3, 4)  # the deal itself does not say


# --- what it hands on ------------------------------------------------------------------------


def test_events_and_the_rest_are_told_apart():
    session = ClientSession(Dialect.RIICHILAB)
    received = session.receive(json.dumps([START, NEWS, DEAL, OWN_DRAW, REQUEST]))
    kinds = [type(event).__name__ for event in received.events]
    assert kinds == ["StartGame", "StartKyoku", "Tsumo"]
    assert [type(output).__name__ for output in received.others] == ["Unknown", "RequestAction"]
    assert session.names == ("a", "b", "c", "d")
    assert received.events[0] == StartGame(id=1, names=session.names)


def test_hints_and_forbidden_discards_of_the_last_event_are_handed_on():
    pon = [{"type": "pon", "actor": 1, "target": 0, "pai": "E", "consumed": ["E", "E"]}]
    received = at_kyoku(Dialect.TCP).receive(json.dumps(DISCARD | {"possible_actions": pon}))
    assert received.hints[0].consumed == ("E", "E")
    received = at_kyoku(Dialect.TCP).receive(json.dumps(OWN_RIICHI | {"cannot_dahai": ["1m"]}))
    assert received.cannot_discard == ("1m",) and received.hints is None
    request = REQUEST | {"time": {"deadline_ms": 18000}}
    received = at_kyoku(Dialect.RIICHILAB).receive(json.dumps(request))
    assert (received.deadline_ms, received.hints) == (18000, (Hint(type="none"),))


# --- what it lets us say ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "action", "problem"),
    [
        (OWN_DRAW, None, "reply.type: none is not an answer here, only dahai or reach"),
        (OWN_DRAW, Skip(), "reply.type: none is not an answer here"),
        (OWN_DRAW, Pon(actor=1, target=0, pai="E", consumed=("E", "E")), "pon is not an answer"),
        (OWN_PON, Reach(actor=1), "reach is not an answer here, only dahai"),
        (OWN_DRAW, Dahai(actor=0, pai="E", tsumogiri=True), "dahai.actor: expected the own seat 1"),
        (DISCARD, DISCARD_E, "dahai is not an answer here, only none or chi"),
        (KAKAN, Pon(actor=1, target=0, pai="E", consumed=("E", "E")), "only none or hora"),
        (OWN_DISCARD, Hora(actor=1, target=0, pai="E"), "only none"),
        (OWN_DRAW, Hora(actor=1, target=1), "hora.pai: TCP demands it"),
    ],
)
def test_our_own_mistakes_are_held_back(event, action, problem):
    session = at_kyoku(Dialect.TCP)
    session.receive(json.dumps(event))
    with pytest.raises(LocalProtocolError, match=problem):
        session.reply(action)
    assert session.stage is Stage.PLAYING


def test_never_two_lines_for_one():
    session = at_kyoku(Dialect.TCP)
    session.receive(json.dumps(OWN_DISCARD))
    assert session.reply(None) == b'{"type":"none"}'
    with pytest.raises(LocalProtocolError, match="no reply is due now"):
        session.reply(None)


def test_never_a_line_taken_in_before_the_last_was_answered():
    session = at_kyoku(Dialect.TCP)
    session.receive(json.dumps(OWN_DISCARD))
    with pytest.raises(LocalProtocolError, match="still waits for its reply"):
        session.receive(json.dumps(DORA))


def test_nothing_is_printed_for_mortal_without_a_decision():
    session = at_kyoku(Dialect.STDIO_LINES)
    session.receive(json.dumps(DISCARD))
    assert session.reply(None) is None
    session.receive(json.dumps(DISCARD))
    assert session.reply(Skip()) == b'{"type":"none"}'
    session.receive(json.dumps(OWN_DRAW))
    with pytest.raises(LocalProtocolError):
        session.reply(None)


def test_a_request_is_answered_with_its_id():
    session = hear(at_kyoku(Dialect.RIICHILAB), OWN_DRAW)
    session.receive(json.dumps(REQUEST | {"possible_actions": [{"type": "dahai", "pai": "E"}]}))
    line = json.loads(session.reply(DISCARD_E))
    expected = {"type": "dahai", "actor": 1, "pai": "E", "tsumogiri": True, "request_id": 5}
    assert line == expected


FOREIGN = [
    NEWS,
    HELLO,
    {"type": "join", "name": "a", "room": "b"},
    {"type": "none", "actor": 2},
    {"type": "validation_result", "passed": True},
    {"type": "action_ack", "status": "accepted", "request_id": 4},
    {"type": "action_ack", "status": "some new one"},
    {"type": "hora", "scores": [25000] * 4},
]
ERROR = {"type": "error", "message": "x"}
DECISIVE = [(OWN_DRAW, Due.TURN), (OWN_PON, Due.DISCARD), (DISCARD, Due.CLAIM), (KAKAN, Due.ROB)]


@pytest.mark.parametrize(("event", "due"), DECISIVE)
def test_what_comes_between_an_event_and_its_request_changes_nothing(event, due):
    for between in [*FOREIGN, ERROR, DORA, ACCEPTED, event]:
        session = hear(at_kyoku(Dialect.RIICHILAB), event, between)
        received = session.receive(json.dumps(REQUEST))
        assert (received.due, received.duty) == (due, ReplyDuty.MUST), between
    asked = at_kyoku(Dialect.RIICHILAB).receive(json.dumps([event, REQUEST, ERROR, NEWS]))
    assert (asked.due, asked.duty, asked.request_id) == (due, ReplyDuty.MUST, 5)
    arrays = at_kyoku(Dialect.STDIO_ARRAYS).receive(json.dumps([event, *FOREIGN]))
    assert (arrays.due, arrays.duty) == (due, ReplyDuty.MUST)


def test_a_line_of_its_own_that_is_foreign_costs_nothing():
    for between in FOREIGN:
        lines, lockstep = at_kyoku(Dialect.STDIO_LINES), at_kyoku(Dialect.TCP)
        hear_and_answer(lines, OWN_DRAW)
        assert lines.receive(json.dumps(between)).duty is ReplyDuty.MUST_NOT
        hear_and_answer(lockstep, OWN_DRAW)
        if between is not HELLO:  # a lock-step server sends it once, first
            received = lockstep.receive(json.dumps(between))
            assert (received.due, received.duty) == (Due.NONE, ReplyDuty.MUST)


@pytest.mark.parametrize("dialect", [*TALKING])
@pytest.mark.parametrize(("event", "due"), DECISIVE)
def test_an_event_that_comes_twice_happens_once(dialect, event, due):
    session = hear_and_answer(at_kyoku(dialect), event)
    received = session.receive(json.dumps(event))
    assert received.events == () and len(received.others) == 1
    assert received.due is due  # so a line that is owed for it is the same answer
    other = session.receive(json.dumps(OWN_DISCARD)) if dialect is Dialect.RIICHILAB else None
    assert other is None or len(other.events) == 1


@pytest.mark.parametrize("dialect", [*TALKING])
def test_a_deal_and_an_end_that_come_twice_happen_once_and_two_markers_are_two(dialect):
    session = at_kyoku(dialect)
    for event, count in ((DEAL, 0), (DORA, 1), (DORA, 1), (END, 1), (END, 0)):
        assert len(session.receive(json.dumps(event)).events) == count
        if session._received.duty is ReplyDuty.MUST:
            session.reply(None)


@pytest.mark.parametrize(("event", "due"), DECISIVE)
def test_a_request_that_comes_twice_is_answered_twice_until_something_happens(event, due):
    session = hear(at_kyoku(Dialect.RIICHILAB), event)
    answer = DISCARD_E if due in (Due.TURN, Due.DISCARD) else Skip()
    request = REQUEST | {"possible_actions": [{"type": "dahai", "pai": "E"}, {"type": "none"}]}
    lines = []
    for _ in range(2):
        received = session.receive(json.dumps(request))
        assert (received.due, received.duty) == (due, ReplyDuty.MUST)
        lines.append(session.reply(answer))
    assert lines[0] == lines[1]
    hear(session, OWN_DISCARD)
    assert session.receive(json.dumps(request)).duty is ReplyDuty.MUST_NOT


def test_what_may_be_answered_to_a_request_is_what_it_offers():
    session = hear(at_kyoku(Dialect.RIICHILAB), OWN_DRAW)
    session.receive(json.dumps(REQUEST))
    with pytest.raises(LocalProtocolError, match="dahai is not an answer here, only none"):
        session.reply(DISCARD_E)
    assert session.reply(Skip()) == b'{"type":"none","request_id":5}'


def test_a_new_request_may_come_before_the_old_one_was_answered():
    session = hear(at_kyoku(Dialect.RIICHILAB), DISCARD)
    session.receive(json.dumps(REQUEST))
    session.receive(json.dumps(REQUEST | {"request_id": 9}))
    assert session.reply(None) == b'{"type":"none","request_id":9}'


def test_reading_one_event_does_not_change_it():
    assert at_kyoku(Dialect.TCP).receive(json.dumps(OWN_DRAW)).events == (Tsumo(actor=1, pai="E"),)


THREE_HANDS = [HIDDEN, ["1m"] * 13, HIDDEN]
DEAL_OF_THREE = {
    **DEAL, "bakaze": "E", "kyoku": 1, "honba": 0, "oya": 0, "tehais": THREE_HANDS,
    "scores": [35000] * 3,
}  # fmt: skip
OWN_KITA = {"type": "kita", "actor": 1, "pai": "N"}


def test_three_players_are_known_by_the_lists_of_the_deal():
    """RiichiLab's start_game has neither names nor a number of players."""
    session = ClientSession(Dialect.RIICHILAB)
    assert session.receive('{"type":"start_game","id":1}').events == (StartGame(id=1),)
    (deal,) = session.receive(json.dumps(DEAL_OF_THREE)).events
    assert deal.num_players == 3
    assert deal.scores == (35000, 35000, 35000, 0)
    assert deal.tehais[3] == ("?",) * 13
    assert session.players == 3
    hear(session, {"type": "end_kyoku"}, {"type": "start_game", "id": 1})
    assert session.receive(json.dumps(DEAL)).events[0].num_players is None
    assert session.players == 4


@pytest.mark.parametrize(
    ("start", "deal"),
    [
        ({"names": ["a", "b", "c"]}, {}),
        ({"num_players": 3}, {"scores": [35000] * 4, "tehais": [*THREE_HANDS, HIDDEN]}),
        ({}, {"scores": [35000, 35000, 35000, 0], "tehais": [*THREE_HANDS, HIDDEN]}),
        ({"mjbot_rules": {"players": 3, "length": "tonpu"}}, {}),
    ],
)
@pytest.mark.parametrize("dialect", [Dialect.STDIO_LINES, Dialect.STDIO_ARRAYS])
def test_three_players_are_known_by_what_a_game_begins_with(dialect, start, deal):
    session = ClientSession(dialect, seat=1)
    messages = [{"type": "start_game", "id": 1, **start}, {**DEAL_OF_THREE, **deal}]
    events = session.receive(json.dumps([*messages, OWN_DRAW])).events
    assert [type(event).__name__ for event in events] == ["StartGame", "StartKyoku", "Tsumo"]
    assert events[0].mjbot_rules["players"] == 3
    assert events[1].scores == (35000, 35000, 35000, 0)


def test_how_many_play_can_be_given():
    session = ClientSession(Dialect.STDIO_LINES, seat=1, players=3)
    deal = {**DEAL_OF_THREE, "scores": [20000, 30000, 55000, 0], "tehais": [*THREE_HANDS, HIDDEN]}
    names = ["a", "b", "c", ""]
    (start,) = session.receive(json.dumps({**START, "names": names})).events
    assert start.mjbot_rules == {"players": 3}
    assert session.names == ("a", "b", "c")
    assert session.receive(json.dumps(deal)).events[0].scores == (20000, 30000, 55000, 0)


def test_a_deal_of_three_is_refused_where_four_are_given():
    session = ClientSession(Dialect.RIICHILAB, players=4)
    hear(session, {"type": "start_game", "id": 1})
    with pytest.raises(ThreePlayersError, match="tehais"):
        session.receive(json.dumps(DEAL_OF_THREE))


@pytest.mark.parametrize(
    ("dialect", "earlier", "word"),
    [
        (Dialect.STDIO_LINES, None, "nukidora"),
        (Dialect.STDIO_LINES, {"type": "kita", "actor": 0}, "kita"),
        (Dialect.STDIO_ARRAYS, None, "kita"),
        (Dialect.STDIO_ARRAYS, {"type": "nukidora", "actor": 0, "pai": "N"}, "nukidora"),
        (Dialect.TCP, {**OWN_DRAW, "possible_actions": [{"type": "nukidora"}]}, "nukidora"),
    ],
)
def test_a_kita_is_called_as_the_server_calls_it(dialect, earlier, word):
    session = ClientSession(dialect, seat=1)
    start = {**START, "names": ["a", "b", "c"]}
    hear(session, *([HELLO] if dialect is Dialect.TCP else []), start, DEAL_OF_THREE)
    if earlier is not None and earlier["type"] != "tsumo":
        received = session.receive(json.dumps(earlier))
        assert received.due is Due.ROB
        session.reply(None)
    received = session.receive(json.dumps(OWN_DRAW if earlier is None else {**earlier, **OWN_DRAW}))
    assert received.due is Due.TURN
    assert json.loads(session.reply(Kita(actor=1, pai="N")))["type"] == word
    assert session.receive(json.dumps({**OWN_KITA, "type": word})).due is Due.NONE
