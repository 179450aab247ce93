"""Files of the cache that are checked when they are read: a damaged one is none.

A file of compiled code that was cut off, emptied or changed in one bit would end each command that
reads it with a traceback, or the process with a signal.  So an index begins with a digest of the
rest, and a data file's name ends with one of its content.  :func:`read` returns nothing of what
does not match, and the caller makes it again.

A file has its name once it is written, and a data file before an index names it.  After a power cut
either may be empty nevertheless, and is made again: to wait for the disk (``fsync``) would take
5 ms a file, 5 s of a first start with a thousand.
"""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Final

INDEX: Final = ".nbi"
DATA: Final = ".nbc"

_HEAD: Final = b"mjbot index 1\n"
_DIGEST_BYTES: Final = 32


def digest_name(base: str, data: bytes) -> str:
    """Return the name of a data file for a function: it ends with a digest of the content."""
    return f"{base}.{hashlib.sha256(data).hexdigest()[:16]}{DATA}"


def read(path: Path) -> bytes | None:
    """Return what was written to a file; ``None`` if it is missing, damaged or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return checked(path.name, content)


def checked(name: str, content: bytes) -> bytes | None:
    """Return what the content of a file holds; ``None`` if it is damaged."""
    if name.endswith(DATA):
        return content if digest_name(name.rsplit(".", 2)[0], content) == name else None
    head, data = content[: len(_HEAD) + _DIGEST_BYTES], content[len(_HEAD) + _DIGEST_BYTES :]
    return data if head == _head_of(data) else None


def write_index(path: Path, data: bytes) -> None:
    """Write an index, which replaces the one before at once."""
    _write(path, _head_of(data) + data)


def write_data(folder: Path, base: str, data: bytes) -> str:
    """Write a data file into a folder and return its name."""
    name = digest_name(base, data)
    _write(folder / name, data)
    return name


def _head_of(data: bytes) -> bytes:
    return _HEAD + hashlib.sha256(data).digest()


def _write(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it: other processes may be reading."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
