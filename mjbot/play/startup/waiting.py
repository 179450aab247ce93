"""A recorded kyoku as text, shown while a first start compiles.

The table's own code is what is being compiled, so hands and rivers are kept here, as lists of tile
names.  The record is one kyoku of four ``strongest`` without calls; the tiles of one of them are
shown, and what it does next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from protocol.codec import decode_line
from protocol.messages import Dahai, Event, Hora, Reach, ReachAccepted, StartKyoku, Tsumo
from protocol.tiles import TILE_BY_NAME

RECORD: Final = Path(__file__).with_name("recorded_kyoku.jsonl")
STRATEGY: Final = "strongest"
SHOWN: Final = 1
"""The seat whose tiles are shown; it wins."""

EVENT_S: Final = 0.8
"""Seconds between two events."""

LAST_S: Final = 5.0
"""Seconds for which the end is shown, before the kyoku starts again."""

_WINDS: Final = ("East", "South", "West", "North")
_WALL: Final = 70


def scene(seconds: float) -> str:
    """Return the table as it is ``seconds`` after the wait began: seven lines of 72 characters."""
    frames = _frames()
    event = int(seconds % (EVENT_S * len(frames) + LAST_S) / EVENT_S)
    return frames[min(event, len(frames) - 1)]


@cache
def _frames() -> tuple[str, ...]:
    """Return the table after each draw and discard."""
    start, *events = _events()
    assert isinstance(start, StartKyoku)
    table = _Table.after(start)
    frames = []
    for event, following in pairwise([*events, events[-1]]):
        table.apply(event)
        if isinstance(event, Tsumo | Dahai | Hora):
            frames.append(table.text(following))
    return tuple(frames)


def _events() -> Sequence[Event]:
    rows = RECORD.read_text(encoding="utf-8").splitlines()
    return [event for row in rows for event in decode_line(row) if isinstance(event, Event)]


@dataclass
class _Table:
    """What the events so far have left."""

    start: StartKyoku
    scores: list[int]
    tiles: list[str]
    rivers: list[list[str]]
    riichi: set[int]
    n_left: int = _WALL

    @classmethod
    def after(cls, start: StartKyoku) -> "_Table":
        """Return the table after the deal."""
        scores, tiles = list(start.scores or ()), list(start.tehais[SHOWN])
        return cls(start, scores, tiles, [[], [], [], []], set())

    def apply(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case Tsumo(actor=seat, pai=tile):
                self.n_left -= 1
                if seat == SHOWN:
                    self.tiles.append(tile)
            case Dahai(actor=seat, pai=tile):
                self.rivers[seat].append(tile)
                if seat == SHOWN:
                    self.tiles.remove(tile)
                    self.tiles.sort(key=TILE_BY_NAME.__getitem__)
            case Reach(actor=seat):
                self.riichi.add(seat)
            case ReachAccepted(actor=seat):
                self.scores[seat] -= 1000
            case Hora(scores=scores) if scores is not None:
                self.scores = list(scores)

    def text(self, following: Event) -> str:
        """Return the table as text; ``following`` is the next event."""
        head = f"a recorded game of four {STRATEGY}: East {self.start.kyoku}, {self.n_left} left"
        seats = [self._seat(seat) for seat in range(4)]
        hand = f"{self._wind(SHOWN)} holds {' '.join(self.tiles)}"
        return "\n".join([head, *seats, hand, self._outlook(following)])

    def _seat(self, seat: int) -> str:
        mark = "riichi" if seat in self.riichi else ""
        river = " ".join(self.rivers[seat])
        return f"{self._wind(seat):6}{self.scores[seat]:>7,} {mark:6} {river}".rstrip()

    def _outlook(self, event: Event) -> str:
        match event:
            case Tsumo(actor=seat):
                return f"next: {self._wind(seat)} draws"
            case Dahai(actor=seat, pai=tile) if seat == SHOWN:
                return f"next: {self._wind(seat)} discards {tile}"
            case Reach(actor=seat):
                return f"next: {self._wind(seat)} declares riichi"
            case Hora(actor=seat, pai=tile, deltas=deltas) if deltas is not None:
                return f"{self._wind(seat)} draws {tile} and wins {deltas[seat]:,}"
            case Dahai(actor=seat):
                return f"next: {self._wind(seat)} discards"
            case ReachAccepted(actor=seat):
                return f"{self._wind(seat)} is in riichi"
            case _:
                return "next: the end of the kyoku"

    def _wind(self, seat: int) -> str:
        return _WINDS[(seat - self.start.oya) % 4]
