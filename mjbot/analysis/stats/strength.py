"""The strengths of all players from all games at once, and what two of them differ by.

Model: Plackett and Luce.  A player has a strength t (log odds); the first of a table is player i
with probability exp(t_i) / sum_j exp(t_j), the second is drawn so among the others, and so on.
Whatever the table, i finishes ahead of j with probability 1 / (1 + exp(t_j - t_i)).  Before any
game a strength is normal with mean 0 and spread :data:`PRIOR`.  The strengths are those of greatest
posterior probability, found by Newton's method (the logarithm is concave); H is its negative second
derivative there.  The order of the games has no influence.

Of two players the difference d = t_a - t_b is normal around its estimate with variance

    max(c' H^-1 c, c' H^-1 S H^-1 c),    c = e_a - e_b,

S being the sum over clusters of s s', s a cluster's part of the first derivative (the "sandwich" of
Cameron and Miller, "A practitioner's guide to cluster-robust inference", Journal of Human Resources
50, 2015).  The first term has the uncertainty of all strengths that connect a and b, also where few
games do; the second one the dependence of games on one wall.  All solutions of H x = y are by
conjugate gradients: memory and time grow with games and players, not with the square of players.

Players whom no chain of games connects have no difference: what the prior gives is no finding.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.statistics.estimates import Estimate

PRIOR: Final = 10.0
"""Next to flat on purpose: it only keeps strengths finite where a player won, or lost, everything.
With 3.0, two pools that are 3 apart and have met in three games were pulled together so far that 15
of 100 intervals were wrong; with 10.0 it was 3."""
NORMAL_95: Final = 1.959964
NEWTON_STEPS: Final = 50
STEADY: Final = 1e-6
"""A step of Newton's method, in log odds, below which the strengths are found."""
ROUNDING: Final = 1e-12
"""Loss of the logarithm of the probability, relative to it, that is none."""
EXACT: Final = 1e-16
"""Square of the residual of a linear system, relative to that of its right side."""

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Adjusted:
    """Two sides compared as if both had met the same opponents.

    ``rank`` is the difference of their expected ranks against the opponents of both, ``ahead`` the
    chance that the first finishes ahead of the second, ``opponents_ahead`` the chance that an
    opponent of the first finishes ahead of one of the second, by their mean strengths.
    """

    rank: Estimate
    ahead: Estimate
    opponents_ahead: float


class FinishedGames:
    """The finished games by which players are compared, all of as many: 24 bytes each."""

    def __init__(self) -> None:
        self._size = 4
        self._players: Final[dict[str, int]] = {}
        self._order: Final = array("i")
        self._clusters: Final = array("q")

    def add(self, cluster: int, names: Sequence[str], ranks: Sequence[int]) -> None:
        """Take in a game: names and ranks (from 1) by seat."""
        self._size = len(ranks)
        by_rank = sorted(zip(ranks, names, strict=True))
        self._order.extend(
            [self._players.setdefault(name, len(self._players)) for _, name in by_rank]
        )
        self._clusters.append(cluster)

    def adjusted(self, one: str, other: str) -> Adjusted | None:
        """Return the comparison of two players; ``None`` if no chain of games connects them."""
        if not {one, other} <= self._players.keys():
            return None
        order = np.array(self._order, np.int64).reshape(-1, self._size)
        a, b = self._players[one], self._players[other]
        label = components(order, len(self._players))
        if label[a] != label[b]:
            return None
        model = PlackettLuce(order, len(self._players))
        return _compared(model, order, np.array(self._clusters, np.int64), (a, b))


def components(order: Numbers, n_players: int) -> Numbers:
    """Return int64[n_players]: equal for players whom a chain of games connects.

    >>> components(np.array([[0, 1, 2, 3], [3, 4, 5, 6], [7, 8, 9, 10]]), 11).tolist()
    [0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7]
    """
    label = np.arange(n_players)
    while True:
        before = label.copy()
        np.minimum.at(label, order, label[order].min(axis=1, keepdims=True))
        label = label[label]
        if np.array_equal(before, label):
            return label


class PlackettLuce:
    """Strengths of players by the finishing order of each game: ``order`` int64[games, size]."""

    def __init__(self, order: Numbers, n_players: int) -> None:
        self._tables, self._of, self._times = _distinct(order)
        self._n: Final = n_players
        self.strengths: Floats = np.zeros(n_players)
        self._shares = self._shares_of(self.strengths)
        self._fit()

    def _fit(self) -> None:
        value = self._value(self.strengths)
        for _ in range(NEWTON_STEPS):
            step = self.solve(self._slope())
            size = 1.0
            least = value - ROUNDING * abs(value)
            while (new := self._value(self.strengths + size * step)) < least:
                size /= 2
            self.strengths = self.strengths + size * step
            self._shares = self._shares_of(self.strengths)
            value = new
            if size * np.abs(step).max(initial=0.0) < STEADY:
                break

    def _value(self, strengths: Floats) -> float:
        """Return the logarithm of the posterior, but for a constant."""
        of_tables = strengths[self._tables]
        rest = np.logaddexp.accumulate(of_tables[:, ::-1], axis=1)[:, :0:-1]
        chances = (of_tables[:, :-1] - rest).sum(axis=1)
        return float(self._times @ chances - (strengths**2).sum() / (2 * PRIOR**2))

    def _shares_of(self, strengths: Floats) -> Floats:
        """Return the chances to be next: float64[tables, size - 1, size], of those left."""
        of_tables = strengths[self._tables]
        weights = np.exp(of_tables - of_tables.max(axis=1, keepdims=True))
        size = of_tables.shape[1]
        left = np.triu(np.ones((size - 1, size))) * weights[:, None, :]
        shares: Floats = left / left.sum(axis=2, keepdims=True)
        return shares

    def _scores(self) -> Floats:
        """Return the derivative of a game by the strength of each place: float64[tables, size]."""
        scores: Floats = np.eye(*self._shares.shape[1:]).sum(axis=0) - self._shares.sum(axis=1)
        return scores

    def _spread(self, by_place: Floats) -> Floats:
        """Add up what stands at places of tables by player."""
        values = (self._times[:, None] * by_place).ravel()
        return np.bincount(self._tables.ravel(), values, self._n).astype(np.float64)

    def _slope(self) -> Floats:
        return self._spread(self._scores()) - self.strengths / PRIOR**2

    def _curved(self, vector: Floats) -> Floats:
        """Return H times a vector."""
        at = vector[self._tables][:, None, :]
        shares = self._shares
        off = shares * (at - (shares * at).sum(axis=2, keepdims=True))
        return self._spread(off.sum(axis=1)) + vector / PRIOR**2

    def solve(self, right: Floats) -> Floats:
        """Return H^-1 times a vector, by conjugate gradients."""
        diagonal = self._spread((self._shares * (1 - self._shares)).sum(axis=1)) + PRIOR**-2
        solution = np.zeros_like(right)
        left = right.copy()
        scaled = left / diagonal
        direction, size = scaled.copy(), float(left @ scaled)
        enough = EXACT * size
        for _ in range(10 * self._n):
            if size <= enough:
                break
            curved = self._curved(direction)
            step = size / float(direction @ curved)
            solution += step * direction
            left -= step * curved
            scaled = left / diagonal
            before, size = size, float(left @ scaled)
            direction = scaled + size / before * direction
        return solution

    def pulls(self, weights: Floats) -> Floats:
        """Return each game's part of the first derivative along some weights: float64[games]."""
        by_table = (self._scores() * weights[self._tables]).sum(axis=1)
        pulled: Floats = by_table[self._of]
        return pulled


def _distinct(order: Numbers) -> tuple[Numbers, Numbers, Floats]:
    """Return the different orders, which of them each game is, and how many games each has."""
    tables, of, times = np.unique(order, axis=0, return_inverse=True, return_counts=True)
    return tables, of.ravel(), times.astype(np.float64)


def _compared(
    model: PlackettLuce, order: Numbers, clusters: Numbers, sides: tuple[int, int]
) -> Adjusted:
    a, b = sides
    contrast = np.zeros_like(model.strengths)
    contrast[a], contrast[b] = 1.0, -1.0
    solved = model.solve(contrast)
    by_cluster = np.bincount(np.unique(clusters, return_inverse=True)[1], model.pulls(solved))
    posterior = float(contrast @ solved)
    error = max(posterior, float(by_cluster @ by_cluster)) ** 0.5
    along = NORMAL_95 * error * solved / posterior
    opponents = [_opponents(order, side) for side in sides]
    middle, weaker, stronger = [model.strengths + shift * along for shift in (0, -1, 1)]
    means = [float(model.strengths[of].mean()) for of in opponents]
    return Adjusted(
        rank=Estimate(*[-_places_gained(t, sides, opponents) for t in (middle, stronger, weaker)]),
        ahead=Estimate(*[float(_chance(t[a] - t[b])) for t in (middle, weaker, stronger)]),
        opponents_ahead=float(_chance(means[0] - means[1])),
    )


def _opponents(order: Numbers, side: int) -> Numbers:
    """Return the opponents of each seat of a player: int64[seats, size - 1]."""
    seats = range(order.shape[1])
    opponents = [np.delete(order[order[:, seat] == side], seat, axis=1) for seat in seats]
    return np.concatenate(opponents)


def _places_gained(
    strengths: Floats, sides: tuple[int, int], opponents: Sequence[Numbers]
) -> float:
    """Return how many places the first of two finishes ahead of the second, if they swap seats.

    The mean over the opponents of the one and those of the other, each with the same weight.
    """
    gained = [
        _chance(strengths[sides[0]] - strengths[of]) - _chance(strengths[sides[1]] - strengths[of])
        for of in opponents
    ]
    return float(np.mean([chances.sum(axis=1).mean() for chances in gained]))


def _chance(lead: Any) -> Any:
    """Return the chance to finish ahead, by the difference of two strengths."""
    return 1 / (1 + np.exp(-lead))
