"""Whether playouts show that another choice is better: a search at the root, with a margin.

The first plan is what would be done without search.  All plans are played on in the same worlds
(:mod:`mjbot.learning.playouts.worlds`) until the budget is spent; plan c replaces it if

    g > max(MARGIN, Z s)

g being the mean of the expected ranks gained in these worlds and s its standard error.  Without a
margin a search of some hundred playouts overrides mostly by chance: the best of two equal choices
seems to gain s / sqrt(pi) on the average.

Theory of the constants.  Let true gains be normal with mean m and standard deviation t, and g be
normal around the true gain with s (:class:`GainPrior`, by which reviews judge as well).  The
expected gain, known g, is w g + (1 - w) m with w = t^2 / (t^2 + s^2): above 0 from g = -m s^2 / t^2
on.  ``python -m proof search-margin`` found m = -0.0036 and t = 0.0129 ranks in 358 challengers
(:data:`CHALLENGERS`; 2026-11-25, docs/results/strongest.md), and s is 0.030 after 50 worlds, 0.0095
after 500: g has to exceed 0.019 and 0.002.  Z = 1 is near that for few worlds (it keeps 0.00065 of
the 0.00074 ranks a position that the best rule gains) and careful for many; MARGIN, set by hand,
guards against what playouts get wrong where s is next to nothing.

A plan that cannot reach the margin any more (g + :data:`HOPE` s below it) is dropped, and what it
would have cost goes to the others.

The budget is counted in playouts, not timed, so that a game can be repeated: :data:`BASE_US` for
each and :data:`TILE_US` for each tile that is left in the wall, a fifth more than they take in the
mean (11 us a tile, 69 positions, AMD EPYC under a load of 15), so that 99 of 100 searches keep it.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.view import View
from mjbot.learning.playouts.worlds import Playouts
from mjbot.runtime.compiler.record import Int16s

MARGIN: Final = 0.005
Z: Final = 1.0
HOPE: Final = 2.0

BASE_US: Final = 20.0
TILE_US: Final = 13.0
ROUNDS: Final = 4
LEAST_WORLDS: Final = 16
"""Of a round: with fewer the standard error is not known."""


class Gain(NamedTuple):
    """Ranks that a plan gains on the first, the standard error of that, and the worlds played."""

    ranks: float
    error: float
    worlds: int

    @classmethod
    def of(cls, gained: Sequence[float] | NDArray[np.float64]) -> "Gain":
        """Return the mean gain of some worlds; of one world the error is infinite."""
        n = len(gained)
        if n < 2:
            return cls(0.0, np.inf, n)
        return cls(float(np.mean(gained)), float(np.std(gained, ddof=1)) / n**0.5, n)

    def exceeds(self, margin: float = MARGIN, z: float = Z) -> bool:
        """Return whether the plan is shown to be better."""
        return self.ranks > max(margin, z * self.error)


class GainPrior(NamedTuple):
    """What is known of a true gain without playouts: normal, in ranks."""

    mean: float
    spread: float

    def weight(self, gain: Gain) -> float:
        """Return the share of what playouts found in what is to be expected, 0 to 1."""
        if not gain.error:  # the worlds agree
            return 1.0
        return self.spread**2 / (self.spread**2 + gain.error**2)

    def posterior(self, gain: Gain) -> Gain:
        """Return mean and standard deviation of the true gain, known what playouts found.

        It stays valid for a gain that was selected because it is large, and where its size decided
        how many worlds were played (Gelman et al., "Bayesian Data Analysis", 3rd edition, ch. 8).

        >>> GainPrior(0.0, 0.02).posterior(Gain(0.05, 0.02, 128))
        Gain(ranks=0.025, error=0.014142135623730952, worlds=128)
        """
        share = self.weight(gain)
        ranks = share * gain.ranks + (1 - share) * self.mean
        return Gain(ranks, self.spread * (1 - share) ** 0.5, gain.worlds)


CHALLENGERS: Final = GainPrior(-0.0036, 0.0129)
"""Of what a search plays on instead of its choice; see above."""


def playout_us(wall_left: int) -> float:
    """Return the microseconds on one core by which a playout is counted."""
    return BASE_US + TILE_US * wall_left


def playouts_within(budget_ms: float, wall_left: int) -> int:
    """Return how many playouts fit into a budget on one core."""
    return int(1000 * budget_ms / playout_us(wall_left))


def gains_on_first(
    playouts: Playouts, view: View, plans: Sequence[Int16s], budget_ms: float, seed: int
) -> list[Gain]:
    """Return what each plan gains the view's seat on the first one, within a budget."""
    budget = left = playouts_within(budget_ms, view.wall_left)
    gained: list[list[float]] = [[] for _ in plans]
    open_plans = list(range(1, len(plans)))
    done = 0
    while open_plans and (not done or left >= LEAST_WORLDS * (1 + len(open_plans))):
        tried = [0, *open_plans]
        n = max(LEAST_WORLDS, budget // ROUNDS // len(tried))
        if left < 2 * n * len(tried):  # nothing is left for another round
            n = max(LEAST_WORLDS, left // len(tried))
        values = playouts.compare(
            view.state, view.seat, [plans[number] for number in tried], n, seed=seed, first=done
        )
        ranks = values.ranks[:, :, view.seat]
        for column, number in enumerate(tried):
            gained[number] += (ranks[:, 0] - ranks[:, column]).tolist()
        done += n
        left -= n * len(tried)
        gains = [Gain.of(differences) for differences in gained]
        open_plans = [
            number for number in open_plans
            if gains[number].ranks + HOPE * gains[number].error > MARGIN
        ]  # fmt: skip
    return [Gain.of(differences) for differences in gained]


def best_plan(gains: Sequence[Gain]) -> int:
    """Return the plan that is shown to gain most on the first, or 0."""
    shown = [number for number in range(1, len(gains)) if gains[number].exceeds()]
    return max(shown, key=lambda number: gains[number].ranks, default=0)
