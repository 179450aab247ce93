"""What a hand is worth one draw ahead: the measure of the fast-riichi strategies.

``value(draw) = points per block x blocks + unseen copies of the waits``, where the blocks are
melds and head (:mod:`strategies.evaluation.blocks`), those on the table included.  Own discards
do not count as waits: there is no ron on them (furiten).

A discard changes one suit, a draw one more.  So each suit is looked up once per change, with
its waits counted there and then, and the numbers are packed into one integer such that the
hand's are the sum of its four suits'.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from strategies.evaluation.blocks import (
    HEAD,
    HEADLESS,
    MASK,
    MASK_BITS,
    MELDS,
    N_SUITED,
    SHARED,
    SOLE,
    Table,
    block_table,
)

Counts = NDArray[np.int8]
Numbers = NDArray[np.int64]

# A suit's numbers, packed: three counts of waits (fewer than 1024 tiles for the four suits),
# how many suits gain a block by a head (at most 4), and melds.
TILES: Final = 1023
SOLE_TILES: Final = 10
SHARED_TILES: Final = 20
HEADS: Final = 30
PACKED_MELDS: Final = 33

NO_DRAW: Final = 9
"""The column of a suit as it is; columns 0..8 hold it with one more tile of that rank."""


def hand_value(
    hand: Counts, unseen: Counts, own_discards: int, block_points: int, best_draw: bool = False
) -> int:
    """Return what a hand of 3n+1 concealed tiles is worth one draw ahead.

    That is the sum of value(draw) x unseen copies over all draws, in points x tiles; with
    ``best_draw`` the value of the one draw with the most blocks and, among those, waits.
    ``hand`` and ``unseen`` are int8[34], ``own_discards`` is a mask of kinds.  The number of
    melds on the table follows from the size of the hand.
    """
    return int(_hand_value(block_table(), hand, unseen, own_discards, block_points, best_draw))


def discard_values(
    hand: Counts, unseen: Counts, own_discards: int, block_points: int, best_draw: bool = False
) -> list[int]:
    """Return :func:`hand_value` after each discard from a hand of 3n+2 concealed tiles.

    34 values; -1 for kinds that are not in the hand.  What is discarded is no wait any more.
    """
    values: Numbers = _discard_values(
        block_table(), hand, unseen, own_discards, block_points, best_draw
    )
    by_kind: list[int] = values.tolist()
    return by_kind


@compiled
def _hand_value(
    table: Table, hand: Counts, unseen: Counts, own_discards: int, block_points: int, best: bool
) -> int:
    index, copies, ahead = _suit_indices(hand), _tiles_of_sets(unseen), np.zeros((4, 10), np.int64)
    for suit in range(4):
        _look_up(table, index, copies, ~own_discards, ahead, suit)
    melds = (14 - hand.sum()) // 3
    return _worth(ahead, unseen, melds, block_points, best)


@compiled
def _discard_values(
    table: Table, hand: Counts, unseen: Counts, own_discards: int, block_points: int, best: bool
) -> Numbers:
    values = np.full(34, -1, np.int64)
    index, copies, ahead = _suit_indices(hand), _tiles_of_sets(unseen), np.zeros((4, 10), np.int64)
    for suit in range(4):
        _look_up(table, index, copies, ~own_discards, ahead, suit)
    melds = (14 - hand.sum()) // 3
    for suit in range(4):
        as_it_is = ahead[suit].copy()
        place = 1
        for kind in range(9 * suit, min(9 * suit + 9, 34)):
            if hand[kind]:
                index[suit] -= place
                _look_up(table, index, copies, ~(own_discards | 1 << kind), ahead, suit)
                values[kind] = _worth(ahead, unseen, melds, block_points, best)
                index[suit] += place
            place *= 5
        ahead[suit] = as_it_is
    return values


@compiled
def _suit_indices(hand: Counts) -> Numbers:
    """Return where each suit of the hand stands in the table."""
    index = np.zeros(4, np.int64)
    index[3] = N_SUITED
    place = 1
    for kind in range(34):
        if kind % 9 == 0:
            place = 1
        index[kind // 9] += hand[kind] * place
        place *= 5
    return index


@compiled
def _tiles_of_sets(unseen: Counts) -> NDArray[np.int16]:
    """Return the unseen copies of each set of kinds of a suit: int16[4, 512]."""
    tiles = np.zeros((4, 1 << MASK_BITS), np.int16)
    for kind in range(34):
        suit, rank = kind // 9, kind % 9
        top = 1 << rank
        for rest in range(top):
            tiles[suit, top | rest] = tiles[suit, rest] + unseen[kind]
    return tiles


@compiled
def _look_up(
    table: Table, index: Numbers, tiles: NDArray[np.int16], wanted: int, ahead: Numbers, suit: int
) -> None:
    """Fill ``ahead[suit]`` with the packed numbers of the suit after each draw and without one.

    ``wanted`` is the mask of kinds that may be waits.  A drawn tile is not unseen any more.
    """
    mask = wanted >> 9 * suit & MASK
    counts = tiles[suit]
    ahead[suit, NO_DRAW] = _packed(int(table[index[suit]]), counts, mask, 0)
    place = 1
    for rank in range(9 if suit < 3 else 7):
        if counts[1 << rank]:
            ahead[suit, rank] = _packed(int(table[index[suit] + place]), counts, mask, 1 << rank)
        place *= 5


@compiled
def _packed(entry: int, tiles: NDArray[np.int16], wanted: int, drawn: int) -> int:
    packed = (entry >> HEAD & 1) << HEADS | entry >> MELDS << PACKED_MELDS
    headless = entry >> HEADLESS & wanted
    sole = entry >> SOLE & wanted
    shared = entry >> SHARED & wanted
    packed += tiles[headless] - (headless & drawn != 0)
    packed += (tiles[sole] - (sole & drawn != 0)) << SOLE_TILES
    return packed + ((tiles[shared] - (shared & drawn != 0)) << SHARED_TILES)


@compiled
def _worth(ahead: Numbers, unseen: Counts, melds: int, block_points: int, best_draw: bool) -> int:
    """Return the sum over the draws of value x unseen copies, or the value of the best draw."""
    total = ahead[:, NO_DRAW].sum() + (melds << PACKED_MELDS)
    worth = best = 0
    for kind in range(34):
        if unseen[kind]:
            suit = kind // 9
            hand = total + ahead[suit, kind % 9] - ahead[suit, NO_DRAW]
            heads = hand >> HEADS & 7
            blocks = (hand >> PACKED_MELDS) + (heads > 0)
            waits = hand >> min(heads, 2) * SOLE_TILES & TILES
            worth += unseen[kind] * (blocks * block_points + waits)
            best = max(best, blocks << 10 | waits)
    if best_draw:
        return (best >> 10) * block_points + (best & TILES)
    return worth
