import json

import pytest

from mjbot.protocol.messages import (
    Ankan,
    Chi,
    Dahai,
    Hora,
    Pon,
    Reach,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
)
from mjbot.protocol.sessions.request_server import RequestSession, TimeLimits

LIMITS = TimeLimits(grace_ms=3000, bank_ms=5000)
OWN_TURN = (
    Dahai(actor=0, pai="E", tsumogiri=False),
    Dahai(actor=0, pai="E", tsumogiri=True),
    Dahai(actor=0, pai="W", tsumogiri=True),
    Reach(actor=0),
    Hora(actor=0, target=0, pai="W"),
    Ankan(actor=0, consumed=("5p", "5p", "5p", "5pr")),
)
CLAIMS = (
    Skip(),
    Chi(actor=0, target=3, pai="4p", consumed=("5p", "6p")),
    Chi(actor=0, target=3, pai="4p", consumed=("5pr", "6p")),
    Pon(actor=0, target=3, pai="4p", consumed=("4p", "4p")),
)


def asked(offers, limits=LIMITS):
    session = RequestSession(limits)
    return session, json.loads(session.request(offers))


def reply(session, elapsed_ms=100, **fields):
    return session.receive(json.dumps(fields), elapsed_ms)


def test_a_request_lists_terse_offers_and_the_time_left():
    session = RequestSession(LIMITS)
    session.send(StartGame(id=0))
    request = json.loads(session.request(CLAIMS))
    assert request["request_id"] == 1
    assert request["time"] == {"grace_ms": 3000, "bank_ms": 5000, "deadline_ms": 8000}
    assert request["possible_actions"][:2] == [
        {"type": "none", "actor": 0},
        {"type": "chi", "actor": 0, "pai": "4p", "consumed": ["5p", "6p"]},
    ]
    assert json.loads(session.request(OWN_TURN))["possible_actions"] == [
        {"type": "dahai", "actor": 0, "pai": "E"},  # once, from the hand or as drawn
        {"type": "dahai", "actor": 0, "pai": "W"},
        {"type": "reach", "actor": 0},
        {"type": "hora", "actor": 0},
        {"type": "ankan", "actor": 0, "pai": "5pr", "consumed": ["5pr", "5p", "5p", "5p"]},
    ]


@pytest.mark.parametrize(
    ("offers", "fields", "choice"),
    [
        (OWN_TURN, {"type": "dahai", "pai": "E"}, 0),
        (OWN_TURN, {"type": "dahai", "pai": "E", "tsumogiri": True}, 1),
        (OWN_TURN, {"type": "dahai", "pai": "W", "tsumogiri": False}, 2),
        (OWN_TURN, {"type": "dahai", "pai": "W", "actor": 3}, 2),
        (OWN_TURN, {"type": "reach", "pai": "W"}, 3),
        (OWN_TURN, {"type": "hora"}, 4),
        (OWN_TURN, {"type": "ankan", "pai": "?", "consumed": ["5pr", "5p", "5p", "5p"]}, 5),
        (CLAIMS, {"type": "none"}, 0),
        (CLAIMS, {"type": "chi", "pai": "4p", "consumed": ["6p", "5pr"]}, 2),
        (CLAIMS, {"type": "pon"}, 3),
    ],
)
def test_a_reply_may_leave_out_what_is_plain(offers, fields, choice):
    session, request = asked(offers)
    verdict = reply(session, **fields, request_id=request["request_id"])
    assert (verdict.status, verdict.choice) == ("accepted", choice)
    assert json.loads(verdict.ack)["status"] == "accepted"


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "dahai", "pai": "N"},
        {"type": "dahai"},
        {"type": "dahai", "pai": ["E"]},
        {"type": "ryukyoku"},
        {"type": "ankan", "consumed": ["5p", "5p", "5p", "5p"]},
        {"type": "ankan", "consumed": 5},
        {"type": ["dahai"]},
        {},
    ],
)
def test_what_was_not_offered_is_rejected(fields):
    session, _ = asked(OWN_TURN)
    assert reply(session, **fields, request_id=1).status == "rejected"


@pytest.mark.parametrize("frame", ["{oops", "[]", "7", b"\xff", "[" * 100_000])
def test_what_is_no_object_is_unparseable(frame):
    session, _ = asked(OWN_TURN)
    assert session.receive(frame, 100).status == "unparseable"


@pytest.mark.parametrize("request_id", [0, -1, 2, "1", True, 1.5])
def test_an_id_that_was_never_given_is_unparseable(request_id):
    session, _ = asked(CLAIMS)
    assert reply(session, type="none", request_id=request_id).status == "unparseable"


def test_an_old_reply_is_stale_and_the_request_stands():
    session, _ = asked(CLAIMS)
    session.request(OWN_TURN)
    assert reply(session, type="none", request_id=1).status == "stale"
    assert reply(session, type="hora", request_id=2).status == "accepted"
    assert reply(session, type="hora", request_id=2).status == "stale"


def test_a_reply_without_an_id_answers_the_open_request():
    session, _ = asked(CLAIMS)
    assert reply(session, type="none").status == "accepted"


def test_time_past_the_grace_comes_out_of_the_bank_until_the_next_kyoku():
    session, _ = asked(CLAIMS)
    ack = json.loads(reply(session, elapsed_ms=4000, type="none").ack)
    assert (ack["elapsed_ms"], ack["bank_ms"]) == (4000, 4000)
    request = json.loads(session.request(OWN_TURN))
    assert request["time"] == {"grace_ms": 3000, "bank_ms": 4000, "deadline_ms": 7000}
    assert json.loads(session.expire().ack)["bank_ms"] == 0
    assert session.deadline_ms == 3000
    hands = (("?",) * 13,) * 4
    deal = StartKyoku(
        bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N", tehais=hands,
        scores=(25000,) * 4,
    )  # fmt: skip
    session.send(deal)
    assert session.deadline_ms == 8000


def test_a_late_reply_is_stale_after_the_default_was_played():
    session, _ = asked(CLAIMS)
    expired = session.expire()
    assert (expired.status, json.loads(expired.ack)["status"]) == ("defaulted", "defaulted")
    assert reply(session, type="none", request_id=1).status == "stale"


def test_events_go_out_in_riichilabs_words():
    assert json.loads(RequestSession().send(Tsumo(actor=1, pai="?", possible_actions=()))) == {
        "type": "tsumo", "actor": 1, "pai": "?",
    }  # fmt: skip
