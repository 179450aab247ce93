"""A clock that interrupts a strategy which does not decide in time.

A timer ticks all the while, so that a decision costs next to nothing extra: it is late after the
ticks of a whole deadline.

Compiling is no thinking: while numba works, be it for seconds because a function is called for the
first time on this machine, no tick counts, and none interrupts it (the compiler would be left
broken).  It reports that itself: its lock is held while it looks into the cache, compiles and
saves.

A decision that swallows the interruption and continues for as long again ends its process.

The timer can only interrupt Python.  Compiled code that never returns stops the ticks, which
another process sees in the shared heartbeat.
"""

import contextlib
import os
import threading
from types import FrameType
from typing import Final, Protocol

from mjbot.runtime.compiler.events import compiler_watched
from mjbot.runtime.system import ticking

TICKS: Final = 20
LONGEST_TICK_S: Final = 0.5
EXIT_OVERDUE: Final = 118
"""Exit status of a process whose strategy cannot be interrupted."""

BEATS: Final = 0
DECISION: Final = 1
COMPILING: Final = 2
HEARTBEAT_SIZE: Final = 3


class DeadlineError(BaseException):
    """The decision took too long.  No ``Exception``: a strategy's own nets shall not catch it."""


class Heartbeat(Protocol):
    """Three numbers that other processes can see.

    ``BEATS`` grows while Python runs; ``DECISION`` is 0 between decisions, else as
    of :func:`decision_code`; ``COMPILING`` is 0 but while the compiler works.
    """

    def __setitem__(self, index: int, value: int) -> None: ...
    def __getitem__(self, index: int) -> int: ...


def decision_code(seat: int, decision: int) -> int:
    """Return a decision as one number, never 0."""
    return 1 + seat + 4 * decision


def decoded(code: int) -> tuple[int, int] | None:
    """Return seat and decision.

    >>> decoded(decision_code(3, 17)), decoded(0)
    ((3, 17), None)
    """
    return ((code - 1) % 4, (code - 1) // 4) if code else None


class _Compiling:
    """Notes in the heartbeat how deep in the compiler (or waiting for it) the thread of its maker
    is.

    numba enters its compiler again for each function that is called in the compiled one.
    """

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._thread: Final = threading.get_ident()
        self._heartbeat: Final = heartbeat

    def start(self) -> None:
        """Note that the compiler is entered."""
        if threading.get_ident() == self._thread:
            self._heartbeat[COMPILING] += 1

    def end(self) -> None:
        """Note that the compiler is left."""
        if threading.get_ident() == self._thread:
            self._heartbeat[COMPILING] -= 1


class Clock:
    """Watches one decision after the other.

    Use it as a context manager, in the main thread.  A ``deadline_s`` of 0 means no deadline.
    """

    def __init__(self, deadline_s: float, heartbeat: Heartbeat) -> None:
        self._deadline_s: Final = deadline_s
        self._heartbeat: Final = heartbeat
        self._process: Final = os.getpid()
        self._compiling: Final = _Compiling(heartbeat)
        self._inside: Final = contextlib.ExitStack()
        self._deciding = False
        self._tick_s: Final = min(deadline_s / TICKS or LONGEST_TICK_S, LONGEST_TICK_S)
        self._usual: Final = deadline_s, round(deadline_s / self._tick_s)
        self._allowed_s, self._limit = self._usual
        self._ticks = 0
        self._beats = 0

    def start(self, seat: int, decision: int, least_s: float = 0.0) -> None:
        """A decision begins; :class:`DeadlineError` may be raised from here to :meth:`stop`.

        If there is a deadline at all, it is ``least_s`` seconds at least.
        """
        self._heartbeat[DECISION] = decision_code(seat, decision)
        self._allowed_s, self._limit = self._usual
        if self._limit and least_s > self._deadline_s:
            self._allowed_s, self._limit = least_s, round(least_s / self._tick_s)
        self._ticks = 0
        self._deciding = True

    def stop(self) -> None:
        """The decision is made, or given up.

        A strategy may fork; a child that comes back from its decision has no business here, and
        would play the game a second time.
        """
        if os.getpid() != self._process:
            os._exit(0)
        self._deciding = False
        self._heartbeat[DECISION] = 0

    def __enter__(self) -> "Clock":
        self._heartbeat[BEATS] = self._beats = 1
        self._inside.enter_context(compiler_watched(self._compiling))
        self._inside.enter_context(ticking(self._tick_s, self._tick))
        return self

    def __exit__(self, *_: object) -> None:
        self._inside.close()

    def _tick(self, number: int, frame: FrameType | None) -> None:
        self._beats += 1
        self._heartbeat[BEATS] = self._beats
        if self._heartbeat[COMPILING]:
            return
        self._ticks += 1
        if not self._deciding or not self._limit:
            return
        if self._ticks > 2 * self._limit:
            os._exit(EXIT_OVERDUE)
        if self._ticks == self._limit + 1:  # once: a handler that catches it is not disturbed
            raise DeadlineError(f"no decision after {self._allowed_s:g} s")
