"""``external-lines:COMMAND`` and ``external-arrays:COMMAND``: bots on standard input and output.

``python -m mjbot.play.match.pipes lines|arrays URL -- COMMAND...`` seats such a bot at any mjai TCP
table: Mortal's kind (lines) or mjai.app's (arrays).  ``{seat}`` in the command is replaced by the
seat's number; each game has a process of its own, since the seat changes.  What the bot writes to
standard error goes to ours.

A reply that is no answer goes to the table as an ``error``, which is this seat's fault there.  One
that is late goes there, too, where it is dropped: the bot plays on.  A bot that has ended ends this
process.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from mjbot.game.table.actions import Action
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.mirror.wire import to_message
from mjbot.game.table.view import View
from mjbot.play.client.conversation import OwnResult, ServerReportedError
from mjbot.play.client.play import Settings, play_by_connecting
from mjbot.play.startup.warm_up import warm_up_alone
from mjbot.protocol.codec import decode_all, encode
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, Dialect
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import EndGame, Error, Event, PlayerAction, StartGame, StartKyoku
from mjbot.protocol.plain_text import excerpt
from mjbot.protocol.sessions.client import ClientSession, Received
from mjbot.protocol.sessions.pipes import PipeSession, pipe_session
from mjbot.protocol.sessions.stages import Stage
from mjbot.protocol.sessions.turns import ReplyDuty
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.base import Transport, VanishedError
from mjbot.protocol.transports.tcp import TcpTransport
from mjbot.runtime.errors import EXPECTED_ERRORS, ArgumentError, ExitCode, MjbotError, error_report
from mjbot.runtime.processes import ChildProcess, describe_exit
from mjbot.runtime.requests import argument, declare, option, request_of
from mjbot.runtime.system import KILL, on_signal
from mjbot.strategy.strategy import Strategy

DIALECTS: Final = {"lines": LINES, "arrays": ARRAYS}
_PREFIX: Final = "mjbot.play.match.pipes:"
_SILENCE_S: Final = LOCKSTEP.traits.silence_s
LEAVE_S: Final = 5.0
"""How long a bot may take to end once its game is over and its standard input is closed."""
NEXT_LINE_S: Final = 30.0
"""How long to wait for a bot that passed at its own turn, and seems to answer every event, to send
more; it may be loading its network."""


class BotError(MjbotError):
    """The bot has ended, or cannot be started; the text is one line."""


class PipedBot:
    """The process of one game, and what was received from it last."""

    def __init__(self, child: ChildProcess) -> None:
        process = child.process
        assert process.stdout is not None and process.stdin is not None
        self._child: Final = child
        self._input: Final = process.stdin
        self._pipes: Final = TcpTransport(process.stdout, process.stdin)
        self._last: bytes | None = None
        self._forget_signal: Final = _end_together(child)

    @classmethod
    async def start(cls, command: Sequence[str], seat: int) -> "PipedBot":
        """Start the command as the player of a seat; raises :class:`BotError`."""
        arguments = [word.replace("{seat}", str(seat)) for word in command]
        try:
            child = await ChildProcess.start(arguments, pipes=True)
        except OSError as error:
            raise BotError(f"the bot cannot be run: {error}") from None
        return cls(child)

    async def send(self, line: bytes) -> None:
        """Send a line; raises :class:`BotError` if the bot has ended."""
        try:
            await self._pipes.send(line)
        except VanishedError:
            raise BotError(await self._exit_reason()) from None

    async def receive(self) -> bytes:
        """Return the bot's next line; raises :class:`BotError` and :class:`ProtocolError`."""
        try:
            self._last = await self._pipes.receive()
        except VanishedError:
            raise BotError(await self._exit_reason()) from None
        return self._last

    async def stop(self) -> None:
        """Close its standard input; end what does not end by itself, and all that it started."""
        try:
            self._input.close()
            await self._child.end_within(LEAVE_S)
        finally:  # at once when cancelled
            self._child.signal(KILL)
        await self._child.wait()
        self._forget_signal()

    @property
    def last_output(self) -> str:
        """Its last line."""
        return "nothing yet" if self._last is None else excerpt(self._last)

    async def _exit_reason(self) -> str:
        status = await self._child.end_within(LEAVE_S)
        end = "closed its standard output" if status is None else describe_exit(status)
        return f"the bot {end}; its last line: {self.last_output}"


def _end_together(child: ChildProcess) -> Callable[[], None]:
    """At SIGTERM end the processes of a bot, which are a group of their own, and then ours.

    Returns what ends that.
    """

    def end() -> None:
        child.signal(KILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    return on_signal(asyncio.get_running_loop(), signal.SIGTERM, end)


class GivenUpError(Exception):
    """The table has closed the connection although an answer was due."""


class PipedGame:
    """One game: the table on one side, the bot on the other, a mirror of the table between them."""

    def __init__(
        self,
        transport: Transport,
        session: ClientSession,
        command: Sequence[str],
        dialect: Dialect,
    ) -> None:
        self._transport: Final = transport
        self._session: Final = session
        self._command: Final = command
        self._dialect: Final = dialect
        self._table = Mirror()
        self._bot: PipedBot | None = None
        self._pipes: PipeSession
        self._offers: list[PlayerAction] = []
        self._incoming: asyncio.Task[bytes] | None = None
        self._lines: deque[bytes] = deque()

    async def play(self) -> OwnResult:
        """Play it and return how it ended.

        Raises :class:`BotError`, :class:`ServerReportedError`, and :class:`ProtocolError`,
        :class:`~mjbot.game.table.mirror.mirror.TableError` and
        :class:`~mjbot.protocol.transports.base.TransportError` where the table does not keep its
        side.
        """
        try:
            while self._session.stage is not Stage.OVER:
                await self._exchange(await self._receive_from_table())
        except GivenUpError:
            assert self._bot is not None
            _print_line(
                f"the table did not wait for the bot; its last line: {self._bot.last_output}"
            )
            await self._read_end()
        finally:
            await self._close()
        scores = tuple(self._table.state["scores"].tolist())
        return OwnResult(self._session.seat or 0, self._session.names, scores)

    async def _exchange(self, received: Received) -> None:
        try:
            action = await self._ask(received)
        except ProtocolError as problem:
            return await self._complain(f"the bot: {problem.problem}")
        except BotError as problem:
            await self._complain(str(problem))
            raise
        if received.duty is not ReplyDuty.MUST_NOT:
            line = self._session.reply(action)
            assert line is not None
            await self._transport.send(line)

    async def _receive_from_table(self) -> Received:
        if self._lines:
            line = self._lines.popleft()
        else:
            task, self._incoming = self._incoming, None
            line = await (task or self._transport.receive(_SILENCE_S))
        received = self._session.receive(line)
        for message in received.others:
            if isinstance(message, Error):
                raise ServerReportedError(message.message, before_game=self._bot is None)
        return received

    async def _read_end(self) -> None:
        """Read how the table ended the game while the bot was thinking."""
        for message in [message for line in self._lines for message in decode_all(line)]:
            if isinstance(message, Error):
                raise ServerReportedError(message.message, before_game=False)
            if isinstance(message, EndGame):
                return
        assert self._incoming is not None
        await self._incoming  # raises why nothing more came

    async def _ask(self, received: Received) -> PlayerAction | None:
        """Send the bot an event and return its answer, ``None`` if it owes none."""
        action = None
        for event in received.events:
            seat = self._session.seat or 0
            if isinstance(event, StartGame):
                self._table = Mirror(seat)
                self._pipes = pipe_session(self._dialect, seat)
                self._bot = await PipedBot.start(self._command, seat)
            self._table.apply(event)
            self._offers = []
            if isinstance(event, EndGame):
                await self._send_final(event)
                continue
            legal = self._table.view(seat).legal if received.due.is_choice else ()
            self._offers = [to_message(self._table.state, seat, choice) for choice in legal]
            action = await self._ask_about(event)
        return action

    async def _ask_about(self, event: Event) -> PlayerAction | None:
        assert self._bot is not None
        if isinstance(event, StartKyoku):  # the original server's does not send the scores
            event = replace(event, scores=tuple(self._table.state["scores"].tolist()))
        action = None
        line = self._pipes.send(event, self._offers)
        if line is not None:
            await self._bot.send(line)
        while self._pipes.owes:
            action = self._pipes.receive(await self._receive_from_bot(self._bot))
        return action

    async def _send_final(self, event: Event) -> None:
        """Send the end of the game; a bot may leave without an answer, and so may the table."""
        with contextlib.suppress(BotError, GivenUpError, ProtocolError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._ask_about(event)

    async def _receive_from_bot(self, bot: PipedBot) -> bytes:
        """Return the bot's next line, whatever the table sends meanwhile.

        Raises :class:`GivenUpError` if the table does not wait any more, and
        :class:`ProtocolError` if the bot's last line was its answer although it is none.
        """
        reply = asyncio.create_task(bot.receive())
        try:
            async with asyncio.timeout(NEXT_LINE_S if self._pipes.is_guess else None):
                while not reply.done():
                    await self._listen_beside(reply)
            return reply.result()
        except TimeoutError:
            self._pipes.give_up()
        finally:
            if not reply.done():
                reply.cancel()
                await asyncio.wait({reply})

    async def _listen_beside(self, reply: asyncio.Task[bytes]) -> None:
        """Wait for the bot or the table, and keep what the table sends for later."""
        if self._incoming is None:
            self._incoming = asyncio.create_task(self._transport.receive(_SILENCE_S))
        await asyncio.wait({reply, self._incoming}, return_when=asyncio.FIRST_COMPLETED)
        if reply.done() or not self._incoming.done():
            return
        if self._incoming.exception() is not None:
            raise GivenUpError
        self._lines.append(self._incoming.result())
        self._incoming = None

    async def _complain(self, problem: str) -> None:
        """Report to the table that this seat has no answer; that is a fault there."""
        _print_line(problem)
        self._forgo_reply()
        seat = {"actor": self._session.seat}
        await self._transport.send(encode(Error(message=problem), LOCKSTEP, seat))

    def _forgo_reply(self) -> None:
        """Let the session believe that its reply has gone out."""
        self._session.reply(self._offers[0] if self._offers else None)

    async def _close(self) -> None:
        if self._incoming is not None:
            self._incoming.cancel()
            await asyncio.wait({self._incoming})
        if self._bot is not None:
            await self._bot.stop()


@dataclass
class _Default(Strategy):
    """Chooses the safe action: for a warm-up of the mirror alone."""

    def decide(self, view: View) -> Action:
        return view.default_action


@dataclass(frozen=True, kw_only=True)
class PipesRequest:
    """Arguments of this program."""

    dialect: str = argument("dialect of the bot", choices=list(DIALECTS))
    url: str = argument("mjsonp://HOST:PORT/ROOM")
    command: tuple[str, ...] = argument("the bot, after --; {seat} is its seat", nargs="+")
    games: int = option(1, "number of games", type=int)
    name: str = option("bot", "name at the table")


def main(argv: Sequence[str] | None = None) -> int:
    """Play; print a failure in one line."""
    parser = argparse.ArgumentParser(prog="mjbot.play.match.pipes", description=__doc__)
    declare(parser, PipesRequest)
    try:
        _play(request_of(PipesRequest, parser.parse_args(argv)))
    except EXPECTED_ERRORS as error:
        text, code = error_report(error)
        _print_line(text)
        return code
    return ExitCode.OK


def _play(request: PipesRequest) -> None:
    try:
        address = parse_address(request.url)
    except ValueError as error:
        raise ArgumentError(str(error)) from error
    logging.basicConfig(level=logging.WARNING, format=f"{_PREFIX} %(message)s")
    warm_up_alone(_Default())
    settings = Settings(address, name=request.name, games=request.games)

    async def play_game(transport: Transport, session: ClientSession) -> OwnResult:
        dialect = DIALECTS[request.dialect]
        return await PipedGame(transport, session, request.command, dialect).play()

    try:
        asyncio.run(play_by_connecting(settings, play_game))
    except (ProtocolError, TableError) as error:
        raise MjbotError(f"the table: {error}", exit_code=ExitCode.PROTOCOL_FAULT) from error


def _print_line(text: str) -> None:
    print(_PREFIX, text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
