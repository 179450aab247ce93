"""Whether functions are compiled: where numba can be imported and the user has not turned it off.

Where numba is missing or cannot be imported (a Python that it has no release for, a browser), every
function runs as the Python that it is, with the same results
(:mod:`mjbot.runtime.compiler.interpreted`).  :data:`VARIABLE` asks for that, for debuggers and
coverage; so does numba's own ``NUMBA_DISABLE_JIT=1``.  No module imports numba or llvmlite before
this one has decided.
"""

import logging
import os
from typing import Final

logger = logging.getLogger(__name__)

VARIABLE: Final = "MJBOT_INTERPRETED"
"""At anything but 0 nothing is compiled, and numba is not imported."""

_REPORTED: Final = "MJBOT_INTERPRETED_REPORTED"
"""Set for the processes that this one starts: they report it no second time."""

USUAL_LEVEL: Final = "1"
"""LLVM's level for our own code: numba's is 3, which takes a tenth more time to compile, and games
are as fast (docs/results/performance.md)."""


def _reason() -> str:
    """Return why functions are interpreted; empty where they are compiled."""
    if os.environ.get(VARIABLE, "0") not in ("", "0"):
        return f"{VARIABLE} is set"
    try:
        from numba.core import config
    except ModuleNotFoundError as problem:
        return f"{problem.name or 'numba'} is not installed"
    except Exception as problem:  # a numpy that is too new for it, a shared library that is missing
        return f"numba cannot be imported ({problem})"
    is_disabled: bool = vars(config)["DISABLE_JIT"]  # numba has no type hints
    return "NUMBA_DISABLE_JIT is set" if is_disabled else ""


def _cure(reason: str) -> str:
    """Return what the user can do about it."""
    if reason.endswith(" is set"):
        return f"unset {reason.removesuffix(' is set')}"
    return "pip install numba"


INTERPRETED_BECAUSE: Final = " ".join(_reason().split())
"""Why functions are interpreted; empty where they are compiled."""

IS_INTERPRETED: Final = bool(INTERPRETED_BECAUSE)

CURE: Final = _cure(INTERPRETED_BECAUSE)
"""What the user can do about that."""

if IS_INTERPRETED and not os.environ.get(_REPORTED):
    os.environ[_REPORTED] = "1"
    logger.warning("mjbot runs interpreted, tens to hundreds of times slower: %s (to compile: %s)",
                   INTERPRETED_BECAUSE, CURE)  # fmt: skip
