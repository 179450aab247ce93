"""Which files of the user's the games depend on: seen as they are read, not guessed from imports.

Python reports to an audit hook each file that it opens and each library that it loads, for all code
for it.  What is read for the first time is noted with a digest of its content at that moment:
modules (of which Python may only open the compiled copy), weights, tables.  Left out are the
standard library, installed packages, the system's own files, and what the process itself has
opened for writing.  Not seen is what a C library opens by itself; a strategy that opens such a
file once makes it seen.

The arena keeps these notes next to the games they belong to (:class:`FilesRead`), so that a later
start can check whether they are still the same files.  They lie there twice, the copy with a
checksum: without them no game of before counts.
"""

import contextlib
import hashlib
import importlib.util
import os
import site
import sys
import sysconfig
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from mjbot.protocol.errors import NOT_JSON
from mjbot.runtime.append_log import encode_checked
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.files import whole_file

FILES_FILE: Final = "files.json"
FILES_COPY: Final = "files-copy.json"
GONE: Final = "gone"
"""Stands for the digest of a file that is not there any more."""

_SYSTEM: Final = ("/proc", "/sys", "/dev", "/etc")
_IN_PACKAGES: Final = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages wherever they lie: ``PYTHONPATH`` may name another environment."""
_WRITING: Final = os.O_WRONLY | os.O_RDWR
_PATHS: Final = {"open": 0, "import": 1, "ctypes.dlopen": 0}
"""Events of the audit hook -> which of their arguments is a path."""

FileRead = tuple[str, str]
"""A file's absolute path and the digest of its content."""


def digest_of(path: str) -> str:
    """Return a digest of a file's content, :data:`GONE` if it cannot be read or is no file.

    A device or a pipe would be read for ever.
    """
    try:
        if not os.path.isfile(path):
            return GONE
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return GONE


class ReadingWatch:
    """Notes what this process reads from now on, for good: a hook cannot be taken away."""

    def __init__(self) -> None:
        self._installed: Final = _installed_folders()
        self._known: Final[set[str]] = set()
        self._written: Final[set[str]] = set()
        self._new: Final[dict[str, str]] = {}
        self._busy: Final[set[int]] = set()
        sys.addaudithook(self._audit)

    def drain(self) -> tuple[FileRead, ...]:
        """Return what was read since the last time."""
        files = tuple(self._new.items())
        self._new.clear()
        return files

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        position = _PATHS.get(event)
        if position is None or threading.get_ident() in self._busy:
            return
        self._busy.add(threading.get_ident())
        try:
            with contextlib.suppress(OSError, TypeError, ValueError):
                writes = event == "open" and _is_writing(*arguments[1:3])
                self._note(arguments[position], writes)
        finally:
            self._busy.discard(threading.get_ident())

    def _note(self, given: Any, writes: bool) -> None:
        if given is None or isinstance(given, int):
            return
        path = _source_of(os.path.abspath(os.fsdecode(given)))
        if writes:
            self._written.add(path)
            self._new.pop(path, None)
        elif path not in self._known and path not in self._written and self._counts(path):
            self._new[path] = digest_of(path)
            self._known.add(path)

    def _counts(self, path: str) -> bool:
        real = os.path.realpath(path)
        return (
            os.path.isfile(real)
            and os.path.basename(os.path.dirname(path)) != "__pycache__"
            and not real.startswith(self._installed)
            and not _IN_PACKAGES & {*real.split(os.sep)}
        )


def _is_writing(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & _WRITING)


def _source_of(path: str) -> str:
    """Return the source file that a compiled copy in a ``__pycache__`` stands for."""
    if path.endswith(".pyc"):
        with contextlib.suppress(ValueError):
            source = importlib.util.source_from_cache(path)
            return source if os.path.exists(source) else path
    return path


def _installed_folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [sysconfig.get_paths()[name] for name in names]
    folders += [*site.getsitepackages(), site.getusersitepackages(), str(cache_folder()), *_SYSTEM]
    return tuple([os.path.join(os.path.realpath(folder), "") for folder in folders])


class ChangedError(MjbotError):
    """A file has changed while the games were played; the text is one line for the user."""


class _Copy(msgspec.Struct, frozen=True):
    files: dict[str, str]


class FilesRead:
    """The files that the games of one run depend on, kept in its folder.

    The copy is written first.  So a file that lacks some of the copy's lines is of a program that
    was killed meanwhile, one that has more is of mjbot before 0.4, and any other is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._path: Final = folder / FILES_FILE
        self._copy_path: Final = folder / FILES_COPY
        kept, copy = _read(self._path), _read_copy(self._copy_path)
        has_kept = kept is not None and (copy is None or copy.items() <= kept.items())
        known = kept if has_kept else copy
        self._digests: dict[str, str] = dict(known or {})
        self._is_there: Final = known is not None
        self._is_damaged: Final = kept is None or not kept.items() <= self._digests.items()
        self._is_written = known is not None and kept == copy

    def mend(self) -> str:
        """Write the file again if only its copy is whole; return a line for the user if so."""
        if not (self._is_there and self._is_damaged):
            return ""
        self._write()
        return (
            f"{self._path} is missing or damaged; {self._copy_path} has the same, so it is written"
            " again, and the games of before count"
        )

    def doubt(self, has_games: bool) -> str:
        """Return why the games of before, if the run has some, may not count; empty if they do."""
        if has_games and not self._is_there:
            return f"{self._path} is missing or damaged, and has no copy"
        changed = [path for path, digest in self._digests.items() if digest_of(path) != digest]
        more = f" and {len(changed) - 1} more" if changed[1:] else ""
        return f"{changed[0]}{more} changed since" if changed else ""

    def add(self, files: Iterable[FileRead]) -> None:
        """Keep what was read for one more game, before the game itself is kept.

        Files of another machine, which are not here, are none of ours.  Raises
        :class:`ChangedError` if a file is not what it was for earlier games.
        """
        new = {path: digest for path, digest in files if os.path.exists(path)}
        for path, digest in new.items():
            if self._digests.get(path, digest) != digest:
                raise ChangedError(f"{path} has changed while the run was on")
        if not self._is_written or not new.keys() <= self._digests.keys():
            self._digests |= new
            self._write()

    def _write(self) -> None:
        _replace(self._copy_path, encode_checked(_Copy(self._digests)))
        _replace(self._path, msgspec.json.format(msgspec.json.encode(self._digests)))
        self._is_written = True


def _read(path: Path) -> dict[str, str] | None:
    """Return what a file holds; ``None`` if it is missing or damaged."""
    with contextlib.suppress(OSError, *NOT_JSON):
        return msgspec.json.decode(_text(path), type=dict[str, str])
    return None


def _read_copy(path: Path) -> dict[str, str] | None:
    with contextlib.suppress(OSError, *NOT_JSON):
        text = _text(path)
        copy = msgspec.json.decode(text, type=_Copy)
        if text.rstrip(b"\n") == encode_checked(copy):
            return copy.files
    return None


def _text(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""  # a pipe would be read for ever


def _replace(path: Path, text: bytes) -> None:
    """Put a file in the place of another, on the disk before any game that depends on it."""
    with whole_file(path) as file:
        file.write(text + b"\n")
        file.flush()
        os.fsync(file.fileno())
