"""Four clients of a server in one process: they play, keep what each heard, and compare it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from msgspec.structs import replace

from mjbot.check.report import Transcript
from mjbot.client.offers import disagreement, discard_disagreement
from mjbot.table.mirror.mirror import Table, TableError
from mjbot.table.mirror.wire import to_message
from protocol.codec import decode_line, encode
from protocol.dialects import LOCKSTEP
from protocol.errors import ProtocolError
from protocol.messages import (
    Chi,
    Dahai,
    EndGame,
    Error,
    Event,
    Hello,
    Join,
    Kakan,
    Message,
    PlayerAction,
    Pon,
    Reach,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
)
from protocol.sessions.turns import Due, due_after
from protocol.tiles import tile_names
from protocol.transports.base import SilenceError, Transport, TransportError

Connect = Callable[[], Awaitable[Transport]]
"""Connects to the server once more; raises :class:`TransportError`."""

SILENCE_S: Final = 70.0
"""The original server waits 60 s for a seat: no line is longer away."""


@dataclass
class Heard:
    """What one client heard and said: ``problems`` are (check, text) in the order of the game."""

    seat: int = -1
    events: list[Event] = field(default_factory=list)
    replies: list[PlayerAction] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    compared: int = 0
    """How many lists of possible actions were held against ours."""
    error: str = ""
    greeted: bool = False
    silent: bool = False


Decide = Callable[[Event, list[PlayerAction]], PlayerAction | bytes | None]
"""What a client says to an event: a message, a line as it is, or ``None``: it closes."""


class TableClient:
    """One client: joins, answers every line, keeps its own mirror of the table."""

    def __init__(
        self,
        room: str,
        number: int,
        transcript: Transcript,
        stop: asyncio.Event,
        decide: Decide | None = None,
    ) -> None:
        self._join: Final = Join(name=f"check{number}", room=room)
        self._stop: Final = stop
        self._transcript: Final = transcript
        self._of: Final = str(number)
        self._random: Final = Random(number)
        self._decide: Final = decide or self._anything
        self._table = Table(0)
        self._mirrors = True
        self.heard: Final = Heard()

    async def play(self, connect: Connect) -> Heard:
        """Play one game to its end, however that comes."""
        try:
            transport = await connect()
        except TransportError as error:
            self.heard.problems.append(("S01", f"cannot connect: {error}"))
            return self.heard
        try:
            while await self._one_line(transport):
                pass
        except SilenceError:
            self.heard.silent = not self._stop.is_set()
        except TransportError:
            pass
        finally:
            await transport.close()
        return self.heard

    async def _one_line(self, transport: Transport) -> bool:
        """Take in a line and answer it; return whether the conversation goes on."""
        line = await transport.receive(SILENCE_S)
        self._transcript.said(line, self._of)
        try:
            messages = decode_line(line)
        except ProtocolError as error:
            self._problem("S06", f"no message: {error}")
            return False
        for message in messages:
            said = self._take(message)
            if self._stop.is_set():
                return False
            if isinstance(message, Error | EndGame) or said is None:
                return False
            reply = said if isinstance(said, bytes) else encode(said, LOCKSTEP)
            self._transcript.heard(reply, self._of)
            await transport.send(reply)
        return True

    def _take(self, message: Message) -> Message | bytes | None:
        if isinstance(message, Error):
            self.heard.error = message.message
            return None
        if isinstance(message, Hello):
            self.heard.greeted = message.protocol == "mjsonp" and message.protocol_version >= 1
            return self._join
        if not isinstance(message, Event):
            return Skip()
        if isinstance(message, StartGame):
            self.heard.seat = -1 if message.id is None else message.id
            self._table = Table(max(self.heard.seat, 0))
        self.heard.events.append(message)
        if leak := leaked(message, self.heard.seat):
            self._problem("S04", leak)
        self._mirror(message)
        said = self._decide(message, self._legal(message))
        if said is not None:
            # Who says a line of its own making never claims with it.
            self.heard.replies.append(Skip() if isinstance(said, bytes) else said)
        return said

    def _mirror(self, event: Event) -> None:
        """Apply an event; the first contradiction is told, and the mirror is then useless."""
        if not self._mirrors:
            return
        try:
            self._table.apply(event)
        except TableError as error:
            self._mirrors = False
            self._problem(_blamed(event, error), str(error))

    def _problem(self, id_: str, text: str) -> None:
        """Note a problem; one is enough, the game is over for us."""
        self.heard.problems.append((id_, text))
        self._stop.set()

    def _legal(self, event: Event) -> list[PlayerAction]:
        """Return what we may say, and compare that with what the server offers."""
        seat = self.heard.seat
        due = due_after(event, seat)
        if not self._mirrors or not due.is_choice:
            return []
        view = self._table.view(seat)
        legal = [to_message(self._table.state, seat, action) for action in view.legal]
        problem = None
        if isinstance(event, Tsumo | Dahai | Kakan) and event.possible_actions is not None:
            self.heard.compared += 1
            problem = disagreement(event.possible_actions, legal, complete=False)
        elif isinstance(event, Chi | Pon | Reach) and event.cannot_dahai is not None:
            self.heard.compared += 1
            ours = [said.pai for said in legal if isinstance(said, Dahai)]
            held = tile_names(view.tiles)
            problem = discard_disagreement(event.cannot_dahai, held, ours)
        if problem:
            self._problem("S07", problem)
        return legal

    def _anything(self, event: Event, legal: list[PlayerAction]) -> PlayerAction:
        """Any legal action, calls and wins before discards; without a mirror the drawn tile."""
        if legal:
            special = [said for said in legal if not isinstance(said, Dahai | Skip)]
            return self._random.choice(special or legal)
        if due_after(event, self.heard.seat) is Due.TURN and isinstance(event, Tsumo):
            return Dahai(actor=self.heard.seat, pai=event.pai, tsumogiri=True)
        return Skip()


_PAYING: Final = ("Hora", "Ryukyoku", "EndGame", "ReachAccepted", "StartKyoku")


def _blamed(event: Event, error: TableError) -> str:
    if "a fifth " in error.problem:
        return "S12"
    return "S11" if type(event).__name__ in _PAYING else "S06"


async def play_table(
    connect: Connect, room: str, transcript: Transcript, deciders: dict[int, Decide] | None = None
) -> list[Heard]:
    """Let four clients play one game; ``deciders`` are those who do not play as usual."""
    others, stop = deciders or {}, asyncio.Event()
    clients = [TableClient(room, n, transcript, stop, others.get(n)) for n in range(4)]
    return list(await asyncio.gather(*[client.play(connect) for client in clients]))


def leaked(event: Event, seat: int) -> str:
    """Return what an event tells a seat that only another may know; nothing: the empty text."""
    if isinstance(event, Tsumo) and event.actor != seat and event.pai != "?":
        return f"seat {seat} is told that seat {event.actor} drew {event.pai}"
    if isinstance(event, StartKyoku):
        for owner, hand in enumerate(event.tehais):
            if owner != seat and set(hand) != {"?"}:
                return f"seat {seat} is told the hand of seat {owner}"
    if isinstance(event, Tsumo | Dahai | Kakan):
        for hint in event.possible_actions or ():
            if hint.actor not in (seat, None):
                return f"seat {seat} is told what seat {hint.actor} may do"
    return ""


def bare(event: Event) -> Event:
    """Return an event without what is offered to one seat, or belongs to it."""
    if isinstance(event, Tsumo | Dahai | Kakan):
        return replace(event, possible_actions=None)
    if isinstance(event, Chi | Pon | Reach):
        return replace(event, cannot_dahai=None)
    return event
