"""Makes the tables of :mod:`mjbot.game.rules.tables`: how far each suit is from blocks and a pair.

A *row* belongs to one suit (or the honours): ten distances, the fewest tiles missing for
m = 0..4 blocks (runs and triplets), without and with a pair.  A target never holds more than
four copies of a kind, so no hand waits on a fifth.  Joining the rows of two suits (the cheapest
split of the blocks between them) gives a row again.  There are only 180 different rows in all,
closed under joining: so a row is one byte, and joining two of them is one look-up.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_TILES: Final = 14
N_LOW_SUIT: Final = 5
N_LOW_HONOURS: Final = 4
_FAR: Final = 15  # more than any distance (at most 14), and still four bits

IntTable = NDArray[np.int32]
ByteTable = NDArray[np.uint8]
RowTable = NDArray[np.int64]
DistanceTable = NDArray[np.int8]


class DistanceTables(NamedTuple):
    """The row of a suit is ``suit_row[suit_start[low] + suit_order[high]]``.

    ``low`` is the base-5 number of the counts of ranks 1..5, ``high`` that of ranks 6..9; for
    the honours E S W N and P F C.  ``join[256 * row + row]`` is the row of both together,
    ``missing[8 * row + n_melds]`` the tiles missing for ``4 - n_melds`` blocks and a pair.
    """

    suit_start: IntTable
    suit_order: IntTable
    suit_row: ByteTable
    honour_start: IntTable
    honour_order: IntTable
    honour_row: ByteTable
    join: ByteTable
    missing: ByteTable


N_BYTES: Final = {
    "suit_start": 4 * 2 * 5**5,
    "suit_order": 4 * 2 * 5**4,
    "suit_row": 405_350 + 5**4,  # ways to hold at most 14 tiles of a suit, and spare rows
    "honour_start": 4 * 2 * 5**4,
    "honour_order": 4 * 2 * 5**3,
    "honour_row": 43_130 + 5**3,
    "join": 256 * 256,
    "missing": 256 * 8,
}
"""Size of each table."""


def make_tables() -> DistanceTables:
    """Compute all tables (0.2 s)."""
    suit_start, suit_order, suit_rows = _rows_of_all_hands(9, N_LOW_SUIT)
    honour_start, honour_order, honour_rows = _rows_of_all_hands(7, N_LOW_HONOURS)
    distances = _closed(_unpacked(np.unique(np.concatenate([suit_rows, honour_rows]))))
    codes = _packed_many(distances)
    join = np.zeros((256, 256), np.uint8)
    join[: len(codes), : len(codes)] = np.searchsorted(codes, _all_joins(distances))
    missing = np.zeros((256, 8), np.uint8)
    missing[: len(codes), :5] = distances[:, 9:4:-1]
    return DistanceTables(
        suit_start,
        suit_order,
        np.searchsorted(codes, suit_rows).astype(np.uint8),
        honour_start,
        honour_order,
        np.searchsorted(codes, honour_rows).astype(np.uint8),
        join.ravel(),
        missing.ravel(),
    )


def _rows_of_all_hands(n_ranks: int, n_low: int) -> tuple[IntTable, IntTable, RowTable]:
    low_sizes = _digit_sums(n_low)
    high_sizes = _digit_sums(n_ranks - n_low)
    # High parts are ordered by size, so those that fit with a low part are a prefix.
    by_size = np.argsort(high_sizes, kind="stable")
    order = np.empty(len(high_sizes), np.int32)
    order[by_size] = np.arange(len(high_sizes), dtype=np.int32)
    n_fitting = np.searchsorted(high_sizes[by_size], MAX_TILES - low_sizes, side="right")
    ends = np.cumsum(n_fitting)
    start = (ends - n_fitting).astype(np.int32)
    rows = np.zeros(int(ends[-1]) + len(order), np.int64)
    fits = high_sizes[:, None] + low_sizes <= MAX_TILES
    rows[(order[:, None] + start)[fits]] = _rows_by_counts(n_ranks).reshape(fits.shape)[fits]
    # An impossible hand (a fifth copy, more than 14 tiles) still has to point inside the tables.
    rows[ends[-1] :] = rows[0]
    return np.resize(start, 2 * len(start)), np.resize(order, 2 * len(order)), rows


def _rows_by_counts(n_ranks: int) -> RowTable:
    """Return the rows of nine ranks with runs, or of seven (the honours) without.

    They are ordered by the base-5 number of the counts.  Bits ``4 * m`` of a row hold the distance
    to m blocks, bits ``20 + 4 * m`` with a pair.  After some ranks the hands are in few different
    *states*, so that each is computed once: the distances [runs from the rank before the last, runs
    from the last one, blocks begun, pair, state].
    """
    states = np.full((5, 5, 5, 2, 1), _FAR, np.int8)
    states[0, 0, 0, 0] = 0
    state_of = np.zeros(1, np.int64)  # of the counts so far
    for rank in range(n_ranks):
        new_runs = 4 if n_ranks == 9 and rank < 7 else 0
        after = [_add_rank(states, count, new_runs) for count in range(5)]
        states, number = _without_copies(np.concatenate(after, axis=-1))
        state_of = number.reshape(5, -1)[:, state_of].ravel()
    codes = _packed_many(states[0, 0].transpose(2, 1, 0).reshape(-1, 10))
    return codes[state_of]


def _add_rank(before: DistanceTable, count: int, new_runs: int) -> DistanceTable:
    """Return the states after a rank of which a hand has ``count`` tiles, for each state before."""
    after = np.full_like(before, _FAR)
    for two_ago, one_ago, runs, extra in np.ndindex(5, 5, new_runs + 1, 4):
        required = two_ago + one_ago + runs + extra  # with the runs: nothing, a pair, a triplet
        if extra == 1 or required > 4:
            continue
        blocks, pairs = runs + (extra == 3), int(extra == 2)
        new = before[two_ago, one_ago, : 5 - blocks, : 2 - pairs] + max(0, required - count)
        old = after[one_ago, runs, blocks:, pairs:]
        np.minimum(old, new, out=old)
    return after


def _without_copies(states: DistanceTable) -> tuple[DistanceTable, NDArray[np.int64]]:
    """Return the different states, and the number of each given one among them."""
    rows = np.ascontiguousarray(states.reshape(-1, states.shape[-1]).T)
    keys = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return states[..., first], number


def _digit_sums(n_digits: int) -> NDArray[np.int64]:
    sums = np.zeros(1, np.int64)
    for _ in range(n_digits):  # the first rank is the lowest digit
        sums = (np.arange(5)[:, None] + sums[None, :]).ravel()
    return sums


def _unpacked(codes: RowTable) -> DistanceTable:
    return ((codes[:, None] >> (4 * np.arange(10))) & 15).astype(np.int8)


def _packed_many(distances: NDArray[np.int8]) -> RowTable:
    codes: RowTable = (distances.astype(np.int64) << (4 * np.arange(10))).sum(axis=-1)
    return codes


def _all_joins(rows: DistanceTable) -> RowTable:
    """Return the packed row of every pair of rows."""
    left, right = rows[:, None, :], rows[None, :, :]
    joined = np.empty((len(rows), len(rows), 10), np.int8)
    for m in range(5):
        splits = [(i, m - i) for i in range(m + 1)]
        joined[..., m] = np.min([left[..., i] + right[..., j] for i, j in splits], axis=0)
        with_pair = [left[..., 5 + i] + right[..., j] for i, j in splits]
        with_pair += [left[..., i] + right[..., 5 + j] for i, j in splits]
        joined[..., 5 + m] = np.min(with_pair, axis=0)
    return _packed_many(joined)


def _closed(rows: DistanceTable) -> DistanceTable:
    while True:
        codes = np.union1d(_packed_many(rows), _all_joins(rows))
        if len(codes) == len(rows):
            return _unpacked(codes)
        rows = _unpacked(codes)
