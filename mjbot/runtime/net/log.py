"""The log of a program that serves: a limit of lines, and one line for sockets that cannot open.

What clients do is logged, a line each, and a client can do it any number of times.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from mjbot.protocol.transports.base import system_message
from mjbot.runtime.clock import monotonic_s

logger = logging.getLogger(__name__)

MOST_LINES: Final = 200
"""Lines of the log in ``WINDOW_S`` seconds; the others are counted."""

WINDOW_S: Final = 10.0

ACCEPT_PAUSE_S: Final = 60.0
"""How often it is logged that no connection can be accepted."""


class LineLimit:
    """Decides which lines of a log are written; ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic_s) -> None:
        self._clock: Final = clock
        self._began_at = clock()
        self._lines = 0

    def next(self) -> tuple[bool, int]:
        """Return whether the next line is written, and how many were left out before it."""
        left_out = 0
        if self._clock() - self._began_at >= WINDOW_S:
            left_out = max(0, self._lines - MOST_LINES)
            self._began_at, self._lines = self._clock(), 0
        self._lines += 1
        return self._lines <= MOST_LINES, left_out


class LoopErrors:
    """An exception handler of an event loop: accept errors in one line, all others as usual.

    asyncio reports a failed ``accept`` with a traceback, a hundred times a second while the
    process has no files left.
    """

    def __init__(self, clock: Callable[[], float] = monotonic_s) -> None:
        self._clock: Final = clock
        self._next_at = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an error; see :meth:`asyncio.loop.set_exception_handler`."""
        error = context.get("exception")
        if not isinstance(error, OSError) or "accept" not in context["message"]:
            loop.default_exception_handler(context)
        elif self._clock() >= self._next_at:
            self._next_at = self._clock() + ACCEPT_PAUSE_S
            logger.warning("a connection could not be accepted: %s", system_message(error))
