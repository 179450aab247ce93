"""What the two of a pair did, counted from the events of their games: ours or as one saw them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.arena.count_events import EventCounter
from mjbot.arena.counts import Counts
from mjbot.arena.figures import ranks_of
from mjbot.table.table import Table
from protocol.messages import EndGame, Event, StartGame


@dataclass(frozen=True)
class PairGame:
    """A finished game; ``seats`` are the top's and the partner's."""

    names: tuple[str, ...]
    seats: tuple[int, int]
    scores: tuple[int, ...]
    counts: Counts

    @property
    def ranks(self) -> tuple[int, ...]:
        """1..4 by seat."""
        return tuple(ranks_of(self.scores))

    def others(self) -> tuple[int, ...]:
        """Return the seats of the rivals."""
        return tuple(seat for seat in range(4) if seat not in self.seats)

    def ally(self, seat: int) -> int:
        """Return who is on the same side."""
        side = self.seats if seat in self.seats else self.others()
        return side[0] if side[1] == seat else side[1]


class PairScore:
    """Takes the events of all games, masked or not; ``names`` are the pair's at the table."""

    def __init__(self, names: Sequence[str]) -> None:
        self.games: Final[list[PairGame]] = []
        self.apart = 0
        """Games in which the server did not name both of them."""
        self._names: Final = tuple(names)
        self._events: list[Event] = []

    def add(self, event: Event) -> None:
        """Take in one event; a game counts once it has ended."""
        if isinstance(event, StartGame):
            self._events = []
        self._events.append(event)
        if isinstance(event, EndGame):
            self._close(event)

    def _close(self, end: EndGame) -> None:
        start = self._events[0]
        names = start.names or () if isinstance(start, StartGame) else ()
        seats = seats_of(self._names, names)
        if seats is None:
            self.apart += 1
            return
        counter = EventCounter()
        for event in self._events:
            counter.add(event)
        scores = end.scores or _scores_after(self._events)
        self.games.append(PairGame(tuple(names), seats, tuple(scores), counter.counts))


def seats_of(pair: Sequence[str], names: Sequence[str]) -> tuple[int, int] | None:
    """Return where the two of a pair sit, ``None`` if not both are named.

    >>> seats_of(("a (team 1/2)", "a (team 2/2)"), ("x", "a (team 2/2)", "y", "a (team 1/2)"))
    (3, 1)
    """
    if not all(name in names for name in pair):
        return None
    top, partner = (names.index(name) for name in pair)
    return top, partner


def _scores_after(events: Sequence[Event]) -> tuple[int, ...]:
    """Return the scores where the server does not tell them: those of a mirror."""
    table = Table(strict=False)
    for event in events:
        table.apply(event)
    return tuple(table.state["scores"].tolist())
