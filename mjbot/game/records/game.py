"""A recorded game: its events, each with its place in the record, and the errors that name the
place.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, NamedTuple

from mjbot.protocol import messages as m
from mjbot.protocol.messages import Event, FourInts, Seat, Tile
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.languages import translate, translate_count

_TENHOU_ID: Final = re.compile(r"\b(20\d\d)(0[1-9]|1[0-2])\d{4}gm-")


@dataclass(frozen=True, slots=True)
class WinRecord:
    """What a Tenhou record contains of one win in addition to the mjai event.

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
    """One event, the number of its line, tag or hand; of a win the further fields."""

    number: int
    event: Event
    win: WinRecord | None = None
    talk: Talk = ()


@dataclass(slots=True)
class HandNotes:
    """What is to report of a game, as far as its entries have been walked: its rules, bad hands.

    ``unreadable`` names what could not be read; its hand is a deal without a result.
    ``without_result`` are the hands (``E2-1``) that end without a win or a draw, those included.
    """

    unreadable: list["RecordError"] = field(default_factory=list)
    without_result: list[str] = field(default_factory=list)
    rules: str = ""
    """The rules of the game as ``--rules`` takes them, and whose they are."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game.  ``entries`` can be walked once and may raise :class:`RecordError` on the way.

    ``name`` is the location of the game: ``games.zip/00012.mjlog``, ``all.jsonl.gz#3``.  ``ref`` is
    the site's id of the game, ``played`` its day and time (``2026-11-20T21:03:12``), as far as the
    record has them.  ``hands`` is complete when ``entries`` have
    been walked.
    """

    name: str
    unit: Literal["line", "message", "tag", "hand"]
    entries: Iterable[Entry]
    ref: str = ""
    played: str = ""
    hands: HandNotes = field(default_factory=HandNotes, compare=False)

    @property
    def month(self) -> str:
        """When the game was played, by its Tenhou id (``ref``, or in the name); else empty.

        >>> Game("games.zip/2009022011gm-00a9-0000-d7935c6d&tw=0.mjlog", "tag", ()).month
        '2009-02'
        >>> Game("games.zip/00012.mjlog", "tag", ()).month
        ''
        """
        match = _TENHOU_ID.search(self.ref) or _TENHOU_ID.search(self.name)
        return f"{match[1]}-{match[2]}" if match else ""

    def place(self, number: int) -> str:
        """Return how to call the place of an entry: ``line 12``."""
        return f"{self.unit} {number}"


def noting_hands(game: Game) -> Iterator[Entry]:
    """Yield the entries of a game, and name in ``game.hands`` what ends without a result."""
    under_way = ""
    for entry in game.entries:
        event = entry.event
        if isinstance(event, _RESULTS):
            under_way = ""
        elif isinstance(event, _BORDERS):
            if under_way:
                game.hands.without_result.append(under_way)
            under_way = hand_name(event) if isinstance(event, m.StartKyoku) else ""
        yield entry


class HandProblem(NamedTuple):
    """One line on hands of a game; ``is_loss``: of one that could not be read."""

    text: str
    is_loss: bool


def rules_text(rules: str, game: str = "") -> str:
    """Return the line on the rules of a game."""
    text = translate("rules {rules}", rules=rules)
    return f"{game}: {text}" if game else text


def hand_problems(game: Game) -> Iterator[HandProblem]:
    """Yield a line for each hand that could not be read, and one for all that have no result."""
    for error in game.hands.unreadable:
        yield HandProblem(
            translate("{problem}; the other hands are read", problem=error), is_loss=True
        )
    names = game.hands.without_result
    if len(names) > len(game.hands.unreadable):
        text = translate(
            "{game}: {hands} without a result: {names}",
            game=game.name,
            hands=translate_count("{n} hand", "{n} hands", len(names)),
            names=", ".join(names),
        )
        yield HandProblem(text, is_loss=False)


_RESULTS: Final = (m.Hora, m.Ryukyoku)
_BORDERS: Final = (m.StartKyoku, m.EndKyoku, m.EndGame)


def hand_name(deal: m.StartKyoku) -> str:
    """Return ``E2-1`` for East 2 honba 1."""
    return f"{deal.bakaze}{deal.kyoku}-{deal.honba}"


class GameDigest(NamedTuple):
    """What identifies a game: digests of the players and of what all players saw."""

    players: bytes
    events: bytes


EVENTS_SIZE: Final = 16
"""Bytes of an identity, its last, that stand for the events."""


class GameIdentity(NamedTuple):
    """By what copies of a game are recognised, whole or cut (:mod:`mjbot.game.records.copies`).

    ``whole`` is a digest of all events, ``results`` one of 64 bits of the events up to each win and
    draw; ``ended``: whether the record has the end of the game.
    """

    whole: bytes
    results: tuple[int, ...]
    ended: bool


class GameDigester:
    """Takes a game's events in order; :attr:`digest` is the same for every format of the game.

    Only what every format keeps and every seat sees counts: names, discards, calls, riichi, wins
    and draws.  So a record of one seat, in which other hands are hidden, has the digest of the
    full one.
    """

    def __init__(self) -> None:
        self._players: Final = hashlib.sha256()
        self._events: Final = hashlib.sha256()
        self._results: Final[list[int]] = []
        self._ended = False

    def add(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, m.Dahai):
            self._events.update(_discard_text(event.actor, event.pai))
        elif isinstance(event, m.StartGame):
            self._players.update(repr(event.names).encode())
        elif isinstance(event, _CALLED):
            called = sorted(getattr(event, "consumed", ()))
            parts = f"{event.actor} {getattr(event, 'pai', '')} {called}"
            self._events.update(f"{type(event).__name__} {parts};".encode())
        elif isinstance(event, m.Hora):
            self._add_result(f"Hora {event.actor} {event.target};".encode())
        elif isinstance(event, m.Ryukyoku):  # formats differ in what else they keep of it
            self._add_result(b"Ryukyoku;")
        elif isinstance(event, m.EndGame):
            self._ended = True
        elif isinstance(event, m.StartKyoku):
            self._events.update(f"{event.bakaze} {event.kyoku} {event.honba};".encode())

    def _add_result(self, text: bytes) -> None:
        self._events.update(text)
        self._results.append(_number(self._events.copy().digest()))

    @property
    def digest(self) -> GameDigest:
        """Of the events so far."""
        return GameDigest(self._players.digest(), self._events.digest())

    def identity(self, by_players: bool = False) -> GameIdentity:
        """Return by what copies of the game are recognised.

        ``by_players``: the same events under other names are another game.
        """
        players, events = self.digest
        salt = _number(players) if by_players else 0
        whole = (players[:8] if by_players else b"") + events[:EVENTS_SIZE]
        return GameIdentity(whole, tuple([salt ^ each for each in self._results]), self._ended)


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big")


_CALLED: Final = (m.Chi, m.Pon, m.Daiminkan, m.Ankan, m.Kakan, m.Kita, m.Reach)


@cache
def _discard_text(actor: int, tile: str) -> bytes:
    return f"Dahai {actor} {tile} [];".encode()


def game_identity(game: Game) -> GameIdentity:
    """Return the identity of a game, whatever its players are called; walks it.

    Raises :class:`RecordError` as its entries do.
    """
    digester = GameDigester()
    for entry in game.entries:
        digester.add(entry.event)
    return digester.identity()


THREE_PLAYER_GAME: Final = (
    "is a three-player game, which only replay, convert, stats, watch, draw, explain, review,"
    " detect and train --players 3 read"
)
FOUR_PLAYER_GAME: Final = "is a four-player game, not one of three"


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


class UnwrittenGameError(RecordError):
    """A game that cannot be written under its name, while others can."""


class IncompleteGameError(RecordError):
    """An incomplete game: it is cut off, hides a hand, or breaks our rules."""


class ForeignRecordError(RecordError):
    """A file of a kind that is not supported; it need not be damaged.

    ``kind`` is what it is, as the end of a sentence: ``"is a web page"``.
    """

    def __init__(self, name: str, kind: str) -> None:
        read = (
            "mjbot reads games as mjlog, tenhou.net/6 JSON, decoded records of Mahjong Soul or"
            " lines of mjai messages"
        )
        super().__init__(name, "", f"{kind}; {read}")
