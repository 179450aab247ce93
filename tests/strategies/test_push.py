"""What fold-recognition-plus weighs: dangers, threats, hands far from tenpai; how much, exactly."""

import numpy as np
import pytest

from mjbot.game.rules.kinds import hand_counts
from mjbot.game.table.view import View
from mjbot.learning.models.danger import danger_weights, deal_in_chances, grade_chances
from mjbot.learning.models.win_value import typical_points
from mjbot.strategies.evaluation.push_fold.calls import NEAREST, weigh_calls, with_draws
from mjbot.strategies.evaluation.push_fold.hand_value import (
    DETOUR,
    NEVER,
    PAIRS,
    SECOND_WAY,
    WIDEST,
    expected_value,
    less_danger,
)
from mjbot.strategies.evaluation.push_fold.plans import closed_han, open_value, regular_acceptance
from mjbot.strategies.evaluation.push_fold.push import (
    FADING,
    PushParameters,
    PushPosition,
    read_position,
)
from mjbot.strategies.evaluation.push_fold.race import USUAL_TILES, new_stages, stage_value

HAND = "1405m19p55s2234z1s9s"
DRAWS = 10


def parameters(**changes: object) -> PushParameters:
    """Points are worth what they are, nobody else wins, and dangers need not be gone round."""
    plain = PushParameters(
        ron_rate=2.5, call_rate=0.6, score_spread=7000.0, rank_share=0.0, caution=1.0,
        tenpai_points=2000.0, mawashi_cost=0.0, fine_danger=True, hand_quality=True,
        pace=np.zeros((18, 5)),
    )  # fmt: skip
    return plain._replace(**changes)


def weighed(view: View, draws: int = DRAWS, **changes: object) -> PushPosition:
    return read_position(
        view.state, view.seat, view.unseen, draws, danger_weights(), parameters(**changes),
        new_stages(),
    )  # fmt: skip


# --- dangers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fine", [True, False])
def test_a_tile_loses_what_each_opponent_would_be_paid_by_its_chance(position, fine):
    view = position(HAND, drawn="3m", rivers={1: "46m1z", 2: "9p"}, riichi=[1])
    view.state["honba"] = 2
    chance, points = np.zeros((4, 34)), np.zeros((4, 34))
    deal_in_chances(view.state, 0, view.unseen, danger_weights(), chance, points)
    if not fine:
        grade_chances(view.state, 0, view.unseen, danger_weights(), chance)
    here = weighed(view, fine_danger=fine, caution=1.5, mawashi_cost=0.4)
    lost = (chance * (points + 600)).sum(axis=0)
    assert here.loss == pytest.approx(1.5 * lost)
    assert here.deal_in == pytest.approx(1 - (1 - chance).prod(axis=0))
    mean = float(view.unseen @ here.loss) / view.unseen.sum()
    assert here.race.risk == pytest.approx(np.full(19, mean), rel=1e-6)
    assert here.race.evasion == pytest.approx(np.full(19, 0.4 * mean), rel=1e-6)
    kept = 1 - 0.4 * float(view.unseen @ here.deal_in) / view.unseen.sum()
    assert here.race.live == pytest.approx(np.full(19, kept), rel=1e-6)


def test_a_discard_keeps_its_hand_s_worth_unless_it_deals_in(position):
    here = weighed(position(HAND, drawn="3m", rivers={1: "46m1z"}, riichi=[1]))
    values = np.full(37, NEVER)
    values[[0, 4, 34]] = 1000.0
    worths = less_danger(values, here)
    for tile, kind in ((0, 0), (4, 4), (34, 4)):
        assert worths[tile] == pytest.approx(1000 * (1 - here.deal_in[kind]) - here.loss[kind])
    assert (worths[[1, 2, 35, 36]] == NEVER).all()


# --- threats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("riichi", [[2], [1, 2], [1, 2, 3]])
def test_threats_of_now_fade_into_those_that_the_turn_usually_has(position, riichi):
    pace = np.zeros((18, 5))
    pace[:, 1:4], pace[:, 4] = (0.2, 0.3, 0.45), np.arange(18) / 100
    pace[16:, 4] = 0.5
    rivers = {0: "123456z", 1: "8p", 2: "9p", 3: "7p"}
    view = position(HAND, drawn="3m", rivers=rivers, riichi=riichi)
    live = weighed(view, draws=14, pace=pace).race.live
    for ahead in range(14):
        now = pace[0, len(riichi)]
        usual = max(now, pace[min(6 + ahead, 17), 4])
        fade = FADING**ahead
        assert live[14 - ahead] == pytest.approx(1 - fade * now - (1 - fade) * usual)
    assert live[0] == 1


@pytest.mark.parametrize(
    ("changes", "may"),
    [
        ({}, True),
        ({"wall_left": 4}, True),
        ({"wall_left": 3}, False),
        ({"melds": ["777z"], "hand": "1405m19p55s2z"}, False),
    ],
)
def test_riichi_needs_a_closed_hand_and_four_tiles(position, changes, may):
    hand = changes.pop("hand", HAND[:-4])
    view = position(hand, drawn="3m", **changes)
    assert weighed(view).race.may_riichi is may
    view.state["scores"] = 900
    assert weighed(view).race.may_riichi is False


def test_honba_and_sticks_are_won_beside_the_hand(position):
    view = position(HAND, drawn="3m")
    view.state["honba"], view.state["sticks"] = 2, 3
    assert weighed(view).race.extra_points == 3600
    assert weighed(view, tenpai_points=1700.0).race.tenpai_points == pytest.approx(1700)


def test_what_melds_and_red_fives_bring_is_counted(position):
    view = position("0m234p55s1z", drawn="9m", melds=["456m", "111p"], markers="9p5s")
    view.state["meld_red"][0, 0] = 1
    context = weighed(view).hand_context
    assert context.bonus.tolist() == [1 + 3, 1]  # a red five and three 1p; a red five in hand
    for red in range(8):  # a bit for each suit's five
        view.state["meld_red"][0, 0] = red
        assert weighed(view).hand_context.bonus.tolist() == [red.bit_count() + 3, 1]
    record = context.win[0]
    assert (int(record["n_melds"]), int(record["seat_wind"]), int(record["round_wind"])) == (
        2,
        0,
        0,
    )
    view.state["dealer"], view.state["round"] = 1, 5
    again = weighed(view).hand_context
    assert (int(again.win[0]["seat_wind"]), int(again.win[0]["round_wind"])) == (3, 1)
    assert context.is_dealer
    assert not again.is_dealer


# --- hands far from tenpai -------------------------------------------------------------------


def gain(here: PushPosition, hand: np.ndarray) -> float:
    return typical_points(closed_han(hand, here.hand_context), here.hand_context.is_dealer)


def closed(text: str, near: int, here: PushPosition, calls: bool = False) -> float:
    return expected_value(hand_counts(text), 0, False, here, near, 0, calls)


WIDE = "3456m22348p4567s"


def test_a_step_back_keeps_part_of_what_no_more_than_usual_tiles_promise(position):
    hand = hand_counts(WIDE)
    here = weighed(position(WIDE, drawn="1z"))
    stage, accepted = regular_acceptance(hand.copy(), 0)
    tiles = sum(int(here.race.unseen[kind]) for kind in range(34) if accepted >> kind & 1)
    assert tiles > WIDEST * USUAL_TILES[stage]
    most = stage_value(here.race, here.stages, stage, WIDEST * USUAL_TILES[stage], gain(here, hand))
    assert closed(WIDE, stage - 1, here) == pytest.approx(DETOUR * most)
    all_tiles = stage_value(here.race, here.stages, stage, tiles, gain(here, hand))
    assert most < all_tiles


def test_seven_pairs_keep_part_of_what_their_singles_promise(position):
    text = "1199m1199p28m28p4s"
    hand = hand_counts(text)
    here = weighed(position(text, drawn="7z"))
    singles = sum(int(here.race.unseen[kind]) for kind in range(34) if hand[kind] == 1)
    pairs = stage_value(here.race, here.stages, 2, singles, gain(here, hand))
    assert closed(text, 0, here) == pytest.approx(PAIRS * pairs)


def test_the_second_best_way_counts_in_part(position):
    text = "340m67p55z4679s12z"
    hand = hand_counts(text)
    here = weighed(position(text, drawn="9m"))
    alone = closed(text, 2, here)
    other = open_value(hand.copy(), 0, here.race, here.stages, here.hand_context)
    assert min(alone, other) > 0
    both = max(alone, other) + SECOND_WAY * min(alone, other)
    assert closed(text, 2, here, calls=True) == pytest.approx(both)


# --- calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [1, 2, 3])
@pytest.mark.parametrize("wall_left", [20, 21, 22, 23])
def test_who_passes_has_the_draws_that_come_round_to_it(position, source, wall_left):
    text = "340m67p55z4679s12z"
    view = position(text, offered="5z", source=source, wall_left=wall_left)
    codes = np.array([action.code for action in view.legal if action.name == "pon"], np.int64)
    passed = weigh_calls(
        view.state, 0, view.unseen, codes, danger_weights(), parameters(), new_stages(), np.empty(8)
    )
    draws = sum((source + step) % 4 == 0 for step in range(1, wall_left + 1))
    here = with_draws(weighed(view), draws)
    assert passed == pytest.approx(closed(text, NEAREST, here, calls=True))
