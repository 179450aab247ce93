"""The secrets of this process (tokens, accounts, a pair's secret), and output without them.

Nothing prints a secret on purpose.  This is the last barrier before a terminal, a log, a status or
a file of frames: for what a server repeats of what it was sent, and for what a library quotes in
an exception.
"""

import base64
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TextIO
from urllib.parse import quote

from mjbot.protocol.plain_text import CUT

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
    if pattern is None:
        return text
    return _without_cut_secrets(_without_whole_secrets(pattern, text))


def _without_whole_secrets(pattern: re.Pattern[str], text: str) -> str:
    parts, end = [], 0
    for start, stop in _spans(pattern, text):
        parts += [text[end:start], CONCEALED]
        end = stop
    return "".join([*parts, text[end:]])


def _without_cut_secrets(text: str) -> str:
    """Hide the beginning of a secret before the mark of a text that was cut."""
    *parts, last = text.split(CUT)
    for number, part in enumerate(parts):
        beginnings = [
            length
            for secret in _known
            for spelling in (*_spellings(secret), *_codings(secret))
            for length in range(SHORTEST, len(spelling))
            if part.lower().endswith(spelling[:length].lower())
        ]
        if beginnings:
            parts[number] = f"{part[: -max(beginnings)]}{CONCEALED}"
    return CUT.join([*parts, last])


def _spans(pattern: re.Pattern[str], text: str) -> list[list[int]]:
    """Return where the secrets stand, as intervals apart: one may begin inside another."""
    spans: list[list[int]] = []
    for found in pattern.finditer(text):
        start, stop = found.span(1)
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(stop, spans[-1][1])
        else:
            spans.append([start, stop])
    return spans


@cache
def _pattern() -> re.Pattern[str] | None:
    """Return what finds the longest spelling at each place, or ``None`` without secrets."""
    texts = {spelling for secret in _known for spelling in _spellings(secret)}
    forms = [(len(text), re.escape(text)) for text in texts]
    forms += [form for secret in _known for form in _encoded_forms(secret)]
    longest_first = [form for _, form in sorted(forms, reverse=True)]
    return re.compile(f"(?=({'|'.join(longest_first)}))", re.I) if forms else None


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
    }


def _encoded_forms(secret: str) -> Iterator[tuple[int, str]]:
    """Yield the length and a pattern of a secret in hexadecimal digits, and in base64.

    In base64 it may stand behind other data (``user:token``), at one of three places of a group:
    letters that it shares with its neighbours are hidden too.
    """
    data = secret.encode("utf-8", "surrogateescape")
    digits = [f"{byte:02x}" for byte in data]
    yield 2 * len(data), r"(?:\\x|[ :,-])?".join(digits)
    for before in range(3):
        text = base64.b64encode(bytes(before) + data).decode()
        first, last = (0, 2, 3)[before], 8 * (before + len(data)) // 6
        core = text[first:last].replace("+", r"[+\-]").replace("/", "[/_]")
        shared = "" if before == 0 else "[A-Za-z0-9+/_-]?"
        yield last - first, f"(?-i:{shared}{core}[A-Za-z0-9+/_-]?)"


def _codings(secret: str) -> Iterator[str]:
    """Yield a secret in hexadecimal digits, and in base64 where it stands alone."""
    data = secret.encode("utf-8", "surrogateescape")
    yield data.hex()
    yield base64.b64encode(data).decode().rstrip("=")


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
