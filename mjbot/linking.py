"""How compiled functions find each other: a long one is called where it is, not copied.

numba links a callee's code, and the code of all that it calls, into every caller, where LLVM
optimises and generates it again: of a first start's processor time that was the larger half.
LLVM puts only short functions into their callers.  So of a long one the caller gets no more than
the name, which the linker finds in the code that this process has loaded already.

Cached code therefore says which functions it needs.  Names are made anew by each compilation:
where a needed one is not there, the caller is compiled again, too.
"""

from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from numba.core import codegen as _codegen

codegen: Final[Any] = _codegen  # numba has no type hints

LONG: Final = 100
"""LLVM instructions; LLVM's own limit for putting a function into a caller is near 50."""


@dataclass(frozen=True)
class Needed:
    """A long function that some code calls: ``symbol`` is its name for the linker.

    ``stamp`` is the digest of its source, ``args`` are numba's types.
    """

    module: str
    function: str
    stamp: str
    args: tuple[Any, ...]
    symbol: str


_functions: Final[dict[tuple[str, str], tuple[Any, str]]] = {}
_long: Final["WeakKeyDictionary[Any, Needed]"] = WeakKeyDictionary()
_needs: Final["WeakKeyDictionary[Any, dict[Needed, None]]"] = WeakKeyDictionary()


def call_long_functions_in_place() -> None:
    """Let code that is compiled from now on call long functions where they are.

    Should numba have no such parts, its own way stays: everything is copied.
    """
    library = getattr(codegen, "JITCodeLibrary", None)
    engine = getattr(codegen, "JitEngine", None)
    if library and hasattr(library, "add_linking_library") and hasattr(engine, "is_symbol_defined"):
        library.add_linking_library = _linking(library.add_linking_library)


def _linking(copy: Any) -> Any:
    def add_linking_library(caller: Any, callee: Any) -> None:
        needs = _needs.setdefault(caller, {})
        if (needed := _long.get(callee)) is None:
            copy(caller, callee)
            needs.update(_needs.get(callee, {}))
        else:
            needs[needed] = None

    return add_linking_library


def register(function: Any, dispatcher: Any, stamp: str) -> None:
    """Let ``function`` be found by code that needs it; ``stamp`` is its source's digest."""
    _functions[function.__module__, function.__qualname__] = dispatcher, stamp


def note_compiled(function: Any, result: Any) -> None:
    """Take note of a function just compiled: numba's compile result."""
    dispatcher, stamp = _functions.get((function.__module__, function.__qualname__), (None, ""))
    if dispatcher is None or dispatcher.py_func is not function:
        return
    symbol = result.fndesc.llvm_func_name
    if _is_long(result.library.get_function(symbol)):
        names = function.__module__, function.__qualname__
        _long[result.library] = Needed(*names, stamp, tuple(result.signature.args), symbol)


def _is_long(function: Any) -> bool:
    count = 0
    for block in function.blocks:
        for _ in block.instructions:
            count += 1
            if count > LONG:
                return True
    return False


def needs_of(result: Any) -> tuple[Needed | None, tuple[Needed, ...]]:
    """Return how the code is found if it is long, and all that it needs: to be kept with it."""
    return _long.get(result.library), tuple(_needs.get(result.library, ()))


def load_needs(needs: tuple[Needed, ...], target: Any) -> bool:
    """Load what code needs, before the code itself; return whether all of it is there."""
    return all(_is_there(needed, target) for needed in needs)


def _is_there(needed: Needed, target: Any) -> bool:
    known = _functions.get((needed.module, needed.function))
    if known is None or known[1] != needed.stamp:
        return False
    known[0].compile(needed.args)
    return bool(target.codegen()._engine.is_symbol_defined(needed.symbol))


def note_loaded(result: Any, own: Needed | None, needs: tuple[Needed, ...]) -> None:
    """Take note of code just loaded, with what was kept with it."""
    _needs[result.library] = dict.fromkeys(needs)
    if own is not None:
        _long[result.library] = own
