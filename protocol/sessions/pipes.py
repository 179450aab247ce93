"""The server's side of a bot on standard input and output: Mortal's kind, mjai.app's.

No clock, no pipe, no knowledge of the rules: the table passes the allowed replies.  For every
event, masked for the bot's seat, send the line that :meth:`PipeSession.send` returns, if any;
while :attr:`PipeSession.owes` is true, pass what comes back to :meth:`PipeSession.receive`.

======== =========================================== ============================================
dialect  what goes down the pipe                     what comes back
======== =========================================== ============================================
lines    every event, an object per line;            a line where there is something to decide
         ``can_act`` is false where nothing is asked
arrays   all since the last line, an array per line, one line for each array
         where there is something to decide; alone
         start_game, end_kyoku and end_game; never
         hora and ryukyoku
======== =========================================== ============================================

Some bots of the lines dialect answer every event.  One whose first answer at a turn of its own is a
pass is taken for one of those: from then on its answers are counted against the events.  Until it
has sent more replies than it was asked for (:attr:`PipeSession.is_guess`) it may instead be one
that passes where it must not: if no more follows, :meth:`PipeSession.give_up`.
"""

import abc
from collections.abc import Sequence
from typing import Any, ClassVar, Final, NoReturn

import msgspec

from mjbot.protocol import messages as m
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import ARRAYS, LINES, Dialect
from mjbot.protocol.errors import NOT_JSON, ProtocolError
from mjbot.protocol.plain_text import excerpt
from mjbot.protocol.rules import RANKED, announced_players
from mjbot.protocol.seats import seated
from mjbot.protocol.sessions.request_server import meant


class PipeSession(abc.ABC):
    """One bot's conversation in one game; make it with :func:`pipe_session`."""

    dialect: ClassVar[Dialect]

    def __init__(self, seat: m.Seat) -> None:
        self._seat: Final = seat
        self._players = RANKED.players
        self._offers: tuple[m.PlayerAction, ...] = ()
        self._last = b""
        self.owes = False

    @abc.abstractmethod
    def send(self, event: m.Event, offers: Sequence[m.PlayerAction] = ()) -> bytes | None:
        """Return the line for an event, ``None`` if it waits for a later one.

        ``offers`` is all that the bot may answer with, empty if it is not asked.
        """

    def _encoded(self, event: m.Event, extra: dict[str, Any] | None = None) -> bytes:
        """Return the JSON text of an event at a table of so many players as play."""
        if isinstance(event, m.StartGame):
            self._players = announced_players(event.mjbot_rules)
        return encode(seated(event, self._players), self.dialect, extra)

    def receive(self, line: bytes) -> m.PlayerAction | None:
        """Return what a line chooses; ``None`` if more is to come.

        Raises :class:`ProtocolError` for what is no answer here.
        """
        self._last = line
        fields = _fields(line)
        if self._is_other(fields):
            return None
        self.owes = False
        offers = self._offers or (m.Skip(),)
        choice = meant(fields, offers)
        if choice is None or fields.get("actor", self._seat) != self._seat:
            raise self._refusal()
        return offers[choice]

    @property
    def is_guess(self) -> bool:
        """Whether only a pass suggests that more is to come."""
        return False

    def give_up(self) -> NoReturn:
        """Take the last line for the answer after all; raises :class:`ProtocolError`."""
        self.owes = False
        raise self._refusal()

    def _refusal(self) -> ProtocolError:
        names = dict.fromkeys(m.wire_name(offer) for offer in self._offers or (m.Skip(),))
        wanted = f"only {' or '.join(names)} of seat {self._seat} is"
        return ProtocolError("reply", f"{excerpt(self._last)} is not allowed here, {wanted}")

    def _is_other(self, fields: dict[str, Any]) -> bool:
        """Whether a line answers something else than was asked last."""
        return False


class LinesSession(PipeSession):
    """Mortal's habit."""

    dialect = LINES

    def __init__(self, seat: m.Seat) -> None:
        super().__init__(seat)
        self._sent = 0
        self._asked = 0
        self._received = 0
        self._answers_all: bool | None = None

    def send(self, event: m.Event, offers: Sequence[m.PlayerAction] = ()) -> bytes:
        """Return the line for an event."""
        self._offers = tuple(offers)
        self.owes = bool(offers)
        self._sent += 1
        self._asked += bool(offers)
        extra = None if offers else {"can_act": False}
        return self._encoded(event, extra)

    @property
    def is_guess(self) -> bool:
        """Whether only a pass suggests that more is to come."""
        return self.owes and bool(self._answers_all) and self._received <= self._asked

    def give_up(self) -> NoReturn:
        """Take the pass for the answer after all; raises :class:`ProtocolError`."""
        self._answers_all = False
        super().give_up()

    def _is_other(self, fields: dict[str, Any]) -> bool:
        self._received += 1
        may_pass = any(isinstance(offer, m.Skip) for offer in self._offers)
        if self._answers_all is None and not may_pass:
            self._answers_all = fields.get("type") == "none"
        return bool(self._answers_all) and self._received < self._sent


class ArraysSession(PipeSession):
    """mjai.app's habit."""

    dialect = ARRAYS

    def __init__(self, seat: m.Seat) -> None:
        super().__init__(seat)
        self._kept: list[bytes] = []

    def send(self, event: m.Event, offers: Sequence[m.PlayerAction] = ()) -> bytes | None:
        """Return the array that ends with an event, or keep the event for it."""
        if isinstance(event, m.Hora | m.Ryukyoku):
            return None
        alone = isinstance(event, m.StartGame | m.EndKyoku | m.EndGame)
        if alone:
            self._kept = []
        self._kept.append(self._encoded(event))
        if not (alone or offers):
            return None
        self._offers = tuple(offers)
        self.owes = True
        line, self._kept = b"[" + b",".join(self._kept) + b"]", []
        return line


def pipe_session(dialect: Dialect, seat: m.Seat) -> PipeSession:
    """Return the session of a dialect that is spoken over pipes."""
    kinds = {LINES: LinesSession, ARRAYS: ArraysSession}
    return kinds[dialect](seat)


def _fields(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except NOT_JSON:
        raise ProtocolError("reply", f"{excerpt(line)} is no JSON object") from None
