"""What one of a pair tells the other, as a remark in the game's log (``logs``), and read again.

A remark is one line: what was done for the ally, if anything, and what was said to it::

    feeds seat 2: 5p to win on; tells seat 2: holds 1m 2m 3m 4m, waits 1m 4m, calls 5s

Seats are absolute, as everywhere in a log; tiles are wire names.  Logs of version 0.2 and before
have ``FEED for seat 2: `` and ``help for seat 2: `` there.
"""

import re
from dataclasses import dataclass
from typing import Final

from mjbot.pair.messages import Holding

FEED: Final = "feeds"
HELP: Final = "helps"
_ALLY: Final = re.compile(rf"(?:^| )(?:{FEED}|{HELP}|for|tells) seat ([0-3]): ")
_FEED: Final = re.compile(rf"(?:{FEED}|FEED for) seat ([0-3]): ([^;]{{1,80}})")


@dataclass(frozen=True)
class Help:
    """What was done for the ally at ``seat``: ``words`` say which tile or call, and what for.

    A feed gives the ally a tile or a turn of its own.
    """

    seat: int
    words: str
    is_feed: bool = True

    def __str__(self) -> str:
        """Return the first part of a remark.

        >>> str(Help(2, "5p to win on")), str(Help(1, "tries 9m out", is_feed=False))
        ('feeds seat 2: 5p to win on', 'helps seat 1: tries 9m out')
        """
        return f"{FEED if self.is_feed else HELP} seat {self.seat}: {self.words}"


@dataclass(frozen=True)
class Said:
    """What one decision told the ``ally`` (its seat, if it is known) and did for it."""

    ally: int | None = None
    holding: Holding | None = None
    done: Help | None = None

    def __str__(self) -> str:
        """Return the remark, empty if there is nothing to say."""
        parts = [str(self.done)] if self.done else []
        if self.holding is not None:
            whom = "its ally" if self.ally is None else f"seat {self.ally}"
            parts.append(f"tells {whom}: {', '.join(_told(self.holding))}")
        return "; ".join(parts)


def _told(holding: Holding) -> list[str]:
    told = [f"holds {' '.join(holding.hand)}"]
    for word, tiles in (("waits", holding.waits), ("calls", holding.helps)):
        if tiles:
            told.append(f"{word} {' '.join(tiles)}")
    if holding.aim:
        told.insert(1, f"plays for {holding.aim}")
    return told


def feed_in(remark: str) -> tuple[int, str] | None:
    """Return for whom a remark's feed is, and its words; ``None`` if it tells of none.

    >>> feed_in("feeds seat 2: 5p to win on; tells seat 2: holds 1m 2m 3m 4m")
    (2, '5p to win on')
    >>> feed_in("FEED for seat 2: 5p to win on"), feed_in("helps seat 2: tries 9m out")
    ((2, '5p to win on'), None)
    """
    found = _FEED.match(remark)
    return (int(found[1]), found[2]) if found else None


def ally_in(remark: str) -> int | None:
    """Return whom a remark calls the ally, a seat; ``None`` if it does not say so.

    >>> ally_in("tells seat 2: holds 1m 2m 3m 4m"), ally_in("tells its ally: holds 1m")
    (2, None)
    """
    found = _ALLY.search(remark)
    return int(found[1]) if found else None
