"""Writing converted games: a folder or zip with one file per game, or one file."""

import errno
import gzip
import os
import unicodedata
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from mjbot.game.records.complete import CompleteGame, complete
from mjbot.game.records.game import (
    Entry,
    Game,
    IncompleteGameError,
    RecordError,
    UnwrittenGameError,
)
from mjbot.game.records.mjai_log import log_line
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.protocol.messages import StartGame
from mjbot.protocol.rules import announced_players
from mjbot.protocol.tenhou.game_type import NoTableError
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import ABOUT_ONE_NAME, naming, safe_name, whole_file


@dataclass(frozen=True, slots=True)
class Format:
    """A format that games are written in.

    ``ending`` is that of a file of one game in a folder or zip, ``endings`` those of files that
    may be named; ``encode`` gives a game's bytes, empty if it has no event.  ``many``: a
    file may hold many games, one after the other; ``has_talk``: it holds the remarks of players.
    """

    name: str
    ending: str
    endings: tuple[str, ...]
    encode: Callable[[Game], bytes]
    many: bool = True
    has_talk: bool = False


def _mjai(game: Game) -> bytes:
    lines: list[bytes] = []
    players = 4
    for entry in game.entries:
        if isinstance(entry.event, StartGame):
            players = announced_players(entry.event.mjbot_rules)
        lines.append(log_line(entry.event, entry.talk, players))
    return b"".join(lines)


def _mjlog(game: Game) -> bytes:
    return _encoded(game, write_mjlog)


def _tenhou6(game: Game) -> bytes:
    return _encoded(game, write_tenhou6)


def _encoded(game: Game, write: Callable[[CompleteGame], bytes]) -> bytes:
    entries = iter(game.entries)
    first = next(entries, None)
    if first is None:
        return b""
    try:
        return write(complete(replace(game, entries=chain([first], entries))))
    except RecordError:
        raise
    except ValueError as error:
        is_cured = isinstance(error, NoTableError)
        cure = "; --rules tenhou writes it as a game of Tenhou" if is_cured else ""
        raise IncompleteGameError(game.name, "", f"{error}{cure}") from None


FORMATS: Final = {
    one.name: one
    for one in (
        Format("mjai", ".mjson", (".jsonl", ".mjson", ".json"), _mjai, has_talk=True),
        Format("mjlog", ".mjlog", (".mjlog", ".xml"), _mjlog, many=False),
        Format("tenhou6", ".json", (".json", ".jsonl"), _tenhou6),
    )
}
"""By the name that users give them."""
_PACKED: Final = (".zip", ".gz")
MOST_FOLDER_LETTERS: Final = 500
"""Of a game's path inside the output; a deeper one becomes a name."""


def format_of(out: Path) -> Format:
    """Return the format for an output's ending: mjlog, or else mjai.

    >>> [format_of(Path(name)).name for name in ("a.mjlog", "a.xml.gz", "a.json", "folder")]
    ['mjlog', 'mjlog', 'mjai', 'mjai']
    """
    inner = Path(out.stem) if out.suffix.lower() == ".gz" else out
    is_mjlog = inner.suffix.lower() in FORMATS["mjlog"].endings
    return FORMATS["mjlog" if is_mjlog else "mjai"]


class GameWriter(ABC):
    """Takes whole games, one after the other."""

    def __init__(self, form: Format) -> None:
        self._form = form
        self._names: set[str] = set()
        self.left_out = 0
        """How many remarks of players the format has no place for."""

    @property
    def games(self) -> int:
        """How many were written."""
        return len(self._names)

    def write(self, name: PurePosixPath, game: Game) -> bool:
        """Store a game under ``name`` without ending; return whether it had an event.

        Nothing is stored if it had none or encoding it raises :class:`RecordError`.  A second game
        of the same name gets a number, also where only the case of letters differs.  Names are
        others' text: steps out of the output (``..``, absolute paths) are dropped, what cannot be
        seen is replaced, long ones are cut (:func:`~mjbot.runtime.files.safe_name`).
        Raises :class:`UnwrittenGameError` where this one file cannot be written.
        """
        remarks: list[int] = []
        entries = (_counted(entry, remarks) for entry in game.entries)
        data = self._form.encode(replace(game, entries=entries))
        if not data:
            return False
        self.left_out += 0 if self._form.has_talk else sum(remarks)
        safe = _safe_path(name)
        chosen, copy = safe, 1
        while _key(chosen) in self._names:
            copy += 1
            chosen = safe.with_name(f"{safe.name}-{copy}")
        self._names.add(_key(chosen))
        path = PurePosixPath(f"{chosen}{self._form.ending}")
        try:
            self._store(path, data)
        except OSError as error:
            self._names.discard(_key(chosen))
            is_of_folder = error.errno in (errno.EACCES, errno.EPERM) and not self._names
            if error.errno not in ABOUT_ONE_NAME or is_of_folder:
                raise  # nothing else can be written either
            problem = f"cannot be written as {path}: {error.strerror}"
            raise UnwrittenGameError(game.name, "", problem) from None
        return True

    @abstractmethod
    def _store(self, path: PurePosixPath, data: bytes) -> None: ...


def _safe_path(name: PurePosixPath) -> PurePosixPath:
    parts = [safe_name(part) for part in name.parts if part not in ("..", "/")]
    if sum(map(len, parts)) > MOST_FOLDER_LETTERS:  # systems limit paths as well as names
        parts = [safe_name("-".join(parts))]
    return PurePosixPath(*parts or ["game"])


def _key(path: PurePosixPath) -> str:
    """Return what is equal for paths that are one file on some systems."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def _counted(entry: Entry, remarks: list[int]) -> Entry:
    remarks.append(len(entry.talk))
    return entry


class _FolderWriter(GameWriter):
    def __init__(self, form: Format, folder: Path, inputs: Collection[Path]) -> None:
        super().__init__(form)
        self._folder = folder
        self._inputs = {path.resolve() for path in inputs}

    def _store(self, path: PurePosixPath, data: bytes) -> None:
        target = self._folder / path
        if target.resolve() in self._inputs:
            raise ArgumentError(f"{target}: is read by this command; name another folder")
        with naming(target):
            target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as file:
            file.write(data)


class _ZipWriter(GameWriter):
    def __init__(self, form: Format, archive: zipfile.ZipFile) -> None:
        super().__init__(form)
        self._archive = archive

    def _store(self, path: PurePosixPath, data: bytes) -> None:
        # A fixed date makes equal games give equal bytes.
        info = zipfile.ZipInfo(str(path))
        self._archive.writestr(info, data, zipfile.ZIP_DEFLATED)


class _FileWriter(GameWriter):
    def __init__(self, form: Format, file: BinaryIO | gzip.GzipFile) -> None:
        super().__init__(form)
        self._file = file

    def _store(self, path: PurePosixPath, data: bytes) -> None:
        if self.games > 1 and not self._form.many:
            cure = "name a folder or a .zip for more"
            raise ArgumentError(f"a file of {self._form.name} holds one game: {cure}")
        self._file.write(data)


def refusal(out: Path, form: Format) -> str | None:
    """Return why ``out`` cannot be written: its ending is that of another kind of file.

    >>> refusal(Path("out.txt"), FORMATS["mjai"])
    'out.txt: cannot write .txt; a folder (without a dot), .zip, .gz, .jsonl, .mjson or .json can'
    >>> refusal(Path("out.jsonl"), FORMATS["mjlog"])
    'out.jsonl: mjlog cannot be .jsonl; a folder (without a dot), .zip, .gz, .mjlog or .xml can'
    """
    ending = out.suffix.lower()
    if out.is_dir() or ending in ("", *_PACKED, *form.endings):
        return None
    *most, last = (*_PACKED, *form.endings)
    elsewhere = any(ending in other.endings for other in FORMATS.values())
    problem = f"{form.name} cannot be {out.suffix}" if elsewhere else f"cannot write {out.suffix}"
    return f"{out}: {problem}; a folder (without a dot), {', '.join(most)} or {last} can"


def is_one_file(out: Path) -> bool:
    """Return whether all games go into one file, which appears when all is written."""
    return not out.is_dir() and out.suffix != ""


@contextmanager
def open_writer(out: Path, form: Format, inputs: Collection[Path] = ()) -> Iterator[GameWriter]:
    """Open ``out`` for games: a ``.zip``, a file of games, plain or ``.gz``, else a folder.

    A file appears under its name only when all is written, and only if there was a game to
    write; what was there before is replaced then.  Nor is an empty folder left that was not there.
    Raises ``OSError`` if it cannot be written, and :class:`ArgumentError` before a file of a folder
    would be written over one of the ``inputs``.
    """
    if not is_one_file(out):
        was_there = out.exists()
        out.mkdir(parents=True, exist_ok=True)
        folder = _FolderWriter(form, out, inputs)
        try:
            yield folder
        finally:
            if not (folder.games or was_there):
                with suppress(OSError):
                    out.rmdir()
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.with_name(f"{out.name}.unfinished-{os.getpid()}")
    try:
        with _file_writer(unfinished, out.suffix.lower(), form) as writer:
            yield writer
        if writer.games:
            unfinished.replace(out)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(unfinished)):
            raise
        raise OSError(error.errno, error.strerror, str(out)) from None
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _file_writer(path: Path, ending: str, form: Format) -> Iterator[GameWriter]:
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            yield _ZipWriter(form, archive)
    elif ending == ".gz":
        with path.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield _FileWriter(form, packed)
    else:
        with path.open("wb") as file:
            yield _FileWriter(form, file)
