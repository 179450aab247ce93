"""The sequential test errs no more often than it says, looked at after every wall."""

import numpy as np
import pytest

from mjbot.game.statistics.sequential import (
    ErrorRates,
    SequentialTest,
    TestOutcome,
    confidence_sequence,
)

WALLS = 300
QUICK = ErrorRates(error=0.2, margin=0.3)
"""Wide rates: errors then are frequent enough to be counted in a thousand short runs."""


def challenger_differences(rng: np.random.Generator, mean: float, runs: int) -> np.ndarray:
    """Mean rank of one against three over four seats less 2.5: [runs, walls], in quarters."""
    scores = rng.normal(size=(runs, WALLS, 4, 4))
    ranks = 1 + (scores[..., 1:] > scores[..., :1]).sum(-1)
    better = rng.random(ranks.shape) < abs(mean)
    ranks = np.clip(ranks + np.sign(mean) * better * 4 / 3, 1, 4)
    return ranks.mean(-1) - 2.5


def verdicts(differences: np.ndarray, rates: ErrorRates) -> dict[TestOutcome, float]:
    counts: dict[TestOutcome, float] = {"better": 0, "worse": 0, "equal": 0, "open": 0}
    for run in differences:
        test = SequentialTest(1.5, rates)
        for value in run:
            if test.add(value) != "open":
                break
        counts[test.verdict] += 1 / len(differences)
    return counts


def test_identical_strategies_are_seldom_told_apart() -> None:
    found = verdicts(challenger_differences(np.random.default_rng(1), 0, 1000), QUICK)
    assert found["better"] + found["worse"] <= QUICK.error
    assert found["better"] + found["worse"] > 0, "the test must be able to err to prove a rate"
    assert found["equal"] > 0.5


def test_a_difference_is_found_and_hardly_ever_the_wrong_way_round() -> None:
    values = challenger_differences(np.random.default_rng(2), -0.25, 300)
    found = verdicts(values, ErrorRates())
    assert found["better"] > 0.95
    assert found["worse"] == 0


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_difference_as_large_as_the_margin_is_seldom_called_equal(sign: int) -> None:
    rng = np.random.default_rng(3)
    margin = 0.2
    values = sign * margin + rng.choice([-0.5, -0.25, 0, 0.25, 0.5], (500, 100))
    rates = ErrorRates(error=0.2, margin=margin)
    assert verdicts(values, rates)["equal"] <= rates.error / 2


def test_the_interval_holds_the_truth_at_every_look() -> None:
    rng = np.random.default_rng(4)
    truth, error, missed = -0.1, 0.2, 0
    for _ in range(100):
        values = np.where(rng.random(60) < 0.45, 1.0, -1.0)  # mean -0.1
        looks = [confidence_sequence(values[:n], 1.5, error) for n in (5, 10, 20, 40, 60)]
        missed += any(not low <= truth <= high for low, high in looks)
    assert missed / 100 <= error


def test_the_interval_closes_in_and_agrees_with_the_verdict() -> None:
    rng = np.random.default_rng(5)
    values = rng.choice([-0.75, -0.5, -0.25, 0, 0.25, 0.5], 400)  # mean -0.125
    test = SequentialTest(1.5)
    decided = next(n for n in range(1, 401) if test.add(values[n - 1]) != "open")
    before, after = (confidence_sequence(values[:n], 1.5) for n in (decided - 1, decided))
    assert test.verdict == "better"
    assert before[1] >= 0 > after[1]
    low, high = confidence_sequence(values, 1.5)
    assert low < values.mean() < high
    assert high - low < 0.5 * (before[1] - before[0])


def test_the_order_of_the_walls_does_not_matter_to_the_interval() -> None:
    values = np.random.default_rng(6).normal(0, 0.3, 50).clip(-1.5, 1.5)
    assert confidence_sequence(values, 1.5) == pytest.approx(confidence_sequence(values[::-1], 1.5))


def test_an_impossible_difference_is_refused() -> None:
    with pytest.raises(ValueError, match="exceeds the bound"):
        SequentialTest(1.5).add(1.75)
