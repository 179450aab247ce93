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


@pytest.mark.parametrize("place", range(6))
def test_a_pair_stands_out_in_both_and_its_rivals_in_one(place):
    i, j = PAIRS[place]
    t = np.zeros((4, 4, 5))
    t[i, j] = t[j, i] = 2.0
    left = contrasts(t).min(axis=1)
    assert left[place] == pytest.approx(2.0)
    assert np.delete(left, place, axis=0).max() <= 0


def test_two_seats_have_one_place_in_either_order():
    seats = np.array(PAIRS, np.int8)
    assert places_of(seats).tolist() == places_of(seats[:, ::-1]).tolist() == list(range(6))


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
