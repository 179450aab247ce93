"""Whether functions are compiled: only where numba can be imported, and unless told otherwise.

Where numba is missing or cannot be imported (a Python that it has no release for, a browser), every
function runs as the Python that it is, with the same results
(:mod:`mjbot.runtime.compiler.interpreted`).  :data:`VARIABLE` asks for that, for debuggers and
coverage; so does numba's own ``NUMBA_DISABLE_JIT=1``.  No module imports numba or llvmlite before
this one has decided.
"""

import logging
import multiprocessing
import os
from typing import Final

logger = logging.getLogger(__name__)

VARIABLE: Final = "MJBOT_INTERPRETED"
"""At anything but 0 nothing is compiled, and numba is not imported."""

SLOWER: Final = 200
"""A decision or a replay takes so many times as long, measured (docs/start/install.md)."""


def _reason() -> str:
    """Return why functions are interpreted; empty where they are compiled."""
    if os.environ.get(VARIABLE, "0") not in ("", "0"):
        return f"{VARIABLE} is set"
    try:
        import llvmlite.binding
        from numba.core import config
    except ModuleNotFoundError as problem:
        return f"{problem.name or 'numba'} is not installed"
    except Exception as problem:  # a numpy that is too new for it, a shared library that is missing
        return f"numba cannot be imported ({problem})"
    is_disabled: bool = vars(config)["DISABLE_JIT"]  # numba has no type hints
    return "NUMBA_DISABLE_JIT is set" if is_disabled and llvmlite else ""


INTERPRETED_BECAUSE: Final = " ".join(_reason().split())
"""Why functions are interpreted; empty where they are compiled."""

IS_INTERPRETED: Final = bool(INTERPRETED_BECAUSE)


def cure() -> str:
    """Return what makes mjbot compile again."""
    if INTERPRETED_BECAUSE.endswith(" is set"):
        return f"unset {INTERPRETED_BECAUSE.removesuffix(' is set')} to compile"
    return "pip install numba"
