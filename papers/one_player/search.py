"""Two players that search: one for the discard likeliest to win in time, and plain UCT.

:class:`SearchPlayer` maximises the chance to win in the draws that are left
(:mod:`papers.one_player.search_values`).

:class:`UctPlayer` is the paper's baseline, a tree search that uses only the rules.
Each playout takes a random order of the unseen tiles, goes down the tree of own discards and
drawn kinds by UCB1, adds one node, and plays on with random discards until the hand is won or
the draws are used up.  The most visited discard is played.  The paper takes the player from an
earlier one's four-player study without giving the number of playouts.
"""

from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import shanten
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import mix, next_below
from papers.one_player.game import N_KINDS, OnePlayerGame, draws_left
from papers.one_player.players import greedy_discard, random_tile
from papers.one_player.search_values import (
    MAX_WIDTH,
    N_TIMES,
    SEARCH,
    Search,
    clear,
    rank_discards,
    value_row,
)


@dataclass(frozen=True)
class Effort:
    """How far the search goes for hands of one shanten.

    ``swaps`` exchanges are tried, at ``swap_shanten`` or below, that widen the acceptance
    (by more than ``margin`` eighths of it).  ``widths`` are the discards that are tried after a
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
that narrow the acceptance pick discards that are better by 0.001 at most on average.
"""

ANY: Final = -1


class SearchPlayer:
    """Discards what leaves the highest probability to win
    (:mod:`papers.one_player.search_values`).

    ``efforts`` is :data:`EFFORTS` or another; hands further away than its last are played greedily.
    """

    def __init__(self, efforts: tuple[Effort, ...] = EFFORTS) -> None:
        self._efforts: Final = efforts
        self._search: Final = cast(Search, np.zeros(1, SEARCH)[0])
        for kind in range(N_KINDS + 1):
            self._search["hashes"][kind] = mix(np.uint64(kind + 2013)) | np.uint64(1)
        self._grow(1 << 14)

    def start(self, game: OnePlayerGame, seed: int) -> None:
        """Nothing to remember."""

    def choose(self, game: OnePlayerGame) -> int:
        """Return the discard with the best value, of equals the one with the widest acceptance."""
        lowest = max(0, shanten(game["hand"], 0))
        if lowest >= min(len(self._efforts), draws_left(game)):
            return greedy_discard(game["hand"], game["unseen"])
        return max(self.values(game).items(), key=lambda item: item[1])[0]

    def values(self, game: OnePlayerGame) -> dict[int, float]:
        """Return the probability to win after each promising discard, widest first."""
        while True:
            values = self._values(game)
            if not self._search["is_full"]:
                return values
            self._grow(4 * len(self._rows))

    def _values(self, game: OnePlayerGame) -> dict[int, float]:
        hand, search = game["hand"].copy(), self._search
        lowest = max(0, shanten(hand, 0))
        effort = self._efforts[min(lowest, len(self._efforts) - 1)]
        search["root"], search["unseen"] = hand, game["unseen"]
        search["n_times"], search["is_full"] = draws_left(game) + 1, 0
        search["swap_shanten"], search["margin"] = effort.swap_shanten, effort.margin
        search["widths"] = (effort.widths + effort.widths[-1:] * 8)[:8]
        clear(search, self._keys, self._rows)
        n = rank_discards(search, hand, 0, ANY, lowest, -1, min(effort.first, MAX_WIDTH))
        values = {}
        for kind in search["kinds"][0, :n].tolist():
            hand[kind] -= 1
            row = value_row(search, self._keys, self._numbers, self._rows, hand, effort.swaps, 0)
            hand[kind] += 1
            values[kind] = float(self._rows[row, draws_left(game)])
        return values

    def _grow(self, n_rows: int) -> None:
        self._rows = np.zeros((n_rows, N_TIMES), np.float32)
        self._keys = np.zeros(2 * n_rows, np.uint64)
        self._numbers = np.zeros(2 * n_rows, np.int32)


EXPLORATION: Final = 1.4142135623730951
"""The weight of UCB1's second term for rewards in 0..1 (Kocsis and Szepesvari 2006)."""

Children = NDArray[np.int32]
"""int32[nodes, 34 discards, 34 draws]: the node that follows, 0 if there is none yet."""
Visits = NDArray[np.int32]
Wins = NDArray[np.float64]


class UctPlayer:
    """UCT with so many playouts before each discard."""

    def __init__(self, playouts: int) -> None:
        self._children: Final = np.zeros((playouts + 1, N_KINDS, N_KINDS), np.int32)
        self._visits: Final = np.zeros((playouts + 1, N_KINDS), np.int32)
        self._wins: Final = np.zeros((playouts + 1, N_KINDS), np.float64)
        self._dice: Final = np.zeros(1, np.uint64)

    def start(self, game: OnePlayerGame, seed: int) -> None:
        """Take new dice."""
        self._dice[0] = mix(np.uint64(seed))

    def choose(self, game: OnePlayerGame) -> int:
        """Return the most visited discard, of equals any."""
        grow_tree(
            self._children,
            self._visits,
            self._wins,
            game["hand"],
            game["unseen"],
            draws_left(game),
            self._dice,
        )
        most = np.flatnonzero(self._visits[0] == self._visits[0].max())
        return int(most[next_below(self._dice, len(most))])


@compiled
def grow_tree(
    children: Children,
    visits: Visits,
    wins: Wins,
    hand: NDArray[np.int8],
    unseen: NDArray[np.int8],
    left: int,
    dice: NDArray[np.uint64],
) -> None:
    """Grow a new tree, one playout per row after the first, from 14 tiles with ``left`` draws."""
    n_playouts = len(visits) - 1
    children[:] = 0
    visits[:] = 0
    wins[:] = 0
    tiles = _tiles_of(unseen)
    path = np.empty((left + 1, 2), np.int64)
    n_nodes = 1
    for _ in range(n_playouts):
        rest = hand.copy()
        node, depth, in_tree, won = 0, 0, True, 0.0
        for turn in range(left):
            if in_tree:
                kind = _ucb1(visits[node], wins[node], rest, dice)
                path[depth, 0], path[depth, 1] = node, kind
                depth += 1
            else:
                kind = random_tile(rest, dice)
            rest[kind] -= 1
            place = turn + next_below(dice, len(tiles) - turn)
            drawn = tiles[place]
            tiles[place], tiles[turn] = tiles[turn], drawn
            rest[drawn] += 1
            if shanten(rest, 0) < 0:
                won = 1.0
                break
            if in_tree:
                after = children[node, kind, drawn]
                if after == 0:
                    children[node, kind, drawn] = n_nodes
                    n_nodes += 1
                    in_tree = False
                node = after
        for step in range(depth):
            visits[path[step, 0], path[step, 1]] += 1
            wins[path[step, 0], path[step, 1]] += won


@compiled
def _tiles_of(unseen: NDArray[np.int8]) -> NDArray[np.int8]:
    tiles = np.empty(unseen.sum(), np.int8)
    n = 0
    for kind in range(N_KINDS):
        for _ in range(unseen[kind]):
            tiles[n] = kind
            n += 1
    return tiles


@compiled
def _ucb1(
    visits: NDArray[np.int32],
    wins: NDArray[np.float64],
    hand: NDArray[np.int8],
    dice: NDArray[np.uint64],
) -> int:
    """Return the kind with the highest upper bound; any of those never tried, if there are."""
    total, untried = 0, 0
    for kind in range(N_KINDS):
        if hand[kind]:
            total += visits[kind]
            untried += visits[kind] == 0
    if untried:
        skip = next_below(dice, untried)
        for kind in range(N_KINDS):
            if hand[kind] and visits[kind] == 0:
                if skip == 0:
                    return kind
                skip -= 1
    best, highest = -1, -1.0
    for kind in range(N_KINDS):
        if hand[kind]:
            bound = wins[kind] / visits[kind]
            bound += EXPLORATION * np.sqrt(np.log(total) / visits[kind])
            if bound > highest:
                best, highest = kind, bound
    return best
