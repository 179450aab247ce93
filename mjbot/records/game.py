"""A recorded game: its events, each with its place in the record, and the errors that name the
place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from mjbot.errors import MjbotError
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


Talk = Sequence[tuple[int, str]]
"""What players remarked on an event, each in answer to it: seat and text."""


class Entry(NamedTuple):
    """One event, the number of the line, tag or hand that says it; of a win what else is known."""

    number: int
    event: Event
    win: WinRecord | None = None
    talk: Talk = ()


@dataclass(frozen=True, slots=True)
class Game:
    """One game.  ``entries`` can be walked once and may raise :class:`RecordError` on the way.

    ``name`` says where the game lies: ``games.zip/00012.mjlog``, ``all.jsonl.gz#3``.
    """

    name: str
    unit: Literal["line", "tag", "hand"]
    entries: Iterable[Entry]

    def place(self, number: int) -> str:
        """Return how to call the place of an entry: ``line 12``."""
        return f"{self.unit} {number}"


THREE_PLAYER_GAME: Final = "is a three-player game"


@dataclass
class RecordError(MjbotError, ValueError):
    """A record that cannot be read, named so that its owner finds the place.

    ``place`` is ``"line 12"`` of an mjai log, ``"tag 345"`` of an mjlog, ``"hand 3"`` of a game of
    tenhou.net/6, or empty when the whole file is meant.
    """

    name: str
    place: str
    problem: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.name, self.place, self.problem) if part)


class EmptyRecordError(RecordError):
    """Nothing is damaged; there is no game: a file without a byte, or nothing but other files."""

    def __init__(self, name: str, problem: str = "is empty: no game") -> None:
        super().__init__(name, "", problem)


class IncompleteGameError(RecordError):
    """A game that nobody can tell whole: it is cut off, hides a hand, or breaks our rules."""


class ForeignRecordError(RecordError):
    """A file of a kind that is not read here; nothing says that it is damaged.

    ``kind`` is what it is, as the end of a sentence: ``"is a web page"``.
    """

    def __init__(self, name: str, kind: str) -> None:
        read = "mjbot reads four-player games as mjlog, tenhou.net/6 JSON or lines of mjai messages"
        super().__init__(name, "", f"{kind}; {read}")
