"""The blocks (melds and a head) that each suit can hold, and their waits, as a table.

The most blocks that a hand can hold are a sum over its suits, but for the head: the hand may
have one only.  So a suit is tabulated for each place the head can be in.  Within the suit every
way to take blocks out counts, in any order; its waits are those of all ways that take the most:

* the kind of a pair (a third tile makes a triplet),
* the kinds that complete two tiles to a run,
* while the hand has no head, also the kind of every single tile.

Built in a blink from the smallest suits up, so nothing is kept on disk.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mjbot.runtime.compiler.compiled import compiled

BlockTable = NDArray[np.int32]

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


@compiled
def _fill(table: BlockTable, n_ranks: int, n_runs: int) -> None:
    """Fill in a suit of ``n_ranks`` kinds with runs from the first ``n_runs`` of them.

    ``bare[index]`` is the suit without a head: melds, single tiles and waits.  Indices ascend,
    so what remains after taking a block out has been looked at before.
    """
    bare = np.zeros(len(table), np.int32)
    count = np.zeros(9, np.int64)
    n_tiles = 0
    for index in range(len(table)):
        if n_tiles <= MOST_TILES:
            bare[index] = _without_head(bare, count, index, n_runs)
            table[index] = _entry(int(bare[index]), _with_head(bare, count, index))
        rank = 0
        while rank < n_ranks and count[rank] == 4:
            count[rank] = 0
            n_tiles -= 4
            rank += 1
        if rank < n_ranks:
            count[rank] += 1
            n_tiles += 1


@compiled
def _without_head(bare: BlockTable, count: NDArray[np.int64], index: int, n_runs: int) -> int:
    """Return melds << 18 | kinds of leftover tiles << 9 | waits of one suit."""
    best = -1
    power = 1
    for rank in range(9):
        if count[rank] >= 3:
            best = _better(best, int(bare[index - 3 * power]))
        if rank < n_runs and count[rank] and count[rank + 1] and count[rank + 2]:
            best = _better(best, int(bare[index - 31 * power]))  # 31 = 1 + 5 + 25
        power *= 5
    if best >= 0:
        return best + (1 << SHARED)
    return _leftover(count, n_runs)


@compiled
def _with_head(bare: BlockTable, count: NDArray[np.int64], index: int) -> int:
    """Return the same with the head in this suit and counted as a meld; -1 without a pair."""
    best = -1
    power = 1
    for rank in range(9):
        if count[rank] >= 2:
            best = _better(best, int(bare[index - 2 * power]))
        power *= 5
    return best + (1 << SHARED) if best >= 0 else best


@compiled
def _better(one: int, other: int) -> int:
    """Return the way with more melds; of equals both together, as a union of their masks."""
    if one >> SHARED == other >> SHARED:
        return one | other
    return max(one, other)


@compiled
def _leftover(count: NDArray[np.int64], n_runs: int) -> int:
    """Return kinds << 9 | waits of tiles that hold no meld."""
    kinds = waits = 0
    for rank in range(9):
        if count[rank]:
            kinds |= 1 << rank
        if count[rank] >= 2:
            waits |= 1 << rank
    if n_runs:
        neighbours = kinds & kinds << 1
        waits |= neighbours << 1 | neighbours >> 2 | (kinds << 1 & kinds >> 1)
    return kinds << MASK_BITS | waits & MASK


@compiled
def _entry(bare: int, headed: int) -> int:
    """Pack one suit for the table, given its best ways without and with the head."""
    melds = bare >> SHARED
    waits = bare & MASK
    single = waits | (bare >> MASK_BITS & MASK)
    headed_waits = headed & MASK
    if headed >> SHARED > melds:
        gain = 1 << HEAD | headed_waits << SOLE | (headed_waits | waits) << SHARED
        return melds << MELDS | gain
    if headed >> SHARED == melds:
        single |= headed_waits
    return melds << MELDS | waits << SHARED | waits << SOLE | single << HEADLESS
