"""Logs of mjai lines: reading any dialect, and writing one as a game happens."""

import gzip
import zipfile
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Final, Self, get_args

import msgspec

from mjbot.records.game import (
    THREE_PLAYER_GAME,
    Entry,
    ForeignRecordError,
    Game,
    RecordError,
    Talk,
)
from mjbot.text import naming, write_all
from protocol.codec import decode_line, encode
from protocol.dialects import OWN_LOG
from protocol.errors import ProtocolError, ThreePlayersError
from protocol.framing import MAX_LINE_BYTES
from protocol.messages import Event

_EVENTS: Final = get_args(Event)
_SILENCE: Final = b'"logs":[null,null,null,null]'
_Line = tuple[int, bytes]
Lines = BufferedReader | zipfile.ZipExtFile | gzip.GzipFile
"""What logs are read from: a file, a member of a zip, or either of them gzipped."""


MAX_GAME_BYTES: Final = 1 << 24
"""A real game of mjai lines has some 100 kB, a few MB with all that a server offers."""


def read_mjai_log(stream: Lines, name: str) -> Iterator[Game]:
    """Yield the games of a log, each beginning at its ``start_game``.

    A line holds one message or an array of them.  Messages that are no events (hello,
    requests, a server's error) are passed over.  A log that begins inside a game makes a game
    of what it holds.  Raises :class:`RecordError` here for an endless line or game; a line that
    cannot be read raises it while the game's entries are walked.
    """
    lines: list[_Line] = []
    started = False
    count = size = 0
    for number, raw in _numbered_lines(stream, name):
        line = raw.removeprefix(b"\xef\xbb\xbf").strip()
        # Escaped quotes end in \", so a message that quotes another does not match.
        if started and b'"start_game"' in line:
            count += 1
            yield _game(name, count, lines)
            lines = []
            size = 0
        size += len(raw)
        if size > MAX_GAME_BYTES:
            problem = f"no game ends within {MAX_GAME_BYTES} bytes"
            raise RecordError(name, f"line {number}", problem)
        if not line:
            continue
        started = started or b'"start_' in line
        lines.append((number, line))
    if lines:
        yield _game(name, count + 1, lines)


class EventLog:
    """A log that is written line by line as events happen; nothing written is ever lost.

    Folders on the way to ``path`` are made.  Raises ``OSError`` with its path if it cannot be
    written.
    """

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        with naming(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb", buffering=0)

    def write(self, event: Event, talk: Talk = ()) -> None:
        """Append one event, with what was remarked on it."""
        write_all(self._file, self._path, log_line(event, talk))

    def close(self) -> None:
        """Close the file; further events are refused."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def log_line(event: Event, talk: Talk = ()) -> bytes:
    """Return an event as a line of a log, with its line end.

    ``talk`` is what was remarked on it, which stands in ``logs`` by seat, as in the original
    server's logs; without any that is left out.

    >>> from protocol.messages import EndKyoku
    >>> log_line(EndKyoku(), [(2, "well played")]).decode().strip()
    '{"type":"end_kyoku","logs":[null,null,"well played",null]}'
    """
    remarks = dict(talk)
    logs = {"logs": [remarks.get(seat) for seat in range(4)]} if remarks else None
    return encode(event, OWN_LOG, logs).rstrip(b"\n") + b"\n"


def _game(name: str, count: int, lines: Sequence[_Line]) -> Game:
    return Game(name if count == 1 else f"{name}#{count}", "line", _entries(lines, name))


def _entries(lines: Sequence[_Line], name: str) -> Iterator[Entry]:
    for number, line in lines:
        try:
            messages = decode_line(line)
        except ThreePlayersError:
            raise ForeignRecordError(name, THREE_PLAYER_GAME) from None
        except ProtocolError as error:
            raise RecordError(name, f"line {number}", str(error)) from None
        talk = talk_in(line)
        for message in messages:
            if isinstance(message, _EVENTS):
                yield Entry(number, message, talk=talk)


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
