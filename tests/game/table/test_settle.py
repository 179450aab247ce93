"""Ranks, and how many kyoku follow."""

import numpy as np
import pytest

from mjbot.game.table.settle import (
    OVER,
    kyoku_after,
    kyoku_left,
    next_kyoku,
    ranks_of,
    seats_by_rank,
)
from mjbot.game.table.state import DRAWN, State, new_state

SHORT, ENOUGH = (26_000, 25_000, 25_000, 24_000), (30_000, 25_000, 25_000, 20_000)


def just_paid(round_: int, scores: tuple[int, ...], stays: bool = False) -> State:
    state = new_state()
    state["scores"], state["round"], state["rules"]["last_round"] = scores, round_, 7
    state["dealer"], state["dealer_stays"], state["phase"] = round_ % 4, stays, DRAWN
    return state


@pytest.mark.parametrize(
    ("round_", "scores", "stays", "left"),
    [
        (0, SHORT, False, 7),
        (0, SHORT, True, 8),  # East 1 once more
        (6, ENOUGH, False, 1),  # South 4
        (6, ENOUGH, True, 2),
        (7, ENOUGH, False, OVER),
        (7, ENOUGH, True, 1),  # a dealer that is not first goes on
        (7, SHORT, False, 1),  # nobody has 30,000: West 1, and perhaps more
        (8, SHORT, False, 1),
        (11, SHORT, False, OVER),
        (2, (-100, 50_100, 25_000, 25_000), False, OVER),
    ],
)
def test_how_many_kyoku_are_left(round_, scores, stays, left):
    assert kyoku_left(just_paid(round_, scores, stays)) == left


def test_what_would_be_left_does_not_depend_on_the_scores_at_the_table():
    state = just_paid(7, SHORT)
    supposed = np.array(ENOUGH, np.int32)
    assert [kyoku_after(state, supposed, stays, by_win=True) for stays in (0, 1)] == [OVER, 1]
    assert (kyoku_left(state), next_kyoku(state)) == (1, (8, 1))


def test_of_equal_scores_the_earlier_seat_ranks_first():
    assert ranks_of((25_000,) * 4) == [1, 2, 3, 4]
    assert ranks_of((20_000, 30_000, 20_000, 30_000)) == [3, 1, 4, 2]
    assert seats_by_rank((20_000, 30_000, 20_000, 30_000)) == [1, 3, 0, 2]
