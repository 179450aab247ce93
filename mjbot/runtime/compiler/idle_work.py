"""Steps of numba's compiler without effect on results, skipped: a quarter of all compile time.

* Before numba optimises a module, it runs the passes for single functions on every function that
  the module names, those of other modules included, and sets up LLVM's pass builder for each.
* Every call of LLVM, half a million of them, updates the timers of all functions that are being
  compiled; no code reads these timers.
* An assignment of an array to a slice compiles the text of an error that names both shapes, with
  the formatting of numbers: 2 s.
"""

import contextlib
from inspect import signature
from typing import Any, Final

from llvmlite.binding import ffi as _ffi
from numba.core import codegen as _codegen

codegen: Final[Any] = _codegen  # no type hints
ffi: Final[Any] = _ffi


def skip_idle_work() -> None:
    """Skip all but the texts of errors from now on, where this numba has the known structure."""
    with contextlib.suppress(AttributeError):
        manager = codegen.CPUCodegen._function_pass_manager
        if [*signature(manager).parameters] == ["self", "kwargs"]:  # older ones take the module
            assert codegen.CPUCodeLibrary._optimize_functions
            codegen.CPUCodeLibrary._optimize_functions = _optimise_functions
    with contextlib.suppress(AttributeError):
        callbacks = ffi.lib._lock._cblist
        callbacks[:] = [pair for pair in callbacks if pair[0].__module__ != "numba.core.base"]


def _optimise_functions(self: Any, module: Any) -> None:
    module.data_layout = self._codegen._data_layout
    passes, builder = self._codegen._function_pass_manager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def shorten_shape_errors() -> None:
    """Compile errors without shapes from now on; imports 0.06 s of numba that compiling needs."""
    from numba.extending import overload
    from numba.np import arrayobj as _arrayobj

    arrayobj: Any = _arrayobj
    if hasattr(arrayobj, "raise_with_shape_context"):
        overload(_raise_other_shape)(_compiled_raise)
        arrayobj.raise_with_shape_context = _raise_other_shape


def _raise_other_shape(shapes: Any, slice_shape: Any) -> None:
    raise NotImplementedError("for compiled code")


def _compiled_raise(shapes: Any, slice_shape: Any) -> Any:
    def raise_other_shape(shapes: Any, slice_shape: Any) -> None:
        raise ValueError("cannot assign to a slice of another shape")

    return raise_other_shape
