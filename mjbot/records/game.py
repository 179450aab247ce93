"""A recorded game: its events, each with its place in the record."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from protocol.messages import Event, FourInts, Seat, Tile


@dataclass(frozen=True, slots=True)
class WinRecord:
    """What a Tenhou record says of one win beyond the mjai event.

    ``yaku`` pairs Tenhou yaku ids (0..54) with han in the record's order, dora included;
    ``yakuman`` lists ids and then ``yaku`` is empty.  ``hand_points`` are the hand's points
    without honba and sticks, of a win by draw the sum of all payers.  ``limit`` is 0 (none),
    1 mangan, 2 haneman, 3 baiman, 4 sanbaiman or 5 yakuman.
    """

    winner: Seat
    source: Seat
    liable: Seat | None
    yaku: tuple[tuple[int, int], ...]
    yakuman: tuple[int, ...]
    fu: int
    hand_points: int
    limit: int
    honba: int
    sticks: int
    winning_tile: Tile
    dora_markers: tuple[Tile, ...]
    ura_markers: tuple[Tile, ...]
    deltas: FourInts


class Entry(NamedTuple):
    """One event, the number of the line or tag that says it, and of a win what else is known."""

    number: int
    event: Event
    win: WinRecord | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """One game.  ``entries`` can be walked once and may raise :class:`RecordError` on the way.

    ``name`` says where the game lies: ``games.zip/00012.mjlog``, ``all.jsonl.gz#3``.
    """

    name: str
    unit: Literal["line", "tag"]
    entries: Iterable[Entry]

    def place(self, number: int) -> str:
        """Return how to call the place of an entry: ``line 12``."""
        return f"{self.unit} {number}"
