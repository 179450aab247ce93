"""Logs of mjai lines: reading any dialect, and writing one as a game happens."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

import msgspec

from mjbot.game.records.discards import settle_discards
from mjbot.game.records.game import (
    THREE_PLAYER_GAME,
    Entry,
    ForeignRecordError,
    Game,
    RecordError,
    Talk,
)
from mjbot.game.records.json_values import Lines, json_values, without_comments
from mjbot.protocol import messages as m
from mjbot.protocol.codec import decode_line, encode
from mjbot.protocol.dialects import OWN_LOG
from mjbot.protocol.errors import NOT_JSON, ProtocolError, ThreePlayersError
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.messages import Event
from mjbot.protocol.reading import shows_three
from mjbot.protocol.rules import RANKED
from mjbot.protocol.seats import players_after, seated
from mjbot.runtime.files import append_lines, naming

_EVENTS: Final = get_args(Event)
_SILENCE: Final = b'"logs":[null,null,null,null]'
_Line = tuple[int, bytes]
_BEGINS_PART: Final = re.compile(rb'"(start_kyoku|end_game)"')
_KITA: Final = re.compile(rb'"type"\s*:\s*"(kita|nukidora)"')
_ACTOR: Final = re.compile(rb'"actor"\s*:\s*(\d)')
_ARROW: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(<-|->)\s*")
"""What a client's own log has before a line: received, or sent."""

MAX_GAME_BYTES: Final = 1 << 24
"""A real game of mjai lines has some 100 kB, a few MB with all that a server offers."""


def read_mjai_log(stream: Lines, name: str) -> Iterator[Game]:
    """Yield the games of a log, each beginning at its ``start_game``.

    A line holds one message or an array of them.  Messages that are no events (hello,
    requests, a server's error) are passed over, and so are ``//`` comments; of lines with arrows
    before them those in the direction of ``start_game`` are read.  A log that begins inside a game
    makes a game of what it holds.  Raises :class:`RecordError` here for an endless line or game; a
    line that cannot be read raises it while the game's entries are walked.
    """
    return _games(_one_direction(_numbered_lines(stream, name)), name)


def read_mjai_json(stream: Lines, name: str) -> Iterator[Game]:
    """Yield the games of messages, or arrays of them, that go over many lines.

    Raises :class:`RecordError` for what is no JSON.
    """
    values = json_values(stream, name, "message")
    return _games(((line, msgspec.json.encode(value)) for line, value in values), name)


def read_mjai_messages(messages: Any, name: str) -> Iterator[Game]:
    """Yield the games of the messages that a review holds; a place is a message's number from 1.

    Raises :class:`RecordError` if it is no list.
    """
    if not isinstance(messages, list):
        raise RecordError(name, "", "mjai_log: is no list of messages")
    numbered = ((number, msgspec.json.encode(each)) for number, each in enumerate(messages, 1))
    return _games(numbered, name, "message")


def _one_direction(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Yield lines without their arrows, of those with one only those of the game's events."""
    events: bytes = b"<-"
    for number, raw in lines:
        if arrow := _ARROW.match(raw):
            if b'"start_game"' in raw:
                events = arrow[1]
            if arrow[1] != events:
                continue
            raw = raw[arrow.end() :]
        yield number, _uncommented(raw) if b"//" in raw else raw


def _uncommented(line: bytes) -> bytes:
    text = line.decode("utf-8", "surrogateescape")
    return without_comments(text).encode("utf-8", "surrogateescape")


def _games(
    numbered: Iterable[_Line], name: str, unit: Literal["line", "message"] = "line"
) -> Iterator[Game]:
    lines: list[_Line] = []
    started = False
    count = size = 0
    for number, raw in numbered:
        line = raw.removeprefix(b"\xef\xbb\xbf").strip()
        # Escaped quotes end in \", so a message that quotes another does not match.
        if started and b'"start_game"' in line:
            count += 1
            yield _game(name, count, lines, unit)
            lines = []
            size = 0
        size += len(raw)
        if size > MAX_GAME_BYTES:
            problem = f"no game ends within {MAX_GAME_BYTES} bytes"
            raise RecordError(name, f"{unit} {number}", problem)
        if not line:
            continue
        started = started or b'"start_' in line
        lines.append((number, line))
    if lines:
        yield _game(name, count + 1, lines, unit)


class EventLog:
    """A log that is written line by line as events happen; nothing written is ever lost.

    Folders on the way to ``path`` are made.  Raises ``OSError`` with its path if it cannot be
    written.
    """

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self._players = RANKED.players
        with naming(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb", buffering=0)

    def write(self, event: Event, talk: Talk = ()) -> None:
        """Append one event, with what was remarked on it."""
        self._players = players_after(event, self._players)
        append_lines(self._file, self._path, log_line(event, talk, self._players))

    def close(self) -> None:
        """Close the file; further events are refused."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def log_line(event: Event, talk: Talk = (), players: int = 4) -> bytes:
    """Return an event of a game of so many players as a line of a log, with its line end.

    ``talk`` is what was remarked on it, which stands in ``logs`` by seat, as in the original
    server's logs; without any that is left out.

    >>> from mjbot.protocol.messages import EndKyoku
    >>> log_line(EndKyoku(), [(2, "well played")]).decode().strip()
    '{"type":"end_kyoku","logs":[null,null,"well played",null]}'
    """
    remarks = dict(talk)
    logs = {"logs": [remarks.get(seat) for seat in range(players)]} if remarks else None
    return encode(seated(event, players), OWN_LOG, logs).rstrip(b"\n") + b"\n"


def _game(name: str, count: int, lines: Sequence[_Line], unit: Literal["line", "message"]) -> Game:
    title = name if count == 1 else f"{name}#{count}"
    game, players = Game(title, unit, ()), _players(lines)
    if players == 3:
        lines = [*_with_actors(lines)]
    return replace(game, entries=settle_discards(_entries(lines, name, game, players)))


def _players(lines: Sequence[_Line]) -> int:
    """Return how many play, by what the first messages of a game show."""
    for _, line in lines:
        if b'"start_' not in line:
            continue
        if shows_three(line):
            return 3
        if b'"start_kyoku"' in line:
            break
    return 4


def _with_actors(lines: Sequence[_Line]) -> Iterator[_Line]:
    """Yield lines; a kita without an actor is that of the seat that drew last."""
    actor = b""
    for number, line in lines:
        if (draw := _ACTOR.search(line)) and b'"tsumo"' in line:
            actor = draw[1]
        elif _KITA.search(line) and not _ACTOR.search(line):
            line = line.rstrip()[:-1] + b',"actor":' + actor + b"}"
        yield number, line


def _entries(lines: Sequence[_Line], name: str, game: Game, players: int) -> Iterator[Entry]:
    """Yield the events.  A line that cannot be read costs its hand if another part follows.

    Raises :class:`RecordError` where none does: such a log is cut off.
    """
    *parts, last = _parts(lines)
    for part in parts:
        borders = 0  # the deal is the first, the end the second
        for number, line in part:
            try:
                entries = _decoded(number, line, name, game, players)
            except ForeignRecordError:
                raise
            except RecordError as error:
                entries = [] if borders else _hidden_deal(number, line, error, players)
                game.hands.unreadable.append(error)
                yield from entries if borders == 2 else (*entries, Entry(number, m.EndKyoku()))
                break
            for entry in entries:
                yield entry
                borders += isinstance(entry.event, m.StartKyoku | m.EndKyoku)
    for number, line in last:
        yield from _decoded(number, line, name, game, players)


def _parts(lines: Sequence[_Line]) -> list[Sequence[_Line]]:
    """Return what is before the first hand, the hands, and the end of the game if it has one."""
    begins = [at for at, (_, line) in enumerate(lines) if _BEGINS_PART.search(line)]
    borders = [0, *begins, len(lines)]
    return [lines[start:stop] for start, stop in itertools.pairwise(borders)]


def _decoded(number: int, line: bytes, name: str, game: Game, players: int) -> list[Entry]:
    try:
        messages = decode_line(line, players)
    except ThreePlayersError:
        raise ForeignRecordError(name, THREE_PLAYER_GAME) from None
    except ProtocolError as error:
        raise RecordError(name, game.place(number), str(error)) from None
    talk = talk_in(line)
    return [
        Entry(number, message, talk=talk) for message in messages if isinstance(message, _EVENTS)
    ]


def _hidden_deal(number: int, line: bytes, error: RecordError, players: int) -> list[Entry]:
    """Return a deal whose hands cannot be read as one that hides them; else raise ``error``."""
    try:
        fields = msgspec.json.decode(line)
        hidden = msgspec.json.encode(fields | {"tehais": [["?"] * 13] * 4})
        (deal,) = decode_line(hidden, players)
    except (ProtocolError, ValueError, TypeError, *NOT_JSON):
        raise error from None
    if not isinstance(deal, m.StartKyoku):
        raise error
    return [Entry(number, deal)]


def talk_in(line: bytes) -> Talk:
    """Return the remarks of the seats on an event, from the ``logs`` of the line."""
    if b'"logs"' not in line or _SILENCE in line:
        return ()
    logs = msgspec.json.decode(line).get("logs") if line.startswith(b"{") else None
    remarks = logs[:4] if isinstance(logs, list) else []
    return tuple([(seat, text) for seat, text in enumerate(remarks) if isinstance(text, str)])


def _numbered_lines(stream: Lines, name: str) -> Iterator[_Line]:
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise RecordError(name, f"line {number}", f"longer than {MAX_LINE_BYTES} bytes")
        yield number, line
