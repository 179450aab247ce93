"""Steps that only compiling needs, left out where code is loaded from disk: half of the time.

* numba registers all its functions before it loads one.
* It compiles its runtime, with which every library on disk has been linked already.
* It parses the LLVM code of each library, which only callers that are compiled copy, and lists the
  symbols in it, which only entries for Python are looked up by.
* Each function has an environment with the globals of its module, which is imported: of numba's
  own functions those with all their types.  Compiled code reads constants alone from it.
* For each function it asks LLVM for the processor's name and features again.

All but the last is done once something is compiled.
"""

import sys
from functools import cache
from types import SimpleNamespace
from typing import Any, Final

from llvmlite import binding as _binding
from numba.core import codegen as _codegen
from numba.core import environment as _environment
from numba.core import runtime as _runtime

from mjbot.runtime.compiler.linking import CAN_LINK

binding: Final[Any] = _binding  # no type hints
codegen: Final[Any] = _codegen
environment: Final[Any] = _environment
runtime: Final[Any] = _runtime


def _parts_are_known() -> bool:
    library = getattr(codegen, "CPUCodeLibrary", None)
    needed = ("_unserialize", "_set_compiled_object", "_finalize_final_module")
    return (
        CAN_LINK
        and all(hasattr(library, part) for part in (*needed, "_get_module_for_linking"))
        and all(hasattr(environment, part) for part in ("_rebuild_env", "lookup_environment"))
        and hasattr(getattr(codegen, "JitEngine", None), "_load_defined_symbols")
        and hasattr(getattr(runtime, "nrtdynmod", None), "compile_nrt_functions")
    )


LOADS_ALONE: Final = _parts_are_known()
"""Whether this numba has the known internal structure; else it loads code its own way."""

_LATE: Final = "object, LLVM code not parsed"


def start_runtime(context: Any) -> None:
    """Let loaded code find numba's runtime, which is compiled when something else is."""
    if runtime.rtsys._init:
        return
    compile_runtime = runtime.nrtdynmod.compile_nrt_functions
    runtime.nrtdynmod.compile_nrt_functions = lambda context: None
    try:
        runtime.rtsys.initialize(context)
    finally:
        runtime.nrtdynmod.compile_nrt_functions = compile_runtime
        runtime.rtsys._init = False


@cache
def machine_of(generator: Any) -> Any:
    """Return what stands for a code generator in keys of the cache: processor and features."""
    names = generator.magic_tuple()
    return SimpleNamespace(magic_tuple=lambda: names)


def parsed_late(library: Any) -> Any:
    """Return what is kept of a library, so that its LLVM code is parsed when it is linked.

    Until then its symbols are not known to numba: see :func:`define`.
    """
    name, form, data = library
    return (name, _LATE, data) if LOADS_ALONE and form == "object" else library


def define(library: Any, symbol: str) -> None:
    """Let a function of a loaded library be called by its symbol."""
    library._codegen._engine._defined_symbols.add(symbol)


def _load_late() -> None:
    kind = codegen.CPUCodeLibrary
    unserialize, module_for_linking = kind._unserialize.__func__, kind._get_module_for_linking

    def _unserialize(cls: Any, generator: Any, state: tuple[str, str, Any]) -> Any:
        name, form, data = state
        if form != _LATE:
            return unserialize(cls, generator, state)
        library = generator.create_library(name)
        machine_code, library.unparsed = data
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        return library

    def _get_module_for_linking(self: Any) -> Any:
        bitcode = self.__dict__.pop("unparsed", None)
        if bitcode is not None:
            self._shared_module = binding.parse_bitcode(bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return module_for_linking(self)

    kind._unserialize = classmethod(_unserialize)
    kind._get_module_for_linking = _get_module_for_linking
    environment._rebuild_env = rebuild_environment


_rebuild_with_globals: Final = getattr(environment, "_rebuild_env", None)


def rebuild_environment(module: str, constants: list[Any], name: str) -> Any:
    """Return a function's environment; without globals for one of numba's own."""
    known = environment.lookup_environment(name)
    if known is not None or module in sys.modules or not module.startswith("numba."):
        return known or _rebuild_with_globals(module, constants, name)  # type: ignore[misc]
    made = environment.Environment({"__name__": module})
    made.consts[:] = constants
    made.env_name = name
    environment.Environment._memo[name] = made
    return made


if LOADS_ALONE:
    _load_late()
