"""Client and server sessions talk to each other in memory, in whatever order events come."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from mjbot.protocol.dialects import Dialect
from mjbot.protocol.masking import masked
from mjbot.protocol.messages import (
    Dahai,
    Dora,
    EndGame,
    EndKyoku,
    Hora,
    Pon,
    Reach,
    ReachAccepted,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
)
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.lockstep_server import LockstepSession
from mjbot.protocol.sessions.request_server import RequestSession
from mjbot.protocol.sessions.turns import Due, ReplyDuty

NAMES = ("a", "b", "c", "d")
HANDS = tuple((tile,) * 13 for tile in ("1m", "2m", "3m", "4m"))
DEAL = StartKyoku(
    bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N", tehais=HANDS,
    scores=(25000,) * 4,
)  # fmt: skip
POINTS = (24000, 25000, 25000, 25000)

seats = st.integers(0, 3)
in_kyoku = st.one_of(
    st.builds(Tsumo, actor=seats, pai=st.sampled_from(["5m", "5mr", "C"])),
    st.builds(Dahai, actor=seats, pai=st.sampled_from(["5p", "E"]), tsumogiri=st.booleans()),
    st.builds(Pon, actor=seats, target=seats, pai=st.just("E"), consumed=st.just(("E", "E"))),
    st.builds(Reach, actor=seats),
    st.builds(ReachAccepted, actor=seats, deltas=st.just((-1000, 0, 0, 0)), scores=st.just(POINTS)),
    st.just(Dora(dora_marker="P")),
)
kyokus = st.lists(st.lists(in_kyoku, max_size=12), max_size=3)


def answer_to(due, seat):
    """An answer of a kind that fits; whether a table would take it is not asked here."""
    if due is Due.TURN:
        return Dahai(actor=seat, pai="5m", tsumogiri=False)
    if due is Due.DISCARD:
        return Dahai(actor=seat, pai="E", tsumogiri=False)
    if due is Due.ROB:
        return Hora(actor=seat, target=(seat + 1) % 4, pai="E")
    return None


def _what(event):
    return type(event), getattr(event, "actor", None)


def all_events(games):
    yield StartGame(names=NAMES)
    for kyoku in games:
        events = (DEAL, *kyoku, EndKyoku())
        yield from [next(alike) for _, alike in groupby(events, _what)]  # twice is once
    yield EndGame(scores=POINTS)


@given(kyokus, seats)
def test_lockstep_sessions_never_lose_step(games, seat):
    client, server = ClientSession(Dialect.TCP, name="bot"), LockstepSession()
    client.receive(server.hello())
    assert server.join(client.reply(None)).name == "bot"
    for event in all_events(games):
        shown = masked(event, seat)
        received = client.receive(server.send(shown))
        assert received.due is server.due
        if isinstance(event, StartKyoku):
            assert received.events[0].scores is None
        else:
            assert received.events == (shown,)
        if received.duty is ReplyDuty.MUST:
            answer = answer_to(received.due, seat)
            assert server.receive(client.reply(answer)) == (answer or Skip())
    assert server.due is Due.NOTHING and client.seat == seat


@given(kyokus, seats)
def test_request_sessions_ask_and_are_answered_by_id(games, seat):
    client, server = ClientSession(Dialect.RIICHILAB), RequestSession()
    for event in all_events(games):
        received = client.receive(server.send(masked(event, seat)))
        assert received.duty is ReplyDuty.MUST_NOT
        answer = answer_to(received.due, seat)
        if answer is None:
            continue
        asked = client.receive(server.request([Skip(), answer]))
        assert asked.duty is ReplyDuty.MUST and asked.deadline_ms == 18000
        verdict = server.receive(client.reply(answer), 50)
        assert (verdict.status, verdict.choice) == ("accepted", 1)
        assert client.receive(verdict.ack).duty is ReplyDuty.MUST_NOT
