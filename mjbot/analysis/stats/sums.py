"""Sums per group of games, with the products that clustered intervals need; no game is kept.

A figure is a ratio of two columns.  With y and x the sums of a *cluster* (a game, or all games of
one wall of an arena run, which share its luck), its interval follows from the sums of y, x, y y,
x y and x x over the clusters (:class:`mjbot.game.statistics.estimates.Moments`).  So memory grows
with the number of groups, some 600 bytes each, and not with the number of games.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.stats.counted_games import FIELDS
from mjbot.game.statistics.estimates import Estimate, Moments, difference_of
from mjbot.game.statistics.figures import Figure, figures_of
from mjbot.runtime.languages import marked

_TSUMO: Final = Figure("tsumo", marked("tsumo share"), "rate", "tsumo", "wins")


def player_figures(players: int) -> tuple[Figure, ...]:
    """Return what is reported of a group of games of so many players."""
    return (*figures_of(players), _TSUMO)


PLAYER_FIGURES: Final = player_figures(4)
"""All of them."""

Floats = NDArray[np.float64]

COLUMN: Final = {name: index for index, name in enumerate(FIELDS)}
_PRODUCTS: Final = tuple(
    dict.fromkeys(
        pair
        for figure in PLAYER_FIGURES
        for pair in (
            (figure.of, figure.of),
            (figure.of, figure.per),
            (figure.per, figure.per),
        )
    )
)
_PRODUCT: Final = {pair: index for index, pair in enumerate(_PRODUCTS)}
_LEFT: Final = [COLUMN[one] for one, _ in _PRODUCTS]
_RIGHT: Final = [COLUMN[other] for _, other in _PRODUCTS]
_CHANCES: Final = tuple(dict.fromkeys(figure.per for figure in PLAYER_FIGURES))
_CHANCE: Final = [COLUMN[name] for name in _CHANCES]


class GroupSums:
    """Sums of many groups, numbered from 0."""

    def __init__(self) -> None:
        self._n: NDArray[np.int64] = np.zeros(0, np.int64)
        self._chances: NDArray[np.int64] = np.zeros((0, len(_CHANCES)), np.int64)
        self._sums: Floats = np.zeros((0, len(FIELDS)))
        self._products: Floats = np.zeros((0, len(_PRODUCTS)))

    def add(self, rows: Floats, groups: Sequence[int], clusters: Sequence[int]) -> None:
        """Add rows of :data:`FIELDS`, with the group and the cluster of each.

        All rows of a cluster must be in one call.
        """
        if not len(rows):
            return
        of, within = np.asarray(groups, np.int64), np.asarray(clusters, np.int64)
        self._grow(int(of.max()) + 1)
        _, first, index = np.unique(
            within * len(self._n) + of, return_index=True, return_inverse=True
        )
        whole = np.zeros((len(first), rows.shape[1]))
        np.add.at(whole, index, rows)
        of = of[first]
        np.add.at(self._n, of, 1)
        np.add.at(self._chances, of, whole[:, _CHANCE] > 0)
        np.add.at(self._sums, of, whole)
        np.add.at(self._products, of, whole[:, _LEFT] * whole[:, _RIGHT])

    def _grow(self, least: int) -> None:
        more = max(least, 2 * len(self._n)) - len(self._n) if least > len(self._n) else 0
        if more:
            for name in ("_n", "_chances", "_sums", "_products"):
                old: NDArray[Any] = getattr(self, name)
                new = np.concatenate([old, np.zeros((more, *old.shape[1:]), old.dtype)])
                setattr(self, name, new)

    def count(self, group: int, field: str) -> int:
        """Return a group's sum of a column."""
        return int(self._sums[group, COLUMN[field]])

    def estimate(self, group: int, figure: Figure) -> Estimate:
        """Return a figure of a group with its interval."""
        y, x = figure.of, figure.per
        moments = Moments(
            n=int(self._n[group]),
            chances=int(self._chances[group, _CHANCES.index(x)]),
            y=float(self._sums[group, COLUMN[y]]),
            x=float(self._sums[group, COLUMN[x]]),
            yy=float(self._products[group, _PRODUCT[y, y]]),
            xy=float(self._products[group, _PRODUCT[y, x]]),
            xx=float(self._products[group, _PRODUCT[x, x]]),
        )
        return moments.rate() if figure.kind == "rate" else moments.ratio()


class SideSums:
    """Sums of the two sides of a comparison, and of all products of their columns."""

    def __init__(self) -> None:
        self.n = 0
        self._sums: Final[Floats] = np.zeros(2 * len(FIELDS))
        self._products: Final[Floats] = np.zeros((2 * len(FIELDS),) * 2)

    def add(self, rows: Floats, sides: Sequence[int], clusters: Sequence[int]) -> None:
        """Add rows of :data:`FIELDS` with the side, 0 or 1, and the cluster of each.

        All rows of a cluster must be in one call.
        """
        if not len(rows):
            return
        of = np.asarray(sides, np.int64)
        present, index = np.unique(np.asarray(clusters, np.int64), return_inverse=True)
        whole = np.zeros((len(present), 2, len(FIELDS)))
        np.add.at(whole, (index, of), rows)
        flat = whole.reshape(len(present), -1)
        self.n += len(present)
        self._sums[:] += flat.sum(axis=0)
        self._products[:] += flat.T @ flat

    def count(self, side: int, field: str) -> int:
        """Return a side's sum of a column."""
        return int(self._sums[side * len(FIELDS) + COLUMN[field]])

    def difference(self, figure: Figure) -> Estimate:
        """Return how much larger a figure is of the first side, cluster by cluster."""
        one, other = self._moments(0, figure), self._moments(1, figure)
        if not (one.x and other.x):
            return difference_of(one, other, 0.0)
        a, b = one.y / one.x, other.y / other.x
        (y, x), (v, w) = self._places(0, figure), self._places(1, figure)
        p = self._products
        cross = float(p[y, v] - a * p[x, v] - b * p[y, w] + a * b * p[x, w])
        return difference_of(one, other, cross)

    def _places(self, side: int, figure: Figure) -> tuple[int, int]:
        start = side * len(FIELDS)
        return start + COLUMN[figure.of], start + COLUMN[figure.per]

    def _moments(self, side: int, figure: Figure) -> Moments:
        y, x = self._places(side, figure)
        sums, p = self._sums, self._products
        return Moments(
            n=self.n,
            chances=self.n,
            y=float(sums[y]),
            x=float(sums[x]),
            yy=float(p[y, y]),
            xy=float(p[y, x]),
            xx=float(p[x, x]),
        )
