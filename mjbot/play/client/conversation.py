"""One connection from its first line to its last: transport, session and player."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from mjbot.game.records.game import Talk
from mjbot.game.table.mirror.mirror import quote
from mjbot.game.table.settle import ranks_of
from mjbot.play.client.player import ClientPlayer
from mjbot.play.client.server_offers import listed
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import (
    ACK_STATUSES,
    ActionAck,
    Error,
    Event,
    Message,
    ValidationResult,
)
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.sessions.client import ClientSession, Received
from mjbot.protocol.sessions.stages import Stage
from mjbot.protocol.sessions.turns import ReplyDuty
from mjbot.protocol.transports.base import ClosedError, SilenceError, Transport, VanishedError
from mjbot.runtime.errors import ExitCode, MjbotError

logger = logging.getLogger(__name__)

RecordEvent = Callable[[Event], None]
Keep = Callable[[Event, Talk], None]
Timed = Callable[[float], None]
Acked = Callable[[str], None]

ORDINARY_ENDS: Final = (1000, 1001, 1005)
"""Codes with which a server closes a WebSocket after a game."""
MOST_SHOWN: Final = 2000
"""Letters of a verdict's line in the log."""
MOST_ANSWERS: Final = 8
"""How many answers are kept until their verdicts come."""


class ServerReportedError(MjbotError, ProtocolError):
    """The server ended the conversation with an ``error``; ``before_game`` if nothing began.

    ``is_final``: it closed the connection with a code that refuses us.
    """

    def __init__(self, message: str, *, before_game: bool, is_final: bool = False) -> None:
        code = ExitCode.UNREACHABLE if before_game else ExitCode.PROTOCOL_FAULT
        super().__init__("error", message, exit_code=code)
        self.before_game = before_game
        self.is_final = is_final

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
    def final_rank(self) -> int:
        """From 1 on; equal scores go by seat."""
        return ranks_of(self.scores)[self.seat]


@dataclass(frozen=True)
class Meters:
    """What receives figures: ``timed`` the seconds of each decision, from the request's line to the
    answer's, ``acked`` the status of each verdict on an answer.
    """

    timed: Timed = lambda seconds: None
    acked: Acked = lambda status: None


class Conversation:
    """Plays one game over a connection.

    ``record`` is called with every event as it comes, ``keep`` once it is answered, with what our
    strategy remarked on it.  ``sends_remarks``: the server receives remarks too, for its
    log.
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
        meters: Meters = Meters(),
        sends_remarks: bool = False,
    ) -> None:
        self._transport: Final = transport
        self._session: Final = session
        self._traits: Final = session.dialect.traits
        self._player: Final = player
        self._silence_s: Final = silence_s
        self._record: Final = record
        self._keep: Final = keep
        self._meters: Final = meters
        self._answers: Final[dict[int | None, str]] = {}
        self._sends_remarks: Final = sends_remarks
        self._validated: bool | None = None
        self._begun = False
        self._last_error = ""

    async def play_game(self) -> OwnResult:
        """Play until the game is over and return how it ended.

        Raises :class:`ProtocolError` and :class:`mjbot.game.table.mirror.mirror.TableError` for
        what the server did wrong, :class:`ServerReportedError` for an ``error`` of its own, and
        :class:`~mjbot.protocol.transports.base.TransportError` when it is gone or silent.
        """
        over = False
        while not over:
            over = await self._one_line()
        result = self._result()
        logger.info("game over: place %d, scores %s", result.final_rank, list(result.scores))
        return result

    async def drain(self, limit_s: float) -> bool | None:
        """Wait until the server closes; return its verdict on a validation game."""
        try:
            while True:
                await self._one_line(limit_s)
        except (VanishedError, SilenceError) as error:
            if isinstance(error, ClosedError) and error.code not in ORDINARY_ENDS:
                logger.warning("%s", one_line(error))
            return self._validated

    async def _one_line(self, limit_s: float | None = None) -> bool:
        """Take in one line and answer it; return whether it ended the game."""
        try:
            line = await self._transport.receive(limit_s or self._patience_s())
        except VanishedError as error:
            if self._begun or not self._last_error:
                raise
            raise self._refusal(error) from None
        asked_s, decisions = time.perf_counter(), self._player.decisions
        received = self._session.receive(line)
        try:
            await self._take(received)
        finally:
            self._keep_all(received.events)
        if self._player.decisions > decisions:
            self._meters.timed(time.perf_counter() - asked_s)
        return self._session.stage is Stage.OVER and bool(received.events)

    def _refusal(self, end: VanishedError) -> ServerReportedError:
        """Return what the server reported before it closed the connection."""
        closing = end.closing if isinstance(end, ClosedError) else ""
        text = self._last_error
        if closing and text not in closing:
            text = f"{text} (closed with {closing})"
        is_final = isinstance(end, ClosedError) and end.is_refusal
        return ServerReportedError(text, before_game=True, is_final=is_final)

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
            self._remember(line, received)
            await self._transport.send(line)

    def _remember(self, line: bytes, received: Received) -> None:
        """Keep what is to be shown of an answer if the server does not accept it."""
        if not self._traits.lists_all_actions:
            return
        offers = "no list" if received.hints is None else listed(received.hints)
        legal = listed(self._player.legal)
        text = f"sent {line.decode()}; legal by our rules: {legal}; offered by the server: {offers}"
        self._answers[received.request_id] = text
        if len(self._answers) > MOST_ANSWERS:
            del self._answers[next(iter(self._answers))]

    def _note(self, message: Message) -> None:
        match message:
            case Error(message=text) if not self._traits.error_is_fatal:
                self._last_error = one_line(text)
                logger.error("the server reports: %s", self._last_error)
            case Error(message=text):
                raise ServerReportedError(text, before_game=not self._begun)
            case ActionAck():
                self._log_verdict(message)
            case ValidationResult(passed=passed):
                self._validated = passed
                result = "passed" if passed else f"failed: {message.reason}"
                logger.info("validation %s", one_line(result))
            case _ if isinstance(message, Event):
                logger.warning("ignored, as it came twice: %s", one_line(quote(message)))

    def _log_verdict(self, ack: ActionAck) -> None:
        """Log the verdict on an answer; one that was not accepted with what we believed legal."""
        status = ack.status if ack.status in ACK_STATUSES else "unknown"
        self._meters.acked(status)
        answer = self._answers.pop(ack.request_id, "")
        if status == "accepted":
            return
        reason = ack.reason or "no reason given"
        if ack.legal_types:
            reason += f", expected {' or '.join(ack.legal_types)}"
        number = "" if ack.request_id is None else f" to request {ack.request_id}"
        text = f"reply{number} {ack.status}: {reason}"
        shown = answer and status in ("rejected", "unparseable", "unknown")
        logger.warning("%s", one_line(f"{text}; {answer}" if shown else text, MOST_SHOWN))

    def _result(self) -> OwnResult:
        scores = tuple(self._player.table.state["scores"].tolist()[: self._session.players])
        return OwnResult(self._session.seat or 0, self._session.names, scores, self._validated)
