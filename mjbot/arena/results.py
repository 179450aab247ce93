"""The run's file: one line for the setup, one per game, safe against any end of the program.

A line is written whole and given to the operating system before the next game counts, so a
killed run loses at most the games under way; a line that was cut off is cut away at the next
start.  Games are functions of their units, hence the rest comes out as if nothing had happened.
"""

import contextlib
import os
import time
import zlib
from pathlib import Path
from typing import IO, Final

import msgspec

from mjbot.arena.counts import COLUMNS
from mjbot.arena.setup import Setup, Unit

GAMES_FILE: Final = "games.jsonl"
SYNC_S: Final = 1.0
"""How much work a power failure may cost; a killed program loses nothing."""


class ResultsError(Exception):
    """The file is another run's, damaged or in use; the text is one line for the user."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line.  ``fields`` explains the columns of the games' counts."""

    setup: Setup
    fields: tuple[str, ...] = COLUMNS


class GameLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One game: scores by seat, counts as :func:`mjbot.arena.counts.as_rows` has them.

    ``faults`` is how many decisions had to be replaced, by seat, nothing if none.  A ``void`` game
    says why instead.
    """

    wall: int
    seating: int
    scores: tuple[int, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()
    faults: tuple[int, ...] = ()
    void: str = ""

    @property
    def unit(self) -> Unit:
        """Which game this is."""
        return Unit(self.wall, self.seating)


def encode_game(line: GameLine) -> bytes:
    """Return the line's text, with a checksum of all the rest as its last field.

    >>> encode_game(GameLine(wall=0, seating=1, void="why"))
    b'{"wall":0,"seating":1,"void":"why","check":"778da3a1"}'
    """
    text = msgspec.json.encode(line)
    return b'%s,"check":"%08x"}' % (text[:-1], zlib.crc32(text))


def decode_game(text: bytes) -> GameLine:
    """Return what :func:`encode_game` was given.

    Raises :class:`msgspec.DecodeError` if that is no game, or not as it was written.
    """
    line = msgspec.json.decode(text, type=GameLine)
    if text != encode_game(line):
        raise msgspec.ValidationError("this game is not as it was written (its checksum differs)")
    return line


def read_games(folder: Path) -> list[GameLine]:
    """Return the games of a run that nobody is writing any more.  Raises ``OSError``."""
    _, *lines = (folder / GAMES_FILE).read_bytes().splitlines()
    return [decode_game(line) for line in lines]


class Results:
    """The games of one run so far, and the file that keeps them.

    Opening creates the folder, or takes up what an earlier run of the same setup left there.
    Raises :class:`ResultsError`.
    """

    def __init__(self, folder: Path, setup: Setup) -> None:
        self.path: Final = folder / GAMES_FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
        except OSError as error:
            raise ResultsError(f"{self.path}: {error.strerror or error}") from None
        try:
            self._lock()
            self.lines: Final = self._take_up(setup)
        except ResultsError:
            self._file.close()
            raise
        self._synced_at = time.monotonic()

    def append(self, line: GameLine) -> None:
        """Keep one more game, whatever happens to this program next."""
        self._write(line)
        if time.monotonic() - self._synced_at > SYNC_S:
            os.fsync(self._file.fileno())
            self._synced_at = time.monotonic()

    def close(self) -> None:
        """Make sure of everything."""
        os.fsync(self._file.fileno())
        self._file.close()

    # --- inside ------------------------------------------------------------------------------

    def _lock(self) -> None:
        if not _lock_file(self._file):
            raise ResultsError(f"{self.path}: another arena is writing there; wait for its end")

    def _take_up(self, setup: Setup) -> list[GameLine]:
        self._file.seek(0)
        text = self._file.read()
        whole = text.rfind(b"\n") + 1
        self._file.truncate(whole)
        if not whole:
            self._write(Header(setup=setup))
            return []
        head, *rest = text[:whole].splitlines()
        self._check_header(head, setup)
        return [self._read(line, number) for number, line in enumerate(rest, 2)]

    def _check_header(self, line: bytes, setup: Setup) -> None:
        try:
            kept = msgspec.json.decode(line, type=Header).setup
        except msgspec.DecodeError as error:
            raise ResultsError(f"{self.path}, line 1: {error}; name another --out") from None
        for field in Setup.__struct_fields__:
            old, new = getattr(kept, field), getattr(setup, field)
            if old != new:
                told = "other code of the strategies" if field == "code" else f"{field} {old!r}"
                raise ResultsError(
                    f"{self.path} holds a run with {told}; name another --out or use --fresh"
                )

    def _read(self, line: bytes, number: int) -> GameLine:
        try:
            return decode_game(line)
        except msgspec.DecodeError as error:
            raise ResultsError(f"{self.path}, line {number}: {error}; use --fresh") from None

    def _write(self, line: Header | GameLine) -> None:
        text = encode_game(line) if isinstance(line, GameLine) else msgspec.json.encode(line)
        self._file.write(text + b"\n")
        self._file.flush()


def _lock_file(file: IO[bytes]) -> bool:
    """Lock a file until it is closed; return false if somebody else has (not on Windows)."""
    with contextlib.suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
