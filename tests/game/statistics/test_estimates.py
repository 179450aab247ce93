"""The intervals hold what they promise, tried on simulated runs whose truth is known."""

import math

import numpy as np
import pytest

from mjbot.game.statistics.estimates import (
    Estimate,
    difference,
    rate,
    ratio,
    t_probability,
    t_quantile,
)

RUNS = 1000
SEATINGS = np.array([[s in pair for s in range(4)] for pair in
                     [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]])  # fmt: skip


def simulated_ranks(rng: np.random.Generator, walls: int) -> np.ndarray:
    """Ranks 1..4 of the seats, [runs, walls, seatings, seats]: a wall favours some seats."""
    luck = rng.normal(size=(RUNS, walls, 1, 4))
    scores = luck + rng.normal(size=(RUNS, walls, len(SEATINGS), 4))
    return 1 + (-scores).argsort(-1).argsort(-1)


def coverage(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


@pytest.mark.parametrize("walls", [5, 50])
def test_the_interval_covers_the_true_zero_of_identical_strategies(walls: int) -> None:
    ranks = simulated_ranks(np.random.default_rng(walls), walls)
    of_a = (ranks * SEATINGS).sum((2, 3)).astype(float)
    of_b = (ranks * ~SEATINGS).sum((2, 3)).astype(float)
    games = np.full(walls, 12.0)
    hits = []
    for run in range(RUNS):
        found = difference((of_a[run], games), (of_b[run], games))
        hits.append(found.low <= 0 <= found.high)
    assert 0.93 <= coverage(hits) <= 0.97


def test_the_interval_of_a_rate_covers_the_truth_though_walls_differ() -> None:
    rng = np.random.default_rng(3)
    walls, true_rate = 60, 0.2
    chances = rng.integers(16, 60, (RUNS, walls)).astype(float)
    of_wall = rng.beta(4, 16, (RUNS, walls))  # mean 0.2
    events = rng.binomial(chances.astype(int), of_wall).astype(float)
    hits = []
    for run in range(RUNS):
        found = rate(events[run], chances[run])
        hits.append(found.low <= true_rate <= found.high)
    assert 0.93 <= coverage(hits) <= 0.97


def test_an_interval_that_took_the_games_for_independent_would_not_hold() -> None:
    """Why clustering is not optional: the same runs, each game its own wall."""
    ranks = simulated_ranks(np.random.default_rng(4), 50)[..., 0]
    hits = []
    for run in range(RUNS):
        games = ranks[run].ravel().astype(float)
        found = ratio(games, np.ones_like(games))
        hits.append(found.low <= 2.5 <= found.high)
    assert coverage(hits) < 0.85


def test_the_same_games_differ_by_exactly_nothing() -> None:
    ranks = np.array([9.0, 12.0, 7.0, 9.0, 10.0, 11.0, 13.0])
    games = np.full(7, 4.0)
    found = difference((ranks, games), (ranks, games))
    assert found == Estimate(0, 0, 0)
    assert found.is_alike


@pytest.mark.parametrize("walls", [2, 3, 6])
def test_a_few_walls_that_came_out_the_same_give_no_interval(walls: int) -> None:
    games = np.full(walls, 12.0)
    mean = ratio(np.full(walls, 27.0), games)
    assert (mean.value, mean.is_bounded) == (2.25, False)
    less = difference((np.full(walls, 27.0), games), (np.full(walls, 30.0), games))
    assert (less.value, less.is_bounded, less.leaves_out_zero) == (-0.25, False, False)
    assert rate(np.full(walls, 7.0), games) == Estimate(pytest.approx(7 / 12), 0, 1)


@pytest.mark.parametrize("walls", [2, 3, 5])
def test_the_interval_holds_on_few_walls_of_few_games(walls: int) -> None:
    ranks = np.random.default_rng(walls).integers(1, 5, (4 * RUNS, walls, 4)).sum(2).astype(float)
    games = np.full(walls, 4.0)
    found = [ratio(ranks[run], games) for run in range(4 * RUNS)]
    assert coverage([estimate.low <= 2.5 <= estimate.high for estimate in found]) >= 0.94
    assert not any(estimate.is_alike for estimate in found)


def test_a_paired_difference_is_narrower_than_the_two_apart() -> None:
    rng = np.random.default_rng(5)
    luck = rng.normal(size=200)
    one, other = luck + 0.1 * rng.normal(size=(2, 200))
    games = np.ones(200)
    paired = difference((one, games), (other, games))
    apart = math.hypot(ratio(one, games).half_width, ratio(other, games).half_width)
    assert paired.half_width < 0.2 * apart


def test_what_never_happened_is_not_known_to_be_impossible() -> None:
    kyoku = np.full(100, 12.0)
    never = rate(np.zeros(100), kyoku)
    assert (never.value, never.low) == (0, 0)
    assert 0.99**100 > (1 - never.high) ** 100 == pytest.approx(0.025)
    always = rate(kyoku, kyoku)
    assert (always.value, always.low, always.high) == (1, 1 - never.high, 1)


def test_no_interval_of_a_rate_leaves_the_range_of_rates() -> None:
    events, chances = np.array([9.0, 10.0, 10.0]), np.full(3, 10.0)
    assert ratio(events, chances).high > 1 > ratio(chances - events, chances).value
    often, rarely = rate(events, chances), rate(chances - events, chances)
    assert (often.value, often.high) == (pytest.approx(29 / 30), 1)
    assert often.low == ratio(events, chances).low
    assert (rarely.value, rarely.low) == (pytest.approx(1 / 30), 0)
    assert rate(events[:1], chances[:1]) == Estimate(0.9, 0, 1)
    assert math.isnan(rate(np.zeros(2), np.zeros(2)).value)


def test_nothing_seen_and_one_wall_say_so() -> None:
    nothing = ratio(np.zeros(3), np.zeros(3))
    assert math.isnan(nothing.value)
    assert math.isnan(difference((np.ones(3), np.ones(3)), (np.zeros(3), np.zeros(3))).value)
    one = ratio(np.array([10.0]), np.array([4.0]))
    assert (one.value, one.low, one.high) == (2.5, -math.inf, math.inf)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 24])
def test_student_s_t_agrees_with_its_density(freedom: int) -> None:
    density = math.gamma((freedom + 1) / 2) / math.sqrt(freedom * math.pi)
    density /= math.gamma(freedom / 2)
    points = np.linspace(0, 2.5, 20001)
    values = density * (1 + points**2 / freedom) ** (-(freedom + 1) / 2)
    area = (values.sum() - (values[0] + values[-1]) / 2) * (points[1] - points[0])
    assert t_probability(2.5, freedom) == pytest.approx(0.5 + area, abs=1e-8)
    assert t_probability(t_quantile(0.975, freedom), freedom) == pytest.approx(0.975)
