"""The value of a hand one draw ahead: the measure of the fast-riichi strategies.

``value(draw) = points per block x blocks + unseen copies of the waits``, where the blocks are
melds and head (:mod:`mjbot.strategies.evaluation.fast_riichi.blocks`), those on the table included.
Own discards do not count as waits: there is no ron on them (furiten).

A discard changes one suit, a draw one more.  So each suit is looked up once per change, with
its waits counted there and then, and the numbers are packed into one integer such that the
hand's are the sum of its four suits'.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.table.observe import dora_values, genbutsu
from mjbot.game.table.state import State
from mjbot.protocol.tiles import N_KINDS, N_TILES
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.fast_riichi.blocks import (
    HEAD,
    HEADLESS,
    MASK,
    MASK_BITS,
    MELDS,
    N_SUITED,
    SHARED,
    SOLE,
    BlockTable,
    block_table,
)

Numbers = NDArray[np.int64]

# A suit's numbers, packed: three counts of waits (fewer than 1024 tiles for the four suits),
# how many suits gain a block by a head (at most 4), and melds.
TILES: Final = 1023
SOLE_TILES: Final = 10
SHARED_TILES: Final = 20
HEADS: Final = 30
PACKED_MELDS: Final = 33

AS_IT_IS: Final = N_KINDS
"""The entry of the values for a hand without a discard."""

NO_DRAW: Final = 9
"""The column of a suit as it is; columns 0..8 hold it with one more tile of that rank."""


def hand_value(
    hand: Counts, unseen: Counts, own_discards: int, block_points: int, best_draw: bool = False
) -> int:
    """Return the value of a hand of 3n+1 concealed tiles one draw ahead.

    That is the sum of value(draw) x unseen copies over all draws, in points x tiles; with
    ``best_draw`` the value of the one draw with the most blocks and, among those, waits.
    ``hand`` and ``unseen`` are int8[34], ``own_discards`` is a mask of kinds.  The number of
    melds on the table follows from the size of the hand.
    """
    return int(
        _values(block_table(), hand, unseen, own_discards, block_points, best_draw)[AS_IT_IS]
    )


def discard_values(
    hand: Counts, unseen: Counts, own_discards: int, block_points: int, best_draw: bool = False
) -> Numbers:
    """Return :func:`hand_value` after each discard from a hand of 3n+2 concealed tiles.

    int64[34], -1 for kinds that are not in the hand.  What is discarded is no wait any more.
    """
    values: Numbers = _values(block_table(), hand, unseen, own_discards, block_points, best_draw)
    return values[:AS_IT_IS]


@compiled
def discard_points(
    table: BlockTable,
    state: State,
    seat: int,
    hand: Counts,
    unseen: Counts,
    block_points: int,
    best_draw: bool,
    dora_points: int,
) -> Numbers:
    """Return :func:`discard_values` by tile (int64[37]), less the dora that each gives up.

    ``hand`` int8[34] is that of the seat, as it is or after a call.  Red fives count once more.
    """
    own = genbutsu(state, seat)
    values = _values(table, hand, unseen, own, block_points, best_draw)
    points, dora = np.empty(N_TILES, np.int64), np.empty(N_KINDS, np.int8)
    dora_values(state, dora)
    for kind in range(N_KINDS):
        points[kind] = values[kind] - dora_points * dora[kind]
    for red in range(3):
        points[N_KINDS + red] = points[9 * red + 4] - dora_points
    return points


@compiled
def _values(
    table: BlockTable,
    hand: Counts,
    unseen: Counts,
    own_discards: int,
    block_points: int,
    best: bool,
) -> Numbers:
    """Return the values after each discard or, of a hand with none to make, as it is."""
    values = np.empty(N_KINDS + 1, np.int64)
    index, tiles, ahead = _suit_indices(hand), _tiles_of_sets(unseen), np.zeros((4, 10), np.int64)
    size = 0
    for suit in range(4):
        _look_up(table, index, tiles, ~own_discards, ahead, suit)
    for kind in range(N_KINDS):
        values[kind] = -1
        size += hand[kind]
    melds = (14 - size) // 3
    if size % 3 == 1:
        values[AS_IT_IS] = _draw_value(ahead, unseen, melds, block_points, best)
        return values
    for suit in range(4):
        power = 1
        for kind in range(9 * suit, min(9 * suit + 9, N_KINDS)):
            if hand[kind]:
                index[suit] -= power
                _look_up(table, index, tiles, ~(own_discards | 1 << kind), ahead, suit)
                values[kind] = _draw_value(ahead, unseen, melds, block_points, best)
                index[suit] += power
            power *= 5
        _look_up(table, index, tiles, ~own_discards, ahead, suit)
    return values


@compiled
def _suit_indices(hand: Counts) -> Numbers:
    """Return where each suit of the hand stands in the table."""
    index = np.zeros(4, np.int64)
    index[3] = N_SUITED
    power = 1
    for kind in range(N_KINDS):
        if kind % 9 == 0:
            power = 1
        index[kind // 9] += min(hand[kind], 4) * power
        power *= 5
    return index


@compiled
def _tiles_of_sets(unseen: Counts) -> NDArray[np.int16]:
    """Return the unseen copies of each set of kinds of a suit: int16[4, 512]."""
    tiles = np.zeros((4, 1 << MASK_BITS), np.int16)
    for kind in range(N_KINDS):
        suit, rank = kind // 9, kind % 9
        top = 1 << rank
        for rest in range(top):
            tiles[suit, top | rest] = tiles[suit, rest] + unseen[kind]
    return tiles


@compiled
def _look_up(
    table: BlockTable,
    index: Numbers,
    tiles: NDArray[np.int16],
    wanted: int,
    ahead: Numbers,
    suit: int,
) -> None:
    """Fill ``ahead[suit]`` with the packed numbers of the suit after each draw and without one.

    ``wanted`` is the mask of kinds that may be waits.  A drawn tile is not unseen any more.
    """
    mask = wanted >> 9 * suit & MASK
    counts = tiles[suit]
    ahead[suit, NO_DRAW] = _packed(int(table[index[suit]]), counts, mask, 0)
    power = 1
    for rank in range(9 if suit < 3 else 7):
        if counts[1 << rank] > 0:
            ahead[suit, rank] = _packed(int(table[index[suit] + power]), counts, mask, 1 << rank)
        power *= 5


@compiled
def _packed(entry: int, tiles: NDArray[np.int16], wanted: int, drawn: int) -> int:
    headless = entry >> HEADLESS & wanted
    sole = entry >> SOLE & wanted
    shared = entry >> SHARED & wanted
    packed = int(tiles[headless]) - (headless & drawn != 0)
    packed += int(tiles[sole]) - (sole & drawn != 0) << SOLE_TILES
    packed += int(tiles[shared]) - (shared & drawn != 0) << SHARED_TILES
    return packed | (entry >> HEAD & 1) << HEADS | entry >> MELDS << PACKED_MELDS


@compiled
def _draw_value(
    ahead: Numbers, unseen: Counts, melds: int, block_points: int, best_draw: bool
) -> int:
    """Return the sum over the draws of value x unseen copies, or the value of the best draw."""
    total = melds << PACKED_MELDS
    for suit in range(4):
        total += int(ahead[suit, NO_DRAW])
    value = best = 0
    for kind in range(N_KINDS):
        if unseen[kind] > 0:
            suit = kind // 9
            hand = total + int(ahead[suit, kind % 9] - ahead[suit, NO_DRAW])
            heads = hand >> HEADS & 7
            blocks = (hand >> PACKED_MELDS) + (heads > 0)
            waits = hand >> min(heads, 2) * SOLE_TILES & TILES
            value += int(unseen[kind]) * (blocks * block_points + waits)
            best = max(best, blocks << 10 | waits)
    if best_draw:
        return (best >> 10) * block_points + (best & TILES)
    return int(value)
