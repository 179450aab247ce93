"""Plain UCT: the paper's baseline, a tree search that knows the rules and nothing else.

Each playout takes a random order of the unseen tiles, goes down the tree of own discards and
drawn kinds by UCB1, adds one node, and plays on with random discards until the hand is won or
the draws are used up.  The most visited discard is played.  The paper takes the player from an
earlier one's four-player study and does not say how many playouts it had.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.one_player.game import N_KINDS, Game, draws_left
from mjbot.one_player.players import random_tile
from mjbot.rules.shanten import shanten
from mjbot.splitmix import mix, next_below

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

    def start(self, game: Game, seed: int) -> None:
        """Take new dice."""
        self._dice[0] = mix(np.uint64(seed))

    def choose(self, game: Game) -> int:
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
