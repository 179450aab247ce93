"""RiichiLab's side of one connection: decisions on request, against a bank of time.

mjai-protocol.md section 5.4.  No clock, no socket: how long a reply took comes in as an argument.
"""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from mjbot.server.replies import match_entry
from mjbot.table.actions import Action
from protocol.codec import encode
from protocol.dialects import Dialect
from protocol.messages import (
    ActionAck,
    Error,
    Event,
    Hint,
    Hora,
    PlayerAction,
    RequestAction,
    StartKyoku,
    hint,
)


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Each decision has ``grace_ms``; beyond it a bank of ``bank_ms`` per kyoku is used up."""

    grace_ms: int = 3000
    bank_ms: int = 15000


@dataclass(frozen=True, slots=True)
class Judged:
    """The acknowledgement to send, and what the reply amounts to.

    Neither ``action`` nor ``problem``: the reply was an old one, the request stands.
    """

    ack: bytes
    action: Action | None = None
    problem: str | None = None


class RequestSession:
    """One player's connection."""

    def __init__(self, limits: TimeLimits) -> None:
        self._limits: Final = limits
        self._bank_ms = limits.bank_ms
        self._request_id = 0
        self._offers: list[tuple[Action, PlayerAction]] = []

    @property
    def deadline_ms(self) -> int:
        """How long the open request may take."""
        return self._limits.grace_ms + self._bank_ms

    def say(self, message: Event | Error) -> bytes:
        """Return the frame of an event; it needs no answer."""
        if isinstance(message, StartKyoku):
            self._bank_ms = self._limits.bank_ms
        return encode(message, Dialect.RIICHILAB)

    def request(self, offers: list[tuple[Action, PlayerAction]]) -> bytes:
        """Return the frame that asks for one of the offers."""
        self._request_id += 1
        self._offers = offers
        request = RequestAction(
            request_id=self._request_id,
            possible_actions=tuple([_entry(message) for _, message in offers]),
            grace_ms=self._limits.grace_ms,
            bank_ms=self._bank_ms,
            deadline_ms=self.deadline_ms,
        )
        return encode(request, Dialect.RIICHILAB)

    def judge(self, frame: bytes, elapsed_ms: int) -> Judged:
        """Take a reply that came ``elapsed_ms`` after the request."""
        try:
            fields = msgspec.json.decode(frame, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError) as error:
            return self._refused("unparseable", f"not a JSON object: {error}", elapsed_ms)
        request_id = fields.get("request_id", self._request_id)
        if not isinstance(request_id, int) or request_id > self._request_id:
            return self._refused("unparseable", f"no such request_id: {request_id}", elapsed_ms)
        if request_id < self._request_id:
            ack = ActionAck(status="stale", request_id=request_id)
            return Judged(encode(ack, Dialect.RIICHILAB))
        action = match_entry(fields, self._offers)
        if action is None:
            return self._refused("rejected", "not among possible_actions", elapsed_ms)
        return Judged(self._ack("accepted", elapsed_ms), action)

    def expire(self) -> bytes:
        """The deadline has passed: return the frame that says so; the bank is empty."""
        elapsed_ms = self.deadline_ms
        return self._ack("defaulted", elapsed_ms)

    def _refused(self, status: str, reason: str, elapsed_ms: int) -> Judged:
        return Judged(self._ack(status, elapsed_ms, reason), problem=f"{status}, {reason}.")

    def _ack(self, status: str, elapsed_ms: int, reason: str | None = None) -> bytes:
        used_ms = max(0, elapsed_ms - self._limits.grace_ms)
        self._bank_ms = max(0, self._bank_ms - used_ms)
        ack = ActionAck(
            status=status,
            request_id=self._request_id,
            elapsed_ms=elapsed_ms,
            bank_ms=self._bank_ms,
            reason=reason,
        )
        return encode(ack, Dialect.RIICHILAB)


def _entry(message: PlayerAction) -> Hint:
    """Offers are terse: no actor, no target, and a win needs no tile."""
    said = hint(message)
    pai = None if isinstance(message, Hora) else said.pai
    return Hint(type=said.type, pai=pai, consumed=said.consumed, tsumogiri=said.tsumogiri)
