"""Two ends of one line inside a process, for tests and for tables that seat their own players."""

import asyncio
from typing import Final

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.transports.base import SilenceError, Transport, VanishedError

_END: Final = None


class MemoryTransport(Transport):
    """One end; make both with :func:`memory_pair`."""

    def __init__(
        self, inbox: "asyncio.Queue[bytes | None]", outbox: "asyncio.Queue[bytes | None]"
    ) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._closed = False

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return the next line; see :class:`Transport`."""
        try:
            async with asyncio.timeout(timeout_s):
                line = await self._inbox.get()
        except TimeoutError:
            raise SilenceError(f"the other side was silent for {timeout_s:g} s") from None
        if line is _END:
            self._inbox.put_nowait(_END)
            raise VanishedError("the other side closed the connection")
        if len(line) > MAX_LINE_BYTES:
            raise ProtocolError("line", f"longer than the limit of {MAX_LINE_BYTES} bytes")
        return line

    async def send(self, line: bytes) -> None:
        """Send one line; see :class:`Transport`."""
        if self._closed:
            raise VanishedError("this end is closed")
        self._outbox.put_nowait(line)

    async def close(self) -> None:
        """Close both directions."""
        if not self._closed:
            self._closed = True
            self._outbox.put_nowait(_END)
            self._inbox.put_nowait(_END)


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Return two connected ends."""
    there: asyncio.Queue[bytes | None] = asyncio.Queue()
    back: asyncio.Queue[bytes | None] = asyncio.Queue()
    return MemoryTransport(back, there), MemoryTransport(there, back)
