"""Which of several players sits down with which: those that have met least often.

Anybody may take a new name at any time, so a name of which little is known gets no advantage: of
two players that have had fewer than ``MOST_NEW`` occasions to meet, the choice is by lot.  With
more occasions the share of them counts in which the two have met.  Two that change their names as
soon as they have met therefore meet hardly more often than by lot.
"""

import random
from collections.abc import Sequence
from typing import Final

MOST_NEW: Final = 6
"""Occasions to meet below which a pair is new.

Of eight players at two tables, two met in none of six rounds with probability (4/7)^6, 3.5%: that
often a pair that keeps its names until it has met is seated together out of turn.
"""

MOST_PAIRS: Final = 50_000
"""Pairs that are remembered, those of the last occasions."""

Pair = frozenset[str]


class Meetings:
    """How often players have met at the tables of a room, by their names; ``lots`` breaks ties."""

    def __init__(self, lots: random.Random | None = None) -> None:
        self._lots: Final = lots or random.Random()
        self._pairs: Final[dict[Pair, tuple[int, int]]] = {}  # met, occasions; the oldest first

    def __len__(self) -> int:
        return len(self._pairs)

    def choose(self, names: Sequence[str], sitting: Sequence[str]) -> int:
        """Return which of the waiting ``names`` sits down with those that sit."""
        drawn = self._lots.randrange(len(names))
        if self._is_new(names[drawn], sitting):
            return drawn
        known = [at for at, name in enumerate(names) if not self._is_new(name, sitting)]
        self._lots.shuffle(known)
        return min(known, key=lambda at: self._share(names[at], sitting))

    def note(self, sitting: Sequence[str], waiting: Sequence[str]) -> None:
        """Take note of a table: those that sit have met, and might have met those that wait."""
        for at, name in enumerate(sitting):
            for other in sitting[at + 1 :]:
                self._add(name, other, met=1)
            for other in waiting:
                self._add(name, other, met=0)
        for pair in list(self._pairs)[: max(0, len(self._pairs) - MOST_PAIRS)]:
            del self._pairs[pair]

    def _add(self, name: str, other: str, *, met: int) -> None:
        if name != other:
            before, occasions = self._pairs.pop(frozenset((name, other)), (0, 0))
            self._pairs[frozenset((name, other))] = before + met, occasions + 1

    def _is_new(self, name: str, sitting: Sequence[str]) -> bool:
        return any(self._known(name, other)[1] < MOST_NEW for other in sitting if other != name)

    def _share(self, name: str, sitting: Sequence[str]) -> float:
        pairs = [self._known(name, other) for other in sitting if other != name]
        return sum([met / occasions for met, occasions in pairs])

    def _known(self, name: str, other: str) -> tuple[int, int]:
        return self._pairs.get(frozenset((name, other)), (0, 0))
