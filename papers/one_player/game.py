"""The game: draw, win or discard, 27 times; its record and its compiled steps.

There are no calls, no riichi, no dora and no opponents.  A self-drawn closed hand always has a
yaku, so every complete hand wins: four blocks and a pair, seven pairs, thirteen orphans.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.wall import N_WALL, shuffle_wall
from mjbot.game.rules.shanten import shanten
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int8, Int8s, Record

N_KINDS: Final = 34
N_DEALT: Final = 13
N_DRAWS: Final = 27
N_USED: Final = N_DEALT + N_DRAWS
N_HIDDEN: Final = N_WALL - N_USED
"""Tiles that stay in the wall: at ``t`` draws before the end, ``N_HIDDEN + t`` are unseen."""
WALLS_PER_SEED: Final = 1 << 32


class OnePlayerGame(Record, align=False):
    """One record: ``game["field"]`` in Python, ``game.field`` compiled."""

    wall: Annotated[Int8s, N_USED]  # kinds: 13 dealt, 27 to draw
    hand: Annotated[Int8s, N_KINDS]  # counts per kind, the drawn tile included
    unseen: Annotated[Int8s, N_KINDS]  # 4 - hand - river
    river: Annotated[Int8s, N_DRAWS]  # kinds in order
    n_draws: Int8
    drawn: Int8  # kind of the last draw, -1 before it
    is_won: Int8


def new_game(seed: int, number: int) -> OnePlayerGame:
    """Return wall ``number`` of a seed, dealt: the first 40 tiles of the arena's East 1.

    >>> game = new_game(2013, 0)
    >>> int(game["hand"].sum()), int(game["unseen"].sum()), draws_left(game)
    (13, 123, 27)
    """
    tiles = np.empty(N_WALL, np.int8)
    shuffle_wall(seed * WALLS_PER_SEED + number, 0, 0, tiles, 4)
    kinds = np.where(tiles < N_KINDS, tiles, 9 * (tiles - N_KINDS) + 4).astype(np.int8)
    game = OnePlayerGame.new()
    deal(game, kinds[:N_USED])
    return game


@compiled
def deal(game: OnePlayerGame, wall: NDArray[np.int8]) -> None:
    """Start a game with a wall int8[40] of kinds."""
    game.hand[:] = 0
    game.unseen[:] = 4
    for place in range(N_USED):
        game.wall[place] = wall[place]
    for place in range(N_DEALT):
        game.hand[wall[place]] += 1
        game.unseen[wall[place]] -= 1
    game.river[:] = -1
    game.n_draws = 0
    game.drawn = -1
    game.is_won = 0


@compiled
def draw(game: OnePlayerGame) -> bool:
    """Draw the next tile; return whether a discard is due (not after a win or the last draw)."""
    kind = game.wall[N_DEALT + game.n_draws]
    game.n_draws += 1
    game.drawn = kind
    game.hand[kind] += 1
    game.unseen[kind] -= 1
    game.is_won = shanten(game.hand, 0) < 0
    return not game.is_won and game.n_draws < N_DRAWS


@compiled
def discard(game: OnePlayerGame, kind: int) -> None:
    """Discard a kind that is in the hand."""
    game.hand[kind] -= 1
    game.river[game.n_draws - 1] = kind


@compiled
def draws_left(game: OnePlayerGame) -> int:
    """Return how many draws are still to come."""
    return int(N_DRAWS - game.n_draws)
