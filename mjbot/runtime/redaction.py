"""The secrets of this process (tokens, accounts, a pair's secret), and output without them.

Nothing prints a secret on purpose.  This is the last barrier before a terminal, a log, a status or
a file of frames: for what a server repeats of what it was sent, and for what a library quotes in
an exception.
"""

import base64
import json
import re
from functools import cache
from typing import Any, Final, TextIO
from urllib.parse import quote

CONCEALED: Final = "[hidden]"
SHORTEST: Final = 4
"""A shorter secret is none: it would stand in every other word."""

_known: Final[set[str]] = set()


def conceal(secret: str) -> None:
    """Leave a secret out of all output from now on, in every usual spelling."""
    if len(secret) >= SHORTEST:
        _known.add(secret)
        _pattern.cache_clear()


def redacted(text: str) -> str:
    """Return a text without the secrets of this process.

    >>> conceal("tok%en/1")
    >>> redacted("Bearer tok%en/1, ?t=tok%25en%2f1"), redacted("a game")
    ('Bearer [hidden], ?t=[hidden]', 'a game')
    """
    pattern = _pattern()
    return text if pattern is None else pattern.sub(CONCEALED, text)


@cache
def _pattern() -> re.Pattern[str] | None:
    spellings = {spelling for secret in _known for spelling in _spellings(secret)}
    longest_first = sorted(spellings, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)), re.I) if spellings else None


def _spellings(secret: str) -> set[str]:
    """Return a secret as it is, and as URLs, JSON, Python and headers spell it."""
    data = secret.encode("utf-8", "surrogateescape")
    return {
        secret,
        quote(secret, safe="", errors="surrogateescape"),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        ascii(secret)[1:-1],
        repr(data)[2:-1],
        data.hex(),
        base64.b64encode(data).decode().rstrip("="),
    }


class RedactedStream:
    """A text stream whose output passes through :func:`redacted`; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream: Final = stream

    def write(self, text: str) -> int:
        """Write a text without secrets; return the length of the text."""
        self._stream.write(redacted(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
