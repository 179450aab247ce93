"""Streams in memory, as TCP of one machine has them, and what may go wrong with them.

Bytes of one direction come in their order, in pieces, each after a latency of its own; those of
different connections overtake each other.  At most :data:`WINDOW` bytes are under way or not yet
read; the others wait with the sender, whose protocol is paused.  A peer that is lost without a
word is noticed by keep-alive probes, or by data that nobody acknowledges, after the times that
Linux has by default and our transports set.
"""

import asyncio
import contextvars
import errno
import os
import socket
from asyncio import events
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final

WINDOW: Final = 1 << 16
HIGH_WATER: Final = 1 << 16
LOW_WATER: Final = HIGH_WATER // 4
PROBES_S: Final = 60.0
"""Of a connection with the keep-alive of ``protocol.transports.tcp``: 30 s, and three of 10."""
RETRANSMISSION_S: Final = 924.0
"""After how long Linux gives up data that nobody acknowledges."""
APART_S: Final = 1e-6
"""Timers of one moment have no order."""
FIRST_PORT: Final = 40_000
_END: Final = b""

MakeProtocol = Callable[[], asyncio.BaseProtocol]


@dataclass(frozen=True)
class LinkFault:
    """``kind`` strikes once ``at`` bytes were sent by the ``client`` or else by the server.

    ``late``: what follows comes ``amount`` s later.  ``cut``: both ends see a reset.  ``silent``:
    nothing passes any more, in either direction, and neither end notices.  ``drop``: the client
    sees a reset and the server nothing.
    """

    kind: str
    by_client: bool
    at: int
    amount: float = 0.0


@dataclass
class Plan:
    """What happens on connections, by their number: faults, refused attempts, latencies."""

    faults: dict[int, list[LinkFault]] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    """``refuse`` or ``no-answer``, by the number of the attempt."""
    is_calm: bool = False
    """Latency without scatter, and no split pieces."""


class Network:
    """Listeners and connections; ``on_fault(kind, transport)`` is called when a fault strikes.

    ``owner_of`` returns the name of the process that connects.
    """

    def __init__(
        self,
        plan: Plan,
        seed: str,
        on_fault: Callable[[str, Any], None],
        owner_of: Callable[[], str],
    ) -> None:
        self.plan: Final = plan
        self.on_fault: Final = on_fault
        self.owner_of: Final = owner_of
        self.connections: Final[list[tuple[Transport, Transport]]] = []
        self.doubles: Final[list[str]] = []
        self.attempts = 0
        self._seed: Final = seed
        self.listeners: Final[dict[int, Listener]] = {}

    def listen(self, factory: MakeProtocol, port: int) -> "Listener":
        """Return a listener; raises ``OSError`` where the port is taken."""
        port = port or next(n for n in range(50_000, 60_000) if n not in self.listeners)
        if port in self.listeners:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        listener = self.listeners[port] = Listener(self, factory, port)
        return listener

    async def connect(
        self, loop: asyncio.AbstractEventLoop, factory: MakeProtocol, port: int
    ) -> "tuple[Transport, asyncio.BaseProtocol]":
        """Connect; raises ``ConnectionRefusedError``."""
        number = self.attempts
        self.attempts += 1
        random = Random(f"{self._seed} {number}")
        latency_s = 0.001 if self.plan.is_calm else random.choice((0.0005, 0.005, 0.05))
        kind = self.plan.refused.get(number)
        if kind:
            self.on_fault(kind, None)
        if kind == "no-answer":
            await loop.create_future()
        await asyncio.sleep(latency_s)
        listener = self.listeners.get(port)
        if kind or listener is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        here, there = ("127.0.0.1", FIRST_PORT + number), ("127.0.0.1", port)
        faults = self.plan.faults.get(len(self.connections), [])
        scatter = 0.0 if self.plan.is_calm else random.choice((0.0, 0.5, 3.0))
        ends = [
            Transport(
                loop, names, _Line(latency_s, scatter, random, self.plan.is_calm),
                [fault for fault in faults if fault.by_client is by_client], self.on_fault,
                self._started,
            )
            for names, by_client in (((here, there), True), ((there, here), False))
        ]  # fmt: skip
        client, server = ends
        client.peer, server.peer = server, client
        client.context, server.context = contextvars.copy_context(), listener.context
        client.owner = server.owner = client.process = self.owner_of()
        server.process = listener.process
        self.connections.append((client, server))
        protocol = factory()
        client.set_protocol(protocol)
        loop.call_later(latency_s, listener.accept, server, context=server.context.copy())
        protocol.connection_made(client)
        return client, protocol

    def kill(self, process: str) -> Iterator[str]:
        """Close what a process has open, as the system does; yield what it is."""
        for port, listener in list(self.listeners.items()):
            if listener.process == process:
                listener.close()
                yield f"port {port}"
        for pair in self.connections:
            for end in pair:
                if end.process == process and not end.is_lost:
                    if end.get_protocol() is not None and not end.is_closing():
                        yield f"a connection: {end.first_bytes[:60]!r}"
                    end.abort()

    def _started(self, end: "Transport") -> None:
        """Note a second connection with the token of one that is open."""
        place = 0 if end.is_client else 1
        token = _token_of(end if end.is_client else end.peer)
        if not token or not (end.is_client or end.first_bytes.startswith(b"HTTP/1.1 101")):
            return
        for pair in self.connections:
            other = pair[place]
            is_open = other is not end and not other.is_closing()
            is_in = end.is_client or other.first_bytes.startswith(b"HTTP/1.1 101")
            if is_open and is_in and _token_of(pair[0]) == token:
                side = "client" if end.is_client else "server"
                self.doubles.append(f"two connections with one token at the {side}: {token!r}")


def _token_of(client: "Transport") -> bytes:
    _, _, rest = client.first_bytes.partition(b"Authorization: Bearer ")
    return rest.partition(b"\r\n")[0]


class Listener(events.AbstractServer):
    """A listening port."""

    def __init__(self, network: Network, factory: MakeProtocol, port: int) -> None:
        self._network: Final = network
        self._factory: Final = factory
        self._port: Final = port
        self.process: Final = network.owner_of()
        self.context: Final = contextvars.copy_context()

    @property
    def sockets(self) -> "tuple[Socket, ...]":
        """The socket that listens."""
        return (Socket((("127.0.0.1", self._port), None)),)

    def accept(self, end: "Transport") -> None:
        """Take a connection; where nothing listens any more it is reset."""
        if self._network.listeners.get(self._port) is not self:
            end.refuse()
        if end.is_lost:
            return
        protocol = self._factory()
        end.set_protocol(protocol)
        protocol.connection_made(end)
        end.deliver()

    def close(self) -> None:
        """Stop listening; connections stay."""
        if self._network.listeners.get(self._port) is self:
            del self._network.listeners[self._port]

    def is_serving(self) -> bool:
        """Return whether it listens."""
        return self._network.listeners.get(self._port) is self

    async def wait_closed(self) -> None:
        """Return at once."""


class Socket:
    """What programs ask a transport's socket for."""

    family: Final = socket.AF_INET

    def __init__(self, names: tuple[Any, Any]) -> None:
        self._names: Final = names
        self.keeps_alive = False
        self.lingers = True

    def getsockname(self) -> Any:
        """Return the own address."""
        return self._names[0]

    def setsockopt(self, level: int, option: int, value: object) -> None:
        """Note keep-alive, and that closing resets."""
        if (level, option) == (socket.SOL_SOCKET, socket.SO_KEEPALIVE):
            self.keeps_alive = bool(value)
        if (level, option) == (socket.SOL_SOCKET, socket.SO_LINGER):
            self.lingers = False


@dataclass
class _Line:
    """One direction: how long bytes are under way."""

    latency_s: float
    scatter: float
    random: Random
    is_whole: bool
    extra_s: float = 0.0
    last_s: float = 0.0
    is_dead: bool = False

    def arrival_s(self, now_s: float) -> float:
        """Return when what is sent now comes, never before what was sent earlier."""
        scattered = self.latency_s * (1 + self.scatter * self.random.random())
        self.last_s = max(self.last_s + APART_S, now_s + scattered) + self.extra_s
        self.extra_s = 0.0
        return self.last_s

    def piece(self, size: int) -> int:
        """Return how many of so many bytes go together."""
        if self.is_whole or size < 2 or self.random.random() < 0.9:
            return size
        return 1 + self.random.randrange(size - 1)


class Transport(asyncio.Transport):
    """One end of a connection.

    What comes is passed on in the ``context`` of the process whose end it is, not of the sender's:
    the tasks that it starts there are its own.
    """

    peer: "Transport"
    context: contextvars.Context

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        names: tuple[Any, Any],
        line: _Line,
        faults: list[LinkFault],
        on_fault: Callable[[str, Any], None],
        on_start: Callable[["Transport"], None],
    ) -> None:
        super().__init__()
        self.socket: Final = Socket(names)
        self.sent = self.received = 0
        self.first_bytes = b""
        self.owner = ""
        """The process that has connected, at both ends."""
        self.process = ""
        """The process whose end this is."""
        self.is_lost = False
        self._loop: Final = loop
        self._names: Final = names
        self._line: Final = line
        self._faults: Final = faults
        self._on_fault: Final = on_fault
        self._on_start: Final = on_start
        self._protocol: Any = None
        self._unsent = bytearray()
        self._under_way = 0
        self._inbox: Final[deque[bytes]] = deque()
        self._reads = True
        self._is_closing = self._ends = self._has_ended = self._is_paused = False
        self._water = LOW_WATER, HIGH_WATER

    # --- what a program calls ----------------------------------------------------------------

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return the names of both ends, and the socket."""
        own, peer = self._names
        return {"socket": self.socket, "sockname": own, "peername": peer}.get(name, default)

    @property
    def is_client(self) -> bool:
        """Whether this end has connected."""
        return int(self._names[0][1]) >= FIRST_PORT and int(self._names[1][1]) < FIRST_PORT

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Set what takes the bytes."""
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return what takes the bytes."""
        return self._protocol  # type: ignore[no-any-return]

    def is_closing(self) -> bool:
        """Return whether it is closed, or will be once all is sent."""
        return self._is_closing

    def is_reading(self) -> bool:
        """Return whether what comes is passed on."""
        return self._reads and not self._is_closing

    def pause_reading(self) -> None:
        """Let what comes wait."""
        self._reads = False

    def resume_reading(self) -> None:
        """Pass on what waits."""
        self._reads = True
        self._loop.call_soon(self.deliver)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set when the protocol is paused."""
        high = HIGH_WATER if high is None else high
        self._water = (high // 4 if low is None else low), high

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Return when the protocol is paused."""
        return self._water

    def get_write_buffer_size(self) -> int:
        """Return how many bytes wait with the sender."""
        return len(self._unsent)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send; what is written to a lost connection is dropped."""
        if self._is_closing or not data:
            return
        if self._ends:
            raise RuntimeError("Cannot call write() after write_eof()")
        if not self.first_bytes:
            self.first_bytes = bytes(data[:2000])
            self._on_start(self)
        self._unsent += data
        self._send()
        if len(self._unsent) > self._water[1] and not self._is_paused:
            self._is_paused = True
            self._protocol.pause_writing()

    def can_write_eof(self) -> bool:
        """Return true."""
        return True

    def write_eof(self) -> None:
        """End this direction."""
        if not self._ends:
            self._ends = True
            self._send()

    def close(self) -> None:
        """Close once all is sent; unread bytes reset the connection, as Linux does."""
        if self._is_closing:
            return
        self._is_closing = self._ends = True
        if self._inbox and self._inbox[0] != _END:
            self._unsent.clear()
            self._to_peer(self.peer.reset)
            self._lose(None)
        else:
            self._send()

    def abort(self) -> None:
        """Close at once, with a reset where the socket does not linger."""
        if self.is_lost:
            return
        self._is_closing = self._ends = True
        self._unsent.clear()
        if self.socket.lingers:
            self._send()
        else:
            self._to_peer(self.peer.reset)
        self._lose(None)

    # --- the line ----------------------------------------------------------------------------

    def reset(self, error: OSError | None = None) -> None:
        """Take in that the peer is gone."""
        if not self.is_lost:
            self._is_closing = True
            self._unsent.clear()
            self._lose(error or ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))

    def refuse(self) -> None:
        """Take no connection: nothing listens any more."""
        self._to_peer(self.peer.reset)
        self.reset()

    def deliver(self) -> None:
        """Pass on what has come."""
        while self._inbox and self._reads and not self._is_closing and self._protocol:
            data = self._inbox.popleft()
            if data == _END:
                if not self._protocol.eof_received():
                    self.close()
                return
            self.received += len(data)
            self._protocol.data_received(data)
            self.peer._acknowledge(len(data))

    def _send(self) -> None:
        while self._unsent and self._under_way < WINDOW:
            size = self._line.piece(min(len(self._unsent), WINDOW - self._under_way))
            if self._faults:
                size = min(size, max(1, self._faults[0].at - self.sent))
            piece = bytes(self._unsent[:size])
            del self._unsent[:size]
            self.sent += size
            self._under_way += size
            self._to_peer(self.peer._arrive, piece)
            if self._faults and self.sent >= self._faults[0].at:
                self._break(self._faults.pop(0))
        if not self._unsent and self._ends and not self._has_ended:
            self._has_ended = True
            self._to_peer(self.peer._arrive, _END)
            if self._is_closing:
                self._lose(None)

    def _to_peer(self, call: Callable[..., object], *args: Any) -> None:
        if not self._line.is_dead:
            at_s = self._line.arrival_s(self._loop.time())
            self._loop.call_at(at_s, call, *args, context=self.peer.context.copy())

    def _arrive(self, data: bytes) -> None:
        if self.is_lost or self._is_closing:
            if data != _END:
                self.peer._to_self_reset()
            return
        self._inbox.append(data)
        self.deliver()

    def _to_self_reset(self) -> None:
        """What was sent came to a closed socket."""
        if not self._line.is_dead:
            context = self.context.copy()
            self._loop.call_later(self._line.latency_s, self.reset, context=context)

    def _acknowledge(self, size: int) -> None:
        if self._line.is_dead:
            return
        self._under_way -= size
        self._send()
        if self._is_paused and len(self._unsent) <= self._water[0]:
            self._is_paused = False
            self._protocol.resume_writing()

    def _break(self, fault: LinkFault) -> None:
        self._on_fault(fault.kind, self)
        client = self if fault.by_client else self.peer
        match fault.kind:
            case "late":
                self._line.extra_s += fault.amount
            case "cut":
                self._to_peer(self.peer.reset)
                self._loop.call_soon(self.reset)
            case "silent" | "drop":
                for end in (self, self.peer):
                    end._line.is_dead = True
                    end._notice_later()
                if fault.kind == "drop":
                    self._loop.call_soon(client.reset)

    def _notice_later(self) -> None:
        """Let keep-alive probes, or data that nobody acknowledges, end the connection."""
        after_s = PROBES_S if self.socket.keeps_alive else RETRANSMISSION_S
        self._loop.call_later(after_s, self._time_out)

    def _time_out(self, *, has_waited: bool = False) -> None:
        if self.is_lost:
            return
        is_waiting = bool(self._under_way or self._unsent)
        if has_waited or (self.socket.keeps_alive and not is_waiting):
            self.reset(TimeoutError(errno.ETIMEDOUT, "Connection timed out"))
        elif is_waiting:
            again = partial(self._time_out, has_waited=True)
            self._loop.call_later(RETRANSMISSION_S, again)
        else:
            self._loop.call_later(RETRANSMISSION_S, self._time_out)

    def _lose(self, error: OSError | None) -> None:
        if not self.is_lost:
            self.is_lost = True
            self._loop.call_soon(self._report_loss, error, context=self.context.copy())

    def _report_loss(self, error: OSError | None) -> None:
        protocol, self._protocol = self._protocol, None
        if protocol is not None:
            protocol.connection_lost(error)
