"""From sums per wall to figures with intervals: per strategy, per pair, and their differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mjbot.rules.ruleset import OKA_POINTS, TARGET_POINTS, UMA_POINTS
from mjbot.statistics.counts import COUNTS, Counts
from mjbot.statistics.estimates import Estimate, difference, rate, ratio
from mjbot.statistics.seating import Seating
from mjbot.table.settle import ranks_of

Kind = Literal["mean", "rate", "points"]
"""How a figure is shown: as a number with decimals, in per cent, in whole points."""

DEFAULT_UMA: Final = tuple(points / 1000 for points in UMA_POINTS)
OKA: Final = OKA_POINTS / 1000

_GAME_FIELDS: Final = ("games", "rank", "first", "second", "third", "fourth", "score", "uma")
_KYOKU_FIELDS: Final = tuple(name for name in COUNTS.names or () if name != "fed")
_RIVAL_FIELDS: Final = ("rival_games", "rival", "rival_squared")
ROW: Final = np.dtype(
    [(name, np.float64) for name in (*_GAME_FIELDS, *_KYOKU_FIELDS, *_RIVAL_FIELDS)]
)
"""Sums over the games of one wall, for one strategy.

The last fields are about games in which the first and the second strategy both sit: how many,
and the sums of the first one's mean rank less the second one's and of its square.
"""

PAIR: Final = np.dtype(
    [(name, np.float64) for name in ("games", "rank", "best", "score", "kyoku", "feeds", "rivals")]
)
"""Sums over the games of one wall, for one pair."""

Sums = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: the ratio of two fields of :data:`ROW`, :data:`PAIR` or other sums per wall."""

    key: str
    label: str
    kind: Kind
    of: str
    per: str

    def estimate(self, sums: Sums) -> Estimate:
        """Return the figure of one strategy or pair; ``sums`` has one record per wall."""
        fraction = rate if self.kind == "rate" else ratio
        return fraction(sums[self.of], sums[self.per])

    def difference(self, one: Sums, other: Sums) -> Estimate:
        """Return how much larger the figure is of one than of the other, wall by wall.

        Of two runs on the same row of walls, the walls that both have count.
        """
        n = min(len(one), len(other))
        one, other = one[:n], other[:n]
        return difference((one[self.of], one[self.per]), (other[self.of], other[self.per]))


FIGURES: Final = (
    Figure("rank", "average rank", "mean", "rank", "games"),
    Figure("first", "1st", "rate", "first", "games"),
    Figure("second", "2nd", "rate", "second", "games"),
    Figure("third", "3rd", "rate", "third", "games"),
    Figure("fourth", "4th", "rate", "fourth", "games"),
    Figure("score", "final score", "points", "score", "games"),
    Figure("uma", "uma points", "mean", "uma", "games"),
    Figure("win", "wins", "rate", "wins", "kyoku"),
    Figure("deal_in", "deal-ins", "rate", "deal_ins", "kyoku"),
    Figure("riichi", "riichi", "rate", "riichi", "kyoku"),
    Figure("call", "hands opened", "rate", "calls", "kyoku"),
    Figure("tenpai", "tenpai at draws", "rate", "tenpai", "draws"),
    Figure("draw", "kyoku without a win", "rate", "no_win", "kyoku"),
    Figure("win_points", "points of a win", "points", "win_points", "wins"),
    Figure("deal_in_points", "points of a deal-in", "points", "deal_in_points", "deal_ins"),
    Figure("win_turn", "turn of a win", "mean", "win_turns", "wins"),
)

PAIR_FIGURES: Final = (
    Figure("rank_sum", "sum of ranks", "mean", "rank", "games"),
    Figure("best_rank", "better of the ranks", "mean", "best", "games"),
    Figure("score_sum", "sum of scores", "points", "score", "games"),
    Figure("feed", "feeds to the ally per kyoku", "rate", "feeds", "kyoku"),
    Figure("rival", "deal-ins to rivals per kyoku", "rate", "rivals", "kyoku"),
)


def uma_points(score: int, rank: int, uma: Sequence[float] = DEFAULT_UMA) -> float:
    """Return what a final score is worth: thousands above 30,000, uma, and oka for the first.

    >>> uma_points(42000, 1), uma_points(8000, 4)
    (52.0, -42.0)
    """
    return (score - TARGET_POINTS) / 1000 + uma[rank - 1] + (OKA if rank == 1 else 0)


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A finished game: final scores and counts by seat."""

    scores: tuple[int, ...]
    counts: Counts


class WallSummary:
    """Adds the games of one wall up to a row per strategy and a row per pair."""

    def __init__(self, seating: Seating, uma: Sequence[float] = DEFAULT_UMA) -> None:
        self.seating: Final = seating
        self.uma: Final = uma

    def rows(self, games: Sequence[FinishedGame]) -> Sums:
        """Return records of :data:`ROW`, one per strategy; ``games`` are all, by seating."""
        rows = np.zeros(len(self.seating.rows), ROW)
        for row, places in zip(rows, self.seating.rows, strict=True):
            for place in places:
                self._add(row, games[place.seating], place.seat)
        if self.seating.format != "1v3":
            self._add_rivalry(rows[0], games)
        return rows

    def pairs(self, games: Sequence[FinishedGame]) -> Sums:
        """Return records of :data:`PAIR`, one per pair (none but in the format *pair*)."""
        rows = np.zeros(len(self.seating.pairs), PAIR)
        for number, row in enumerate(rows):
            for seating, table in enumerate(self.seating.tables):
                seats = [s for s in range(4) if self.seating.pair_of(table[s]) == number]
                _add_pair(row, games[seating], seats)
        return rows

    def _add(self, row: Any, game: FinishedGame, seat: int) -> None:
        rank = ranks_of(game.scores)[seat]
        row["games"] += 1
        row["rank"] += rank
        row[("first", "second", "third", "fourth")[rank - 1]] += 1
        row["score"] += game.scores[seat]
        row["uma"] += uma_points(game.scores[seat], rank, self.uma)
        for name in _KYOKU_FIELDS:
            row[name] += game.counts[name][seat]

    def _add_rivalry(self, row: Any, games: Sequence[FinishedGame]) -> None:
        for table, game in zip(self.seating.tables, games, strict=True):
            ranks = np.array(ranks_of(game.scores))
            one, other = (ranks[np.array(table) == strategy].mean() for strategy in (0, 1))
            row["rival_games"] += 1
            row["rival"] += one - other
            row["rival_squared"] += (one - other) ** 2


def _add_pair(row: Any, game: FinishedGame, seats: list[int]) -> None:
    ranks = [ranks_of(game.scores)[seat] for seat in seats]
    one, other = seats
    fed = game.counts["fed"]
    row["games"] += 1
    row["rank"] += sum(ranks)
    row["best"] += min(ranks)
    row["score"] += sum(game.scores[seat] for seat in seats)
    row["kyoku"] += game.counts["kyoku"][one]
    row["feeds"] += fed[one][other] + fed[other][one]
    row["rivals"] += fed[seats].sum() - fed[one][other] - fed[other][one]


def rank_differences(rows: Sums, one: int, other: int) -> NDArray[np.float64]:
    """Return mean rank of one less that of the other per wall; ``rows`` is [walls, strategies]."""
    means = rows["rank"] / rows["games"]
    differences: NDArray[np.float64] = means[:, one] - means[:, other]
    return differences


def pairing_ratio(rows: Sums, one: int, other: int) -> float:
    """Return the variance of a mean rank difference against that without shared walls.

    The comparison is with as many games of which each has a wall of its own.  ``nan`` if there
    are no two walls, or if the ranks never vary.
    """
    if len(rows) < 2:
        return math.nan
    apart = _rank_variance(rows[:, one]) + _rank_variance(rows[:, other])
    if {one, other} == {0, 1} and rows["rival_games"][0, 0]:
        apart = _rivalry_variance(rows[:, 0])
    paired = float(rank_differences(rows, one, other).var(ddof=1))
    return paired / apart if apart else math.nan


def _rank_variance(sums: Sums) -> float:
    """Return the variance of a mean rank if each game had its own wall."""
    counts = np.array([sums[name].sum() for name in ("first", "second", "third", "fourth")])
    shares, ranks = counts / counts.sum(), np.arange(1, 5)
    return float((shares @ ranks**2 - (shares @ ranks) ** 2) / sums["games"][0])


def _rivalry_variance(sums: Sums) -> float:
    """Return the same of a mean difference between two who sit at the same tables."""
    n = sums["rival_games"].sum()
    mean = sums["rival"].sum() / n
    return float((sums["rival_squared"].sum() / n - mean**2) / sums["rival_games"][0])
