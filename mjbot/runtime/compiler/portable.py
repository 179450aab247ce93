"""Compiling for other machines: the same bytes wherever that is done, and no folder of this one."""

import hashlib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]


def compile_portably() -> None:
    """Compile from now on without names of local folders and without addresses.

    Exceptions of compiled code lose the line that they were raised at.
    """
    from numba.core import callconv
    from numba.np.ufunc import array_exprs

    raised: Any = callconv.CPUCallConv
    raised.build_excinfo_struct = lambda self, kind, values, place, function: (kind, values, None)
    # numba names what it makes of an array expression by the hashes of objects
    expressions: Any = array_exprs
    expressions.hash = _hash_of_content


def _hash_of_content(part: Any) -> int:
    """Return a number for an expression by its place in our sources, for a ufunc by its name."""
    text = repr(part)
    if hasattr(part, "loc"):
        place = Path(part.loc.filename)
        file = place.relative_to(ROOT) if place.is_relative_to(ROOT) else place.name
        arrays = [variable.name for variable in part.list_vars()]
        text = f"{file} {part.loc.line} {part.loc.col} {arrays} {part.ty}"
    return int(hashlib.sha256(text.encode()).hexdigest()[:15], 16)
