"""What compiled code cannot be written in Python for: LLVM code of our own.

Imported only where functions are compiled; :mod:`mjbot.runtime.compiler.vectors` and
:mod:`mjbot.runtime.compiler.global_arrays` give it out, and do the same where they are interpreted.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import llvmlite.binding as _binding
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

LANES: Final = 16
"""Numbers that a vector instruction takes."""

binding: Final[Any] = _binding  # no type hints
_utils: Final[Any] = cgutils
_VECTOR: Final = ir.VectorType(ir.FloatType(), LANES)


def address_of(symbol: str, array: NDArray[Any]) -> Callable[[], Any]:
    """Return an intrinsic that gives compiled code the address of an array's first element.

    The linker knows it by ``symbol``, so that code on disk finds it anew in each process.
    """
    binding.add_symbol(symbol, array.ctypes.data)
    element = numba.from_dtype(array.dtype)
    pointer: Any = types.CPointer

    def address(context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if symbol not in builder.module.globals:
                ir.GlobalVariable(builder.module, context.get_data_type(element), symbol)
            return builder.module.globals[symbol]

        return pointer(element)(), generate

    made: Any = intrinsic(address)
    return cast(Callable[[], Any], made)


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


add_row: Final[Any] = intrinsic(_add_row)
dot_row: Final[Any] = intrinsic(_dot_row)
