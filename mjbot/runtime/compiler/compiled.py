"""The one decorator for compiled code.

Where functions are interpreted (:mod:`mjbot.runtime.compiler.mode`), every one runs as the Python
that it is, some hundred times slower, with the same results.  Nothing that this module gives out
differs otherwise, and no module but those that it imports then knows numba.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar, cast

from mjbot.runtime.compiler.interpreted import interpreted
from mjbot.runtime.compiler.mode import IS_INTERPRETED

if not IS_INTERPRETED:
    from mjbot.runtime.compiler import code_cache as _code_cache
    from mjbot.runtime.compiler import jit as _jit

Function = TypeVar("Function", bound=Callable[..., Any])

VERSION: Final[str] = "interpreted" if IS_INTERPRETED else _jit.VERSION
"""Of what compiles: names the folder of its code in the cache."""

MANY_PROCESSES: Final[bool] = not IS_INTERPRETED and _code_cache.IS_USABLE
"""Whether several processes may compile at once: numba's own cache mixes up what they keep."""


def compiled(function: Function) -> Function:
    """Compile ``function`` with numba on first use and cache the machine code on disk."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"function must be a Python function, not {function!r:.60}")
    return interpreted(function) if IS_INTERPRETED else cast(Function, _jit.jit(function))


def processor() -> str:
    """Return the name of the processor that code is compiled for; empty where none is."""
    return "" if IS_INTERPRETED else _jit.processor()


@compiled
def keep_alive(array: Any) -> None:
    """Do nothing, but later: call it in compiled code after the last use of a record of ``array``.

    A record is only an address.  numba frees an array that was made in compiled code after its
    last mention, and with ``record = np.empty(1, KIND)[0]`` that is before the record's first use.
    """
