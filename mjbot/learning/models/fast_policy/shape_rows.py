"""The shape of a hand as rows of a table of learned vectors, which add up.

Around each number kind stand its copies and those of the two kinds on each side of it; each such
pattern is one row.  Suits share their rows, and a pattern and its mirror image are one row (ranks 1
to 4 stand for 9 to 6; around a 5 they are distinguished).  Further rows encode how many copies of
the kind are unseen, and, of a kind that is dora or that the player itself has discarded, what is
next to it.  Honours have a row for the value of a triplet, the copies held and unseen, and dora.

One tile less changes the rows of 5 kinds, so the hands that discards leave are cheap:
:func:`write_changes` lists the rows that are removed and added.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.protocol.tiles import FIRST_HONOUR
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int8s, Int16s, Int64, Int64s, Record

MOST_COPIES: Final = 3
"""Copies of the middle kind that are distinguished; of its neighbours 2."""
N_NEAR: Final = 5 * 4 * 3**2

AROUND: Final = 0  # the kind and two on each side
UNSEEN: Final = AROUND + 9 * N_NEAR  # the kind, one on each side, unseen copies
DORA: Final = UNSEEN + 5 * N_NEAR  # kinds that are dora
OWN: Final = DORA + N_NEAR  # kinds that the player has discarded
HONOUR: Final = OWN + N_NEAR  # value, copies, unseen copies, dora
N_ROWS: Final = HONOUR + 4 * 5 * 5 * 2

OF_KIND: Final = 4
NONE: Final = -1
MOST_CHANGES: Final = 64
"""Rows that three tiles less remove or add at most: 4 of 5 kinds each, and room for more."""

PADDED: Final = 3 * 13
"""Suits of nine ranks with two empty places on each side."""


def _tables() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the row of each pattern and what is next to it, by rank and number of the pattern."""
    around, nearby = np.full((9, 324), NONE, np.int16), np.full((9, 324), NONE, np.int16)
    for rank in range(9):
        for code in range(1, 324):
            rest, far_right = divmod(code, 3)
            rest, right = divmod(rest, 3)
            rest, middle = divmod(rest, 4)
            far_left, left = divmod(rest, 3)
            edge_rank = rank
            if rank > 4:
                edge_rank, left, right = 8 - rank, right, left
                far_left, far_right = far_right, far_left
            near = ((edge_rank * 4 + middle) * 3 + left) * 3 + right
            around[rank, code] = AROUND + (near * 3 + far_left) * 3 + far_right
            if left + middle + right:
                nearby[rank, code] = near
    return around.ravel(), nearby.ravel()


_AROUND, _NEAR = _tables()
_RANK = np.array([kind % 9 for kind in range(34)])
_PLACE = np.array([13 * (kind // 9) + 2 + kind % 9 for kind in range(34)])
_SUIT_START = np.array([9 * (kind // 9) for kind in range(34)])


class ShapeRows(Record):
    """A hand, what else its rows depend on, and the rows.

    ``values`` are 0 a guest wind, 1 a value wind, 2 a double wind, 3 a dragon; ``copies`` are the
    unseen ones within 0..4.
    """

    padded: Annotated[Int64s, PADDED]  # the suits of the hand
    hand: Annotated[Int8s, 34]
    unseen: Annotated[Int8s, 34]
    dora: Annotated[Int8s, 34]
    values: Annotated[Int8s, 34]
    copies: Annotated[Int8s, 34]
    own: Int64  # mask of the kinds that the player has discarded
    rows: Annotated[Int16s, 35, OF_KIND]  # of each kind; the last is scratch space


class Changes(Record):
    """The rows that one candidate's hand does not have any more, and those that it has instead."""

    n_removed: Int64
    n_added: Int64
    removed: Annotated[Int16s, MOST_CHANGES]
    added: Annotated[Int16s, MOST_CHANGES]


@compiled
def take(shape: ShapeRows, kind: int, copies: int) -> None:
    """Take some copies of a kind out of the hand; put them back with a negative number."""
    shape.hand[kind] -= copies
    if kind < FIRST_HONOUR:
        shape.padded[_PLACE[kind]] -= copies


@compiled
def _pattern(shape: ShapeRows, index: int) -> int:
    """Return the number of the pattern around a place of the padded suits."""
    padded = shape.padded
    code = 3 * min(padded[index - 2], 2) + min(padded[index - 1], 2)
    code = 4 * code + min(padded[index], MOST_COPIES)
    return int(9 * code + 3 * min(padded[index + 1], 2) + min(padded[index + 2], 2))


@compiled
def _write_number_rows(shape: ShapeRows, kind: int, at: int) -> None:
    code = 324 * _RANK[kind] + _pattern(shape, _PLACE[kind])
    near = _NEAR[code]
    has = near != NONE
    rows = shape.rows
    rows[at, 0] = _AROUND[code]
    rows[at, 1] = UNSEEN + 5 * near + shape.copies[kind] if has else NONE
    rows[at, 2] = DORA + near if has and shape.dora[kind] else NONE
    rows[at, 3] = OWN + near if has and shape.own >> kind & 1 else NONE


@compiled
def _honour_row(shape: ShapeRows, kind: int) -> int:
    copies = min(shape.hand[kind], 4)
    if copies == 0:
        return NONE
    row = 5 * (5 * shape.values[kind] + copies) + shape.copies[kind]
    return int(HONOUR + 2 * row + int(shape.dora[kind] > 0))


@compiled
def write_rows(shape: ShapeRows) -> None:
    """Write the rows of the hand, and what else follows from it and the unseen tiles."""
    for kind in range(FIRST_HONOUR):
        shape.padded[_PLACE[kind]] = shape.hand[kind]
    for kind in range(34):
        shape.copies[kind] = min(max(shape.unseen[kind], 0), 4)
    for kind in range(FIRST_HONOUR):
        _write_number_rows(shape, kind, kind)
    for kind in range(FIRST_HONOUR, 34):
        shape.rows[kind, 0] = _honour_row(shape, kind)
        shape.rows[kind, 1] = shape.rows[kind, 2] = shape.rows[kind, 3] = NONE


@compiled
def write_changes(shape: ShapeRows, changed: Int64s, n_changed: int, changes: Changes) -> None:
    """Write the rows that are removed and added where the hand now differs in ``changed`` kinds."""
    removed, added, done = 0, 0, 0
    for number in range(n_changed):
        kind = changed[number]
        if kind >= FIRST_HONOUR:
            changes.removed[removed] = shape.rows[kind, 0]
            changes.added[added] = _honour_row(shape, kind)
            removed += shape.rows[kind, 0] != NONE
            added += changes.added[added] != NONE
            continue
        start = _SUIT_START[kind]
        for other in range(max(kind - 2, start), min(kind + 3, start + 9)):
            if done >> other & 1:
                continue
            done |= 1 << other
            _write_number_rows(shape, other, 34)
            for index in range(OF_KIND):  # without branches, which nothing could predict
                before, after = int(shape.rows[other, index]), int(shape.rows[34, index])
                differs = int(before != after)
                changes.removed[removed] = before
                changes.added[added] = after
                removed += differs & int(before != NONE)
                added += differs & int(after != NONE)
    changes.n_removed, changes.n_added = removed, added
