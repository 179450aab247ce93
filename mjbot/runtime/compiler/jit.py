"""Compiling with numba: the options, one version for all integers, and where the code is kept.

Imported only where functions are compiled (:mod:`mjbot.runtime.compiler.mode`).
"""

import logging
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numba
import numpy as np
from llvmlite import binding as _binding
from numba.core import config as _config
from numba.core import event as _event
from numba.core import types as _types
from numba.core.cpu import CPUTargetOptions

from mjbot.runtime.compiler.cache import CHECKED, cache_folder
from mjbot.runtime.compiler.code_cache import IS_USABLE, CodeCache
from mjbot.runtime.compiler.entries import make_entries_late
from mjbot.runtime.compiler.events import on_compiled
from mjbot.runtime.compiler.idle_work import skip_idle_work
from mjbot.runtime.compiler.linking import CAN_LINK, name_by_content
from mjbot.runtime.compiler.numba_parts import CHOSEN_LEVEL, IS_TRIED
from mjbot.runtime.compiler.record_arguments import (
    pass_array_fields,
    read_records_in_place,
    type_read_only_arrays_as_others,
)
from mjbot.runtime.compiler.sources import digest_and_changed

logger = logging.getLogger(__name__)

binding: Final[Any] = _binding  # no type hints
config: Final[Any] = _config
event: Final[Any] = _event
types: Final[Any] = _types

VERSION: Final = f"py{sys.version_info.major}{sys.version_info.minor}-numba{numba.__version__}" + (
    (CHECKED if IS_USABLE else "-plain") + (CHOSEN_LEVEL and f"-level-{CHOSEN_LEVEL}")
)
"""Of what compiles: code of one version is nothing to another, nor numba's own cache to ours.

Up to 0.3.0 files had no digests and lay in a folder without ``-checked``."""

_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy"}
if IS_TRIED and hasattr(CPUTargetOptions, "no_cfunc_wrapper"):
    # the functions' addresses are never taken: without C wrappers a tenth less to compile
    _OPTIONS["no_cfunc_wrapper"] = True

type_read_only_arrays_as_others()
if IS_TRIED:
    pass_array_fields()
    read_records_in_place()
    skip_idle_work()


def jit(function: Callable[..., Any]) -> Any:
    """Return what compiles the function on first use and keeps the machine code on disk."""
    digest, changed = digest_and_changed(function.__module__)
    is_linked = IS_USABLE and CAN_LINK and not changed
    options = {**_OPTIONS, **({"no_cpython_wrapper": True} if is_linked else {})}
    dispatcher: Any = numba.njit(**options)(function)
    if changed:
        logger.warning("%s changed while it was imported: %s is compiled for this process alone",
                       changed[0], function.__qualname__)  # fmt: skip
    elif IS_USABLE:
        dispatcher._cache = CodeCache(function, cache_folder() / VERSION / digest)
    else:
        config.CACHE_DIR = str(cache_folder() / VERSION / digest)
        dispatcher.enable_caching()
    if is_linked:
        name_by_content(dispatcher, function, digest)
        make_entries_late(dispatcher)
    if IS_TRIED or _callers_share_versions():
        _widen_arguments(dispatcher)
    return dispatcher


def processor() -> str:
    """Return the name of the processor that code is compiled for."""
    return str(binding.get_host_cpu_name())


def _widen_arguments(dispatcher: Any) -> None:
    """Let compiled callers share one version for all integers, and for all arrays of a type.

    numba compiles a function again for int8, int64 and every literal it is called with; a third
    of all compile time went there.  Array fields of records, whose type includes the shape, are
    passed in the same way as other arrays.
    """
    resolve = getattr(dispatcher, "get_call_template", None)
    if resolve is None:  # another numba: it works as well, and compiles longer
        return

    def get_call_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return resolve(tuple(map(_wide, args)), {name: _wide(arg) for name, arg in kws.items()})

    dispatcher.get_call_template = get_call_template


@cache
def _callers_share_versions() -> bool:
    """Try on two small functions whether a numba that was not tried lets arguments be widened."""

    called: Any = numba.njit(lambda number: number + 1)
    caller: Any = numba.njit(lambda numbers: called(numbers[0]))
    _widen_arguments(called)
    try:
        return bool(caller(np.full(1, 5, np.int8)) == 6 and called.signatures == [(types.int64,)])
    except Exception:  # whatever it is, all works without
        return False


def _wide(argument: Any) -> Any:
    argument = types.unliteral(argument)
    if isinstance(argument, types.Integer) and argument.signed:
        return types.int64
    if IS_TRIED and isinstance(argument, types.NestedArray):
        return types.Array(argument.dtype, argument.ndim, "C")
    return argument


class _CompiledPlainly(event.Listener):  # type: ignore[misc]
    """Reports functions of ours that numba's own cache did not hold."""

    def on_start(self, event: Any) -> None:
        """Do nothing."""

    def on_end(self, event: Any) -> None:
        """Report a function, and none of numba's own."""
        function = event.data["dispatcher"].py_func
        if not function.__module__.startswith("numba."):
            for listener in on_compiled:
                listener(function.__name__)


if not IS_USABLE:
    event.register("numba:compile", _CompiledPlainly())
