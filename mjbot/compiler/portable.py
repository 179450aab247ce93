"""Compiling for other machines: the same bytes wherever that is done, and no folder of this one."""

from typing import Any


def leave_out_places() -> None:
    """Leave out from now on what numba keeps with code for people: it names source files.

    Exceptions of compiled code lose the line that they were raised at.
    """
    from numba.core import callconv
    from numba.core.annotations import type_annotations

    noted: Any = type_annotations.TypeAnnotation
    noted.__str__ = lambda self: ""
    raised: Any = callconv.CPUCallConv
    raised.build_excinfo_struct = lambda self, kind, values, place, function: (kind, values, None)
