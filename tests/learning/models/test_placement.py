"""The worth of points by the rank they bring, against plain enumeration of the other three."""

from math import exp, pi, sqrt

import numpy as np
import pytest

from mjbot.game.table.settle import OVER
from mjbot.game.table.state import State, new_state
from mjbot.learning.models.placement import (
    LOWEST,
    N_STEPS,
    STEP,
    expected_bonuses,
    final_value,
    rank_worth,
)

STEEP = 1.0
"""A swing so small that only the order of the scores counts."""


LEAGUE = np.array([50_000.0, 10_000, -10_000, -30_000])


def standing(*scores: int, round_: int = 7) -> State:
    """After so many of the eight kyoku of a hanchan, seats in order."""
    state = new_state()
    state["scores"], state["round"], state["rules"]["last_round"] = scores, round_, 7
    return state


def worths(state: State, seat: int, swing: float, share: float = 1.0) -> dict[int, float]:
    table = np.empty(N_STEPS)
    rank_worth(state, seat, swing, share, table)
    return {LOWEST + STEP * place: float(worth) for place, worth in enumerate(table)}


def rank(state: State, seat: int, points: float, deviation: float) -> float:
    """One, and one more for each other seat by the chance that it ends above.

    That chance is logistic, of a difference whose standard deviation is ``deviation``.
    """
    scale = deviation * sqrt(3) / pi
    expected = 1.0
    for other in range(4):
        if other != seat:
            behind = float(state["scores"][seat] - state["scores"][other]) + points * 4 / 3
            behind += 50 if seat < other else -50
            expected += 1 / (1 + exp(behind / scale))
    return expected


@pytest.mark.parametrize(("round_", "kyoku"), [(0, 8), (4, 4), (7, 1), (9, 1)])
@pytest.mark.parametrize("seat", range(4))
def test_worth_of_ranks_is_what_enumeration_gives(round_, kyoku, seat):
    state, swing = standing(31_000, 22_500, 22_500, 24_000, round_=round_), 7000.0
    deviation = swing * sqrt(kyoku)
    here = rank(state, seat, 0, deviation)
    lost, won = rank(state, seat, -1000, deviation), rank(state, seat, 1000, deviation)
    table = worths(state, seat, swing)
    for points in (-12_000, -4_000, 2_000, 8_000, 32_000):
        slow = (here - rank(state, seat, points, deviation)) / (lost - won) * 2000
        assert table[points] == pytest.approx(slow, rel=0.01), points


def test_of_equal_scores_the_earlier_seat_ranks_first():
    state = standing(25_000, 25_000, 25_000, 25_000)
    tables = [worths(state, seat, STEEP) for seat in range(4)]
    won, lost = [table[500] for table in tables], [table[-500] for table in tables]
    # within 1,000 points either way there are three ranks, so each is worth 2,000 / 3
    assert won == pytest.approx([0, 2000 / 3, 4000 / 3, 2000], abs=1e-6)
    assert lost == pytest.approx([-2000, -4000 / 3, -2000 / 3, 0], abs=1e-6)


def test_the_others_pay_for_what_one_gains():
    """1,000 points gained are 1,333 on each other."""
    state = standing(25_000, 26_250, 60_000, 60_000)
    table = worths(state, 0, STEEP)
    assert table[500] == pytest.approx(0, abs=1e-6)
    assert table[1000] > 0
    state = standing(25_000, 26_450, 60_000, 60_000)
    assert worths(state, 0, STEEP)[1000] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_of_the_worth_is_points(share):
    state = standing(31_000, 22_500, 22_500, 24_000)
    by_rank = worths(state, 1, 7000.0)
    for points, worth in worths(state, 1, 7000.0, share).items():
        assert worth == pytest.approx(share * by_rank[points] + (1 - share) * points)


def test_where_no_rank_is_open_a_change_is_worth_little():
    """The slope has a least value, or the smallest chance of a rank would be blown up."""
    state = standing(25_000, 60_000, -5_000, -5_000)
    assert worths(state, 0, STEEP)[1000] == pytest.approx(0, abs=1e-6)
    assert worths(state, 0, STEEP)[28_000] == pytest.approx(1000 / 0.004)


# --- scores with a bonus by rank ---


def test_at_the_end_sticks_go_to_the_first_and_ranks_are_what_they_are():
    ended = standing(30_000, 25_000, 25_000, 20_000)
    ended["sticks"] = 2
    worths = [final_value(ended.copy(), seat, LEAGUE) for seat in range(4)]
    assert worths == [82_000, 35_000, 15_000, -10_000]


def test_before_the_end_there_is_no_bonus():
    goes_on = standing(26_000, 25_000, 25_000, 24_000, round_=5)
    goes_on["sticks"] = 2
    assert final_value(goes_on, 0, LEAGUE) == 26_000


@pytest.mark.parametrize("left", [OVER, 1, 4])
@pytest.mark.parametrize("players", [3, 4])
def test_bonuses_expected_together_add_up_to_what_there_is(left, players):
    scores = np.array([41_000, 8_300, 25_700, 25_000], np.int32)[:players]
    bonuses = expected_bonuses(scores, left, LEAGUE)[:players]
    assert bonuses.sum() == pytest.approx(LEAGUE[:players].sum())
    order = np.argsort(-bonuses).tolist()
    assert order == [seat for seat in (0, 2, 3, 1) if seat < players]
