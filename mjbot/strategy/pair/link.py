"""What a strategy holds of its channel to the partner, whatever carries it.

A link takes and gives :class:`~mjbot.strategy.pair.messages.SharedHand` and never fails: without a
partner at the other end nothing comes, and what is sent is dropped.
"""

import abc
from collections.abc import Callable
from typing import Final

from mjbot.strategy.pair.messages import SharedHand

PATIENCE_MS: Final = 8
"""The most that one decision waits for a partner that is linked but slow."""

Fits = Callable[[SharedHand], bool]
"""Whether a message is about the table as it is now: neither stale nor foreign."""


class Link(abc.ABC):
    """One end of a channel, used by one strategy in one thread."""

    @abc.abstractmethod
    def start_game(self) -> None:
        """Take note that a game begins: nothing sent before counts any more."""

    @abc.abstractmethod
    def send(self, holding: SharedHand) -> None:
        """Send the own seat's hand; returns at once."""

    @abc.abstractmethod
    def newest(self, fits: Fits) -> SharedHand | None:
        """Return the partner's last word if it fits, waiting at most :data:`PATIENCE_MS`."""


class NoLink(Link):
    """No partner at the other end: solo play."""

    def start_game(self) -> None:
        """Nothing to forget."""

    def send(self, holding: SharedHand) -> None:
        """Drop it."""

    def newest(self, fits: Fits) -> SharedHand | None:
        """Return ``None``."""
        return None


class MemoryLink(Link):
    """One end of a channel inside a process; make both with :func:`memory_links`."""

    def __init__(self) -> None:
        self._newest: SharedHand | None = None
        self._other: MemoryLink | None = None

    def start_game(self) -> None:
        """Forget what was received; nothing can be on its way here."""
        self._newest = None

    def send(self, holding: SharedHand) -> None:
        """Send it; a cut link drops it."""
        if self._other is not None:
            self._other._newest = holding

    def newest(self, fits: Fits) -> SharedHand | None:
        """Return the partner's last message if it fits; it never waits."""
        return self._newest if self._newest is not None and fits(self._newest) else None

    def connect(self, other: "MemoryLink") -> None:
        """Connect two ends (again)."""
        self._other, other._other = other, self

    def cut(self) -> None:
        """Cut the channel; what was sent is forgotten, as by a process that died."""
        for end in (self, self._other):
            if end is not None:
                end._other = end._newest = None


def memory_links() -> tuple[MemoryLink, MemoryLink]:
    """Return two connected ends."""
    one, other = MemoryLink(), MemoryLink()
    one.connect(other)
    return one, other
