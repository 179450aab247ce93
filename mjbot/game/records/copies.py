"""A game counts once, however many copies of it the records hold, whole or cut, in any order.

Copies of a whole game have the same events.  A copy that was cut, or lacks the end, has the events
of the whole game up to its last win or draw.  So a game with an end counts when it is read, and one
without waits until all are read: it counts if no other game goes on from its last result.
"""

from array import array
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

import numpy as np

from mjbot.game.records.game import EVENTS_SIZE, GameIdentity

Kept = TypeVar("Kept")


class Distinct(Generic[Kept]):
    """Passes each game on once; a game takes 0.3 kB, one that waits also what is kept of it."""

    def __init__(self) -> None:
        self.duplicates = 0
        self._seen: Final[set[bytes]] = set()
        self._results: Final = array("Q")
        self._waiting: Final[dict[bytes, tuple[GameIdentity, Kept]]] = {}

    def add(self, identity: GameIdentity, game: Kept) -> Kept | None:
        """Return the game if it counts now; ``None`` if it waits or is a copy."""
        if identity.whole in self._seen:
            self.duplicates += 1
            return None
        if not identity.ended:
            self.duplicates += identity.whole in self._waiting
            self._waiting.setdefault(identity.whole, (identity, game))
            return None
        self._count(identity)
        return game

    def _count(self, identity: GameIdentity) -> None:
        self._seen.add(identity.whole)
        self._results.extend(identity.results)

    def rest(self) -> Iterator[Kept]:
        """Yield the games that waited and are no copies, the longest first; call it at the end."""
        waiting = sorted(self._waiting.values(), key=lambda item: -len(item[0].results))
        self._waiting.clear()
        counted = np.unique(np.array(self._results, np.uint64))
        last = np.array([of.results[-1] if of.results else 0 for of, _ in waiting], np.uint64)
        cut = np.isin(last, counted)
        longer = set[int]()
        for (identity, game), is_cut in zip(waiting, cut.tolist(), strict=True):
            known = identity.results and (is_cut or identity.results[-1] in longer)
            if known or identity.whole in self._seen:
                self.duplicates += 1
                continue
            self._count(identity)
            longer.update(identity.results)
            yield game

    @property
    def renamed(self) -> int:
        """Games that count and differ from another by the names alone, where names distinguish."""
        return len(self._seen) - len({whole[-EVENTS_SIZE:] for whole in self._seen})

    @property
    def digests(self) -> list[str]:
        """The digests of all games that count: 16 hexadecimal digits of each."""
        return [whole.hex()[:16] for whole in self._seen]
