"""The table server's core: messages for each seat and their answers.  No clock, no socket.

The original server's lock-step: an event goes to seat 0, whose one answer is awaited, then to
the other seats in turn; only then are all answers judged, in seat order::

    while (outgoing := core.next()) is not None:
        core.answer(answer_of(outgoing))  # unless outgoing.is_final

A fault ends the game without a result (all seats are notified), costs its seat a mangan, or is
replaced by a safe action (:class:`OnFault`).
"""

import enum
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec.structs import replace

from mjbot.game.records.evidence import Verdict
from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.play.server.offers import ReplyError, read_reply, with_hints, without_hints
from mjbot.protocol.masking import masked
from mjbot.protocol.messages import EndGame, Error, Event, PlayerAction, Skip, StartGame
from mjbot.strategy.faults import FaultKind

MOST_QUOTED: Final = 1000
"""How much of a bad reply all seats receive."""

_LAST: Final = (EndGame, Error)
_WHY: Final[Mapping[FaultKind, str]] = {
    "late": "no answer in time",
    "absent": "not connected",
    "crash": "it failed",
    "illegal": "no legal answer",
}
"""What is noted of a safe action without a penalty."""


class OnFault(enum.Enum):
    """What an illegal, late or broken reply costs."""

    ABORT = "abort"
    CHOMBO = "chombo"
    DEFAULT = "default"


class Outgoing(NamedTuple):
    """The next message for one seat, already masked for it.

    ``legal`` is what the seat may choose from, empty when it is not asked (it then owes a
    ``none``).  After a final message it owes nothing.
    """

    seat: int
    message: Event | Error
    legal: tuple[Action, ...]
    referee: Referee

    @property
    def is_final(self) -> bool:
        """Whether this ends the conversation."""
        return isinstance(self.message, _LAST)

    def offers(self) -> list[PlayerAction]:
        """Return the messages of the legal actions, in their order."""
        return [self.referee.message(self.seat, action) for action in self.legal]


@dataclass(frozen=True, slots=True)
class SeatReply:
    """What a seat did: sent ``reply``, chose ``action``, or made a ``problem``.

    ``raw`` is what it sent, for the complaint, ``line`` the reply as it came and ``dropped`` what
    came before it and answers earlier events, both for the evidence, ``remark`` its text for the
    log where that is not in the reply.  ``excused`` asks for a safe action without a penalty: the
    seat has left, or answered too late where that costs nothing else.  ``kind`` is what a problem
    or an excuse counts as.
    """

    reply: PlayerAction | None = None
    action: Action | None = None
    problem: str | None = None
    raw: str = ""
    remark: str | None = None
    excused: bool = False
    kind: FaultKind = "illegal"
    line: bytes | None = None
    dropped: tuple[bytes, ...] = ()


EXCUSED: Final = SeatReply(excused=True, kind="absent")
"""What a seat owes that is not asked, or is no longer there."""


@dataclass(frozen=True, slots=True)
class TableFault:
    """A reply that was replaced or voided the game.

    ``text`` is the original server's error message where all seats receive one.
    """

    seat: int
    text: str
    kind: FaultKind = "illegal"


class LogLine(NamedTuple):
    """An unmasked event, with what each seat remarked on it."""

    event: Event
    logs: tuple[str | None, ...]


class TableCore:
    """One game between the seats that have ``names``."""

    def __init__(
        self, referee: Referee, names: tuple[str, ...], on_fault: OnFault = OnFault.ABORT
    ) -> None:
        self.referee: Final = referee
        self.names: Final = names
        self.on_fault: Final = on_fault
        self.faults: list[TableFault] = []
        self.void = False
        self.line = 0
        """The number of the last event's line in the log, from 1."""
        self._log: list[LogLine] = []
        self._waiting: deque[Event | Error] = deque(referee.start())
        self._shown: Event | Error | None = None
        self._legal: dict[int, tuple[Action, ...]] = {}
        self._seat = 0
        self._choices: dict[int, Action] = {}
        self._logs: list[str | None] = []
        self._new_faults: list[TableFault] = []

    def drain_log(self) -> list[LogLine]:
        """Return the events that all seats have answered since the last call."""
        lines, self._log = self._log, []
        return lines

    def next(self) -> Outgoing | None:
        """Return the next message and its seat; ``None`` at the end."""
        if self._shown is None:
            if not self._waiting:
                return None
            self._show(self._waiting.popleft())
        assert self._shown is not None
        message = self._shown
        if not isinstance(message, Error):
            message = masked(message, self._seat)
        outgoing = Outgoing(self._seat, message, self._legal.get(self._seat, ()), self.referee)
        if outgoing.is_final:
            self._go_on(None)
        return outgoing

    def answer(self, answer: SeatReply) -> tuple[Verdict, str]:
        """Take the answer to what :meth:`next` returned last; return what became of it, and why."""
        seat = self._seat
        legal = self._legal.get(seat, ())
        judged: tuple[Verdict, str] = "accepted", ""
        if answer is EXCUSED and not legal:
            self._go_on(None)
            return judged
        if answer.excused and legal:
            judged = "replaced", answer.problem or _WHY[answer.kind]
            self.faults.append(TableFault(seat, judged[1], answer.kind))
        try:
            action = None if answer.excused else self._meaning(answer, seat, legal)
        except ReplyError as error:
            action = None
            goes_on = self.on_fault is OnFault.DEFAULT
            judged = "replaced" if goes_on else "refused", str(error)
            text = f"Error in player {seat}'s response: {error} Response: {_quoted(answer.raw)}"
            self._new_faults.append(TableFault(seat, text, answer.kind))
        if legal:
            self._choices[seat] = action or self.referee.view(seat).default_action
        self._go_on(answer.reply.log if answer.reply else answer.remark)
        return judged

    # --- inside ------------------------------------------------------------------------------

    def _meaning(self, answer: SeatReply, seat: int, legal: tuple[Action, ...]) -> Action | None:
        if answer.problem is not None:
            raise ReplyError(answer.problem)
        if answer.action is not None:
            return answer.action
        return read_reply(self.referee, seat, answer.reply or Skip(), legal)

    def _show(self, message: Event | Error) -> None:
        # Only the last event before a decision may be acted on.
        last = not self._waiting and not isinstance(message, Error)
        self.line += 1
        self._legal = self.referee.asked if last else {}
        if isinstance(message, StartGame):
            message = replace(message, names=self.names)
        if not isinstance(message, Error):
            message = with_hints(message, self.referee, self._legal)
        self._shown = message
        self._seat, self._choices, self._logs, self._new_faults = 0, {}, [], []

    def _go_on(self, log: str | None) -> None:
        """Turn to the next seat; after the last apply the answers."""
        self._logs.append(log)
        self._seat += 1
        if self._seat < len(self.names):
            return
        shown, self._shown = self._shown, None
        if shown is None or isinstance(shown, Error):
            return
        self._log.append(LogLine(without_hints(shown), tuple(self._logs)))
        if self._new_faults and self._punished(self._new_faults):
            return
        if self._legal:
            self._waiting.extend(self.referee.step(self._choices))

    def _punished(self, faults: list[TableFault]) -> bool:
        """Note the faults of an event; return whether the first took the place of the choices."""
        fault = faults[0]
        if self.on_fault is OnFault.ABORT:
            self.faults.append(fault)
            self.void = True
            self._waiting = deque([Error(message=fault.text)])
            return True
        self.faults += faults
        # While events wait, the referee is past this point: the fault costs nothing but a note.
        if self.on_fault is OnFault.CHOMBO and self._legal:
            self._waiting.extend(self.referee.fault(fault.seat))
            return True
        return False


def _quoted(raw: str) -> str:
    return raw if len(raw) <= MOST_QUOTED else f"{raw[:MOST_QUOTED]} ..."
