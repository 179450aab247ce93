"""Both kinds of bots that speak over pipes, face to face with our own client's session."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mjbot.protocol.dialects import Dialect
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import (
    Dahai,
    EndGame,
    EndKyoku,
    Pon,
    Reach,
    Ryukyoku,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
)
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.pipes import pipe_session
from mjbot.protocol.sessions.turns import ReplyDuty

HIDDEN = ("?",) * 13
DEAL = StartKyoku(
    bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N",
    tehais=(HIDDEN, ("1m",) * 13, HIDDEN, HIDDEN), scores=(25000,) * 4,
)  # fmt: skip
START = StartGame(id=1, names=("a", "b", "c", "d"))
OWN_DRAW = Tsumo(actor=1, pai="C")
DISCARDS = (
    Dahai(actor=1, pai="C", tsumogiri=True),
    Dahai(actor=1, pai="5mr", tsumogiri=False),
    Reach(actor=1),
)
OTHERS = Dahai(actor=0, pai="E", tsumogiri=True)
CLAIMS = (Pon(actor=1, target=0, pai="E", consumed=("E", "E")), Skip())
DRAW = Ryukyoku(reason="fanpai", deltas=(0, 0, 0, 0), scores=(25000,) * 4)

turns = st.one_of(
    st.tuples(st.just(OWN_DRAW), st.just(DISCARDS)),
    st.tuples(st.just(OTHERS), st.sampled_from([(), CLAIMS])),
    st.tuples(st.sampled_from([Tsumo(actor=2, pai="?"), Reach(actor=3)]), st.just(())),
)


@given(
    dialect=st.sampled_from([Dialect.STDIO_LINES, Dialect.STDIO_ARRAYS]),
    play=st.lists(turns, max_size=12),
    data=st.data(),
)
def test_what_is_owed_is_what_our_own_client_says(dialect, play, data):
    server, client = pipe_session(dialect, 1), ClientSession(dialect, seat=1)
    game = [(START, ()), (DEAL, ()), *play, (DRAW, ()), (EndKyoku(), ()), (EndGame(), ())]
    report = []
    for event, offers in game:
        line = server.send(event, offers)
        if line is None:
            assert not server.owes and dialect is Dialect.STDIO_ARRAYS
            continue
        received = client.receive(line)
        report += [type(one).__name__ for one in received.events]
        chosen = data.draw(st.sampled_from(offers)) if offers else None
        assert server.owes == bool(offers) or dialect is Dialect.STDIO_ARRAYS
        if server.owes:
            assert received.duty is not ReplyDuty.MUST_NOT
            assert server.receive(client.reply(chosen)) == (chosen or Skip())
        else:
            assert received.duty is ReplyDuty.MUST_NOT
        assert not server.owes
    whole = dialect is Dialect.STDIO_LINES
    assert report.count("Ryukyoku") == whole  # mjai.app's bots never hear of an end
    assert report[:1] == ["StartGame"] and report[-2:] == ["EndKyoku", "EndGame"]


def test_an_array_begins_with_the_own_last_action_and_ends_with_what_is_asked():
    session = pipe_session(Dialect.STDIO_ARRAYS, 1)
    output = [
        session.send(event, offers)
        for event, offers in [
            (START, ()), (DEAL, ()), (OWN_DRAW, DISCARDS), (DISCARDS[0], ()), (OTHERS, CLAIMS),
            (DRAW, ()), (EndKyoku(), ()),
        ]
    ]  # fmt: skip
    types = [[event["type"] for event in json.loads(line)] for line in output if line]
    assert types == [["start_game"], ["start_kyoku", "tsumo"], ["dahai", "dahai"], ["end_kyoku"]]


@pytest.mark.parametrize("dialect", [Dialect.STDIO_LINES, Dialect.STDIO_ARRAYS])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"thinking ...", "'thinking ...' is no JSON object"),
        (b"[]", "'[]' is no JSON object"),
        (b"\xff", "is no JSON object"),
        (b'{"type":"pon"}', "is not allowed here, only dahai or reach of seat 1 is"),
        (b'{"type":"dahai","actor":1,"pai":"9p"}', "is not allowed here"),
        (b'{"type":"dahai","actor":0,"pai":"C"}', "of seat 1 is"),
        (b'{"type":"' + b"x" * 5000 + b'"}', "xxx ...' is not allowed here"),
    ],
)
def test_what_is_no_answer_is_quoted(dialect, line, problem):
    session = pipe_session(dialect, 1)
    session.send(OWN_DRAW, DISCARDS)
    with pytest.raises(ProtocolError) as caught:
        session.receive(line)
    assert problem in str(caught.value) and len(str(caught.value)) < 300


def test_an_answer_may_leave_out_what_is_plain():
    session = pipe_session(Dialect.STDIO_LINES, 1)
    session.send(OWN_DRAW, DISCARDS)
    assert session.receive(b'{"type":"dahai","pai":"5mr","meta":{"q":[1]}}') == DISCARDS[1]


def test_who_answers_every_event_is_known_by_it_at_its_first_own_turn():
    session = pipe_session(Dialect.STDIO_LINES, 1)
    for event in (START, DEAL):
        session.send(event)
        assert not session.owes
    session.send(OWN_DRAW, DISCARDS)
    answers = [session.receive(b'{"type":"none"}'), session.receive(b'{"type":"none"}')]
    assert answers == [None, None] and session.owes
    assert session.receive(b'{"type":"dahai","actor":1,"pai":"C","tsumogiri":true}') == DISCARDS[0]
    session.send(DISCARDS[0])
    session.send(OTHERS, CLAIMS)
    assert session.receive(b'{"type":"none"}') is None  # its answer to its own discard
    assert session.receive(b'{"type":"none"}') == Skip()


NONE = b'{"type":"none"}'
REFUSED = '\'{"type":"none"}\' is not allowed here, only dahai or reach of seat 1 is'


@pytest.mark.parametrize("claims", [0, 2])
def test_who_passes_at_its_own_turn_and_says_no_more_has_answered_wrongly(claims):
    session = pipe_session(Dialect.STDIO_LINES, 1)
    for event in (START, DEAL):
        session.send(event)
    for _ in range(claims):
        session.send(OTHERS, CLAIMS)
        assert session.receive(NONE) == Skip()
        assert not session.is_guess
    session.send(OWN_DRAW, DISCARDS)
    assert not session.is_guess
    assert session.receive(NONE) is None
    assert session.is_guess and session.owes
    with pytest.raises(ProtocolError, match=re.escape(REFUSED)):
        session.give_up()
    assert not session.owes
    session.send(OWN_DRAW, DISCARDS)
    with pytest.raises(ProtocolError, match=re.escape(REFUSED)):
        session.receive(NONE)


def test_who_says_more_than_it_was_asked_answers_every_event():
    session = pipe_session(Dialect.STDIO_LINES, 1)
    for event in (START, DEAL):
        session.send(event)
    session.send(OWN_DRAW, DISCARDS)
    for guess in (True, False):
        assert session.receive(NONE) is None
        assert session.is_guess is guess


def test_who_answers_where_it_is_asked_is_told_where_it_is_not():
    session = pipe_session(Dialect.STDIO_LINES, 1)
    assert json.loads(session.send(OTHERS))["can_act"] is False
    assert "can_act" not in json.loads(session.send(OTHERS, CLAIMS))
    assert session.receive(b'{"type":"none"}') == Skip()
    session.send(OWN_DRAW, DISCARDS)
    assert session.receive(b'{"type":"reach","actor":1}') == DISCARDS[2]
