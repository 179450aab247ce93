"""Bytes in, lines out; independent of their content."""

from typing import Final

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.plain_text import excerpt

MAX_LINE_BYTES: Final = 1 << 20
"""Longest line that is accepted; a real one is below 4 kB."""

_MOST_SHOWN: Final = 40
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def without_mark(line: bytes) -> bytes:
    r"""Return a line without a byte order mark before it, as some programs begin a stream.

    >>> without_mark(b"\xef\xbb\xbf{}"), without_mark(b"{}")
    (b'{}', b'{}')
    """
    return line.removeprefix(_BYTE_ORDER_MARK)


class LineBuffer:
    r"""Cuts a byte stream into lines, wherever the pieces were cut.

    >>> lines = LineBuffer()
    >>> lines.feed(b'{"type"'), lines.feed(b':"none"}\r\n{')
    ([], [b'{"type":"none"}'])
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that ``data`` completes, without their line ends.

        Raises :class:`ProtocolError` as soon as a line is longer than the limit.
        """
        searched = len(self._rest)
        self._rest += data
        lines: list[bytes] = []
        start = 0
        while (end := self._rest.find(b"\n", max(start, searched))) >= 0:
            self._check_length(end - start)
            lines.append(bytes(self._rest[start:end]).rstrip(b"\r"))
            start = end + 1
        del self._rest[:start]
        self._check_length(len(self._rest))
        return lines

    def finish(self) -> None:
        """Take note of the end of the stream; raises if it came in mid-line."""
        if self._rest.strip():
            start = excerpt(bytes(self._rest), _MOST_SHOWN)
            raise ProtocolError("line", f"cut off by the end of the stream after {start}")

    def _check_length(self, length: int) -> None:
        if length > self._max:
            raise ProtocolError("line", f"longer than the limit of {self._max} bytes")
