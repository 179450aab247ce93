"""Sums and products of rows of float32 numbers in compiled code, 16 numbers at a time.

numba writes a loop over a short row with checks for overlapping arrays and a remainder, which take
longer than the sum.  The functions here are loops of vector instructions.  :func:`add_row`
multiplies, rounds and adds each number as a plain loop does; :func:`dot_row` adds up 16 sums, then
these in their order.  So all processors give the same result.
"""

from typing import Any, Final

import numpy as np

from mjbot.runtime.compiler.mode import IS_INTERPRETED
from mjbot.runtime.compiler.record import Float32s

if not IS_INTERPRETED:
    from mjbot.runtime.compiler import intrinsics

LANES: Final = 16
"""Numbers that a vector instruction takes."""


def _interpreted(
    total: Float32s, at: int, table: Float32s, place: int, factor: Any, size: int
) -> None:
    total[at : at + size] += np.float32(factor) * table[place : place + size]


def _interpreted_dot(one: Float32s, at: int, other: Float32s, place: int, size: int) -> Any:
    sums = np.zeros(LANES, np.float32)
    for start in range(0, size, LANES):
        left, right = at + start, place + start
        sums += one[left : left + LANES] * other[right : right + LANES]
    total = np.float32(0)
    for lane in range(LANES):
        total += sums[lane]
    return total


add_row: Any = _interpreted if IS_INTERPRETED else intrinsics.add_row
"""``add_row(total, at, table, place, factor, size)``: total[at:] += factor * table[place:].

In compiled code, of ``size`` float32, a multiple of :data:`LANES`; ``total`` and ``table`` are
one-dimensional and contiguous.  Nothing is checked.
"""

dot_row: Any = _interpreted_dot if IS_INTERPRETED else intrinsics.dot_row
"""``dot_row(one, at, other, place, size)``: the product of one[at:] and other[place:].

In compiled code, of ``size`` float32, with what :data:`add_row` requires.
"""
