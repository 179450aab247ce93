"""Which numba our use of its private parts was tried with; any other compiles plainly.

Plainly means: with its public options, every callee copied into its callers, in numba's own cache
below ours.  Only where a trial shows that it works, callers share one version for all integers
(:mod:`mjbot.runtime.compiler.compiled`).  That is right and slower: `docs/explanation/compiling.md`
lists each private part and what it saves, and `python -m proof plain-numba` compares the games.
"""

import logging
import os
import re
from typing import Final

import numba

from mjbot.runtime.compiler.mode import USUAL_LEVEL

logger = logging.getLogger(__name__)

TRIED: Final = ((0, 60), (0, 68))
"""The oldest and the newest version whose private parts were tried."""

PLAIN_VARIABLE: Final = "MJBOT_NUMBA"
"""At ``plain`` no private part is used."""

_LEVEL: Final = os.environ.get("NUMBA_OPT", USUAL_LEVEL)
CHOSEN_LEVEL: Final = _LEVEL if _LEVEL.isalnum() and _LEVEL != USUAL_LEVEL else ""
"""Another level that the user has chosen: its code is kept apart, and none of a release is used."""


def _is_tried() -> bool:
    version = tuple(map(int, re.findall(r"\d+", numba.__version__)[:2]))
    if os.environ.get(PLAIN_VARIABLE) == "plain":
        return False
    if TRIED[0] <= version <= TRIED[1]:
        return True
    oldest, newest = (".".join(map(str, version)) for version in TRIED)
    logger.warning("numba %s was not tried, only %s to %s: compiling plainly, which takes longer",
                   numba.__version__, oldest, newest)  # fmt: skip
    return False


IS_TRIED: Final = _is_tried()
"""Whether private parts of numba are used."""
