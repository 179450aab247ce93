"""RiichiLab's side of one connection: events go out, answers come only on request.

No clock, no socket, no knowledge of the rules: the table says which actions are legal, and
:meth:`RequestSession.receive` finds the one that a reply means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from protocol.codec import encode
from protocol.dialects import Dialect
from protocol.messages import (
    ActionAck,
    Dahai,
    Hint,
    Message,
    PlayerAction,
    RequestAction,
    wire_name,
)

Status = Literal["accepted", "rejected", "unparseable", "stale", "defaulted"]


@dataclass(frozen=True)
class Verdict:
    """What became of a reply; ``action`` only when it was accepted."""

    status: Status
    request_id: int | None
    action: PlayerAction | None = None
    reason: str | None = None


class RequestSession:
    """One player's connection to a table that speaks RiichiLab's dialect (protocol v2)."""

    def __init__(self) -> None:
        self._request_id = 0
        self._actions: tuple[PlayerAction, ...] | None = None

    def say(self, message: Message) -> bytes:
        """Return the frame for an event, which must be masked for this seat already."""
        return encode(message, Dialect.RIICHILAB)

    def request(
        self, actions: Sequence[PlayerAction], *, grace_ms: int = 3000, bank_ms: int = 15000
    ) -> bytes:
        """Return the frame that asks for one of ``actions``; closes any request before it."""
        self._request_id += 1
        self._actions = tuple(actions)
        return encode(
            RequestAction(
                request_id=self._request_id,
                possible_actions=tuple([minimal_hint(action) for action in actions]),
                grace_ms=grace_ms,
                bank_ms=bank_ms,
                deadline_ms=grace_ms + bank_ms,
            ),
            Dialect.RIICHILAB,
        )

    def receive(self, frame: bytes | str) -> Verdict:
        """Return what becomes of a reply; an accepted one closes the request."""
        fields = _object(frame)
        if fields is None:
            return Verdict("unparseable", None, reason="not a JSON object")
        request_id = fields.get("request_id", self._request_id)
        if not isinstance(request_id, int) or not 0 < request_id <= self._request_id:
            return Verdict("unparseable", None, reason="unknown request_id")
        if self._actions is None or request_id < self._request_id:
            return Verdict("stale", request_id)
        action = _meant(fields, self._actions)
        if action is None:
            return Verdict("rejected", request_id, reason="not one of possible_actions")
        self._actions = None
        return Verdict("accepted", request_id, action)

    def expire(self) -> Verdict:
        """Close the request because its deadline has passed; the table plays the default."""
        self._actions = None
        return Verdict("defaulted", self._request_id)

    def acknowledge(self, verdict: Verdict, *, elapsed_ms: int, bank_ms: int) -> bytes:
        """Return the frame that tells the player what became of its reply."""
        ack = ActionAck(
            status=verdict.status,
            request_id=verdict.request_id,
            elapsed_ms=elapsed_ms,
            bank_ms=bank_ms,
            reason=verdict.reason,
        )
        return encode(ack, Dialect.RIICHILAB)


_SAID: Final[dict[str, tuple[str, ...]]] = {
    "dahai": ("pai",),
    "chi": ("pai", "consumed"),
    "pon": ("pai", "consumed"),
    "daiminkan": ("pai", "consumed"),
    "kakan": ("pai", "consumed"),
    "ankan": ("consumed",),
}
"""What identifies an action of each type; the other types have at most one candidate."""


def minimal_hint(action: PlayerAction) -> Hint:
    """Return the entry as RiichiLab writes it: no actor, no target.

    >>> minimal_hint(Dahai(actor=2, pai="E", tsumogiri=True)).pai
    'E'
    """
    said: dict[str, Any] = {}
    for field in _SAID.get(wire_name(action), ()):
        said[field] = getattr(action, field)
    if isinstance(action, Dahai):
        said["tsumogiri"] = action.tsumogiri
    return Hint(type=wire_name(action), **said)


def _object(frame: bytes | str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _meant(fields: dict[str, Any], actions: Sequence[PlayerAction]) -> PlayerAction | None:
    """Return the action that fits; of two discards of a tile the one with that ``tsumogiri``."""
    fitting = [action for action in actions if _fits(fields, action)]
    for action in fitting:
        if isinstance(action, Dahai) and action.tsumogiri is bool(fields.get("tsumogiri")):
            return action
    return fitting[0] if fitting else None


def _fits(fields: dict[str, Any], action: PlayerAction) -> bool:
    if fields.get("type") != wire_name(action):
        return False
    for field in _SAID.get(wire_name(action), ()):
        said, meant = fields.get(field), getattr(action, field)
        if field == "consumed":
            if not isinstance(said, list) or sorted(map(str, said)) != sorted(meant):
                return False
        elif said != meant:
            return False
    return True
