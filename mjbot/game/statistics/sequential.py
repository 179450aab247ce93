"""A sequential test, evaluated after every wall: is one better, or is there no difference?

The walls' paired rank differences are independent and bounded.  For every mean that they might
have a gambler bets on the next difference; at the true mean the game is fair, so by Ville's
inequality the capital ever reaches 1 / error with probability ``error`` at most, however often
one looks and whenever one stops.  The means at which it never did are the *confidence sequence*:
an interval that holds the truth at all times at once with probability 1 - error.

Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS
B 86, 2024: theorem 1 and the hedged capital of section 4, here with a fixed mixture of constant
bets for each direction (their section 4.4 sketches such mixtures).  No normality is assumed.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

BETS: Final = 0.9 * 0.5 ** np.arange(11.0)
"""Shares of the most that may be bet without risking ruin: from 0.9 down to 0.0009."""

TestOutcome = Literal["better", "worse", "equal", "open"]
"""The result for the first against the second: a better rank is the smaller one."""


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """What may go wrong at most, however long the test runs.

    If the true rank difference is zero, it is called *better* or *worse* with probability
    ``error`` at most; the wrong way round if it is not zero with ``error / 2``.  If it is
    ``margin`` ranks or more either way, it is called *equal* with ``error / 2`` at most.
    """

    error: float = 0.05
    margin: float = 0.05


class SequentialTest:
    """Takes rank differences wall by wall; ``bound`` is the largest that can occur.

    >>> test = SequentialTest(bound=1.5)
    >>> [test.add(-0.5 if wall % 3 else 0.25) for wall in range(60)][9::10]
    ['open', 'open', 'open', 'open', 'open', 'better']
    """

    def __init__(self, bound: float, rates: ErrorRates | None = None) -> None:
        self.bound: Final = bound
        self.rates: Final = rates or ErrorRates()
        self.n = 0
        margin = self.rates.margin
        # Four gamblers: two bet that the mean is below 0 and margin, two above 0 and -margin.
        self._signs = np.array([[-1.0], [-1.0], [1.0], [1.0]])
        self._means = self._signs * np.array([[0.0], [margin], [0.0], [-margin]])
        self._logs = np.zeros((4, len(BETS)))
        self._refuted = np.zeros(4, np.bool_)

    def add(self, difference: float) -> TestOutcome:
        """Take one wall's difference (first less second, in ranks) and return the verdict."""
        if abs(difference) > self.bound + 1e-9:
            raise ValueError(f"a rank difference of {difference} exceeds the bound {self.bound}")
        self.n += 1
        self._logs += _log_growth(self._signs * difference, self._means, self.bound)
        self._refuted |= _log_mixture(self._logs) >= math.log(2 / self.rates.error)
        return self.verdict

    @property
    def verdict(self) -> TestOutcome:
        """What is known so far; never goes back to *open*."""
        not_zero_or_more, not_margin, not_zero_or_less, not_minus_margin = self._refuted.tolist()
        if not_zero_or_more:
            return "better"
        if not_zero_or_less:
            return "worse"
        return "equal" if not_margin and not_minus_margin else "open"


def confidence_sequence(
    differences: NDArray[np.float64], bound: float, error: float = 0.05
) -> tuple[float, float]:
    """Return the interval after the last of these differences (float64[n_walls])."""
    values, counts = np.unique(differences, return_counts=True)
    limit = math.log(2 / error)
    low = _largest_refuted(values, counts, bound, limit)
    high = -_largest_refuted(-values, counts, bound, limit)
    return low, high


def _largest_refuted(
    values: NDArray[np.float64], counts: NDArray[np.int64], bound: float, limit: float
) -> float:
    """Return up to which mean the bets on more have won enough: they win less against more."""
    low, high = -bound, bound
    for _ in range(40):
        mean = (low + high) / 2
        logs = _log_growth(values[:, None], mean, bound)
        if _log_mixture(counts @ logs) >= limit:
            low = mean
        else:
            high = mean
    return low


def _log_growth(
    value: float | NDArray[np.float64], mean: float, bound: float
) -> NDArray[np.float64]:
    """Return the log growth of the capital of each bet that values lie above ``mean``."""
    growth: NDArray[np.float64] = np.log1p(BETS * (value - mean) / (mean + bound))
    return growth


def _log_mixture(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean capital of all bets (the last axis)."""
    top = logs.max(-1)
    mixed: NDArray[np.float64] = top + np.log(np.exp(logs - top[..., None]).mean(-1))
    return mixed
