"""What is known of the true cost of a choice, before its worlds and after them.

Most choices other than the reviewer's cost next to nothing; a few are blunders.  One normal
distribution cannot have both: with the spread of the many it takes a real blunder of 0.3 places
back to 0.15, and its interval leaves the truth out.  So true costs are a scale mixture of normals
around 0: with probability :data:`SHARES` [k] the spread is :data:`SPREADS` [k] times the standard
deviation of one world, for where hands and wall decide over much, choices do as well.

With g the mean of n worlds and s its standard error, class k has after them the weight

    shares[k] N(g; 0, sqrt(t_k^2 + s^2)),    t_k = spreads[k] s sqrt(n)

and the normal posterior of :class:`~mjbot.learning.playouts.override.GainPrior`; the cost has the
mixture of these.  A mean near 0 stays a matter of the narrow class, which takes it back; one that
the narrow class cannot explain keeps its size.
"""

from collections.abc import Sequence
from math import erf, exp, log
from typing import Final, NamedTuple

from mjbot.learning.playouts.override import Gain, GainPrior

SHARES: Final = (0.94, 0.05, 0.01)
SPREADS: Final = (0.075, 0.28, 1.0)
"""The first two classes are near those of the greatest likelihood in games of strong players and of
``fast-riichi-a`` and ``-b`` (``python -m proof cost-spread``, docs/results/reviews.md), the first
between those of the two groups.  The third is set by hand: blunders as large as what one world
decides, such as a missed win, of which these games have too few to fit.
"""
ROUNDING: Final = 1e-12
"""Places: a standard error below it is that of worlds that agree."""
LEFT_OUT: Final = 0.025
"""Probability on each side of a 95 % interval."""
HALVINGS: Final = 50
"""Of the range in which an end of an interval is looked for."""


class Cost(NamedTuple):
    """A cost in places, known its worlds: mean, ends of the 95 % interval, standard deviation."""

    mean: float
    low: float
    high: float
    error: float


class CostPrior(NamedTuple):
    """A scale mixture of normals around 0; ``spreads`` in standard deviations of one world."""

    shares: Sequence[float] = SHARES
    spreads: Sequence[float] = SPREADS

    def posterior(self, gain: Gain) -> Cost:
        """Return what is known of a cost, known the worlds.

        It stays valid for a cost that was selected because it is large, and where its size decided
        how many worlds were played (Gelman et al., "Bayesian Data Analysis", 3rd edition, ch. 8).

        >>> [round(end, 3) for end in CostPrior().posterior(Gain(0.3, 0.02, 225))]
        [0.298, 0.258, 0.337, 0.02]
        """
        if gain.error < ROUNDING:
            return Cost(gain.ranks, gain.ranks, gain.ranks, 0.0)
        parts = [GainPrior(0.0, t * gain.error * gain.worlds**0.5) for t in self.spreads]
        posteriors = [part.posterior(gain) for part in parts]
        weights = self._weights(gain, [part.spread for part in parts])
        mean = sum(w * posterior.ranks for w, posterior in zip(weights, posteriors, strict=True))
        square = sum(
            w * (posterior.error**2 + posterior.ranks**2)
            for w, posterior in zip(weights, posteriors, strict=True)
        )
        ends = [_quantile(weights, posteriors, share) for share in (LEFT_OUT, 1 - LEFT_OUT)]
        return Cost(mean, ends[0], ends[1], max(0.0, square - mean**2) ** 0.5)

    def _weights(self, gain: Gain, spreads: Sequence[float]) -> list[float]:
        variances = [spread**2 + gain.error**2 for spread in spreads]
        logs = [
            log(share) - 0.5 * (log(variance) + gain.ranks**2 / variance)
            for share, variance in zip(self.shares, variances, strict=True)
        ]
        weights = [exp(value - max(logs)) for value in logs]
        return [weight / sum(weights) for weight in weights]


def _quantile(weights: Sequence[float], parts: Sequence[Gain], share: float) -> float:
    """Return where a mixture of normals has so much of its probability below."""
    low = min(part.ranks - 8 * part.error for part in parts)
    high = max(part.ranks + 8 * part.error for part in parts)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = sum(
            weight * (1 + erf((middle - part.ranks) / (part.error * 2**0.5))) / 2
            for weight, part in zip(weights, parts, strict=True)
        )
        low, high = (middle, high) if below < share else (low, middle)
    return (low + high) / 2
