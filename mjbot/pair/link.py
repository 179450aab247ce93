"""What a strategy holds of its channel to the partner, whatever carries it.

A link takes and gives :class:`~mjbot.pair.messages.Holding` and never fails: where nobody is at
the other end, nothing comes and what is said is dropped.
"""

import abc
from collections.abc import Callable
from typing import Final

from mjbot.pair.messages import Holding

PATIENCE_MS: Final = 8
"""The most that one decision waits for a partner that is linked but slow."""

Fits = Callable[[Holding], bool]
"""Whether a message is about the table as it is now: neither stale nor foreign."""


class Link(abc.ABC):
    """One end of a channel, used by one strategy in one thread."""

    @abc.abstractmethod
    def start_game(self) -> None:
        """Take note that a game begins: nothing that was said before is believed any more."""

    @abc.abstractmethod
    def tell(self, holding: Holding) -> None:
        """Say what one's own seat holds; returns at once."""

    @abc.abstractmethod
    def newest(self, fits: Fits) -> Holding | None:
        """Return the partner's last word if it fits, waiting at most :data:`PATIENCE_MS`."""


class NoLink(Link):
    """Nobody at the other end: solo play."""

    def start_game(self) -> None:
        """Nothing to forget."""

    def tell(self, holding: Holding) -> None:
        """Drop it."""

    def newest(self, fits: Fits) -> Holding | None:
        """Return ``None``."""
        return None


class MemoryLink(Link):
    """One end of a channel inside a process; make both with :func:`memory_links`."""

    def __init__(self) -> None:
        self._heard: Holding | None = None
        self._other: MemoryLink | None = None

    def start_game(self) -> None:
        """Forget what was heard; nothing can be on its way here."""
        self._heard = None

    def tell(self, holding: Holding) -> None:
        """Say it; a cut link drops it."""
        if self._other is not None:
            self._other._heard = holding

    def newest(self, fits: Fits) -> Holding | None:
        """Return the partner's last word if it fits; nothing is worth waiting for here."""
        return self._heard if self._heard is not None and fits(self._heard) else None

    def connect(self, other: "MemoryLink") -> None:
        """Connect two ends (again)."""
        self._other, other._other = other, self

    def cut(self) -> None:
        """Cut the channel; what was said is forgotten, as by a process that died."""
        for end in (self, self._other):
            if end is not None:
                end._other = end._heard = None


def memory_links() -> tuple[MemoryLink, MemoryLink]:
    """Return two connected ends."""
    one, other = MemoryLink(), MemoryLink()
    one.connect(other)
    return one, other
