"""Conversations of our own, recorded and replayed: both sides of a kyoku in each dialect.

The table and its sessions are the real ones, without sockets and clocks; so is the client that
receives the lines of a recorded server.  Replayed lines may have been changed on the way.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.legal import is_furiten
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.mirror.wire import to_message
from mjbot.game.table.view import View
from mjbot.play.client.conversation import Conversation
from mjbot.play.client.player import ClientPlayer
from mjbot.play.client.tenhou import TenhouGame
from mjbot.play.server.core import OnFault, Outgoing, SeatReply, TableCore
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS, Dialect
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import EndKyoku, Event, StartGame
from mjbot.protocol.rules import Rules
from mjbot.protocol.sessions.client import ClientSession, Received
from mjbot.protocol.sessions.lockstep_server import FaultError, JoinRefusedError, LockstepSession
from mjbot.protocol.sessions.pipes import pipe_session
from mjbot.protocol.sessions.request_server import RequestSession
from mjbot.protocol.sessions.turns import ReplyDuty
from mjbot.protocol.tenhou.client import TenhouClient
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.tenhou.game_type import game_type
from mjbot.protocol.tenhou.login import Login, TableType
from mjbot.protocol.tenhou.server import LogIn, RequestTable, TenhouServer
from mjbot.protocol.tenhou.table import SeatTable
from mjbot.protocol.transports.base import Transport, UnreachableError, VanishedError
from mjbot.strategy.strategy import Strategy

NAMES: Final = ("east", "south", "西", "north")
DIALECTS: Final = tuple(dialect for dialect in Dialect if dialect is not Dialect.LOG)
_LOGIN_LINES: Final = 20
RARE: Final = 0.7
"""How often a call, a riichi or a win is taken where one is possible, lest they drown."""

SendLine = Callable[[bytes], None]
ReceiveLine = Callable[[], bytes | None]


def at_random(random: Random, legal: Sequence[Action]) -> Action:
    """Choose among legal actions."""
    rare = [action for action in legal if not action.is_discard and not action.is_pass]
    return random.choice(rare if rare and random.random() < RARE else list(legal))


@dataclass
class Recorded:
    """One seat's conversation of a kyoku: the lines of the server, and of the client."""

    dialect: Dialect
    seat: int
    seed: int
    players: int = 4
    server: list[bytes] = field(default_factory=list)
    client: list[bytes] = field(default_factory=list)


def _table_type(players: int) -> int:
    """Return Tenhou's type of a table of so many players."""
    return int(game_type(Rules(players=players)))


def spelling_of(dialect: Dialect) -> Spelling:
    """Return how tags travel in one of Tenhou's dialects."""
    return Spelling.JSON if dialect is Dialect.TENHOU_WEB else Spelling.XML


# --- the server's side -----------------------------------------------------------------------


class ServerSide:
    """The server's end of a seat's line; ``receive`` returns the next line or ``None``."""

    def __init__(self, seat: int, send: SendLine, receive: ReceiveLine) -> None:
        self._seat: Final = seat
        self._send_line: Final = send
        self._receive_line: Final = receive

    def greet(self) -> bool:
        """Let the client join; return whether it did."""
        return True

    def exchange(self, outgoing: Outgoing) -> SeatReply:
        """Send an event and return the answer to it."""
        raise NotImplementedError


class LockstepServer(ServerSide):
    """The original server's."""

    def greet(self) -> bool:
        """See :meth:`ServerSide.greet`."""
        self._session = LockstepSession()
        self._send_line(self._session.hello())
        with contextlib.suppress(JoinRefusedError):
            return (line := self._receive_line()) is not None and bool(self._session.join(line))
        return False

    def exchange(self, outgoing: Outgoing) -> SeatReply:
        """See :meth:`ServerSide.exchange`."""
        self._send_line(self._session.send(outgoing.message))
        line = self._receive_line()
        try:
            reply = self._session.vanish() if line is None else self._session.receive(line)
        except FaultError as fault:
            return SeatReply(problem=fault.reason, raw=fault.response)
        return SeatReply(reply=reply, raw=(line or b"").decode("utf-8", "replace"))


class RequestServerSide(ServerSide):
    """RiichiLab's."""

    def __init__(self, seat: int, send: SendLine, receive: ReceiveLine) -> None:
        super().__init__(seat, send, receive)
        self._session: Final = RequestSession()

    def exchange(self, outgoing: Outgoing) -> SeatReply:
        """See :meth:`ServerSide.exchange`."""
        self._send_line(self._session.send(outgoing.message))
        if not outgoing.legal:
            return SeatReply(excused=True)
        self._send_line(self._session.request(outgoing.offers()))
        while (line := self._receive_line()) is not None:
            verdict = self._session.receive(line, 100)
            self._send_line(verdict.ack)
            if verdict.choice is not None:
                return SeatReply(action=outgoing.legal[verdict.choice])
            if verdict.status != "stale":
                return SeatReply(problem=f"{verdict.status}, {verdict.reason}.")
        self._send_line(self._session.expire().ack)
        return SeatReply(excused=True)


class PipeServer(ServerSide):
    """A bot's on standard input and output."""

    def __init__(self, dialect: Dialect, seat: int, send: SendLine, receive: ReceiveLine) -> None:
        super().__init__(seat, send, receive)
        self._session: Final = pipe_session(dialect, seat)

    def exchange(self, outgoing: Outgoing) -> SeatReply:
        """See :meth:`ServerSide.exchange`."""
        assert isinstance(outgoing.message, Event)
        line = self._session.send(outgoing.message, outgoing.offers())
        if line is not None:
            self._send_line(line)
        reply = None
        try:
            while self._session.owes:
                if (line := self._receive_line()) is None:
                    self._session.give_up()
                reply = self._session.receive(line)
        except ProtocolError as error:
            return SeatReply(problem=str(error), raw=(line or b"").decode("utf-8", "replace"))
        return SeatReply(reply=reply, excused=reply is None)


class TenhouServerSide(ServerSide):
    """Tenhou's."""

    def __init__(self, talk: Recorded, send: SendLine, receive: ReceiveLine) -> None:
        super().__init__(talk.seat, send, receive)
        self._server: Final = TenhouServer(spelling_of(talk.dialect))
        self._table: Final = SeatTable(talk.seat, _table_type(talk.players), gpid="guest")
        self._gone = False

    def greet(self) -> bool:
        """See :meth:`ServerSide.greet`."""
        for _ in range(_LOGIN_LINES):
            if (data := self._receive_line()) is None:
                return False
            for wish in self._wishes(data):
                if isinstance(wish, LogIn):
                    self._send(self._server.welcome(NAMES[self._seat]))
                elif isinstance(wish, RequestTable):
                    self._server.sit(self._table)
                    return True
        return False

    def exchange(self, outgoing: Outgoing) -> SeatReply:
        """See :meth:`ServerSide.exchange`."""
        assert isinstance(outgoing.message, Event)
        lamp = bool(is_furiten(outgoing.referee.state, self._seat))
        if self._gone:
            self._table.send(outgoing.message, outgoing.offers(), lamp)
            self._table.take_ready()
            self._table.expire()
            return SeatReply(excused=True)
        self._send(self._server.send(outgoing.message, outgoing.offers(), lamp))
        try:
            self._wait()
        except ProtocolError:
            self._gone = True
            self._table.take_ready()
            self._table.expire()
        reply = self._table.take_answer()
        return SeatReply(reply=reply, excused=reply is None)

    def _wait(self) -> None:
        while self._table.held or self._table.asked:
            data = self._receive_line()
            if data is not None:
                self._wishes(data)
            elif self._table.held:
                self._send(self._server.go_on())
            else:
                self._table.expire()

    def _wishes(self, data: bytes) -> Iterable[object]:
        received = self._server.receive(data)
        self._send(received.frames)
        return received.wishes

    def _send(self, frames: Iterable[bytes]) -> None:
        for frame in frames:
            self._send_line(frame)


def _server_side(talk: Recorded, send: SendLine, receive: ReceiveLine) -> ServerSide:
    dialect, seat = talk.dialect, talk.seat
    if dialect.traits.is_tenhou:
        return TenhouServerSide(talk, send, receive)
    if dialect in (LINES, ARRAYS):
        return PipeServer(dialect, seat, send, receive)
    return {LOCKSTEP: LockstepServer, REQUESTS: RequestServerSide}[dialect](seat, send, receive)


def _table(server_side: ServerSide, talk: Recorded, on_fault: OnFault) -> TableCore:
    """Play a kyoku; at the other seats sits chance."""
    random = Random(f"others {talk.seed}")
    rules = Rules(length="tonpu", players=talk.players)
    core = TableCore(Referee(talk.seed, rules), NAMES[: talk.players], on_fault)
    while (outgoing := core.next()) is not None and not outgoing.is_final:
        if outgoing.seat == talk.seat:
            core.answer(server_side.exchange(outgoing))
        else:
            action = at_random(random, outgoing.legal) if outgoing.legal else None
            core.answer(SeatReply(action=action, excused=action is None))
        if isinstance(outgoing.message, EndKyoku) and outgoing.seat == talk.players - 1:
            break
    return core


# --- recording -------------------------------------------------------------------------------


class _Client:
    """Our client session with a mirror, which chooses at random."""

    def __init__(self, talk: Recorded) -> None:
        self._talk: Final = talk
        self._random: Final = Random(f"own {talk.seed}")
        self._replies: Final[deque[bytes]] = deque()
        self._mirror = Mirror(talk.seat)
        self._session: ClientSession | TenhouClient
        if talk.dialect.traits.is_tenhou:
            table_type = TableType(0, _table_type(talk.players))
            self._session = TenhouClient(Login(), table_type, spelling_of(talk.dialect))
            self._queue(*self._session.open())
        else:
            self._session = ClientSession(talk.dialect, seat=talk.seat)

    def send(self, line: bytes) -> None:
        """Receive the server's line, and answer."""
        self._talk.server.append(line)
        self._digest(self._session.receive(line))

    def receive(self) -> bytes | None:
        """Return the next line of the client."""
        return self._replies.popleft() if self._replies else None

    def _queue(self, *lines: bytes) -> None:
        self._talk.client += lines
        self._replies.extend(lines)

    def _digest(self, received: Received) -> None:
        for event in received.events:
            if isinstance(event, StartGame):
                self._mirror = Mirror(self._talk.seat)
            self._mirror.apply(event)
        self._queue(*getattr(received, "frames", ()))
        if received.duty is ReplyDuty.MUST_NOT:
            return
        legal = self._mirror.legal(self._talk.seat) if received.due.is_choice else ()
        action = at_random(self._random, legal) if legal else None
        state = self._mirror.state
        output = to_message(state, self._talk.seat, action) if action else None
        answer = self._session.reply(output)
        if isinstance(answer, Received):
            self._digest(answer)
        elif answer is not None:
            self._queue(answer)


def record(dialect: Dialect, seed: int, players: int = 4) -> Recorded:
    """Return a conversation of a kyoku that went as it should."""
    talk = Recorded(dialect, seed % players, seed, players)
    client = _Client(talk)
    server_side = _server_side(talk, client.send, client.receive)
    assert server_side.greet()
    core = _table(server_side, talk, OnFault.ABORT)
    assert not core.faults, core.faults
    return talk


# --- replay ----------------------------------------------------------------------------------


def replay_to_server(talk: Recorded, lines: Iterable[bytes], on_fault: OnFault) -> str:
    """Send the table other lines of a client; return how that ended."""
    waiting = deque(lines)

    def receive() -> bytes | None:
        return waiting.popleft() if waiting else None

    server_side = _server_side(talk, lambda line: None, receive)
    try:
        if not server_side.greet():
            return "not let in"
    except ProtocolError:
        return "not let in"
    core = _table(server_side, talk, on_fault)
    if core.void:
        return "void, by a named fault"
    return "played on past named faults" if core.faults else "played"


class _DefaultAnswers(Strategy):
    """Does what is always possible."""

    players = (3, 4)

    def decide(self, view: View) -> Action:
        return view.default_action


class _ScriptedLines(Transport):
    """The lines of a server, one by one, then the end."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines: Final = deque(lines)

    async def receive(self, timeout_s: float | None = None) -> bytes:
        if not self._lines:
            raise VanishedError("no lines left")
        return self._lines.popleft()

    async def send(self, line: bytes) -> None:
        pass

    async def close(self) -> None:
        pass


def _no_strategy(game: int) -> Strategy:
    return _DefaultAnswers()


async def _gone() -> Transport:
    raise UnreachableError("gone")


async def replay_to_client(talk: Recorded, lines: Iterable[bytes], strict: bool) -> None:
    """Send our client other lines of a server; raises what it raises."""
    player = ClientPlayer(_no_strategy, talk.dialect, strict=strict, deadline_s=60.0)
    output = _ScriptedLines(lines)
    if talk.dialect.traits.is_tenhou:
        table_type = TableType(0, _table_type(talk.players))
        tenhou = TenhouClient(Login(), table_type, spelling_of(talk.dialect), lenient=not strict)
        game = TenhouGame(_gone, tenhou, player, silence_s=60.0, record=_forget)
        await game._converse(output, tenhou.open())
    else:
        session = ClientSession(talk.dialect, seat=talk.seat)
        conversation = Conversation(output, session, player, silence_s=None, record=_forget)
        await conversation.play_game()


def _forget(event: Event) -> None:
    """A record that is not kept."""


def run_client(talk: Recorded, lines: Iterable[bytes], strict: bool) -> None:
    """Do as :func:`replay_to_client` in an event loop of its own."""
    asyncio.run(replay_to_client(talk, lines, strict))
