"""Numbers and errors as text; files whose errors name them, and names that others chose."""

import contextlib
import errno
import hashlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

from mjbot.runtime.streams import ESCAPE

MOST_NAME_BYTES: Final = 200
"""Of a file's name without its ending: systems take 255 with it and what is added meanwhile."""
ABOUT_ONE_NAME: Final = frozenset(
    {
        errno.EACCES, errno.EEXIST, errno.EILSEQ, errno.EINVAL, errno.EISDIR, errno.ELOOP,
        errno.ENAMETOOLONG, errno.ENOTDIR, errno.EPERM,
    }
)  # fmt: skip
"""Errors over one file, after which others can still be written; a full disk is none."""


def safe_name(text: str) -> str:
    r"""Return a text that others chose as a file's name without its ending.

    Characters that cannot be seen become ``_``; a long name is cut and ends with a digest.

    >>> safe_name("game\x1b[2J\n1"), safe_name("東" * 300)[-12:]
    ('game_[2J_1', '東東東-4fa7c2aa')
    """
    name = "".join([letter if letter.isprintable() and letter != "/" else "_" for letter in text])
    data = name.encode()
    if len(data) <= MOST_NAME_BYTES:
        return name
    digest = f"-{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return data[: MOST_NAME_BYTES - len(digest)].decode(errors="ignore") + digest


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an ``OSError`` name the path: that of a full disk does not."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8, whole or not at all; raises ``OSError`` with its path.

    A file name in the text may be none of Unicode's: :mod:`mjbot.runtime.streams`.
    """
    with whole_file(path) as file:
        file.write(text.encode("utf-8", ESCAPE))


def write_all(file: FileIO, path: Path, data: bytes) -> None:
    """Write all bytes to an unbuffered file; an ``OSError`` names ``path``."""
    with naming(path):
        while data:
            data = data[file.write(data) :]


def append_lines(file: FileIO, path: Path, data: bytes) -> None:
    """Append whole lines to an unbuffered file of which this process alone is the writer, or none.

    A full disk takes a part and then refuses the rest.  An ``OSError`` names ``path``.
    """
    whole = file.tell() if file.seekable() else None
    try:
        write_all(file, path, data)
    except OSError:
        if whole is not None:
            with contextlib.suppress(OSError):
                file.seek(whole)
                file.truncate()
        raise


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears at ``path`` when the block ends, or not at all.

    It is written to :func:`unfinished_path`, which is removed if the block fails, so that a full
    disk gets its room back.  An ``OSError`` that names no file names this one.  A link stays one,
    and a pipe or a device (``/dev/stdout``) is written directly.
    """
    if path.exists() and not path.is_file():
        with naming(path), path.open("wb") as file:
            yield file
        return
    path = path.resolve() if path.is_symlink() else path
    unfinished = unfinished_path(path)
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise


def unfinished_path(path: Path) -> Path:
    """Return where a file is while it is written."""
    return path.with_name(f"{path.name}.unfinished")


def plural(number: int, noun: str) -> str:
    """Format a count.

    >>> plural(1, "game"), plural(2, "mismatch")
    ('1 game', '2 mismatches')
    """
    ending = "" if number == 1 else "es" if noun.endswith("h") else "s"
    return f"{number} {noun}{ending}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, or its type if it has none.

    >>> first_line(ValueError("bad magic number\\nin a header")), first_line(EOFError())
    ('bad magic number', 'EOFError')
    """
    return str(error).partition("\n")[0] or type(error).__name__
