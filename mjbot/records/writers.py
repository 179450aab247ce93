"""Writing converted games: a folder or zip with one file per game, or one file of lines."""

import gzip
import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from mjbot.records.mjai_log import log_line
from protocol.messages import Event

LOG_ENDING: Final = ".mjson"
LINE_FILE_ENDINGS: Final = (".jsonl", ".mjson", ".json")
FILE_ENDINGS: Final = (".zip", ".gz", *LINE_FILE_ENDINGS)


class GameWriter(ABC):
    """Takes whole games, one after the other."""

    def __init__(self) -> None:
        self._names: set[PurePosixPath] = set()

    @property
    def games(self) -> int:
        """How many were written."""
        return len(self._names)

    def write(self, name: PurePosixPath, events: Iterable[Event]) -> bool:
        """Store a game under ``name`` without ending; return whether it had an event.

        Nothing is stored if it had none or walking ``events`` raises.  A second game of the same
        name gets a number; steps out of the output (``..``, absolute paths) are dropped.
        """
        lines = b"".join(map(log_line, events))
        if not lines:
            return False
        safe = PurePosixPath(*(part for part in name.parts if part not in ("..", "/")))
        chosen, copy = safe, 1
        while chosen in self._names:
            copy += 1
            chosen = safe.with_name(f"{safe.name}-{copy}")
        self._names.add(chosen)
        self._store(PurePosixPath(f"{chosen}{LOG_ENDING}"), lines)
        return True

    @abstractmethod
    def _store(self, path: PurePosixPath, lines: bytes) -> None: ...


class _FolderWriter(GameWriter):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def _store(self, path: PurePosixPath, lines: bytes) -> None:
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(lines)


class _ZipWriter(GameWriter):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__()
        self._archive = archive

    def _store(self, path: PurePosixPath, lines: bytes) -> None:
        # A fixed date makes equal games give equal bytes.
        info = zipfile.ZipInfo(str(path))
        self._archive.writestr(info, lines, zipfile.ZIP_DEFLATED)


class _LineWriter(GameWriter):
    def __init__(self, file: BinaryIO | gzip.GzipFile) -> None:
        super().__init__()
        self._file = file

    def _store(self, path: PurePosixPath, lines: bytes) -> None:
        self._file.write(lines)


def refusal(out: Path) -> str | None:
    """Say why nothing can be written to ``out``: its ending is that of another kind of file.

    >>> refusal(Path("out.txt"))
    'out.txt: cannot write .txt; a folder (without a dot), .zip, .gz, .jsonl, .mjson or .json can'
    """
    if out.is_dir() or out.suffix.lower() in ("", *FILE_ENDINGS):
        return None
    *most, last = FILE_ENDINGS
    known = f"{', '.join(most)} or {last}"
    return f"{out}: cannot write {out.suffix}; a folder (without a dot), {known} can"


@contextmanager
def open_writer(out: Path) -> Iterator[GameWriter]:
    """Open ``out`` for games: a ``.zip``, a ``.gz`` or ``.jsonl`` of lines, else a folder.

    A file appears under its name only when all is written; what was there before is replaced
    then, if there was a game to write.  Raises ``OSError`` if it cannot be written.
    """
    ending = out.suffix.lower()
    if ending not in FILE_ENDINGS:
        out.mkdir(parents=True, exist_ok=True)
        yield _FolderWriter(out)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.with_name(f"{out.name}.unfinished-{os.getpid()}")
    try:
        with _file_writer(unfinished, ending) as writer:
            yield writer
        if writer.games or not out.exists():
            unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _file_writer(path: Path, ending: str) -> Iterator[GameWriter]:
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            yield _ZipWriter(archive)
    elif ending == ".gz":
        with path.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield _LineWriter(packed)
    else:
        with path.open("wb") as file:
            yield _LineWriter(file)
