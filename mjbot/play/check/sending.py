"""The lines of a table to a bot in each dialect, and the ways in which servers differ in them."""

import abc
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from mjbot.play.check.judge import Owed
from mjbot.play.server.offers import with_hints
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS, Dialect
from mjbot.protocol.masking import masked
from mjbot.protocol.messages import EndGame, Error, Event, StartGame
from mjbot.protocol.rules import announced_players
from mjbot.protocol.seats import seated
from mjbot.protocol.sessions.pipes import pipe_session
from mjbot.protocol.sessions.request_server import RequestSession

NAMES: Final = ("east", "south", "west", "north")

Respell = Callable[[dict[str, Any]], dict[str, Any]]
"""What a server with habits of its own makes of a message."""


class EventSender(abc.ABC):
    """One game's side of the table; ``owes`` is whether the bot must answer the last event."""

    def __init__(self, dialect: Dialect, seat: int, respell: Respell | None) -> None:
        self.dialect: Final = dialect
        self._seat: Final = seat
        self._respell: Final = respell
        self.owes = False

    @abc.abstractmethod
    def lines(self, event: Event, owed: Owed) -> list[bytes]:
        """Return the lines of an event; ``owed`` is the reply that it requires."""

    def read_reply(self, line: bytes, seconds: float) -> tuple[bytes | None, str]:
        """Return the acknowledgement of a reply, and what was wrong with its envelope."""
        return None, ""

    def _spelled(self, line: bytes) -> bytes:
        if self._respell is None:
            return line
        fields = msgspec.json.decode(line)
        if isinstance(fields, list):
            return msgspec.json.encode([self._respell(one) for one in fields])
        return msgspec.json.encode(self._respell(fields))


class LockstepSender(EventSender):
    """The original server."""

    def lines(self, event: Event, owed: Owed) -> list[bytes]:
        """See :meth:`EventSender.lines`."""
        self.owes = not isinstance(event, EndGame | Error)
        referee = owed.referee
        asked = referee.asked if owed.may_act else {}
        hinted = masked(with_hints(event, referee, asked), self._seat)
        return [self._spelled(encode(seated(hinted, referee.rules.players), LOCKSTEP))]


class PipeSender(EventSender):
    """The feeder of Mortal, or of mjai.app's arrays."""

    def __init__(self, dialect: Dialect, seat: int, respell: Respell | None) -> None:
        super().__init__(dialect, seat, respell)
        self._session = pipe_session(dialect, seat)

    def lines(self, event: Event, owed: Owed) -> list[bytes]:
        """See :meth:`EventSender.lines`."""
        line = self._session.send(masked(event, self._seat), owed.offers)
        self.owes, self._session.owes = self._session.owes, False
        return [] if line is None else [self._spelled(line)]


class RequestSender(EventSender):
    """RiichiLab's habit."""

    def __init__(self, dialect: Dialect, seat: int, respell: Respell | None) -> None:
        super().__init__(dialect, seat, respell)
        self._session = RequestSession()

    def lines(self, event: Event, owed: Owed) -> list[bytes]:
        """See :meth:`EventSender.lines`."""
        self.owes = bool(owed.offers)
        lines = [self._spelled(self._session.send(masked(event, self._seat)))]
        if owed.offers:
            lines.append(self._spelled(self._session.request(owed.offers)))
        return lines

    def read_reply(self, line: bytes, seconds: float) -> tuple[bytes | None, str]:
        """See :meth:`EventSender.read_reply`."""
        verdict = self._session.receive(line, round(1000 * seconds))
        problem = ""
        if verdict.reason and "request_id" in verdict.reason:
            problem = verdict.reason
        elif verdict.status == "accepted" and b'"request_id"' not in line:
            problem = "no request_id"
        return verdict.ack, problem


def sender_for(dialect: Dialect, seat: int, respell: Respell | None = None) -> EventSender:
    """Return the sender of a dialect to a seat."""
    kinds: dict[Dialect, type[EventSender]] = {
        LOCKSTEP: LockstepSender, LINES: PipeSender, ARRAYS: PipeSender, REQUESTS: RequestSender
    }  # fmt: skip
    return kinds[dialect](dialect, seat, respell)


def named(event: Event) -> Event:
    """Return a ``start_game`` with the names of the table."""
    if not isinstance(event, StartGame):
        return event
    return replace(event, names=NAMES[: announced_players(event.mjbot_rules)])


_SPARE: Final[dict[str, Sequence[str]]] = {
    "start_game": ("names",),
    "end_game": ("scores",),
    "reach_accepted": ("deltas", "scores"),
    "hora": ("hora_tehais", "yakus", "fu", "fan", "hora_points"),
}


def respell_sparsely(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out the fields that some servers do not send."""
    left_out = _SPARE.get(fields["type"], ())
    return {name: value for name, value in fields.items() if name not in left_out}


def respell_strangely(fields: dict[str, Any]) -> dict[str, Any]:
    """Add fields that no bot can know."""
    return fields | {"x_note": {"of": ["somebody", None, 1.5]}, "x_time": 20261122}
