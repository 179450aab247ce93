import pytest

from mjbot.protocol.masking import HIDDEN_HAND, masked
from mjbot.protocol.messages import (
    Ankan,
    Chi,
    Dahai,
    EndKyoku,
    Hint,
    Kakan,
    Pon,
    Reach,
    StartGame,
    StartKyoku,
    Tsumo,
)

HANDS = tuple((tile,) * 13 for tile in ("1m", "2m", "3m", "4m"))
DEAL = StartKyoku(bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N", tehais=HANDS)


@pytest.mark.parametrize("seat", range(4))
def test_a_seat_sees_its_own_hand_only(seat):
    shown = masked(DEAL, seat).tehais
    assert shown[seat] == HANDS[seat]
    assert all(shown[other] == HIDDEN_HAND for other in range(4) if other != seat)


def test_a_draw_is_seen_by_the_drawer_with_its_offers():
    draw = Tsumo(actor=2, pai="5mr", possible_actions=(Hint(type="reach", actor=2),))
    assert masked(draw, 2) == draw
    assert masked(draw, 0) == Tsumo(actor=2, pai="?")


def test_everybody_is_told_its_own_number():
    assert [masked(StartGame(names=("a",) * 4), seat).id for seat in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "event",
    [
        Dahai(actor=1, pai="E", tsumogiri=True),
        Kakan(actor=1, pai="E", consumed=("E", "E", "E")),
    ],
)
def test_offers_on_a_tile_reach_those_who_may_claim_it(event):
    pon = Hint(type="pon", actor=3, pai="E")
    kind = type(event)
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    offered = kind(**fields | {"possible_actions": (pon,)})
    assert masked(offered, 3).possible_actions == (pon,)
    assert masked(offered, 0).possible_actions == ()
    assert masked(offered, 1).possible_actions is None
    assert masked(event, 3) == event


@pytest.mark.parametrize(
    "event",
    [
        Chi(actor=1, target=0, pai="1m", consumed=("2m", "3m"), cannot_dahai=("4m",)),
        Pon(actor=1, target=0, pai="1m", consumed=("1m", "1m"), cannot_dahai=()),
        Reach(actor=1, cannot_dahai=("E",)),
    ],
)
def test_forbidden_discards_are_told_to_the_discarder_only(event):
    assert masked(event, 1) == event
    assert masked(event, 2).cannot_dahai is None
    assert masked(event, 2).actor == 1


@pytest.mark.parametrize("event", [Ankan(actor=1, consumed=("1m",) * 4), EndKyoku()])
def test_the_rest_is_public(event):
    assert all(masked(event, seat) == event for seat in range(4))
