"""Adds games up to walls as they come in, in whatever order."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.arena.run_folder import GameLine
from mjbot.game.statistics import figures as f
from mjbot.game.statistics.seating import Seating
from mjbot.protocol.rules import RANKED, Rules

SumsByWall = NDArray[Any]

FEWEST_WALLS: Final = 64
"""For so many there is room at first; then it doubles."""


class WallAccumulator:
    """The walls of which every seating has been played.  A wall with a void game never counts."""

    def __init__(
        self, seating: Seating, uma: Sequence[float] | None = None, rules: Rules = RANKED
    ) -> None:
        self.seating: Final = seating
        self.games = 0
        self.faults: Final[dict[int, Counter[int]]] = {}
        """Wall -> strategy -> decisions replaced; only walls on which any were."""

        self.void: Final[dict[int, str]] = {}
        self._summary: Final = f.WallSummary(seating, uma, rules)
        self._open: Final[dict[int, dict[int, GameLine]]] = {}
        self._rows: Final = _WallRecords(f.ROW, len(seating.rows))
        self._pairs: Final = _WallRecords(f.PAIR, len(seating.pairs))

    def add(self, game: GameLine) -> None:
        """Take in one game; one that is known already changes nothing."""
        if self.has(game.wall, game.seating):
            return
        self.games += 1
        table = self.seating.tables[game.seating]
        if any(game.faults):
            counts = self.faults.setdefault(game.wall, Counter())
            for strategy, faults in zip(table, game.faults, strict=True):
                counts[strategy] += faults
        wall = self._open.setdefault(game.wall, {})
        wall[game.seating] = game
        if len(wall) == len(self.seating.tables):
            self._close(game.wall)

    def has(self, wall: int, seating: int) -> bool:
        """Whether this game has been played."""
        return self.is_settled(wall) or seating in self._open.get(wall, ())

    def is_settled(self, wall: int) -> bool:
        """Whether nothing more is to be expected from this wall."""
        return wall in self._rows or wall in self.void

    def row(self, wall: int) -> SumsByWall | None:
        """Return a wall's records of :data:`~mjbot.game.statistics.figures.ROW`; void: ``None``."""
        return self._rows.get(wall)

    def rows(self, n_walls: int) -> SumsByWall:
        """Return the records of all complete walls below ``n_walls``: [walls, strategies]."""
        return self._rows.below(n_walls)

    def pairs(self, n_walls: int) -> SumsByWall:
        """Return the same for pairs, of ``figures.PAIR``: [walls, pairs]."""
        return self._pairs.below(n_walls)

    def faults_of(self, n_walls: int) -> tuple[int, ...]:
        """Return how many decisions of each strategy were replaced on the first ``n_walls``."""
        counts = [faults for wall, faults in self.faults.items() if wall < n_walls]
        strategies = range(len(self.seating.rows))
        return tuple([sum(faults[number] for faults in counts) for number in strategies])

    def _close(self, number: int) -> None:
        wall = self._open.pop(number)
        lines = [wall[seating] for seating in range(len(wall))]
        if reasons := [game.void for game in lines if game.void]:
            self.void[number] = reasons[0]
            return
        games = [f.FinishedGame(game.scores, f.from_rows(game.counts)) for game in lines]
        self._rows[number] = self._summary.rows(games)
        self._pairs[number] = self._summary.pairs(games)


class _WallRecords:
    """The records of each wall that has any, in one array that grows: no objects for every wall."""

    def __init__(self, dtype: np.dtype[Any], width: int) -> None:
        self._records: SumsByWall = np.zeros((FEWEST_WALLS, width), dtype)
        self._there: NDArray[np.bool_] = np.zeros(FEWEST_WALLS, np.bool_)

    def __contains__(self, wall: int) -> bool:
        return wall < len(self._there) and bool(self._there[wall])

    def __setitem__(self, wall: int, records: SumsByWall) -> None:
        while wall >= len(self._there):
            self._records = _doubled(self._records)
            self._there = _doubled(self._there)
        self._records[wall] = records
        self._there[wall] = True

    def get(self, wall: int) -> SumsByWall | None:
        return self._records[wall] if wall in self else None

    def below(self, n_walls: int) -> SumsByWall:
        return self._records[:n_walls][self._there[:n_walls]]


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    larger = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
