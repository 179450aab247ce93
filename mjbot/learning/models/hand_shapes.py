"""How near a hand is to a win: what its suits can be taken apart into, and what its discards leave.

Of all ways to take a suit apart into melds and two-tile shapes the one counts that has the most
melds, then the most two-tile shapes (pairs and tiles at most two apart), then the most two-sided
ones (23 .. 78).  :func:`measure` describes what each discard leaves, relative to the best.
"""

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import acceptance_by_discard
from mjbot.learning.models.hand_position import HandPosition
from mjbot.runtime.compiler.compiled import compiled

MELD: Final = 256
SHAPE: Final = 16
TWO_SIDED: Final = 1
"""A shape's number is ``MELD x melds + SHAPE x two-tile shapes + TWO_SIDED x two-sided ones``:
the numbers of suits add up, and the larger is the better."""

N_SUITS: Final = 5**9

ShapeTable = NDArray[np.uint16]


@cache
def shape_table() -> ShapeTable:
    """Return the number of every suit by the base-5 number of its counts, rank 1 lowest."""
    table = np.zeros(N_SUITS, np.uint16)
    _fill(table)
    return table


@compiled
def suit_number(hand: NDArray[np.int8], first: int) -> int:
    """Return the base-5 number of the nine counts from kind ``first`` on."""
    number = 0
    for kind in range(first + 8, first - 1, -1):
        number = 5 * number + min(int(hand[kind]), 4)
    return number


@compiled
def hand_shape(table: ShapeTable, hand: NDArray[np.int8]) -> int:
    """Return the number of a whole hand int8[34]; of the honours triplets and pairs count."""
    number = 0
    for first in range(0, 27, 9):
        number += int(table[suit_number(hand, first)])
    for kind in range(27, 34):
        number += MELD * (hand[kind] >= 3) + SHAPE * (hand[kind] == 2)
    return number


def _fill(table: ShapeTable) -> None:
    """Fill in the suits by their lowest rank, the highest first, and its count.

    The best is that of leaving out the lowest tile and of each shape that begins with it: what that
    leaves is known by then.
    """
    for rank in range(8, -1, -1):
        above = np.arange(5 ** (8 - rank))  # the base-5 numbers of the counts of higher ranks
        suits = table[:: 5**rank].reshape(-1, 5)
        next_1, next_2 = above[above % 5 > 0], above[above // 5 % 5 > 0]
        both = np.intersect1d(next_1, next_2, assume_unique=True)
        two_sided = TWO_SIDED * (1 <= rank <= 6)
        for count in range(1, 5):
            one_less = suits[:, count - 1]
            best = one_less.copy()
            if count >= 3:
                best = np.maximum(best, MELD + suits[:, count - 3])
            if count >= 2:
                best = np.maximum(best, SHAPE + suits[:, count - 2])
            best[next_1] = np.maximum(best[next_1], SHAPE + two_sided + one_less[next_1 - 1])
            best[next_2] = np.maximum(best[next_2], SHAPE + one_less[next_2 - 5])
            best[both] = np.maximum(best[both], MELD + one_less[both - 6])
            suits[:, count] = best


class Nearness(NamedTuple):
    """By kind given up: ``shantens`` int8[34], ``masks`` int64[34] of accepting kinds, ``tiles``
    int16[34] unseen of them; as :func:`mjbot.game.rules.acceptance.acceptance_by_discard` has them.

    ``best`` int64[2] is the least shanten, and the most tiles that a discard leaves with it.
    """

    shantens: NDArray[np.int8]
    masks: NDArray[np.int64]
    tiles: NDArray[np.int16]
    best: NDArray[np.int64]


def new_nearness() -> Nearness:
    """Return room, to be used again and again."""
    return Nearness(
        np.zeros(34, np.int8), np.zeros(34, np.int64), np.zeros(34, np.int16), np.zeros(2, np.int64)
    )


@compiled
def measure(position: HandPosition, near: Nearness) -> None:
    """Fill ``near`` for the hand of a position."""
    acceptance_by_discard(
        position.hand, position.n_melds, position.unseen, near.shantens, near.masks, near.tiles
    )
    near.best[0] = 99
    for kind in range(34):
        if near.shantens[kind] < near.best[0]:
            near.best[0] = near.shantens[kind]
            near.best[1] = 0
        if near.shantens[kind] == near.best[0]:
            near.best[1] = max(near.best[1], near.tiles[kind])
