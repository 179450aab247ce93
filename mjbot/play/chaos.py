"""A proxy that does to a conversation what networks and broken programs do, by seed.

It passes bytes on and does not interpret them: mjai lines, WebSockets and a pair's channel
all go through it.  Where a fault comes is drawn for each connection and direction by the number of
bytes that have passed, so the same conversation has the same faults.
"""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from mjbot.protocol.transports.address import is_loopback
from mjbot.protocol.transports.tcp import open_streams

HARMLESS: Final = ("delay", "split", "merge")
"""What any program must bear: every byte comes, in its order."""
BREAKING: Final = ("stall", "corrupt", "duplicate", "half-close", "cut")
FAULTS: Final = HARMLESS + BREAKING

CONNECT_S: Final = 10.0
MERGE_S: Final = 0.02
"""How long bytes are held back for others to come."""
MOST_PIECES: Final = 200
"""How many bytes of a piece go singly."""
_CHUNK: Final = 1 << 16
_NEVER: Final = 1e15


@dataclass(frozen=True, kw_only=True)
class Chaos:
    """What is to go wrong, and how often.

    ``every`` and ``break_every`` are the mean bytes between two harmless and two breaking faults
    of one direction; nothing breaks in its first ``calm`` bytes.
    """

    seed: int = 0
    faults: tuple[str, ...] = FAULTS
    every: float = 2_000.0
    break_every: float = 200_000.0
    calm: int = 0
    longest_delay_s: float = 0.02
    stall_s: float = 5.0

    def drawn(self, random: Random, at: int) -> tuple[int, str]:
        """Return where the next fault behind ``at`` comes, and which."""
        moments: list[tuple[float, str]] = []
        for kinds, mean, first in (
            (HARMLESS, self.every, at),
            (BREAKING, self.break_every, max(at, self.calm)),
        ):
            chosen = [kind for kind in kinds if kind in self.faults]
            gap, word = random.expovariate(1 / mean), random.random()
            if chosen:
                moments.append((first + gap, chosen[int(word * len(chosen))]))
        moment, kind = min(moments, default=(_NEVER, ""))
        return 1 + int(moment), kind


@dataclass(frozen=True)
class InjectedFault:
    """What went wrong: on which connection, in which direction, behind how many bytes."""

    connection: int
    to: str
    kind: str
    bytes: int

    def __str__(self) -> str:
        return f"connection {self.connection}, to the {self.to}, byte {self.bytes}: {self.kind}"


class _CutError(Exception):
    """Both directions are to end at once."""


class ChaosProxy:
    """Stands before ``host:port``; use it as an async context manager and then :meth:`open`."""

    def __init__(
        self,
        chaos: Chaos,
        host: str,
        port: int,
        on_fault: Callable[[InjectedFault], None] | None = None,
    ) -> None:
        if not is_loopback(host):  # a server elsewhere would pass for one of this machine
            raise ValueError(f"{host}: a chaos proxy stands only before servers of this machine")
        self._chaos: Final = chaos
        self._there: Final = (host, port)
        self._on_fault: Final = on_fault
        self._lines: Final[set[asyncio.Task[None]]] = set()
        self._connections = 0
        self.faults: Final[list[InjectedFault]] = []
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "ChaosProxy":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for line in set(self._lines):
            line.cancel()
        if self._lines:
            await asyncio.wait(set(self._lines))

    async def open(self, port: int = 0) -> int:
        """Listen on loopback; return the port (chosen by the system if 0).  Raises ``OSError``."""
        self._server = await asyncio.start_server(self._admit, "127.0.0.1", port)
        return int(self._server.sockets[0].getsockname()[1])

    def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._lines.add(task)
        task.add_done_callback(self._lines.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number, ends = self._connections, [writer]
        with contextlib.suppress(OSError, TimeoutError):
            try:
                async with asyncio.timeout(CONNECT_S):
                    far_reader, far_writer = await open_streams(*self._there)
                ends.append(far_writer)
                pumps = (
                    self._pump(number, "server", reader, far_writer),
                    self._pump(number, "client", far_reader, writer),
                )
                tasks = [asyncio.create_task(pump) for pump in pumps]
                try:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                for end in ends:
                    _reset(end)

    async def _pump(
        self, number: int, to: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        random = Random(f"{self._chaos.seed} {number} {to}")
        passed = 0
        at, kind = self._chaos.drawn(random, -1)
        while data := await reader.read(_CHUNK):
            while data and at < passed + len(data):
                ahead = max(0, at - passed)
                await _send(writer, data[:ahead])
                passed, data = passed + ahead, data[ahead:]
                self._note(InjectedFault(number, to, kind, at))
                if kind == "half-close":
                    return await _swallow(reader, writer)
                before = len(data)
                data = await self._break(kind, data, reader, writer, random)
                passed += max(0, before - len(data))
                at, kind = self._chaos.drawn(random, at)
            await _send(writer, data)
            passed += len(data)
        writer.write_eof()
        return None

    async def _break(
        self,
        kind: str,
        data: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        random: Random,
    ) -> bytes:
        """Let a fault come over ``data``; return what is still to be sent."""
        match kind:
            case "delay":
                await asyncio.sleep(random.uniform(0, self._chaos.longest_delay_s))
            case "stall":
                await asyncio.sleep(self._chaos.stall_s)
            case "split":
                for place in range(min(len(data), MOST_PIECES)):
                    await _send(writer, data[place : place + 1])
                    await asyncio.sleep(0)
                return data[MOST_PIECES:]
            case "merge":
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(MERGE_S):
                        return data + await reader.read(_CHUNK)
            case "corrupt":
                return bytes([data[0] ^ 1 << random.randrange(8)]) + data[1:]
            case "duplicate":
                await _send(writer, data)
            case "cut":
                raise _CutError
        return data

    def _note(self, fault: InjectedFault) -> None:
        self.faults.append(fault)
        if self._on_fault is not None:
            self._on_fault(fault)


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    if data:
        writer.write(data)
        await writer.drain()


async def _swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """End one direction for the receiver, unnoticed by the sender."""
    writer.write_eof()
    while await reader.read(_CHUNK):
        pass


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
