"""Work that is kept line by line and resumed after any end of the program.

A log is a file of JSON lines.  The first is its header: it identifies the file and the
work depends on.  Each further line is one piece of work that is done.  A line is written whole
and given to the operating system before the work counts, so a killed program loses at most what
was under way; a last line that was cut off is cut away at the next start.  With
:func:`encode_checked` a line ends with a checksum, so that a damaged one is noticed where it is
still JSON.
"""

import contextlib
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Final, Generic, NamedTuple, Self, TypeVar

import msgspec

from mjbot.protocol.errors import NOT_JSON
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.files import append_lines
from mjbot.runtime.system import lock_file

SYNC_S: Final = 1.0
"""How much work a power failure may cost; a killed program loses nothing."""

HeaderT = TypeVar("HeaderT", bound=msgspec.Struct)
LineT = TypeVar("LineT", bound=msgspec.Struct)


class LogError(MjbotError):
    """A log is another work's, damaged or in use; the text is one line for the user."""

    exit_code = ExitCode.UNREACHABLE


class Cures(NamedTuple):
    """What a user can do: keep this work ``elsewhere``, or begin it ``anew`` here."""

    elsewhere: str
    anew: str


_CHECK: Final = re.compile(rb',"check":"([0-9a-f]{8})"}$')


def encode_checked(line: msgspec.Struct) -> bytes:
    """Return a line's text, with a checksum of all the rest as its last field."""
    text = msgspec.json.encode(line)
    return b'%s,"check":"%08x"}' % (text[:-1], zlib.crc32(text))


def decode_checked(text: bytes, type: type[LineT]) -> LineT:  # as msgspec names it
    """Return what :func:`encode_checked` was given; lines of before mjbot 0.4 have no checksum.

    Raises ``ValueError`` if that is no such line, or not as it was written.
    """
    if check := _CHECK.search(text):
        text = text[: check.start()] + b"}"
        if int(check[1], 16) != zlib.crc32(text):
            raise ValueError("this line is not as it was written (its checksum differs)")
    return msgspec.json.decode(text, type=type)


def first_difference(kept: msgspec.Struct, expected: msgspec.Struct) -> str | None:
    """Name the first field in which a kept header differs, as it is kept."""
    for field in expected.__struct_fields__:
        if (old := getattr(kept, field)) != getattr(expected, field):
            return f"{field} {old!r}"
    return None


class AppendLog(Generic[HeaderT, LineT]):
    """The lines of one work so far, and the file that keeps them; use it as a context manager.

    Opening makes the file, or resumes an earlier run of the same work.  The
    file is locked until it is closed.  ``decode`` raises ``ValueError`` for a
    line that cannot be, ``difference`` describes how a kept header differs from the one wanted.
    Opening and appending raise :class:`LogError`.
    """

    def __init__(
        self,
        path: Path,
        header: HeaderT,
        cures: Cures,
        *,
        decode: Callable[[bytes], LineT],
        encode: Callable[[LineT], bytes] = msgspec.json.encode,
        difference: Callable[[HeaderT, HeaderT], str | None] = first_difference,
    ) -> None:
        self.path: Final = path
        self._encode: Final = encode
        self._file: Final = _open_locked(path, cures)
        try:
            text = self._without_torn_line(header, cures)
            if text:
                kept = _read_header(path, text, type(header), cures)
                _refuse_other(path, difference(kept, header), cures)
            else:
                self._write(msgspec.json.encode(header))
            self.lines: Final = _read_lines(path, text, decode, cures)
        except LogError:
            self._file.close()
            raise
        self._synced_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, line: LineT) -> None:
        """Keep one more line, whatever happens to this program next."""
        self._write(self._encode(line))
        if time.monotonic() - self._synced_at > SYNC_S:
            self._sync()
            self._synced_at = time.monotonic()

    def close(self) -> None:
        """Make sure of everything."""
        if not self._file.closed:
            with self._file:
                self._sync()

    def _sync(self) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise LogError(f"{self.path}: {error.strerror or error}") from None

    def _without_torn_line(self, header: HeaderT, cures: Cures) -> bytes:
        self._file.seek(0)
        text = self._file.read()
        whole = _whole_lines(text)
        if text and not whole and not msgspec.json.encode(header).startswith(text):
            raise LogError(f"{self.path} is no log of ours; {cures.elsewhere}")
        self._file.truncate(len(whole))
        return whole

    def _write(self, text: bytes) -> None:
        try:
            append_lines(self._file, self.path, text + b"\n")
        except OSError as error:
            raise LogError(f"{self.path}: {error.strerror or error}") from None


def read_log(
    path: Path,
    header: type[HeaderT],
    decode: Callable[[bytes], LineT],
    cures: Cures,
    difference: Callable[[HeaderT], str | None] = lambda kept: None,
) -> list[LineT]:
    """Return the lines of a log, but for a last one that is torn or being written.

    ``difference`` describes how its header differs from the one wanted.  Raises ``OSError`` and
    :class:`LogError`.
    """
    _refuse_pipe(path, cures)
    text = _whole_lines(path.read_bytes())
    _refuse_other(path, difference(_read_header(path, text, header, cures)), cures)
    return _read_lines(path, text, decode, cures)


@contextlib.contextmanager
def emptied(
    path: Path, header: type[HeaderT], decode: Callable[[bytes], LineT], elsewhere: str
) -> Iterator[list[LineT]]:
    """Empty a log of whatever work of ours, when the block that erases its other files is done.

    Gives the lines that can be read; the log is locked meanwhile.  Raises :class:`LogError`, and
    nothing was touched, if the folder holds things but no such log, or another process is writing
    it.
    """
    folder = path.parent
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        yield []
        return
    if not path.is_file():
        raise LogError(f"{folder} holds no run of ours, so nothing there is erased; {elsewhere}")
    cures = Cures(elsewhere, "delete it")
    with _open_locked(path, cures) as file:
        file.seek(0)
        text = file.read()
        if text:
            _read_header(path, _whole_lines(text), header, cures)
        yield [kept for _, kept in _decoded(text, decode) if not isinstance(kept, ValueError)]
        file.truncate(0)


# --- reading and locking -------------------------------------------------------------------------


def _whole_lines(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]


def _refuse_pipe(path: Path, cures: Cures) -> None:
    """Refuse what would be read for ever, in a folder of another user."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise LogError(f"{path} is a pipe or a device; {cures.elsewhere}")


def _refuse_other(path: Path, difference: str | None, cures: Cures) -> None:
    if difference:
        cure = f"{cures.elsewhere} or {cures.anew}"
        raise LogError(f"{path} holds a run with {difference}; {cure}")


def _read_header(path: Path, text: bytes, header: type[HeaderT], cures: Cures) -> HeaderT:
    try:
        return msgspec.json.decode(text.partition(b"\n")[0], type=header)
    except NOT_JSON as error:
        raise LogError(f"{path}, line 1: {error}; {cures.elsewhere}") from None


def _read_lines(
    path: Path, text: bytes, decode: Callable[[bytes], LineT], cures: Cures
) -> list[LineT]:
    lines = []
    for number, kept in _decoded(text, decode):
        if isinstance(kept, ValueError):
            cure = f"delete that line, and its work is done again, or {cures.anew}"
            raise LogError(f"{path}, line {number}: {kept}; {cure}")
        lines.append(kept)
    return lines


def _decoded(
    text: bytes, decode: Callable[[bytes], LineT]
) -> Iterator[tuple[int, LineT | ValueError]]:
    """Yield the number of each line after the header, and its content or its error."""
    for number, line in enumerate(text.split(b"\n")[1:-1], 2):
        try:
            yield number, decode(line)
        except ValueError as error:
            yield number, error
        except RecursionError:
            yield number, ValueError("nested too deeply")


def _open_locked(path: Path, cures: Cures) -> FileIO:
    _refuse_pipe(path, cures)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)  # what a full disk does not take is not kept for later
    except (FileExistsError, NotADirectoryError):
        raise LogError(f"{path.parent} is a file, no folder; {cures.elsewhere}") from None
    except OSError as error:
        raise LogError(f"{path}: {error.strerror or error}") from None
    if not lock_file(file):
        file.close()
        raise LogError(f"{path}: another process is writing there; wait for its end")
    return file
