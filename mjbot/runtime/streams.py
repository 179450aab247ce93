r"""What a stream or a file cannot encode is written as escapes, and ends nothing.

A pipe on Windows takes a code page, ``PYTHONIOENCODING`` any other; and no encoding takes the bytes
of a Linux file name that are not UTF-8.  The escapes are those of JSON (``\u6f22``), so that JSON
stays JSON.
"""

import codecs
import sys
from typing import Final, TextIO

ESCAPE: Final = "mjbot-escape"
"""The handler of ``str.encode``: its argument ``errors``."""


def _escaped(error: UnicodeError) -> tuple[str, int]:
    r"""Return the escapes of what cannot be encoded, and where encoding continues.

    >>> "漢😀é".encode("latin-1", ESCAPE).decode("latin-1")
    '\\u6f22\\ud83d\\ude00é'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2], strict=True)
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in pairs), error.end


codecs.register_error(ESCAPE, _escaped)


def escape_unencodable() -> None:
    """Let standard output and standard error of this process take any text."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=ESCAPE)


def encoded(text: str, stream: TextIO) -> bytes:
    """Return a text as the bytes that a stream would write."""
    return text.encode(getattr(stream, "encoding", None) or "utf-8", ESCAPE)
