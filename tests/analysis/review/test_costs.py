"""What is stated of the cost of a choice: costs of any size inside their interval, and sums."""

import numpy as np
import pytest

from mjbot.analysis.review.cost_prior import SHARES, SPREADS, Cost, CostPrior
from mjbot.analysis.review.playouts import (
    FIRST_WORLDS,
    INTERVAL,
    PRIOR,
    Shown,
    cost_of,
    points_given,
    sum_of_all,
    sum_of_costs,
    verdict_of,
)
from mjbot.game.statistics.estimates import Estimate
from mjbot.learning.playouts.override import Gain
from proof.cost_spread import simulate, simulated, two_classes

RUNS = 300


def drawn_costs(n, random, scatter):
    """Return true costs as the prior has them."""
    classes = random.choice(len(SHARES), n, p=SHARES)
    return random.normal(0, np.array(SPREADS)[classes] * scatter)


@pytest.mark.parametrize("cost", [0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("seed", [3, 4])
def test_nine_of_ten_intervals_hold_a_real_blunder(cost, seed):
    found = [simulate(cost, 0.3, np.random.default_rng((seed, n)))[0] for n in range(RUNS)]
    inside = sum(each.low <= cost <= each.high for each in found)
    assert inside >= 0.9 * RUNS
    assert np.mean([each.value for each in found]) == pytest.approx(cost, rel=0.1)


def test_of_many_choices_the_shown_ones_cost_what_is_stated():
    """Of true costs as the prior has them, with worlds dealt until each is settled."""
    random, shown, true = np.random.default_rng(4), [], []
    for scatter in random.choice([0.1, 0.2, 0.4], 3_000):
        (cost,) = drawn_costs(1, random, scatter)
        stated, _ = simulate(cost, scatter, random)
        if verdict_of(stated) == "shown":
            shown.append((stated.value, stated.low, stated.high))
            true.append(cost)
    means, lows, highs = np.array(shown).T
    assert len(true) > 100
    assert np.mean(means) == pytest.approx(np.mean(true), abs=0.003)
    assert 0.92 < np.mean((lows < true) & (true < highs)) < 0.98
    assert np.mean(np.array(true) > 0) > 0.98


def test_a_mixture_is_that_of_its_density():
    prior, gain = CostPrior((0.7, 0.3), (0.1, 0.8)), Gain(0.05, 0.02, 100)
    grid = np.linspace(-0.4, 0.4, 400_001)
    spreads = np.array(prior.spreads) * 0.2  # of one world: 0.02 sqrt(100)
    normal = np.exp(-0.5 * (grid / spreads[:, None]) ** 2) / spreads[:, None]
    density = np.array(prior.shares) @ normal * np.exp(-0.5 * ((grid - 0.05) / 0.02) ** 2)
    density /= density.sum()
    mean = float((grid * density).sum())
    error = float(((grid - mean) ** 2 * density).sum()) ** 0.5
    low, high = np.interp([0.025, 0.975], density.cumsum(), grid)
    assert prior.posterior(gain) == pytest.approx((mean, low, high, error), abs=1e-5)


def test_where_worlds_agree_nothing_is_taken_off():
    assert PRIOR.posterior(Gain(0.3, 0.0, 128)) == Cost(0.3, 0.3, 0.3, 0.0)


def test_points_lose_what_chance_gave_both():
    """Where worlds are lucky for the places and points go with them, both are drawn back."""
    random = np.random.default_rng(5)
    ranks = random.normal(0, 0.3, 512)
    ranks += 0.03 - ranks.mean()
    points = 4000 * ranks + random.normal(0, 500, 512)
    gain = Gain.of(ranks)
    true = PRIOR.posterior(gain)
    found = points_given(points, ranks, true)
    assert found.value == pytest.approx(points.mean() - 4000 * (gain.ranks - true.mean), rel=0.02)
    assert found.half_width < INTERVAL * points.std() / 512**0.5
    apart = random.normal(300, 500, 512)  # nothing to do with the places
    assert points_given(apart, ranks, true).value == pytest.approx(apart.mean(), abs=5)
    alike = np.full(512, 0.1)
    assert points_given(apart, alike, PRIOR.posterior(Gain.of(alike))).value == apart.mean()


def test_the_interval_of_the_points_keeps_the_error_of_the_places():
    """Points that are places in another unit are as uncertain as the places."""
    ranks = np.random.default_rng(6).normal(0.05, 0.3, 512)
    true = PRIOR.posterior(Gain.of(ranks))
    found = points_given(4000 * ranks, ranks, true)
    assert found.value == pytest.approx(4000 * true.mean)
    assert found.half_width == pytest.approx(INTERVAL * 4000 * true.error)


def test_a_sum_adds_means_that_no_stopping_has_moved():
    """In reviews of 35 choices, worlds dealt until each is settled, sums hold the true sum."""
    random, off, inside = np.random.default_rng(7), [], 0
    for _ in range(120):
        true = drawn_costs(35, random, 0.23)
        found = []
        for cost in true:
            first = Gain(random.normal(cost, 0.23 / 128**0.5), 0.23 / 128**0.5, FIRST_WORLDS)
            found.append(Shown(cost_of(first), cost_of(first), Gain(-9.0, 1.0, 9), first))
        total = sum_of_all(found)
        off.append(total.value - true.sum())
        inside += total.low <= true.sum() <= total.high
    assert abs(np.mean(off)) < 3 * np.std(off) / len(off) ** 0.5
    assert 0.88 * len(off) < inside


def test_costs_of_single_choices_add_up_with_their_errors():
    total = sum_of_costs([Estimate(0.1, 0.07, 0.13), Estimate(0.2, 0.16, 0.24)])
    assert (total.value, total.half_width) == pytest.approx((0.3, 0.05))
    assert sum_of_costs([]) == Estimate(0.0, 0.0, 0.0)


def test_the_fit_finds_two_classes_again():
    random = np.random.default_rng(8)
    spread = np.where(random.random(2000) < 0.1, 0.5, 0.06)
    x = random.normal(0, spread) + random.normal(0, 0.088, 2000)
    share, narrow, wide, _ = two_classes(x, np.full(2000, 0.088))
    assert (share, narrow, wide) == pytest.approx((0.1, 0.06, 0.5), rel=0.2)


def test_the_table_of_the_simulation_has_a_line_for_each_cost():
    assert len(list(simulated(runs=2))) == 7
