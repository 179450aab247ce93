"""Arrays and records as arguments of compiled functions.

Records are passed without the way through a buffer.

numba gets at the bytes of a record by asking it for a buffer, and numpy then spells out the
format of every field: 10 us for each call with a table's state.  The scalar itself holds the
address, right behind its object head (``obval`` of ``PyVoidScalarObject`` in numpy's public
header), where it is read in 0.1 us.  Should that not hold, numba's way stays.
"""

import contextlib
import ctypes
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import from_dtype as _from_dtype
from numba.core import boxing, types
from numba.core import pythonapi as _pythonapi
from numba.core.typing import typeof as _typeof
from numba.extending import lower_cast
from numpy.typing import NDArray

from_dtype: Final[Any] = _from_dtype  # numba has no type hints
pythonapi: Final[Any] = _pythonapi
array_type: Final[Any] = types.Array
typing: Final[Any] = _typeof

HEAD_BYTES: Final = tuple.__basicsize__  # of an object with a size, as numpy.void is


def pass_array_fields() -> None:
    """Let array fields of records be passed where arrays are expected: numba has them alike."""
    declare: Any = lower_cast  # no type hints
    declare(types.NestedArray, types.Array)(_cast_array_field)


def _cast_array_field(context: Any, builder: Any, field: Any, array: Any, value: Any) -> Any:
    return value


def type_read_only_arrays_as_others() -> None:
    """Let read-only arrays be passed as others: numba would compile every function twice."""
    usual = typing.typeof_impl.dispatch(np.ndarray)

    @typing.typeof_impl.register(np.ndarray)
    def typed(array: NDArray[Any], context: Any) -> Any:
        is_argument = context.purpose is typing.Purpose.argument
        if is_argument and type(array) is np.ndarray:
            flags = array.flags  # `usual` imports numpy.ma for it
            layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
            with contextlib.suppress(typing.errors.NumbaNotImplementedError):
                return array_type(from_dtype(array.dtype), array.ndim, layout)
        known = usual(array, context)
        return (
            known.copy(readonly=False) if is_argument and isinstance(known, types.Array) else known
        )


def read_records_in_place() -> None:
    """Let compiled functions take their records by address from now on."""
    unboxers = getattr(getattr(pythonapi, "_unboxers", None), "functions", {})
    known = unboxers.get(types.Record) is getattr(boxing, "unbox_record", boxing)
    if known and _address_is_behind_the_head():
        unboxers[types.Record] = _unbox


def _address_is_behind_the_head() -> bool:
    record = np.zeros(2, [("small", np.int8), ("large", np.int64)])[1]
    found = ctypes.c_void_p.from_address(id(record) + HEAD_BYTES).value
    return bool(found == record.__array_interface__["data"][0])


def _unbox(record_type: Any, scalar: Any, context: Any) -> Any:
    builder = context.builder
    word = ir.IntType(8 * ctypes.sizeof(ctypes.c_void_p))
    address = builder.add(builder.ptrtoint(scalar, word), ir.Constant(word, HEAD_BYTES))
    pointer = context.context.get_value_type(record_type)
    return pythonapi.NativeValue(builder.load(builder.inttoptr(address, pointer.as_pointer())))
