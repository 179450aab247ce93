"""How numbers and errors are put into words."""

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an ``OSError`` name the path: that of a full disk does not."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8; raises ``OSError`` with its path."""
    with naming(path):
        path.write_text(text, encoding="utf-8")


def plural(number: int, noun: str) -> str:
    """Say how many.

    >>> plural(1, "game"), plural(2, "mismatch")
    ('1 game', '2 mismatches')
    """
    ending = "" if number == 1 else "es" if noun.endswith("h") else "s"
    return f"{number} {noun}{ending}"


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, or what kind it is if it says nothing.

    >>> first_line(ValueError("bad magic number\\nin a header")), first_line(EOFError())
    ('bad magic number', 'EOFError')
    """
    return str(error).partition("\n")[0] or type(error).__name__
