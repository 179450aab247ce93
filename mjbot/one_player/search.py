"""A player that maximises the probability to win in the draws that are left."""

from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from mjbot.one_player.game import N_KINDS, Game, draws_left
from mjbot.one_player.players import greedy_discard
from mjbot.one_player.search_values import (
    MAX_WIDTH,
    N_TIMES,
    SEARCH,
    Search,
    clear,
    rank_discards,
    value_row,
)
from mjbot.rules.shanten import shanten
from mjbot.splitmix import mix


@dataclass(frozen=True)
class Effort:
    """How far the search goes for hands of one shanten.

    ``swaps`` exchanges are looked for, at ``swap_shanten`` or below, that widen the acceptance
    (by more than ``margin`` eighths of it).  ``widths`` says how many discards are tried after a
    draw, by the shanten they leave, the last one for all above; ``first`` how many of those at
    hand.
    """

    swaps: int
    swap_shanten: int
    widths: tuple[int, ...]
    first: int
    margin: int = 0


EFFORTS: Final = (
    Effort(3, 0, (4,), 14),
    Effort(2, 1, (2, 2), 14, margin=-1),
    Effort(1, 2, (1, 2, 2), 10),
    Effort(1, 1, (1, 2, 2, 2), 6),
    Effort(0, -1, (1, 2, 2, 2, 2), 5),
    Effort(0, -1, (1, 1, 1, 1, 1, 1), 4),
)
"""By the shanten that the best discard leaves.

Chosen on 8 to 30 positions each of other walls: more exchanges, more discards or more exchanges
that narrow the acceptance pick discards that are worth 0.001 more at most on average.
"""

ANY: Final = -1


class SearchPlayer:
    """Discards what leaves the highest probability to win (:mod:`mjbot.one_player.search_values`).

    ``efforts`` is :data:`EFFORTS` or another; hands further away than it says are played greedily.
    """

    def __init__(self, efforts: tuple[Effort, ...] = EFFORTS) -> None:
        self._efforts: Final = efforts
        self._search: Final = cast(Search, np.zeros(1, SEARCH)[0])
        for kind in range(N_KINDS + 1):
            self._search["hashes"][kind] = mix(np.uint64(kind + 2013)) | np.uint64(1)
        self._grow(1 << 14)

    def start(self, game: Game, seed: int) -> None:
        """Nothing to remember."""

    def choose(self, game: Game) -> int:
        """Return the discard with the best value, of equals the one with the widest acceptance."""
        lowest = max(0, shanten(game["hand"], 0))
        if lowest >= min(len(self._efforts), draws_left(game)):
            return greedy_discard(game["hand"], game["unseen"])
        return max(self.values(game).items(), key=lambda item: item[1])[0]

    def values(self, game: Game) -> dict[int, float]:
        """Return the probability to win after each discard that is worth a look, widest first."""
        while True:
            found = self._values(game)
            if not self._search["is_full"]:
                return found
            self._grow(4 * len(self._rows))

    def _values(self, game: Game) -> dict[int, float]:
        hand, search = game["hand"].copy(), self._search
        lowest = max(0, shanten(hand, 0))
        effort = self._efforts[min(lowest, len(self._efforts) - 1)]
        search["root"], search["unseen"] = hand, game["unseen"]
        search["n_times"], search["is_full"] = draws_left(game) + 1, 0
        search["swap_shanten"], search["margin"] = effort.swap_shanten, effort.margin
        search["widths"] = (effort.widths + effort.widths[-1:] * 8)[:8]
        clear(search, self._keys, self._rows)
        n = rank_discards(search, hand, 0, ANY, lowest, -1, min(effort.first, MAX_WIDTH))
        found = {}
        for kind in search["kinds"][0, :n].tolist():
            hand[kind] -= 1
            row = value_row(search, self._keys, self._numbers, self._rows, hand, effort.swaps, 0)
            hand[kind] += 1
            found[kind] = float(self._rows[row, draws_left(game)])
        return found

    def _grow(self, n_rows: int) -> None:
        self._rows = np.zeros((n_rows, N_TIMES), np.float32)
        self._keys = np.zeros(2 * n_rows, np.uint64)
        self._numbers = np.zeros(2 * n_rows, np.int32)
