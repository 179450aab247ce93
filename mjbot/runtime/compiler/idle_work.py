"""Steps of numba's compiler without effect on results, skipped: a quarter of all compile time.

* Before numba optimises a module, it runs the passes for single functions on every function that
  the module names, those of other modules included, and sets up LLVM's pass builder for each.
* Every call of LLVM, half a million of them, updates the timers of all functions that are being
  compiled; no code reads these timers.
* An assignment of an array to a slice compiles the text of an error that names both shapes, with
  the formatting of numbers: 2 s.
* For each of its 27 passes numba formats the types of the arguments, of records with all fields,
  for listeners that do not exist, and with the compiled code it keeps a listing of the source with
  types.
* The variables of each statement, listed ten times for each function, are collected in a list for
  each part of the statement, and whether two sets of options are equal is found through a property
  for each option: both take a fraction of the time without that.
* Of functions of numba's own, such as ``np.zeros``, versions for callers in C are compiled.
"""

import contextlib
from inspect import signature
from typing import Any, Final

from llvmlite.binding import ffi as _ffi
from numba.core import codegen as _codegen
from numba.core import extending as _extending
from numba.core import ir as _ir
from numba.core import targetconfig as _targetconfig
from numba.core import types as _types
from numba.core.annotations import type_annotations as _annotations

annotations: Final[Any] = _annotations  # no type hints
codegen: Final[Any] = _codegen
extending: Final[Any] = _extending
ffi: Final[Any] = _ffi
ir: Final[Any] = _ir
targetconfig: Final[Any] = _targetconfig
types: Final[Any] = _types

_defaults: Final[dict[Any, dict[str, Any]]] = {}


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
    with contextlib.suppress(AttributeError):
        extending._overload_default_jit_options["no_cfunc_wrapper"] = True
    for record in (types.Record, types.NestedArray):
        record.__repr__ = types.Type.__repr__
    annotations.TypeAnnotation.__str__ = _format_nothing
    if hasattr(ir.Inst, "_rec_list_vars"):
        ir.Inst._rec_list_vars = _variables
    if hasattr(targetconfig.TargetConfig, "values"):
        targetconfig.TargetConfig.values = _values


def _optimise_functions(self: Any, module: Any) -> None:
    module.data_layout = self._codegen._data_layout
    passes, builder = self._codegen._function_pass_manager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def _format_nothing(self: Any) -> str:
    return ""


def _variables(self: Any, part: Any) -> list[Any]:
    """Return the variables in a part of a statement, in order."""
    found: list[Any] = []
    _add_variables(part, found)
    return found


def _add_variables(part: Any, found: list[Any]) -> None:
    if isinstance(part, (int, str, ir.Loc)):  # most parts are
        return
    if isinstance(part, ir.Var):
        found.append(part)
    elif isinstance(part, (list, tuple)):
        for item in part:
            _add_variables(item, found)
    elif isinstance(part, dict):
        for item in part.values():
            _add_variables(item, found)
    elif isinstance(part, ir.Inst):
        found += part.list_vars()


def _values(self: Any) -> dict[str, Any]:
    kind = type(self)
    if kind not in _defaults:
        _defaults[kind] = {name: option.default for name, option in kind.options.items()}
    return {**_defaults[kind], **self._values}


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
