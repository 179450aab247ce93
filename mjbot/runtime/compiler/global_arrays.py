"""Arrays that stay outside compiled code, which finds them in each process.

numba freezes a global array into the machine code of every function that reads it.
"""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from mjbot.runtime.compiler.interpreted import widened
from mjbot.runtime.compiler.mode import IS_INTERPRETED

if not IS_INTERPRETED:
    from mjbot.runtime.compiler.intrinsics import address_of


def global_array(symbol: str, array: NDArray[Any]) -> Callable[[], Any]:
    """Return a function by which compiled code gets at the elements of a one-dimensional array.

    ``symbol`` is its name for the linker.  The array must live as long as the process.  What the
    function returns can be indexed, and no more; nothing is checked.
    """
    if not IS_INTERPRETED:
        return address_of(symbol, array)
    elements = widened(array)
    return lambda: elements
