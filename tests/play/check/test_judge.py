"""Which check a reply fails, at the borders between two checks; which claim a server must take."""

import json

import pytest

from mjbot.game.referee import Referee
from mjbot.play.check.comparison import wrong_claim
from mjbot.play.check.judge import Owed, judge, occasions_of
from mjbot.protocol.dialects import LOCKSTEP
from mjbot.protocol.messages import Chi, Dahai, Daiminkan, Hora, Pon, ReachAccepted, Tsumo

PON = Pon(actor=3, target=0, pai="4m", consumed=("4m", "4m"))
CHI = Chi(actor=1, target=0, pai="4m", consumed=("5m", "6m"))
KAN = Daiminkan(actor=3, target=0, pai="4m", consumed=("4m", "4m", "4m"))
RON = Hora(actor=2, target=0, pai="4m")


def at_a_draw_with(tiles_left):
    """What a seat owes that has just drawn, with this many tiles left in the wall."""
    referee = Referee(12)
    events = referee.start()
    while True:
        event = events[-1]
        if isinstance(event, Tsumo) and referee.state["wall_left"] == tiles_left:
            return Owed.after(LOCKSTEP, event.actor, event, referee, may_act=True)
        seats = referee.asked
        events = referee.step({seat: referee.view(seat).default_action for seat in seats})


@pytest.mark.parametrize(("tiles_left", "id_"), [(4, "B12"), (3, "B13")])
def test_a_riichi_is_too_late_with_less_than_four_tiles(tiles_left, id_):
    owed = at_a_draw_with(tiles_left)
    assert not any(action.name == "riichi" for action in owed.legal)
    reply = {"type": "reach", "actor": owed.seat}
    assert judge(owed, json.dumps(reply).encode()).id == id_
    discard = {"type": "dahai", "actor": owed.seat}
    assert ("B13" in occasions_of(owed, discard)) == (id_ == "B13")


@pytest.mark.parametrize(
    ("claims", "right", "wrong"),
    [
        ((CHI, PON), PON, CHI),
        ((CHI, KAN), KAN, CHI),
        ((CHI, PON, RON), RON, PON),
        ((CHI,), CHI, Tsumo(actor=1, pai="?")),
    ],
)
def test_a_win_comes_before_pon_and_kan_and_these_before_chi(claims, right, wrong):
    assert wrong_claim(claims, [right]) == ""
    assert "were claimed" in wrong_claim(claims, [wrong])
    assert wrong_claim(claims, [ReachAccepted(actor=0), right]) == ""


def test_a_discard_that_follows_no_claim_is_no_choice_of_the_server():
    assert wrong_claim([], [Dahai(actor=0, pai="4m", tsumogiri=True)]) == ""
