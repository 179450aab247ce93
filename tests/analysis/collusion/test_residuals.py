"""What is left of a game's discards beside the rivals': a pair stands out, what all do does not."""

from dataclasses import replace

import numpy as np
import pytest

from mjbot.analysis.collusion.residuals import CONTRASTS, PAIRS, SPREADS, contrasts, places_of
from mjbot.analysis.collusion.verdicts import STAKES, shipped_weights


def test_what_is_of_one_player_alone_is_not_in_the_second_contrast():
    random = np.random.default_rng(1)
    acts, served = random.normal(size=(2, 30, 4, 5))
    left = contrasts(acts[:, :, None] + served[:, None])
    assert np.abs(left[:, :, 0]).max() > 0.5
    assert left[:, :, 1] == pytest.approx(0)


def test_of_three_what_is_of_the_actor_is_not_in_the_first_nor_of_the_served_in_the_second():
    term = np.random.default_rng(1).normal(size=(30, 3, 5))
    of_actor, of_served = term[:, :, None] + np.zeros((3, 1)), term[:, None] + np.zeros((3, 1, 1))
    for t, contrast in ((of_actor, 0), (of_served, 1)):
        left = contrasts(t)
        assert left[:, :, contrast] == pytest.approx(0)
        assert np.abs(left[:, :, 1 - contrast]).max() > 0.5


@pytest.mark.parametrize(
    ("players", "place"), [(n, place) for n, pairs in PAIRS.items() for place in range(len(pairs))]
)
def test_a_pair_stands_out_in_all_and_nobody_else_does(players, place):
    i, j = PAIRS[players][place]
    t = np.zeros((players, players, 5))
    t[i, j] = t[j, i] = 2.0
    left = contrasts(t).min(axis=1)
    assert left[place] == pytest.approx(2.0)
    assert np.delete(left, place, axis=0).max() <= 0


def test_two_seats_have_one_place_in_either_order():
    for players, pairs in PAIRS.items():
        seats = np.array(pairs, np.int8)
        for order in (seats, seats[:, ::-1]):
            assert places_of(order, players).tolist() == list(range(len(pairs)))


@pytest.mark.parametrize("smallest", range(CONTRASTS))
def test_the_third_contrast_is_judged_by_the_spread_of_the_first(smallest):
    weights = shipped_weights()
    weights = replace(weights, sums=np.eye(5)[:1])
    residuals, products = np.full((CONTRASTS, 5), 90.0), np.zeros((SPREADS, 5, 5))
    residuals[smallest] = 6.0
    products[0, 0, 0], products[1, 0, 0] = 4.0, 9.0
    below = (4.0, 9.0, 4.0)[smallest]
    assert weights.deviates(residuals, products) == pytest.approx([6 / np.sqrt(below)])
    e = np.exp(STAKES * 6 - STAKES**2 * below / 2).mean()
    assert weights.e_values(residuals, products) == pytest.approx(e)
