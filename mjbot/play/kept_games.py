"""Which files of games stay in a folder: a service removes only files that it wrote itself.

A ledger in the folder, ``.mjbot-OWNER.ledger``, lists the files of each game as they are created.
It survives a restart, and one service at a time holds it: two services in one folder have a ledger
each, and neither touches the other's games.  A file that no ledger lists is never removed, whatever
its name.  The order is that in which games ended, not that of names or clocks.

A line of the ledger has a game's number.  Numbers continue after a restart: two games of one number
would be removed together.  Where a ledger has such games all the same (another version wrote it,
or a line is damaged) each record is a game of its own, and a name is of the last game that has it.
"""

import contextlib
import hashlib
import logging
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Final

import msgspec

from mjbot.protocol.errors import NOT_JSON
from mjbot.runtime.files import append_lines, write_all
from mjbot.runtime.system import lock_file, open_own_file

logger = logging.getLogger(__name__)

MOST_UNPLAYED: Final = 100
"""Connections without a game of which files are kept: a busy server refuses 720 times a day."""
_MOST_LEDGERS: Final = 100
"""Services of one owner in one folder; more share no ledger and remove nothing after a restart."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much of the finished games stays; 0 is without a limit."""

    most_games: int = 0
    most_mb: int = 0


class _Line(msgspec.Struct, array_like=True):
    """A file in the ledger: its game's number, its name, whether it is the game's record."""

    game: int
    name: str
    is_record: bool


@dataclass(eq=False)
class KeptGame:
    """The files of one game; without a record among them, of a connection that led to none."""

    number: int
    files: dict[str, bool] = field(default_factory=dict)
    """Whether it is a record, by name."""

    @property
    def has_record(self) -> bool:
        """Whether a game was begun."""
        return any(self.files.values())

    def lines(self) -> list[_Line]:
        """Return its files as lines of the ledger."""
        return [_Line(self.number, name, kind) for name, kind in self.files.items()]


class KeptGames:
    """The games that one service has in ``folder``; ``owner`` identifies it after a restart.

    ``limits`` may be changed at any time.  No method raises ``OSError``: a ledger that cannot be
    written, or a file that cannot be removed, is logged once, and the games go on.
    """

    def __init__(self, folder: Path, owner: str, limits: Limits = Limits()) -> None:
        self.limits = limits
        self.folder: Final = folder
        self._finished: list[KeptGame] = []
        self._open: Final[list[KeptGame]] = []
        self._count = 0
        self._problems: Final[set[str]] = set()
        self._ledger: FileIO | None = None
        self._path = folder
        digest = hashlib.sha256(os.fsencode(owner)).hexdigest()[:12]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._open_ledger(digest)
        except OSError as error:
            self._report(self._path, error)

    def begin(self) -> KeptGame:
        """Return a new game (or an attempt at one) without files."""
        self._count += 1
        game = KeptGame(self._count)
        self._open.append(game)
        return game

    def add(self, game: KeptGame, path: Path, *, is_record: bool = False) -> None:
        """Note a file of the folder that was just created for a game.

        If a game that was moved away had a file of that name, the file is no longer that game's.
        """
        for other in (*self._finished, *self._open):
            other.files.pop(path.name, None)
        game.files[path.name] = is_record
        if self._ledger is not None:
            try:
                append_lines(self._ledger, self._path, _encoded(game.lines()[-1:]))
            except OSError as error:
                self._report(self._path, error)

    def finish(self, game: KeptGame) -> None:
        """Note that a game has ended; remove what is beyond the limits."""
        self._open.remove(game)
        self._finished.append(game)
        self._finished = [each for each in self._finished if self._size(each) is not None]
        for old in list(self._excess()):
            self._finished.remove(old)
            for name in old.files:
                self._remove(self.folder / name)

    def close(self) -> None:
        """Give the ledger to the next service of this owner."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def _excess(self) -> Iterator[KeptGame]:
        """Yield what goes, the oldest first; of games and of other connections the newest stays."""
        most_bytes = 1_000_000 * self.limits.most_mb
        total = sum(self._size(each) or 0 for each in [*self._finished, *self._open])
        for has_record, most in ((False, MOST_UNPLAYED), (True, self.limits.most_games)):
            these = [each for each in self._finished if each.has_record is has_record]
            for place, game in enumerate(these[:-1]):
                is_over = most and len(these) - place > most
                if not is_over and not (most_bytes and total > most_bytes):
                    break
                total -= self._size(game) or 0
                yield game

    def _size(self, game: KeptGame) -> int | None:
        """Return the bytes of a game's files, or ``None`` if none of them is there any more."""
        sizes = []
        for name in game.files:
            with contextlib.suppress(OSError):
                status = (self.folder / name).lstat()
                if stat.S_ISREG(status.st_mode):
                    sizes.append(status.st_size)
        return sum(sizes) if sizes else None

    def _remove(self, path: Path) -> None:
        try:
            if stat.S_ISREG(path.lstat().st_mode):  # a link or folder there is not ours
                path.unlink()
        except FileNotFoundError:
            pass
        except OSError as error:
            self._report(path, error)

    def _open_ledger(self, digest: str) -> None:
        """Take the first ledger that no other process has; raises ``OSError``."""
        for number in range(1, _MOST_LEDGERS + 1):
            suffix = f"-{number}" if number > 1 else ""
            self._path = self.folder / f".mjbot-{digest}{suffix}.ledger"
            file = open_own_file(self._path)
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and lock_file(file):
                self._ledger = file
                self._read(file)
                return
            file.close()

    def _read(self, file: FileIO) -> None:
        """Read the ledger, and cut out what is no longer there; raises ``OSError``."""
        text = file.read()
        games = _games(_decoded(text))
        self._finished = [game for game in games if self._size(game) is not None]
        self._count = max([game.number for game in games], default=0)
        kept = _encoded([line for game in self._finished for line in game.lines()])
        if kept != text:
            file.seek(0)
            write_all(file, self._path, kept)
            file.truncate()

    def _report(self, path: Path, error: OSError) -> None:
        text = f"{path}: {error.strerror or error}"
        if text not in self._problems:
            self._problems.add(text)
            logger.warning("%s; games go on, and old ones may stay", text)


_encoded: Final = msgspec.json.Encoder().encode_lines


def _games(lines: Iterable[_Line]) -> list[KeptGame]:
    """Return the games of a ledger in its order; each has a number of its own, and one record."""
    games: list[KeptGame] = []
    newest: dict[int, KeptGame] = {}
    owners: dict[str, KeptGame] = {}
    for line in lines:
        if line.name in owners:
            del owners[line.name].files[line.name]
        game = newest.get(line.game)
        if game is None or (line.is_record and game.has_record):
            game = newest[line.game] = KeptGame(line.game)
            games.append(game)
        game.files[line.name] = line.is_record
        owners[line.name] = game
    return games


def _decoded(text: bytes) -> Iterator[_Line]:
    """Yield the lines that name a file of the folder; a damaged one costs only itself."""
    for line in text.split(b"\n"):
        with contextlib.suppress(*NOT_JSON):
            found = msgspec.json.decode(line, type=_Line)
            if _is_name(found.name):
                yield found


def _is_name(text: str) -> bool:
    """Return whether a text is the name of a file, and no path."""
    with contextlib.suppress(ValueError):  # no file's name can have it
        return text == Path(text).name and b"\0" not in os.fsencode(text)
    return False
