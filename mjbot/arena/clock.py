"""A clock that interrupts a strategy which does not decide in time.

A timer ticks all the while, so that a decision costs next to nothing extra: it is late when it
has seen a deadline's worth of ticks.  Where the system has no such timer (Windows) nobody is late.

The timer can only interrupt Python.  Compiled code that never returns stops the ticks, which
another process sees in the shared pulse.
"""

import signal
from types import FrameType
from typing import Final, Protocol

TICKS: Final = 20
LONGEST_TICK_S: Final = 0.5

BEAT: Final = 0
DECISION: Final = 1
PULSE_SIZE: Final = 2


class LateError(BaseException):
    """The decision took too long.  No ``Exception``: a strategy's own nets shall not catch it."""


class Pulse(Protocol):
    """Two numbers that other processes can see.

    ``BEAT`` grows while Python runs; ``DECISION`` is 0 between decisions, else as
    :func:`decision_code` says.
    """

    def __setitem__(self, place: int, value: int) -> None: ...
    def __getitem__(self, place: int) -> int: ...


def decision_code(seat: int, decision: int) -> int:
    """Return a decision as one number, never 0."""
    return 1 + seat + 4 * decision


def decoded(code: int) -> tuple[int, int] | None:
    """Return seat and decision.

    >>> decoded(decision_code(3, 17)), decoded(0)
    ((3, 17), None)
    """
    return ((code - 1) % 4, (code - 1) // 4) if code else None


class Clock:
    """Watches one decision after the other.

    Use it as a context manager, in the main thread.  A ``deadline_s`` of 0 means no deadline.
    """

    def __init__(self, deadline_s: float, pulse: Pulse) -> None:
        self._deadline_s = deadline_s
        self._pulse: Final = pulse
        self._deciding = False
        self._limit = 0
        self._ticks = 0
        self._beat = 0

    def start(self, seat: int, decision: int) -> None:
        """A decision begins; :class:`LateError` may be raised from here to :meth:`stop`."""
        self._pulse[DECISION] = decision_code(seat, decision)
        self._ticks = 0
        self._deciding = True

    def stop(self) -> None:
        """The decision is made, or given up."""
        self._deciding = False
        self._pulse[DECISION] = 0

    def set_deadline(self, deadline_s: float) -> None:
        """Give the decisions from now on another deadline."""
        self._deadline_s = deadline_s
        if hasattr(signal, "setitimer"):
            tick_s = min(deadline_s / TICKS or LONGEST_TICK_S, LONGEST_TICK_S)
            self._limit = round(deadline_s / tick_s)
            signal.setitimer(signal.ITIMER_REAL, tick_s, tick_s)

    def __enter__(self) -> "Clock":
        self._pulse[BEAT] = self._beat = 1
        if hasattr(signal, "setitimer"):
            self._before = signal.signal(signal.SIGALRM, self._tick)
            self.set_deadline(self._deadline_s)
        return self

    def __exit__(self, *_: object) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        self._beat += 1
        self._pulse[BEAT] = self._beat
        self._ticks += 1
        if self._deciding and self._limit and self._ticks > self._limit:
            raise LateError(f"no decision after {self._deadline_s:g} s")
