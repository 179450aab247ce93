"""Results of the detector on groups of games, drawn from more of them at random.

* Known pairs: the area under the ROC curve of their scores against those of unrelated players, any
  two seats of any games of people combined, and against those of the other pairs of their own
  tables; how often they are caught, and how often the others there are accused.  The intervals come
  from resampled walls: all games of a wall go together.
* Honest players: the shares of p-values below some levels.
* All: after how many games a pair is reported in play.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.collusion.games import GameCounts
from mjbot.analysis.collusion.hidden import Floats
from mjbot.analysis.collusion.live import ALPHA
from mjbot.analysis.collusion.verdicts import DetectionWeights, levelled
from mjbot.game.statistics.estimates import Estimate
from papers.detection.tables import Places, TableGames

LEVELS: Final = (0.05, 0.01, 0.001)
GROUPS: Final = 400
BOOTS: Final = 100
GROUPS_OF_A_BOOT: Final = 40
PSEUDO_PAIRS: Final = 100_000
AT_ONCE: Final = 2000
ORDERS: Final = 200

Generator = np.random.Generator


@dataclass(frozen=True)
class Judge:
    """Judges with some weights; the same request always has the same result."""

    weights: DetectionWeights

    def groups(self, table: TableGames, size: int, many: int, random: Generator) -> Floats:
        """Return deviates of all pairs in groups of games, each judged by itself.

        float64[many, pairs, kinds].
        """
        groups = []
        for chosen in choose(len(table.games), size, many, random):
            games, places = table.games.take(chosen), table.places[chosen]
            rows = np.arange(len(chosen))[:, None]
            sums = levelled(games)[rows, places].sum(axis=0)
            products = games.products[rows, places].sum(axis=0, dtype=np.float64)
            groups.append(self.weights.deviates(sums, products))
        return np.array(groups)

    def unrelated(self, games: GameCounts, size: int) -> Floats:
        """Return deviates of any two seats of groups of any games: float64[groups, kinds]."""
        left, products = levelled(games), games.products.astype(np.float64)
        deviates, random = [], dice(size)
        for start in range(0, PSEUDO_PAIRS, AT_ONCE):
            chosen = choose(len(games), size, min(AT_ONCE, PSEUDO_PAIRS - start), random)
            places = random.integers(0, left.shape[1], chosen.shape)
            sums = sum(left[chosen[:, k], places[:, k]] for k in range(size))
            squares = sum(products[chosen[:, k], places[:, k]] for k in range(size))
            deviates.append(self.weights.deviates(np.asarray(sums), np.asarray(squares)))
        return np.concatenate(deviates)

    def alarms(self, table: TableGames, size: int) -> Floats:
        """Return the shares of groups in which each pair is accused: [len(LEVELS), pairs]."""
        p = self.weights.p_values(self.groups(table, size, GROUPS, dice(size)))
        return shares_below(p)

    def found(self, table: TableGames, pair: int, size: int, null: Floats | None) -> list[Estimate]:
        """Return how well one pair is found in groups of games, with 95 % intervals.

        The areas against ``null``, scores of unrelated players (NaN if there are none), and against
        the other pairs; the shares caught at p < 0.01 and 0.001; that of the others there at p <
        0.01.
        """
        random = dice(size)
        values = self._found(self.groups(table, size, GROUPS, random), pair, null)
        boots = []
        for _ in range(BOOTS):
            drawn = table.take(drawn_anew(table.walls, random))
            deviates = self.groups(drawn, size, GROUPS_OF_A_BOOT, random)
            boots.append(self._found(deviates, pair, null))
        low, high = np.quantile(boots, [0.025, 0.975], axis=0)
        return [Estimate(*each) for each in zip(values, low.tolist(), high.tolist(), strict=True)]

    def _found(self, deviates: Floats, pair: int, null: Floats | None) -> list[float]:
        scores, p = deviates.max(axis=-1), self.weights.p_values(deviates)
        others = np.delete(np.arange(p.shape[1]), pair)
        caught = shares_below(p[:, pair])[1:].tolist()
        accused = float(np.mean(p[:, others] < LEVELS[1]))
        strange = float("nan") if null is None else area(scores[:, pair], null)
        return [strange, area(scores[:, pair], scores[:, others].ravel()), *caught, accused]

    def log_e_values_live(self, table: TableGames) -> Floats:
        """Return after how many games each pair is reported, inf for never.

        float64[ORDERS, pairs], in random orders of the games; the limit is that of the last pair
        that met.
        """
        rows, n_pairs = np.arange(len(table.games))[:, None], len(table.pairs)
        limit = n_pairs * (n_pairs + 1) / ALPHA
        left = levelled(table.games)[rows, table.places]
        products = table.games.products[rows, table.places].astype(np.float64)
        after, random = [], dice(len(left))
        for _ in range(ORDERS):
            order = random.permutation(len(left))
            e = self.weights.e_values(left[order].cumsum(axis=0), products[order].cumsum(axis=0))
            after.append(np.where((e >= limit).any(0), 1 + (e >= limit).argmax(0), np.inf))
        return np.array(after)


def dice(size: int) -> Generator:
    """Return the dice of groups of a size."""
    return np.random.default_rng((19, size))


def shares_below(p: Floats) -> Floats:
    """Return the share of p-values below each level, over the first axis: [len(LEVELS), ...].

    >>> shares_below(np.array([0.04, 0.005, 0.5, 0.5])).tolist()
    [0.5, 0.25, 0.0]
    """
    return np.array([(p < level).mean(axis=0) for level in LEVELS])


def choose(n_games: int, size: int, many: int, random: Generator) -> Places:
    """Return so many groups of different games: int64[many, size]."""
    chosen = random.integers(0, n_games, (many, size))
    for _ in range(100):
        ordered = np.sort(chosen, axis=1)
        twice = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
        if not len(twice):
            return chosen
        if size * size > 4 * n_games:
            break
        chosen[twice] = random.integers(0, n_games, (len(twice), size))
    return random.random((many, n_games)).argpartition(size - 1, axis=1)[:, :size]


def drawn_anew(walls: Places, random: Generator) -> Places:
    """Return the games of walls drawn with replacement."""
    numbers = np.unique(walls)
    drawn = random.choice(numbers, len(numbers))
    return np.concatenate([np.flatnonzero(walls == wall) for wall in drawn])


def area(high: Floats, low: NDArray[np.float64]) -> float:
    """Return how likely one of the first is above one of the second; ties count half.

    >>> area(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ordered = np.sort(low)
    below = np.searchsorted(ordered, high, "left") + np.searchsorted(ordered, high, "right")
    return float(below.mean() / (2 * len(low)))
