"""RiichiLab's side of one connection: events go out, answers come only on request.

docs/protocol.md, section 5.3.  No clock, no socket, no knowledge of the rules: the table passes
what may be answered, and how long a reply took comes in as an argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import msgspec

from mjbot.protocol import messages as m
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import REQUESTS
from mjbot.protocol.errors import NOT_JSON
from mjbot.protocol.framing import without_mark
from mjbot.protocol.reading import SPELLINGS_OF_KITA
from mjbot.protocol.rules import RANKED, announced_players
from mjbot.protocol.seats import seated
from mjbot.protocol.sessions.time_bank import TimeBank

Status = Literal["accepted", "rejected", "unparseable", "stale", "defaulted"]


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Each decision has ``grace_ms``; beyond it a bank of ``bank_ms`` per kyoku is used up."""

    grace_ms: int = 3000
    bank_ms: int = 15000


class ReplyOutcome(NamedTuple):
    """What became of a reply.

    ``ack`` is the frame that reports it to the player, ``choice`` the place of an accepted reply
    among the offers, ``reason`` why it was not accepted.  After ``stale`` the request stands.
    """

    status: Status
    ack: bytes
    choice: int | None = None
    reason: str | None = None


class RequestSession:
    """One player's connection to a table in RiichiLab's dialect (its version 2)."""

    def __init__(self, limits: TimeLimits | None = None) -> None:
        limits = limits or TimeLimits()
        self._bank: Final = TimeBank(limits.grace_ms, limits.bank_ms)
        self._request_id = 0
        self._seat: m.Seat | None = None
        self._players = RANKED.players
        self._offers: tuple[m.PlayerAction, ...] = ()

    @property
    def deadline_ms(self) -> int:
        """How long the open request may take."""
        return self._bank.deadline_ms

    def send(self, message: m.Message) -> bytes:
        """Return the frame of an event, which must be masked for this seat already."""
        if isinstance(message, m.StartGame):
            self._seat = message.id
            self._players = announced_players(message.mjbot_rules)
        elif isinstance(message, m.StartKyoku):
            self._bank.refill()
        return encode(seated(message, self._players), REQUESTS)

    def request(self, offers: Sequence[m.PlayerAction]) -> bytes:
        """Return the frame that asks for one of ``offers``; a request before it is closed."""
        self._request_id += 1
        self._offers = tuple(offers)
        hints = dict.fromkeys([terse_hint(offer, self._seat) for offer in offers])
        request = m.RequestAction(
            request_id=self._request_id,
            possible_actions=tuple(hints),
            grace_ms=self._bank.grace_ms,
            bank_ms=self._bank.left_ms,
            deadline_ms=self.deadline_ms,
        )
        return encode(request, REQUESTS)

    def receive(self, frame: bytes | str, elapsed_ms: int) -> ReplyOutcome:
        """Return what becomes of a reply that came ``elapsed_ms`` after the request."""
        try:
            data = frame.encode() if isinstance(frame, str) else frame
            fields = msgspec.json.decode(without_mark(data), type=dict[str, Any])
        except NOT_JSON:
            return self._verdict("unparseable", elapsed_ms, reason="not a JSON object")
        request_id = fields.get("request_id", self._request_id)
        if type(request_id) is not int or not 0 < request_id <= self._request_id:
            return self._verdict("unparseable", elapsed_ms, reason="no such request_id")
        if request_id < self._request_id or not self._offers:
            ack = m.ActionAck(status="stale", request_id=request_id)
            return ReplyOutcome("stale", encode(ack, REQUESTS), reason="an old request_id")
        choice = meant(fields, self._offers)
        if choice is None:
            return self._verdict("rejected", elapsed_ms, reason="not among possible_actions")
        self._offers = ()
        return self._verdict("accepted", elapsed_ms, choice=choice)

    def expire(self) -> ReplyOutcome:
        """Close the request whose deadline has passed: the bank is empty, a default is played."""
        self._offers = ()
        return self._verdict("defaulted", self.deadline_ms)

    def _verdict(
        self,
        status: Status,
        elapsed_ms: int,
        *,
        choice: int | None = None,
        reason: str | None = None,
    ) -> ReplyOutcome:
        self._bank.spend(elapsed_ms)
        ack = m.ActionAck(
            status=status,
            request_id=self._request_id,
            elapsed_ms=elapsed_ms,
            bank_ms=self._bank.left_ms,
            reason=reason,
        )
        return ReplyOutcome(status, encode(ack, REQUESTS), choice, reason)


def terse_hint(action: m.PlayerAction, seat: m.Seat | None) -> m.Hint:
    """Return an offer of ``seat`` as RiichiLab's engine writes it.

    It has an actor, a pass too; no target and no ``tsumogiri``, and a win no tile.  A red five is
    the first of ``consumed``, and the tile of a concealed kan.

    >>> terse_hint(m.Ankan(actor=2, consumed=("5s", "5s", "5s", "5sr")), 2).pai
    '5sr'
    """
    consumed = tuple(sorted(getattr(action, "consumed", ()), key=_engine_order))
    pai = None if isinstance(action, m.Hora) else getattr(action, "pai", None)
    if isinstance(action, m.Ankan):
        pai = consumed[0]
    return m.Hint(type=m.wire_name(action), actor=seat, pai=pai, consumed=consumed or None)


def _engine_order(tile: str) -> tuple[str, bool]:
    """Return where a tile stands in the engine's order of pieces; the red five is the first."""
    return tile[:2], not tile.endswith("r")


def meant(fields: dict[str, Any], offers: Sequence[m.PlayerAction]) -> int | None:
    """Return the place of the offer that a reply means, which may leave out all that is plain.

    An ankan is known by ``consumed`` alone; a discard needs its tile, and without ``tsumogiri``
    (or with false, which is the same to RiichiLab) it is from the hand if it can be.
    """
    if fields.get("type") == "dahai":
        return _meant_discard(fields, offers)
    name = "kita" if fields.get("type") in SPELLINGS_OF_KITA else fields.get("type")
    for index, offer in enumerate(offers):
        if name == m.wire_name(offer) and _fits(fields, offer):
            return index
    return None


def _meant_discard(fields: dict[str, Any], offers: Sequence[m.PlayerAction]) -> int | None:
    offered = {
        offer.tsumogiri: index
        for index, offer in enumerate(offers)
        if isinstance(offer, m.Dahai) and offer.pai == fields.get("pai")
    }
    if fields.get("tsumogiri") is True:
        return offered.get(True)
    return offered.get(False, offered.get(True))


def _fits(fields: dict[str, Any], offer: m.PlayerAction) -> bool:
    pai = fields.get("pai")
    if pai is not None and not isinstance(offer, m.Ankan) and getattr(offer, "pai", pai) != pai:
        return False
    consumed = fields.get("consumed")
    if consumed is None:
        return True
    ours = sorted(getattr(offer, "consumed", ()))
    return isinstance(consumed, list) and sorted(map(str, consumed)) == ours
