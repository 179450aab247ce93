"""Four clients of a server in one process: they play, keep what each received, and compare it."""

import asyncio
import contextlib
import enum
import itertools
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

import msgspec
from msgspec.structs import replace

from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.mirror.wire import to_message
from mjbot.play.check.report import Transcript
from mjbot.play.client.server_offers import disagreement, discard_disagreement
from mjbot.protocol import messages as m
from mjbot.protocol.codec import decode_line, encode
from mjbot.protocol.dialects import LOCKSTEP, REQUESTS, Dialect
from mjbot.protocol.errors import NOT_JSON, ProtocolError
from mjbot.protocol.sessions.lockstep_server import BUSY
from mjbot.protocol.sessions.turns import Due, due_after
from mjbot.protocol.tiles import tile_names
from mjbot.protocol.transports.base import SilenceError, Transport, TransportError, UnreachableError

Connect = Callable[[], Awaitable[Transport]]
"""Connects to the server once more; raises :class:`TransportError`."""

SILENCE_S: Final = 70.0
"""The original server waits 60 s for a seat: no line is longer away."""


class Deed(enum.Enum):
    """What a client does instead of sending a reply."""

    CLOSES = "closes its line"
    RESETS = "resets its line"
    KEEPS_SILENT = "sends nothing"


Spell = Callable[..., bytes]
"""``spell(action, age=0)`` makes a line of an action, for the request that was ``age`` before."""
Decide = Callable[[m.Event, list[m.PlayerAction], Spell], m.PlayerAction | tuple[bytes, ...] | Deed]
"""What a client does about an event: a message, lines as they are, or something else."""


@dataclass
class ClientReport:
    """What one client received and sent: ``problems`` are (check, text) in the order of the game.

    ``replies`` are by the index in ``events`` of what they answer; ``compared`` counts the lists
    of possible actions that were compared with ours; ``longest_s`` is the longest wait for a line,
    ``refused`` why a reply was refused (where the server reports that), ``unreachable`` why there
    was no connection.
    """

    seat: int = -1
    events: list[m.Event] = field(default_factory=list)
    replies: dict[int, m.PlayerAction] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    compared: int = 0
    error: str = ""
    greeted: bool = False
    silent: bool = False
    longest_s: float = 0.0
    refused: str = ""
    unreachable: UnreachableError | None = None

    @property
    def ended(self) -> bool:
        """Whether the client received the end of the game."""
        return bool(self.events) and isinstance(self.events[-1], m.EndGame)


@dataclass(frozen=True)
class ServerEndpoint:
    """A server: how to connect, its dialect, and the room that clients name."""

    connect: Connect
    dialect: Dialect = LOCKSTEP
    room: str = "default"


_CULPRITS: Final = itertools.count(1)
"""A server may let a player whose reply made a game void wait before it sits down again."""


class TableClient:
    """One client: takes its seat, answers what it owes, keeps its own mirror of the table."""

    def __init__(
        self,
        room: str,
        number: int,
        transcript: Transcript,
        stop: asyncio.Event,
        decide: Decide | None = None,
    ) -> None:
        name = f"check{number}" if decide is None else f"culprit{next(_CULPRITS)}"
        self._join: Final = m.Join(name=name, room=room)
        self._stop: Final = stop
        self._transcript: Final = transcript
        self._of: Final = str(number)
        self._random: Final = Random(number)
        self._decide: Final = decide or self._anything
        self._table = Mirror(0)
        self._mirrors = True
        self._decisive = 0
        self.outcome: Final = ClientReport()

    async def play(self, connect: Connect) -> ClientReport:
        """Play one game to its end, however it ends."""
        try:
            transport = await connect()
        except TransportError as error:
            self.outcome.unreachable = error if isinstance(error, UnreachableError) else None
            self.outcome.problems.append(("S01", f"cannot connect: {error}"))
            return self.outcome
        try:
            while await self._one_line(transport):
                pass
        except SilenceError:
            self.outcome.silent = not self._stop.is_set()
        except TransportError:
            pass
        finally:
            await transport.close()
        return self.outcome

    async def _one_line(self, transport: Transport) -> bool:
        """Handle a line and answer it; return whether the conversation continues."""
        asked = time.monotonic()
        line = await transport.receive(SILENCE_S)
        self.outcome.longest_s = max(self.outcome.longest_s, time.monotonic() - asked)
        self._transcript.sent(line, self._of)
        self._find_seed(line)
        try:
            messages = decode_line(line)
        except ProtocolError as error:
            self._problem("S06", f"no message: {error}")
            return False
        for message in messages:
            reply = self._take(message)
            if self._stop.is_set() or not await self._act(reply, transport):
                return False
        return True

    async def _act(self, reply: tuple[bytes, ...] | Deed, transport: Transport) -> bool:
        if reply is Deed.RESETS:
            self._transcript.note(f"client {self._of} resets its line")
            await transport.reset()
        if isinstance(reply, Deed):
            return reply is Deed.KEEPS_SILENT
        for line in reply:
            self._transcript.received(line, self._of)
            await transport.send(line)
        return True

    def _take(self, message: m.Message) -> tuple[bytes, ...] | Deed:
        if isinstance(message, m.Error):
            self.outcome.error = message.message
            return Deed.CLOSES
        if isinstance(message, m.Hello):
            self.outcome.greeted = message.protocol == "mjsonp" and message.protocol_version >= 1
            return (encode(self._join, LOCKSTEP),)
        if not isinstance(message, m.Event):
            return (self._spell(m.Skip()),)
        self._note(message)
        if isinstance(message, m.EndGame):
            return Deed.CLOSES
        return self._decided(len(self.outcome.events) - 1, self._legal(message))

    def _note(self, event: m.Event) -> None:
        """Take note of an event."""
        if isinstance(event, m.StartGame):
            self.outcome.seat = -1 if event.id is None else event.id
            self._table = Mirror(max(self.outcome.seat, 0))
        if not isinstance(event, m.Dora | m.ReachAccepted):
            self._decisive = len(self.outcome.events)
        self.outcome.events.append(event)
        if leak := leaked(event, self.outcome.seat):
            self._problem("S04", leak)
        self._mirror(event)

    def _decided(self, index: int, legal: list[m.PlayerAction]) -> tuple[bytes, ...] | Deed:
        reply = self._decide(self.outcome.events[index], legal, self._spell)
        if isinstance(reply, m.Message):
            self.outcome.replies[index] = reply
            return (self._spell(reply),)
        return reply

    def _spell(self, reply: m.PlayerAction, age: int = 0) -> bytes:
        return encode(reply, LOCKSTEP)

    def _find_seed(self, line: bytes) -> None:
        """Note whether a line reveals the seed of the walls, before they are all played."""
        if b"seed" not in line.lower() or self.outcome.ended:
            return
        with contextlib.suppress(*NOT_JSON):
            reply = msgspec.json.decode(line)
            objects = (
                [reply] if isinstance(reply, dict) else reply if isinstance(reply, list) else []
            )
            for fields in objects:
                for name in fields if isinstance(fields, dict) else ():
                    hidden = any(mark in name.lower() for mark in ("hash", "commit", "digest"))
                    if "seed" in name.lower() and not hidden:
                        self._problem("S21", f"{name} is sent before the end of the game")

    def _mirror(self, event: m.Event) -> None:
        """Apply an event; the first contradiction is reported, and the mirror is then useless."""
        if not self._mirrors:
            return
        try:
            self._table.apply(event)
        except TableError as error:
            self._mirrors = False
            self._problem(_failed_check(event, error), str(error))

    def _problem(self, id_: str, text: str) -> None:
        """Note a problem; one is enough, the game is over for us."""
        self.outcome.problems.append((id_, text))
        self._stop.set()

    def _own_legal(self) -> list[m.PlayerAction]:
        seat = self.outcome.seat
        legal = self._table.view(seat).legal
        return [to_message(self._table.state, seat, action) for action in legal]

    def _legal(self, event: m.Event) -> list[m.PlayerAction]:
        """Return our legal replies, and compare them with the server's offers."""
        if not self._mirrors or not due_after(event, self.outcome.seat).is_choice:
            return []
        legal = self._own_legal()
        problem = None
        if isinstance(event, m.Tsumo | m.Dahai | m.Kakan) and event.possible_actions is not None:
            self.outcome.compared += 1
            problem = disagreement(event.possible_actions, legal, complete=False)
        elif isinstance(event, m.Chi | m.Pon | m.Reach) and event.cannot_dahai is not None:
            self.outcome.compared += 1
            ours = [reply.pai for reply in legal if isinstance(reply, m.Dahai)]
            held = tile_names(self._table.view(self.outcome.seat).tiles)
            problem = discard_disagreement(event.cannot_dahai, held, ours)
        if problem:
            self._problem("S07", problem)
        return legal

    def _anything(
        self, event: m.Event, legal: list[m.PlayerAction], spell: Spell
    ) -> m.PlayerAction:
        """Any legal action, calls and wins before discards; without a mirror the drawn tile."""
        if legal:
            special = [reply for reply in legal if not isinstance(reply, m.Dahai | m.Skip)]
            return self._random.choice(special or legal)
        if due_after(event, self.outcome.seat) is Due.TURN and isinstance(event, m.Tsumo):
            return m.Dahai(actor=self.outcome.seat, pai=event.pai, tsumogiri=True)
        return m.Skip()


class RequestClient(TableClient):
    """The same where a server requests each decision, as RiichiLab does."""

    _request = 0

    def _take(self, message: m.Message) -> tuple[bytes, ...] | Deed:
        if isinstance(message, m.RequestAction):
            return self._requested(message)
        if isinstance(message, m.Error):  # it need not be the end
            self.outcome.error = message.message
        if isinstance(message, m.ActionAck) and message.status in ("rejected", "unparseable"):
            self.outcome.refused = self.outcome.refused or f"{message.status}, {message.reason}"
        if isinstance(message, m.Event):
            self._note(message)
        return Deed.CLOSES if isinstance(message, m.EndGame) else Deed.KEEPS_SILENT

    def _requested(self, request: m.RequestAction) -> tuple[bytes, ...] | Deed:
        self._request = request.request_id or 0
        legal = self._own_legal() if self._mirrors and self.outcome.events else []
        if request.possible_actions is not None and legal:
            self.outcome.compared += 1
            if problem := disagreement(request.possible_actions, legal, complete=True):
                self._problem("S07", problem)
        if not self.outcome.events:
            return Deed.KEEPS_SILENT
        return self._decided(self._decisive, legal)

    def _spell(self, reply: m.PlayerAction, age: int = 0) -> bytes:
        return encode(reply, REQUESTS, {"request_id": self._request - age})


_PAYING: Final = ("Hora", "Ryukyoku", "EndGame", "ReachAccepted", "StartKyoku")


def _failed_check(event: m.Event, error: TableError) -> str:
    if "a fifth " in error.problem:
        return "S12"
    return "S11" if type(event).__name__ in _PAYING else "S06"


async def play_table(
    endpoint: ServerEndpoint, transcript: Transcript, deciders: dict[int, Decide] | None = None
) -> list[ClientReport]:
    """Let four clients play one game; ``deciders`` are those that do not play as usual.

    If one is refused because the server is busy, the others do not wait for it.
    """
    others, stop = deciders or {}, asyncio.Event()
    kind = RequestClient if endpoint.dialect is REQUESTS else TableClient
    clients = [kind(endpoint.room, n, transcript, stop, others.get(n)) for n in range(4)]
    tasks = {asyncio.create_task(client.play(endpoint.connect)) for client in clients}
    try:
        playing = tasks
        while playing and not any(BUSY in client.outcome.error for client in clients):
            done, playing = await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    return [client.outcome for client in clients]


def leaked(event: m.Event, seat: int) -> str:
    """Return what an event reveals to a seat that only another may see; empty if nothing."""
    if isinstance(event, m.Tsumo) and event.actor != seat and event.pai != "?":
        return f"seat {seat} receives that seat {event.actor} drew {event.pai}"
    if isinstance(event, m.StartKyoku):
        for owner, hand in enumerate(event.tehais):
            if owner != seat and set(hand) != {"?"}:
                return f"seat {seat} receives the hand of seat {owner}"
    if isinstance(event, m.Tsumo | m.Dahai | m.Kakan):
        for hint in event.possible_actions or ():
            if hint.actor not in (seat, None):
                return f"seat {seat} receives the possible actions of seat {hint.actor}"
    return ""


def bare(event: m.Event) -> m.Event:
    """Return an event without what is offered to one seat, or belongs to it."""
    if isinstance(event, m.Tsumo | m.Dahai | m.Kakan):
        return replace(event, possible_actions=None)
    if isinstance(event, m.Chi | m.Pon | m.Reach):
        return replace(event, cannot_dahai=None)
    return event
