"""Sums and products of rows of float32 numbers in compiled code, 16 numbers at a time.

numba writes a loop over a short row with checks for overlapping arrays and a remainder, which take
longer than the sum.  The functions here are loops of vector instructions.  :func:`add_row`
multiplies, rounds and adds each number as a plain loop does; :func:`dot_row` adds up 16 sums, then
these in their order.  So all processors give the same result.
"""

from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mjbot.runtime.compiler.compiled import IS_INTERPRETED
from mjbot.runtime.compiler.record import Float32s

LANES: Final = 16
_utils: Final[Any] = cgutils  # without types
_VECTOR: Final = ir.VectorType(ir.FloatType(), LANES)


def _add_row(
    context: Any, total: Any, at: Any, table: Any, place: Any, factor: Any, size: Any
) -> Any:
    signature = types.void(total, types.int64, table, types.int64, types.float32, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays, _, tables, *_ = signature.args
        start = _address(context, builder, arrays, arguments[0], arguments[1])
        source = _address(context, builder, tables, arguments[2], arguments[3])
        spread = ir.Constant(_VECTOR, [0.0] * LANES)
        for lane in range(LANES):
            number = ir.Constant(ir.IntType(32), lane)
            spread = builder.insert_element(spread, arguments[4], number)
        lanes = ir.Constant(ir.IntType(64), LANES)
        with _utils.for_range(builder, builder.sdiv(arguments[5], lanes)) as loop:
            offset = builder.mul(loop.index, lanes)
            to = builder.bitcast(builder.gep(start, [offset]), _VECTOR.as_pointer())
            what = builder.bitcast(builder.gep(source, [offset]), _VECTOR.as_pointer())
            product = builder.fmul(spread, builder.load(what, align=4))
            builder.store(builder.fadd(builder.load(to, align=4), product), to, align=4)
        return context.get_dummy_value()

    return signature, generate


def _dot_row(context: Any, one: Any, at: Any, other: Any, place: Any, size: Any) -> Any:
    signature = types.float32(one, types.int64, other, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays, _, others, *_ = signature.args
        start = _address(context, builder, arrays, arguments[0], arguments[1])
        source = _address(context, builder, others, arguments[2], arguments[3])
        sums = _utils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
        lanes = ir.Constant(ir.IntType(64), LANES)
        with _utils.for_range(builder, builder.sdiv(arguments[4], lanes)) as loop:
            offset = builder.mul(loop.index, lanes)
            left = builder.bitcast(builder.gep(start, [offset]), _VECTOR.as_pointer())
            right = builder.bitcast(builder.gep(source, [offset]), _VECTOR.as_pointer())
            product = builder.fmul(builder.load(left, align=4), builder.load(right, align=4))
            builder.store(builder.fadd(builder.load(sums), product), sums)
        total: Any = ir.Constant(ir.FloatType(), 0.0)
        for lane in range(LANES):
            number = ir.Constant(ir.IntType(32), lane)
            total = builder.fadd(total, builder.extract_element(builder.load(sums), number))
        return total

    return signature, generate


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Return the address of an element of a contiguous array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [place])


def _interpreted(
    total: Float32s, at: int, table: Float32s, place: int, factor: Any, size: int
) -> None:
    for number in range(size):
        total[at + number] = total[at + number] + factor * table[place + number]


def _interpreted_dot(one: Float32s, at: int, other: Float32s, place: int, size: int) -> Any:
    sums = np.zeros(LANES, np.float32)
    for start in range(0, size, LANES):
        left, right = at + start, place + start
        sums += one[left : left + LANES] * other[right : right + LANES]
    total = np.float32(0)
    for lane in range(LANES):
        total += sums[lane]
    return total


add_row: Any = _interpreted if IS_INTERPRETED else intrinsic(_add_row)
"""``add_row(total, at, table, place, factor, size)``: total[at:] += factor * table[place:].

In compiled code, of ``size`` float32, a multiple of :data:`LANES`; ``total`` and ``table`` are
one-dimensional and contiguous.  Nothing is checked.
"""

dot_row: Any = _interpreted_dot if IS_INTERPRETED else intrinsic(_dot_row)
"""``dot_row(one, at, other, place, size)``: the product of one[at:] and other[place:].

In compiled code, of ``size`` float32, with what :data:`add_row` requires.
"""
