"""Lines over a pair of pipes: how Mortal and mjai.app talk to a bot they started."""

import asyncio
import os
import threading
from typing import Final

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import LineBuffer
from mjbot.protocol.transports.base import SilenceError, Transport, VanishedError, system_message

_CHUNK: Final = 1 << 16
MOST_LINES: Final = 1000
"""How many lines may wait to be received; then standard input is not read for a while."""


StdioItem = bytes | VanishedError | ProtocolError


class StdioTransport(Transport):
    """Lines in from one file descriptor, out to another (standard input and output).

    A daemon thread reads, since an event loop cannot wait for every kind of file that standard
    input may be, and a read that blocks must not keep the process from ending.
    """

    def __init__(self, fd_in: int = 0, fd_out: int = 1) -> None:
        self._fd_in = fd_in
        self._fd_out = fd_out
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[StdioItem] = asyncio.Queue()
        self._room: Final = threading.Semaphore(MOST_LINES)
        threading.Thread(target=self._read, name="stdio", daemon=True).start()

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return the next line; see :class:`Transport`."""
        try:
            async with asyncio.timeout(timeout_s):
                item = await self._queue.get()
        except TimeoutError:
            raise SilenceError(f"nothing came for {timeout_s:g} s") from None
        if isinstance(item, bytes):
            self._room.release()
            return item
        self._queue.put_nowait(item)
        raise item

    async def send(self, line: bytes) -> None:
        """Write one line at once; see :class:`Transport`."""
        rest = line + b"\n"
        try:
            while rest:
                rest = rest[os.write(self._fd_out, rest) :]
        except OSError as error:
            raise VanishedError(f"standard output is closed: {system_message(error)}") from None

    async def close(self) -> None:
        """Do nothing: the pipes belong to the program that started us."""

    def _read(self) -> None:
        buffer = LineBuffer()
        try:
            while data := os.read(self._fd_in, _CHUNK):
                for line in buffer.feed(data):
                    self._room.acquire()
                    self._put(line)
            buffer.finish()
        except ProtocolError as error:
            self._put(error)
        except OSError as error:
            self._put(VanishedError(f"standard input broke: {system_message(error)}"))
        self._put(VanishedError("the other side closed our standard input"))

    def _put(self, item: StdioItem) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)
