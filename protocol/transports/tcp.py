"""Lines over TCP: the original server's ``mjsonp://host:port/room``."""

import asyncio
import contextlib
import socket
import struct
from collections import deque
from typing import Final

from mjbot.protocol.framing import LineBuffer
from mjbot.protocol.transports import base as base_
from mjbot.protocol.transports.address import connectable

_CHUNK: Final = 1 << 16
_INTERNET: Final = (socket.AF_INET, socket.AF_INET6)
_CLOSE_S: Final = 2.0
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
"""After 30 s of silence the system probes a peer each 10 s; three without an answer end it."""


class TcpTransport(base_.Transport):
    """One TCP connection, ours or accepted by :func:`asyncio.start_server`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._buffer = LineBuffer()
        self._lines: deque[bytes] = deque()
        connection = writer.get_extra_info("socket")
        if connection is not None and connection.family in _INTERNET:
            # Lock-step lines are tiny: waiting to fill a packet costs 40 ms.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _keep_alive(connection)

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return the next line; see :class:`Transport`."""
        if not self._lines:
            try:
                async with asyncio.timeout(timeout_s):
                    await self._fill()
            except TimeoutError:
                raise base_.SilenceError(f"the other side was silent for {timeout_s:g} s") from None
        return self._lines.popleft()

    async def _fill(self) -> None:
        while not self._lines:
            data = await self._read()
            if not data:
                self._buffer.finish()
                raise base_.VanishedError("the other side closed the connection")
            self._lines.extend(self._buffer.feed(data))

    async def _read(self) -> bytes:
        """Return what comes next, nothing at the end; ETIMEDOUT is a loss, no time of ours."""
        try:
            return await self._reader.read(_CHUNK)
        except OSError as error:
            raise _broken(error) from None

    async def send(self, line: bytes) -> None:
        """Send one line; see :class:`Transport`."""
        try:
            self._writer.write(line + b"\n")
            await self._writer.drain()
        except OSError as error:
            raise _broken(error) from None

    async def close(self) -> None:
        """Close the socket; what the other side does not take within 2 s is dropped."""
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._writer.wait_closed()
        self._writer.transport.abort()

    async def reset(self) -> None:
        """Break the connection by a reset; see :class:`Transport`."""
        without_linger(self._writer.get_extra_info("socket"))
        self._writer.transport.abort()


def _keep_alive(connection: socket.socket) -> None:
    """Let the system notice a peer that is gone without having closed the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def without_linger(connection: socket.socket | None) -> None:
    """Let the system reset a connection when it is closed, whatever is still to be sent."""
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _broken(error: OSError) -> base_.VanishedError:
    return base_.VanishedError(f"the connection broke: {base_.system_message(error)}")


class TcpPieces(TcpTransport):
    """The same for what is not made of lines: pieces of the stream, as they come and go."""

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return whatever comes next; see :class:`Transport`."""
        try:
            async with asyncio.timeout(timeout_s):
                data = await self._read()
        except TimeoutError:
            raise base_.SilenceError(f"the other side was silent for {timeout_s:g} s") from None
        if not data:
            raise base_.VanishedError("the other side closed the connection")
        return data

    async def send(self, line: bytes) -> None:
        """Send the bytes as they are; see :class:`Transport`."""
        try:
            self._writer.write(line)
            await self._writer.drain()
        except OSError as error:
            raise _broken(error) from None


async def open_streams(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to ``host:port``; raises ``OSError`` and, for no host at all, ``UnicodeError``."""
    *others, last = connectable(host)
    for address in others:
        with contextlib.suppress(OSError):
            return await asyncio.open_connection(address, port)
    return await asyncio.open_connection(last, port)


async def connect_tcp(
    host: str, port: int, timeout_s: float = 10.0, kind: type[TcpTransport] = TcpTransport
) -> TcpTransport:
    """Return a connection to ``host:port``; raises :class:`UnreachableError`."""
    try:
        async with asyncio.timeout(timeout_s):
            streams = await open_streams(host, port)
    except TimeoutError:
        raise base_.UnreachableError(f"{host}:{port}: no answer within {timeout_s:g} s") from None
    except (OSError, UnicodeError) as error:
        raise base_.UnreachableError(f"{host}:{port}: {base_.system_message(error)}") from None
    return kind(*streams)
