"""One connection from its first line to its last: transport, session and player."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from mjbot.client.player import ClientPlayer
from mjbot.errors import ExitCode, MjbotError
from mjbot.records.game import Talk
from mjbot.table.settle import ranks_of
from protocol.errors import ProtocolError
from protocol.messages import ActionAck, Error, Event, Message, ValidationResult
from protocol.plain_text import one_line
from protocol.sessions.client import ClientSession, Received
from protocol.sessions.stages import Stage
from protocol.sessions.turns import ReplyDuty
from protocol.transports.base import SilenceError, Transport, VanishedError

logger = logging.getLogger(__name__)

RecordEvent = Callable[[Event], None]
Keep = Callable[[Event, Talk], None]
Timed = Callable[[float], None]


class ServerReportedError(MjbotError, ProtocolError):
    """The server ended the conversation with an ``error``; ``before_game`` if nothing began."""

    def __init__(self, message: str, *, before_game: bool) -> None:
        code = ExitCode.UNREACHABLE if before_game else ExitCode.PROTOCOL_FAULT
        super().__init__("error", message, exit_code=code)
        self.before_game = before_game

    def __str__(self) -> str:
        did = "refuses us" if self.before_game else "ended the game"
        return f"the server {did}: {self.problem}"

    def is_fault_of(self, seat: int | None) -> bool:
        """Whether it blames ``seat``, in the original server's form."""
        return self.problem.startswith(f"Error in player {seat}'s response:")


@dataclass(frozen=True)
class OwnResult:
    """How a game ended for us; ``scores`` (points by seat) as far as the server sent them.

    ``void`` is why the server broke it off for another's fault, empty if it counts.
    """

    seat: int
    names: tuple[str, ...]
    scores: tuple[int, ...]
    validated: bool | None = None
    void: str = ""

    @property
    def place(self) -> int:
        """1..4; equal scores go by seat."""
        return ranks_of(self.scores)[self.seat]


class Conversation:
    """Plays one game over a connection.

    ``record`` is called with every event as it comes, ``keep`` once it is answered, with what our
    strategy remarked on it, ``timed`` after every decision with the seconds from the request's line
    to the answer's.  ``sends_remarks``: the server receives them too, for its log.
    """

    def __init__(
        self,
        transport: Transport,
        session: ClientSession,
        player: ClientPlayer,
        *,
        silence_s: float | None,
        record: RecordEvent,
        keep: Keep = lambda event, talk: None,
        timed: Timed = lambda seconds: None,
        sends_remarks: bool = False,
    ) -> None:
        self._transport: Final = transport
        self._session: Final = session
        self._traits: Final = session.dialect.traits
        self._player: Final = player
        self._silence_s: Final = silence_s
        self._record: Final = record
        self._keep: Final = keep
        self._timed: Final = timed
        self._sends_remarks: Final = sends_remarks
        self._validated: bool | None = None
        self._begun = False

    async def play_game(self) -> OwnResult:
        """Play until the game is over and return how it ended.

        Raises :class:`ProtocolError` and :class:`mjbot.table.mirror.mirror.TableError` for what the
        server did wrong, :class:`ServerReportedError` for an ``error`` of its own, and
        :class:`~protocol.transports.base.TransportError` when it is gone or silent.
        """
        over = False
        while not over:
            over = await self._one_line()
        result = self._result()
        logger.info("game over: place %d, scores %s", result.place, list(result.scores))
        return result

    async def drain(self, limit_s: float) -> bool | None:
        """Wait until the server closes; return its verdict on a validation game."""
        try:
            while True:
                await self._one_line(limit_s)
        except (VanishedError, SilenceError):
            return self._validated

    async def _one_line(self, limit_s: float | None = None) -> bool:
        """Take in one line and answer it; return whether it ended the game."""
        line = await self._transport.receive(limit_s or self._patience_s())
        asked_s, decisions = time.perf_counter(), self._player.decisions
        received = self._session.receive(line)
        try:
            await self._take(received)
        finally:
            self._keep_all(received.events)
        if self._player.decisions > decisions:
            self._timed(time.perf_counter() - asked_s)
        return self._session.stage is Stage.OVER and bool(received.events)

    async def _take(self, received: Received) -> None:
        self._player.remark = ""
        for event in received.events:
            self._begun = True
            self._record(event)
            await self._player.take(event, self._session.seat or 0)
        for message in received.others:
            self._note(message)
        if received.duty is not ReplyDuty.MUST_NOT:
            await self._answer(received)

    def _keep_all(self, events: Sequence[Event]) -> None:
        remark, last = self._player.remark, len(events) - 1
        for number, event in enumerate(events):
            sends = bool(remark) and number == last
            self._keep(event, [(self._session.seat or 0, remark)] if sends else [])

    def _patience_s(self) -> float | None:
        """Return how long the other side may be silent; its queue may be long."""
        if self._silence_s is not None:
            return self._silence_s
        queueing = self._traits.may_queue and self._session.stage is Stage.JOINED
        return None if queueing else self._traits.silence_s

    async def _answer(self, received: Received) -> None:
        action = await self._player.answer(received)
        if action is not None and self._sends_remarks and self._player.remark:
            action = replace(action, log=self._player.remark)
        line = self._session.reply(action)
        if line is not None:
            await self._transport.send(line)

    def _note(self, message: Message) -> None:
        match message:
            case Error(message=text) if not self._traits.error_is_fatal:
                logger.error("error from the server: %s", one_line(text))
            case Error(message=text):
                raise ServerReportedError(text, before_game=not self._begun)
            case ActionAck(status=status) if status != "accepted":
                reason = message.reason or "no reason given"
                logger.warning("reply %s: %s", one_line(status), one_line(reason))
            case ValidationResult(passed=passed):
                self._validated = passed
                result = "passed" if passed else f"failed: {message.reason}"
                logger.info("validation %s", one_line(result))

    def _result(self) -> OwnResult:
        scores = tuple([int(score) for score in self._player.table.state["scores"]])
        return OwnResult(self._session.seat or 0, self._session.names, scores, self._validated)
