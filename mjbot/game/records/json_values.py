"""JSON as people keep it: values one after the other or in an array, over many lines, commented.

Values are read one by one with the line at which each begins, so that a file of many games is never
in memory as a whole and an error names the line.  ``//`` comments are blanked out, not in texts.
"""

import codecs
import gzip
import json
import re
import zipfile
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, Final, NoReturn

from mjbot.game.records.game import RecordError

Lines = BufferedReader | zipfile.ZipExtFile | gzip.GzipFile
"""What records are read from: a file, a member of a zip, or either of them gzipped."""
MAX_VALUE: Final = 1 << 20
"""Characters of the longest value: a game of tenhou.net/6 has some 10,000."""
_CHUNK: Final = 1 << 16
_BETWEEN: Final = " \t\r\n,\ufeff"
_DECODER: Final = json.JSONDecoder()
_SURROGATE: Final = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
"""Half of a character, escaped: the decoder joins two of them, and lets one alone stand."""
_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
"""A text, which may hold two slashes, or a comment."""


def without_comments(text: str) -> str:
    r"""Return JSON with blanks for its ``//`` comments, all else at its place.

    >>> without_comments('{"a": "http://b"} // why\n')
    '{"a": "http://b"}       \n'
    """
    if "//" not in text:
        return text
    return _COMMENT.sub(lambda match: _blanked(match[0]), text)


def _blanked(text: str) -> str:
    return text if text.startswith('"') else " " * len(text)


def json_values(stream: Lines, name: str, noun: str = "game") -> Iterator[tuple[int, Any]]:
    """Yield the values of a stream, of an array its items, each with the line where it begins.

    Raises :class:`RecordError` with ``name`` and the number of the value (a ``noun``) where one is
    damaged, cut off or longer than :data:`MAX_VALUE`.
    """
    return _ValueReader(stream, name, noun).values()


class _ValueReader:
    """The text that is not used up yet, and where in the file it begins."""

    def __init__(self, stream: Lines, name: str, noun: str) -> None:
        self._stream: Final = stream
        self._name: Final = name
        self._noun: Final = noun
        self._decode: Final = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._line = self._column = 1
        self._count = 0
        self._in_array = False

    def values(self) -> Iterator[tuple[int, Any]]:
        more = True
        while True:
            self._skip_between()
            value = self._value()
            if not isinstance(value, str):
                yield value
                continue
            if len(self._text) > MAX_VALUE:
                self._refuse(f"no {self._noun} ends within {MAX_VALUE} characters")
            if not more:
                if self._in_array or (self._text and not self._text.startswith("//")):
                    self._refuse(value)
                return
            more = self._read_more()

    def _read_more(self) -> bool:
        try:
            chunk = self._stream.read(max(_CHUNK, len(self._text)))
            self._text += self._decode(chunk, not chunk)
        except UnicodeDecodeError:
            self._refuse("is not UTF-8")
        return bool(chunk)

    def _skip_between(self) -> None:
        self._use_blanks()
        if not self._in_array and not self._count and self._text.startswith("["):
            self._in_array = True
            self._use(1)
            self._use_blanks()
        if self._in_array and self._text.startswith("]"):
            self._in_array = False
            self._use(1)
            self._use_blanks()

    def _use_blanks(self) -> None:
        while True:
            self._use(len(self._text) - len(self._text.lstrip(_BETWEEN)))
            end = self._text.find("\n")
            if not self._text.startswith("//") or end < 0:
                return
            self._use(end)

    def _use(self, size: int) -> None:
        used, self._text = self._text[:size], self._text[size:]
        if lines := used.count("\n"):
            self._line += lines
            self._column = 1
        self._column += len(used) - used.rfind("\n") - 1

    def _value(self) -> tuple[int, Any] | str:
        """Return a value with its line, or why there is none, which more text may cure."""
        if not self._text or self._text.startswith("//"):
            return self._cut_off
        try:
            value, end = self._decoded()
            if _SURROGATE.search(self._text, 0, end):
                json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            self._refuse("has half of a character in a text")
        except json.JSONDecodeError as error:
            return self._explained(error)
        except RecursionError:
            self._refuse("nested too deep")
        except ValueError:
            self._refuse("has an endless number")
        line = self._line
        self._count += 1
        self._use(end)
        return line, value

    def _decoded(self) -> tuple[Any, int]:
        try:
            return _DECODER.raw_decode(self._text)
        except json.JSONDecodeError:
            if "//" not in self._text:
                raise
            return _DECODER.raw_decode(without_comments(self._text))

    def _explained(self, error: json.JSONDecodeError) -> str:
        if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string"):
            return self._cut_off
        line = self._line + error.lineno - 1
        column = error.colno + (self._column - 1 if error.lineno == 1 else 0)
        return f"not JSON ({error.msg} at line {line}, character {column})"

    @property
    def _cut_off(self) -> str:
        return f"the JSON is cut off (this {self._noun} begins at line {self._line})"

    def _refuse(self, problem: str) -> NoReturn:
        raise RecordError(self._name, f"{self._noun} {self._count + 1}", problem) from None
