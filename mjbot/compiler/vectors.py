"""Sums of rows of float32 numbers in compiled code, 16 numbers at a time.

numba writes a loop over a short row with checks for overlapping arrays and a remainder, which take
longer than the sum.  The functions made here are a few vector instructions.  Each number is
multiplied, rounded and added as in the plain loop, so all processors give the same result.
"""

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mjbot.compiler.compiled import IS_INTERPRETED
from mjbot.compiler.record import Float32s

LANES: Final = 16

AddRow = Callable[[Float32s, int, Float32s, int, Any], None]
"""``add(total, at, table, place, factor)``: total[at:] += factor * table[place:], one row."""


def row_adder(size: int) -> AddRow:
    """Return a function for compiled code that adds a row of ``size`` float32, a multiple of 16.

    ``total`` and ``table`` are one-dimensional and contiguous; nothing is checked.
    """
    if size % LANES:
        raise ValueError(f"a row of {size} numbers is no multiple of {LANES}")
    if IS_INTERPRETED:
        return _interpreted(size)

    def add(context: Any, total: Any, at: Any, table: Any, place: Any, factor: Any) -> Any:
        signature = types.void(total, types.int64, table, types.int64, types.float32)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            arrays, _, tables, _, _ = signature.args
            start = _address(context, builder, arrays, arguments[0], arguments[1])
            source = _address(context, builder, tables, arguments[2], arguments[3])
            one = ir.VectorType(ir.FloatType(), LANES)
            spread = ir.Constant(one, [0.0] * LANES)
            for lane in range(LANES):
                number = ir.Constant(ir.IntType(32), lane)
                spread = builder.insert_element(spread, arguments[4], number)
            for chunk in range(0, size, LANES):
                offset = ir.Constant(ir.IntType(64), chunk)
                to = builder.bitcast(builder.gep(start, [offset]), one.as_pointer())
                what = builder.bitcast(builder.gep(source, [offset]), one.as_pointer())
                product = builder.fmul(spread, builder.load(what, align=4))
                builder.store(builder.fadd(builder.load(to, align=4), product), to, align=4)
            return context.get_dummy_value()

        return signature, generate

    made: Any = intrinsic(add)
    return made  # type: ignore[no-any-return]


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Return the address of an element of a contiguous array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [place])


def _interpreted(size: int) -> AddRow:
    def add(total: Float32s, at: int, table: Float32s, place: int, factor: Any) -> None:
        for number in range(size):
            total[at + number] = total[at + number] + factor * table[place + number]

    return add
