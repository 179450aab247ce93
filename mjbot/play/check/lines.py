"""Connections to a bot under check, one for each game, over pipes, a socket or a WebSocket.

A :class:`CheckedBot` opens a line for each game; its replies are received with their times.
"""

import abc
import asyncio
import contextlib
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from mjbot.protocol.dialects import LOCKSTEP, REQUESTS, Dialect
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.transports.base import SilenceError, Transport, VanishedError
from mjbot.protocol.transports.tcp import TcpTransport
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.interruption import to_its_end
from mjbot.runtime.processes import ChildProcess, describe_exit
from mjbot.runtime.system import KILL, PAUSE, RESUME, memory_bytes

START_S: Final = 60.0
"""How long a bot may need before it takes its seat; it may be loading its network."""
LEAVE_S: Final = 15.0
"""How long a bot may take to end, or to come back, once its game is over."""
QUIET_S: Final = 0.1
"""How long to wait for lines that were not requested."""
STOPPED_S: Final = 0.3
_POLL_S: Final = 0.02
"""Seconds between two checks whether a process has ended."""
FLOOD_BYTES: Final = 1 << 20
"""What a bot may still write after the end of its line; more, and it is ended at once."""


class CannotStartError(MjbotError):
    """The bot cannot be run or never takes its seat; the text is one line."""

    exit_code = ExitCode.UNREACHABLE


class SilentError(Exception):
    """No line came within the limit."""


class GoneError(Exception):
    """The bot has closed its side; the text describes how it ended, as far as that is known."""


class BrokenLineError(Exception):
    """The received bytes are no line: endless, or cut off."""


@dataclass(frozen=True)
class TimedLine:
    """A line, and the seconds since the last line sent to the bot."""

    line: bytes
    seconds: float


class BotLine(abc.ABC):
    """One game's conversation with a bot."""

    @abc.abstractmethod
    async def send(self, line: bytes) -> None:
        """Send a line; raises :class:`GoneError`."""

    @abc.abstractmethod
    async def receive(self, limit_s: float) -> TimedLine:
        """Return the next line.

        Raises :class:`SilentError`, :class:`GoneError` and :class:`BrokenLineError`.
        """

    @abc.abstractmethod
    async def overhear(self, *, wait: bool) -> bytes | None:
        """Return a line that was not requested; ``wait`` a moment for it or not."""

    @abc.abstractmethod
    async def part(self) -> str | None:
        """Close the line; return what was wrong with how the bot left, if anything."""

    async def stop_for_a_moment(self) -> bool:
        """Stop and continue its process; false where there is none that we could stop."""
        return False

    def memory_bytes(self) -> int | None:
        """Return what its process holds in memory, if that is known."""
        return None


class CheckedBot(abc.ABC):
    """A bot that can be seated again and again; use it as an async context manager."""

    def __init__(self, dialect: Dialect, name: str) -> None:
        self.dialect: Final = dialect
        self.name: Final = name
        self.answers_all: bool | None = None
        """Whether it answers every line of mjai over pipes, or only decisions; learned once, at its
        first own turn, and not by a wait: a bot may be slow to start."""

    async def __aenter__(self) -> "CheckedBot":
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    @abc.abstractmethod
    async def sit_down(self, seat: int) -> BotLine:
        """Start a game's conversation; raises :class:`CannotStartError`."""


class Running(ChildProcess):
    """A bot's process; its standard error is kept for the report."""

    @classmethod
    async def run(cls, command: Sequence[str], *, pipes: bool) -> "Running":
        """Run a command; raises :class:`CannotStartError`."""
        stderr = tempfile.TemporaryFile("a+b")  # noqa: SIM115  closed with the process
        try:
            return await cls.start(command, stderr, pipes=pipes)
        except OSError as error:
            stderr.close()
            raise CannotStartError(f"{command[0]} cannot be run: {error}") from None

    async def ending(self, who: str = "the bot") -> str:
        """Describe how it ended, with its last output; waits a moment for it."""
        status = await self.end_within(LEAVE_S)
        end = "closed its line" if status is None else describe_exit(status)
        last = self.last_output()
        return f"{who} {end}" + (f" (its last output: {one_line(last, 300)!r})" if last else "")

    async def left(self) -> str | None:
        """Wait for its end, make one if need be; return what was wrong with that."""
        draining = asyncio.create_task(self._drain())
        floods = 0
        deadline = time.monotonic() + LEAVE_S
        while not self.has_ended and not floods and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_S)
            floods = draining.result() if draining.done() else 0
        draining.cancel()
        if self.has_ended:
            return None
        self.signal(KILL)
        await self.end_within(LEAVE_S)
        if floods:
            return f"it wrote {floods} bytes after the end of its line, and did not end"
        return f"it did not end within {LEAVE_S:g} s of the end of its line"

    async def _drain(self) -> int:
        """Read what it still writes, so that it can end; return the size of a flood, else 0."""
        size = 0
        with contextlib.suppress(OSError, ValueError):
            while self.process.stdout and (data := await self.process.stdout.read(1 << 16)):
                size += len(data)
                if size > FLOOD_BYTES:
                    return size
        return 0

    async def kill(self) -> None:
        """End it and all that it started."""
        self.signal(KILL)
        await self.end_within(LEAVE_S)
        # Its pipes may stay open in a process that it started; asyncio has no public way to leave.
        self.process._transport.close()  # type: ignore[attr-defined]
        if self.log is not None and not isinstance(self.log, Path):
            self.log.close()

    async def stop_for_a_moment(self) -> bool:
        """Let it stand still; false where the system cannot."""
        if PAUSE is None or RESUME is None:
            return False
        self.signal(PAUSE)
        await asyncio.sleep(STOPPED_S)
        self.signal(RESUME)
        return True

    def memory_bytes(self) -> int | None:
        """Return its resident memory where the system reports it."""
        return memory_bytes(self.process.pid)


class TransportLine(BotLine):
    """A line over any transport, with the process behind it."""

    def __init__(self, transport: Transport, running: Running) -> None:
        self._transport: Final = transport
        self._running: Final = running
        self._sent_at = time.perf_counter()

    async def send(self, line: bytes) -> None:
        """See :meth:`BotLine.send`."""
        self._sent_at = time.perf_counter()
        try:
            await self._transport.send(line)
        except VanishedError:
            raise GoneError(await self._running.ending()) from None

    async def receive(self, limit_s: float) -> TimedLine:
        """See :meth:`BotLine.receive`."""
        try:
            line = await self._transport.receive(limit_s)
        except SilenceError:
            raise SilentError from None
        except VanishedError:
            raise GoneError(await self._running.ending()) from None
        except ProtocolError as error:
            raise BrokenLineError(str(error)) from None
        return TimedLine(line, time.perf_counter() - self._sent_at)

    async def overhear(self, *, wait: bool) -> bytes | None:
        """See :meth:`BotLine.overhear`; errors of the line are raised when a reply is due."""
        try:
            return await self._transport.receive(QUIET_S if wait else 0.0)
        except (SilenceError, VanishedError, ProtocolError):
            return None

    async def part(self) -> str | None:
        """See :meth:`BotLine.part`."""
        await self._transport.close()
        return await self._running.left()

    async def stop_for_a_moment(self) -> bool:
        """See :meth:`BotLine.stop_for_a_moment`."""
        return await self._running.stop_for_a_moment()

    def memory_bytes(self) -> int | None:
        """See :meth:`BotLine.memory_bytes`."""
        return self._running.memory_bytes()


class _PipeLine(TransportLine):
    """A line over pipes; it ends with the end of standard input."""

    async def part(self) -> str | None:
        assert self._running.process.stdin is not None
        self._running.process.stdin.close()
        return await self._running.left()


class PipeBot(CheckedBot):
    """A command that uses its pipes; ``{seat}`` in it becomes the seat's number."""

    def __init__(self, command: Sequence[str], dialect: Dialect, name: str) -> None:
        super().__init__(dialect, name)
        self._command: Final = tuple(command)
        self._running: Final[list[Running]] = []

    async def __aexit__(self, *_: object) -> None:
        await to_its_end(asyncio.gather(*[running.kill() for running in self._running]))

    async def sit_down(self, seat: int) -> BotLine:
        """See :meth:`CheckedBot.sit_down`; each game has a process of its own."""
        stderr = [argument.replace("{seat}", str(seat)) for argument in self._command]
        running = await Running.run(stderr, pipes=True)
        self._running.append(running)
        process = running.process
        assert process.stdout is not None and process.stdin is not None
        return _PipeLine(TcpTransport(process.stdout, process.stdin), running)


class ConnectingBot(CheckedBot):
    """A command that connects to us; ``{url}`` in it, or else its last argument, is the address.

    A process may play one game, or reconnect for the next one.
    """

    def __init__(self, command: Sequence[str], dialect: Dialect, name: str) -> None:
        super().__init__(dialect, name)
        self._command: Final = tuple(command)
        self._came: Final[asyncio.Queue[Transport]] = asyncio.Queue()
        self._running: list[Running] = []
        self._idle: Running | None = None
        self._url = ""
        self._open = contextlib.AsyncExitStack()

    async def __aenter__(self) -> CheckedBot:
        if self.dialect is LOCKSTEP:
            server = await asyncio.start_server(self._admit, "127.0.0.1", 0)
            self._open.callback(server.close)
            port = server.sockets[0].getsockname()[1]
            self._url = f"mjsonp://127.0.0.1:{port}/default"
        else:
            door = await self._open.enter_async_context(
                serve(self._admit_frames, "127.0.0.1", 0, max_size=MAX_LINE_BYTES)
            )
            self._url = f"ws://127.0.0.1:{next(iter(door.sockets)).getsockname()[1]}/ws"
        return self

    async def __aexit__(self, *_: object) -> None:
        await to_its_end(asyncio.gather(*[running.kill() for running in self._running]))
        await self._open.aclose()

    def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._came.put_nowait(TcpTransport(reader, writer))

    async def _admit_frames(self, connection: ServerConnection) -> None:
        self._came.put_nowait(_FrameTransport(connection))
        await connection.wait_closed()

    async def sit_down(self, seat: int) -> BotLine:
        """See :meth:`CheckedBot.sit_down`."""
        running, self._idle = self._idle, None
        if running is None or running.has_ended:
            running = await Running.run(self._arguments(), pipes=False)
            self._running.append(running)
        came = asyncio.ensure_future(self._came.get())
        ended = asyncio.ensure_future(running.process.wait())
        try:
            await asyncio.wait({came, ended}, timeout=START_S, return_when="FIRST_COMPLETED")
            if came.done():
                return _ReturningLine(self, came.result(), running)
        finally:
            came.cancel()
            ended.cancel()
        how = await running.ending() if running.has_ended else "the bot did not connect"
        raise CannotStartError(f"{how}; no connection to {self._url} within {START_S:g} s")

    def _arguments(self) -> list[str]:
        if any("{url}" in argument for argument in self._command):
            return [argument.replace("{url}", self._url) for argument in self._command]
        return [*self._command, self._url]

    async def leave_or_return(self, running: Running) -> str | None:
        """Wait until the process has ended or has come back; return what was wrong."""
        deadline = time.monotonic() + LEAVE_S
        while time.monotonic() < deadline:
            if running.has_ended:
                return None
            if not self._came.empty():
                self._idle = running
                return None
            await asyncio.sleep(_POLL_S)
        await running.kill()
        return f"it neither ended nor reconnected within {LEAVE_S:g} s of the end of its line"


class _ReturningLine(TransportLine):
    """A line whose bot may reconnect for the next game."""

    def __init__(self, bot: ConnectingBot, transport: Transport, running: Running) -> None:
        super().__init__(transport, running)
        self._bot = bot

    async def part(self) -> str | None:
        await self._transport.close()
        return await self._bot.leave_or_return(self._running)


class _FrameTransport(Transport):
    """The server's side of a WebSocket."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def receive(self, timeout_s: float | None = None) -> bytes:
        try:
            async with asyncio.timeout(timeout_s):
                frame = await self._connection.recv()
        except TimeoutError:
            raise SilenceError("no line was received") from None
        except ConnectionClosed:
            raise VanishedError("the other side closed the connection") from None
        return frame.encode() if isinstance(frame, str) else frame

    async def send(self, line: bytes) -> None:
        try:
            await self._connection.send(line.decode())
        except ConnectionClosed:
            raise VanishedError("the other side closed the connection") from None

    async def close(self) -> None:
        await self._connection.close()


def bot_of(command: Sequence[str], dialect: Dialect, name: str) -> CheckedBot:
    """Return the bot of a command in its dialect."""
    kind = ConnectingBot if dialect in (LOCKSTEP, REQUESTS) else PipeBot
    return kind(command, dialect, name)
