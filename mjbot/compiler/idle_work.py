"""Work of numba's compiler that has no effect on the code, left out: a tenth of all compile time.

Before it optimises a module, numba runs the passes for single functions on every function that the
module names, those of other modules included, and sets up LLVM's pass builder for each.  And every
call of LLVM, half a million of them, is reported to the timers of all functions that are being
compiled at the moment; nobody reads those.
"""

import contextlib
from inspect import signature
from typing import Any, Final

from llvmlite.binding import ffi as _ffi
from numba.core import codegen as _codegen

codegen: Final[Any] = _codegen  # no type hints
ffi: Final[Any] = _ffi


def skip_idle_work() -> None:
    """Leave that out from now on, in a numba that is built as those that we know."""
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
