"""Which plans a search plays on, and which it drops."""

from types import SimpleNamespace

import numpy as np
import pytest

from mjbot.learning.playouts.override import LEAST_WORLDS, best_plan, gains_on_first, playout_us

WORLDS = 400
SEAT = 2


class Scripted:
    """Playouts whose gains are known: of plan k those of ``gains[k]``, world by world."""

    def __init__(self, *gains: np.ndarray) -> None:
        self.gains = np.stack([np.zeros(WORLDS), *gains])
        self.played = [0] * len(self.gains)

    def compare(self, state, seat, plans, n, *, seed, first):
        ranks = np.zeros((n, len(plans), 4))
        for column, plan in enumerate(plans):
            ranks[:, column, seat] = 2.5 - self.gains[plan, first : first + n]
            self.played[plan] += n
        return SimpleNamespace(ranks=ranks)


def searched(playouts: Scripted, worlds: int):
    view = SimpleNamespace(state=None, seat=SEAT, wall_left=30)
    n = len(playouts.gains)
    budget_ms = worlds * n * playout_us(view.wall_left) / 1000
    return gains_on_first(playouts, view, range(n), budget_ms, seed=0)


def swinging(mean: float, swing: float, n: int = WORLDS) -> np.ndarray:
    """Gains of this mean: by turns above and below it."""
    return mean + swing * np.tile([1.0, -1.0], n // 2)


def test_a_plan_that_is_behind_after_one_round_is_not_given_up_while_it_may_still_win():
    """A quarter of the worlds has it 0.02 ranks behind, with a standard error of 0.05."""
    first = WORLDS // 2 // 4
    behind = np.concatenate([swinging(-0.02, 0.35, first), swinging(0.3, 0.35, WORLDS - first)])
    playouts = Scripted(behind)
    gains = searched(playouts, WORLDS // 2)
    assert gains[1].worlds > 3 * first
    assert gains[1].ranks > 0.1 and best_plan(gains) == 1


def test_a_plan_that_cannot_win_any_more_leaves_its_worlds_to_the_others():
    hopeless, open_ = swinging(-1.0, 0.2), swinging(0.01, 1.0)
    playouts = Scripted(hopeless, open_)
    gains = searched(playouts, WORLDS // 4)
    assert LEAST_WORLDS <= gains[1].worlds < gains[2].worlds
    assert playouts.played[2] > WORLDS // 4
    assert gains[1].ranks == pytest.approx(-1.0, abs=0.02)
