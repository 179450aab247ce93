"""The blocks (melds and a head) that each suit can hold, and their waits, as a table.

The most blocks that a hand can hold are a sum over its suits, but for the head: the hand may
have one only.  So a suit is tabulated for each place the head can be in.  Within the suit every
way to take blocks out counts, in any order; its waits are those of all ways that take the most:

* the kind of a pair (a third tile makes a triplet),
* the kinds that complete two tiles to a run,
* while the hand has no head, also the kind of every single tile.

Built in 0.1 s from the smallest suits up, so nothing is kept on disk.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

BlockTable = NDArray[np.int32]
Mask = NDArray[np.bool_]

N_SUITED = 5**9
N_HONOURS = 5**7
MOST_TILES = 14

# Where an entry keeps what: three masks of nine kinds, one bit, one number.
MASK_BITS = 9
MASK = (1 << MASK_BITS) - 1
HEADLESS = 0
SOLE = MASK_BITS
SHARED = 2 * MASK_BITS
HEAD = 3 * MASK_BITS
MELDS = HEAD + 1


@cache
def block_table() -> BlockTable:
    """Return the table of all suits: int32[5**9 + 5**7], honours behind the number suits.

    A suit's index is the sum of ``count[rank] * 5**rank``, for honours plus :data:`N_SUITED`.
    Suits of more than 14 tiles are left out.  An entry holds, shifted by

    * :data:`HEADLESS`: the waits if no suit of the hand gains a block by a head,
    * :data:`SOLE`: the waits if one suit of the hand gains a block by a head,
    * :data:`SHARED`: the waits if several do, so that each of them may have the head,
    * :data:`HEAD`: 1 if this suit gains a block by a head,
    * :data:`MELDS`: the most melds without a head.
    """
    table = np.zeros(N_SUITED + N_HONOURS, np.int32)
    _fill(table[:N_SUITED], 9, 7)
    _fill(table[N_SUITED:], 7, 0)
    return table


def _fill(table: BlockTable, n_ranks: int, n_runs: int) -> None:
    """Fill in a suit of ``n_ranks`` kinds with runs from the first ``n_runs`` of them.

    ``bare[index]`` is the suit without a head: melds << 18 | kinds of leftover tiles << 9 | waits.
    Suits of fewer tiles come first, so what remains after taking a block out is known by then.
    """
    bare = np.zeros(len(table), np.int32)
    n_tiles = np.zeros(1, np.int8)
    for _ in range(n_ranks):
        n_tiles = np.add.outer(np.arange(5, dtype=np.int8), n_tiles).ravel()
    for tiles in range(MOST_TILES + 1):
        some = np.flatnonzero(n_tiles == tiles).astype(np.int32)
        held = np.stack([some // 5**rank % 5 for rank in range(n_ranks)]).astype(np.int8)
        melds = [(held[rank] >= 3, 3 * 5**rank) for rank in range(n_ranks)]
        for rank in range(n_runs):
            melds.append((held[rank : rank + 3].all(axis=0), 31 * 5**rank))  # 31 = 1 + 5 + 25
        heads = [(held[rank] >= 2, 2 * 5**rank) for rank in range(n_ranks)]
        best = _best(bare, some, melds)
        bare[some] = np.where(best >= 0, best, _leftover(held, n_runs))
        table[some] = _entry(bare[some], _best(bare, some, heads))


def _best(bare: BlockTable, some: BlockTable, blocks: Sequence[tuple[Mask, int]]) -> BlockTable:
    """Return the best ways for suits that take a block out first, one meld more; -1 without.

    ``blocks`` are which of the suits hold each block, and the index of the block.  Of ways with the
    same number of melds all count, as a union of their masks.
    """
    best = np.full(len(some), -1, np.int32)
    for holds, block in blocks:
        these = np.flatnonzero(holds)
        one, other = best[these], bare[some[these] - block]
        is_equal = one >> SHARED == other >> SHARED
        best[these] = np.where(is_equal, one | other, np.maximum(one, other))
    return np.where(best >= 0, best + (1 << SHARED), best)


def _leftover(held: NDArray[np.int8], n_runs: int) -> BlockTable:
    """Return kinds << 9 | waits of tiles that hold no meld."""
    kinds = waits = np.zeros(held.shape[1], np.int32)
    for rank, count in enumerate(held):
        kinds = kinds | (count >= 1) * np.int32(1 << rank)
        waits = waits | (count >= 2) * np.int32(1 << rank)
    if n_runs:
        neighbours = kinds & kinds << 1
        waits = waits | neighbours << 1 | neighbours >> 2 | (kinds << 1 & kinds >> 1)
    return kinds << MASK_BITS | waits & MASK


def _entry(bare: BlockTable, headed: BlockTable) -> BlockTable:
    """Pack suits for the table, given their best ways without and with the head."""
    melds, waits = bare >> SHARED, bare & MASK
    single = waits | (bare >> MASK_BITS & MASK)
    headed_waits = headed & MASK
    gain = 1 << HEAD | headed_waits << SOLE | (headed_waits | waits) << SHARED
    single |= np.where(headed >> SHARED == melds, headed_waits, 0)
    no_gain = waits << SHARED | waits << SOLE | single << HEADLESS
    return melds << MELDS | np.where(headed >> SHARED > melds, gain, no_gain)
