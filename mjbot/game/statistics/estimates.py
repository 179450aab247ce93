"""Means and ratios with 95 % intervals, clustered by wall.

All games of one wall share its luck, so a wall with all its seatings is one observation: a
*cluster*.  Every figure is a ratio of two sums over the walls (wins over kyoku, ranks over
games); its interval comes from the walls' residuals by the delta method, with Student's t for
the few walls of a short run (Cameron and Miller, "A practitioner's guide to cluster-robust
inference", Journal of Human Resources 50, 2015).

Walls that all came out the same show nothing of their spread: the estimate of it is 0, and so
would be the interval's width.  By chance that is common on two walls (a mean of four ranks takes
the same value twice in some 13 % of cases), though never of a figure that is fixed by the rules
of the run, such as the average rank of four equal players.  If no value comes up on more than
half of all walls, n walls agree with probability 2 ** (1 - n) at most, which is 1.6 % from
:data:`LEAST_ALIKE` = 7 on and below the 2.5 % that each end of an interval may err.  So fewer
equal walls give no interval (it is unbounded), and from there on the figure counts as *alike*:
its interval has no width, and reports show it with that word.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

CONFIDENCE: Final = 0.95
MOST_FREEDOM: Final = 1000
"""From here on the t distribution is taken as it is here: 0.1 % too wide at most."""
ROUNDING: Final = 1e-9
"""Residuals below this are none: figures are of the order of 1 or more."""
RELATIVE_ROUNDING: Final = 1e-11
"""A sum of squares below this part of its terms is none."""

LEAST_ALIKE: Final = 7
"""From so many walls on it is no chance that all came out the same; see above."""

PerWall = NDArray[np.float64]
"""One number per wall: float64[n_walls]."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and its interval; all three are ``nan`` where nothing was observed.

    With a single wall, or a few that came out the same, nothing is known of the spread: the
    interval is then unbounded.
    """

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def is_bounded(self) -> bool:
        """Whether there is an interval at all."""
        return math.isfinite(self.half_width)

    @property
    def is_alike(self) -> bool:
        """Whether every wall gave this very value."""
        return self.low == self.high

    @property
    def leaves_out_zero(self) -> bool:
        """Whether the whole interval lies on one side of 0: of a difference, the 95 % verdict."""
        return self.low > 0 or self.high < 0

    def times(self, factor: float) -> "Estimate":
        """Return the same in a unit that is 1 / ``factor`` (more than 0) as large."""
        return Estimate(factor * self.value, factor * self.low, factor * self.high)

    def text(self, number: str = ".4f") -> str:
        """Return the figure and its interval, each in the format ``number``.

        >>> Estimate(0.25, 0.2, 0.3).text(), Estimate(1250, 900, 1600).text("+,.0f")
        ('0.2500 [0.2000, 0.3000]', '+1,250 [+900, +1,600]')
        """
        return f"{self.value:{number}} [{self.low:{number}}, {self.high:{number}}]"

    def __str__(self) -> str:
        return self.text(".4g")


NOTHING: Final = Estimate(math.nan, math.nan, math.nan)


def ratio(numerators: PerWall, denominators: PerWall) -> Estimate:
    """Return sum(numerators) / sum(denominators) with its interval.

    A mean per game is the ratio of a sum to the number of games.

    >>> games = np.array([4.0, 4.0, 4.0, 4.0])
    >>> print(ratio(np.array([9.0, 10.0, 11.0, 10.0]), games))
    2.5 [2.175, 2.825]
    """
    if not denominators.sum():
        return NOTHING
    value = float(numerators.sum() / denominators.sum())
    return around(value, _residuals(numerators, denominators))


def rate(events: PerWall, chances: PerWall) -> Estimate:
    """Return a ratio of events to chances, each of which is or is not an event.

    Where no chance was one, or each, the spread of the walls is silent.  Then of n walls not one
    held what was not seen, so that at most 1 - 0.025 ** (1 / n) of all walls do: the exact
    binomial bound (Clopper and Pearson, Biometrika 26, 1934).  The interval ends at 0 and at 1, as
    every rate does; of a single wall it is 0 to 1.
    """
    return _within_bounds(ratio(events, chances), int(np.count_nonzero(chances)))


def _within_bounds(estimate: Estimate, n: int) -> Estimate:
    """Return a rate's estimate, of ``n`` walls that had a chance, inside 0 to 1."""
    if not n:
        return NOTHING
    bound = 1 - ((1 - CONFIDENCE) / 2) ** (1 / n)
    if estimate.value == 0:
        return Estimate(0.0, 0.0, bound)
    if estimate.value == 1:
        return Estimate(1.0, 1 - bound, 1.0)
    return Estimate(estimate.value, max(estimate.low, 0.0), min(estimate.high, 1.0))


@dataclass(frozen=True, slots=True)
class Moments:
    """What an estimate needs of two numbers per cluster: y, the numerator's part, and x.

    ``n`` counts the clusters, ``chances`` those with x above 0; the others are sums over them.
    """

    n: int
    chances: int
    y: float
    x: float
    yy: float
    xy: float
    xx: float

    def ratio(self) -> Estimate:
        """Return what :func:`ratio` returns of the same clusters."""
        if not self.x:
            return NOTHING
        value = self.y / self.x
        return _interval(value, self.square(value) * (self.n / self.x) ** 2, self.n)

    def rate(self) -> Estimate:
        """Return what :func:`rate` returns of the same clusters."""
        return _within_bounds(self.ratio(), self.chances)

    def square(self, value: float) -> float:
        """Return the sum of the squared residuals y - value x, 0 where that is rounding."""
        square = self.yy - 2 * value * self.xy + value**2 * self.xx
        return square if square > RELATIVE_ROUNDING * self.size(value) else 0.0

    def size(self, value: float) -> float:
        """Return how large the terms of :meth:`square` are, of which its rounding is a share."""
        return self.yy + value**2 * self.xx


def difference_of(one: Moments, other: Moments, cross: float) -> Estimate:
    """Return the first ratio less the second, as :func:`difference` does.

    ``cross`` is the sum of the products of both residuals (y - ratio x of each) over the clusters
    that both have part in; ``n`` of both counts the clusters of either.
    """
    if not (one.x and other.x):
        return NOTHING
    values = one.y / one.x, other.y / other.x
    squares = one.square(values[0]) / one.x**2 + other.square(values[1]) / other.x**2
    square = squares - 2 * cross / (one.x * other.x)
    size = one.size(values[0]) / one.x**2 + other.size(values[1]) / other.x**2
    if square <= RELATIVE_ROUNDING * size:  # residuals that cancel leave rounding
        square = 0.0
    return _interval(values[0] - values[1], square * one.n**2, one.n)


def difference(one: tuple[PerWall, PerWall], other: tuple[PerWall, PerWall]) -> Estimate:
    """Return the first ratio less the second, both ``(numerators, denominators)``, wall by wall.

    What a wall does to both cancels.
    """
    if not (one[1].sum() and other[1].sum()):
        return NOTHING
    value = one[0].sum() / one[1].sum() - other[0].sum() / other[1].sum()
    return around(float(value), _residuals(*one) - _residuals(*other))


def mean_of_ratios(pairs: Sequence[tuple[PerWall, PerWall]]) -> Estimate:
    """Return the plain mean of some ratios ``(numerators, denominators)`` of the same walls.

    Those without any denominator are left out.
    """
    observed = [pair for pair in pairs if pair[1].sum()]
    if not observed:
        return NOTHING
    values = [float(events.sum() / chances.sum()) for events, chances in observed]
    pulls = [_residuals(*pair) for pair in observed]
    return around(float(np.mean(values)), np.mean(pulls, axis=0))


def _residuals(numerators: PerWall, denominators: PerWall) -> PerWall:
    """Return how far each wall pulls the ratio, to first order."""
    value = numerators.sum() / denominators.sum()
    residuals: PerWall = (numerators - value * denominators) / denominators.mean()
    return residuals


def around(value: float, residuals: PerWall) -> Estimate:
    """Return a figure with the interval that follows from its residuals.

    Those are how far each wall pulls the figure to first order, times the number of walls.
    """
    alike = bool(np.all(np.abs(residuals) < ROUNDING))
    return _interval(value, 0.0 if alike else float(residuals @ residuals), len(residuals))


def _interval(value: float, square: float, n: int) -> Estimate:
    """Return a figure with the interval of ``n`` residuals with this sum of squares (0: alike)."""
    if n < 2 or (not square and n < LEAST_ALIKE):
        return Estimate(value, -math.inf, math.inf)
    if not square:
        return Estimate(value, value, value)
    error = math.sqrt(square / (n * (n - 1)))
    reach = t_quantile((1 + CONFIDENCE) / 2, min(n - 1, MOST_FREEDOM)) * error
    return Estimate(value, value - reach, value + reach)


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """Return what Student's t with ``freedom`` degrees of freedom stays below.

    ``probability`` is 0.5 or more.

    >>> [round(t_quantile(0.975, freedom), 3) for freedom in (1, 2, 5, 30, 1000)]
    [12.706, 4.303, 2.571, 2.042, 1.962]
    """
    low, high = 0.0, 1.0
    while t_probability(high, freedom) < probability:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if t_probability(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def t_probability(t: float, freedom: int) -> float:
    """Return the probability that Student's t stays below ``t`` (0 or more).

    The finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= square * (k - 1) / k
        total += term
    inner = math.sin(angle) * total
    between = 2 / math.pi * (angle + inner) if odd else inner
    return (1 + between) / 2
