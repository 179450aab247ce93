"""What a seat's reply means at this table, or why it cannot stand.

:mod:`protocol.replies` has checked what needs no table; here are the rest of the original
server's checks (mjai-protocol.md section 4.3), and RiichiLab's more generous reading.
"""

from collections.abc import Sequence
from typing import Any

from mjbot.referee import Referee
from mjbot.referee.narrate import concealed_tiles
from mjbot.table.actions import Action
from mjbot.table.convert import to_action
from protocol.messages import Ankan, Dahai, PlayerAction, Skip, wire_name
from protocol.tiles import TILE_NAMES


class ReplyError(ValueError):
    """A reply that cannot stand; the text says why, as the original server would."""


def read_reply(
    referee: Referee, seat: int, reply: PlayerAction, legal: Sequence[Action]
) -> Action | None:
    """Return what ``seat`` does; ``None`` if it was not asked and said ``none``.

    ``legal`` is what it may do, empty when it is not asked.  Raises :class:`ReplyError`.
    """
    if isinstance(reply, Skip) and not legal:
        return None
    try:
        action = to_action(referee.state, seat, reply)
    except ValueError as error:
        raise ReplyError(f"{wire_name(reply)}: {error}.") from None
    if action not in legal or not _same_tiles(referee.message(seat, action), reply):
        raise ReplyError(_why_not(referee, seat, reply))
    return action


def match_entry(
    fields: dict[str, Any], offers: Sequence[tuple[Action, PlayerAction]]
) -> Action | None:
    """Return the offered action that a reply means which may leave out all that is plain.

    An ankan is matched by its tiles only, whatever is missing counts as fitting, and a discard
    prefers the hand to the drawn tile unless it says otherwise (RiichiLab's reading).
    """
    fitting = [(action, offer) for action, offer in offers if _fits(fields, offer)]
    if fields.get("type") == "dahai" and "pai" not in fields:
        return None  # whose guess would it be?
    return fitting[0][0] if fitting else None


def _fits(fields: dict[str, Any], offer: PlayerAction) -> bool:
    if fields.get("type") != wire_name(offer):
        return False
    for name in ("pai", "tsumogiri"):
        if isinstance(offer, Ankan) or name not in fields:
            continue
        if fields[name] != getattr(offer, name, fields[name]):
            return False
    consumed = fields.get("consumed")
    if consumed is None:
        return True
    return isinstance(consumed, list) and sorted(map(str, consumed)) == sorted(
        getattr(offer, "consumed", ())
    )


def _same_tiles(ours: PlayerAction, theirs: PlayerAction) -> bool:
    """Red fives count: the very tiles that the table would offer, in any order."""
    consumed = sorted(getattr(ours, "consumed", ())) == sorted(getattr(theirs, "consumed", ()))
    return consumed and getattr(ours, "pai", None) == getattr(theirs, "pai", None)


def _why_not(referee: Referee, seat: int, reply: PlayerAction) -> str:
    if not isinstance(reply, Dahai):
        return f"The {wire_name(reply)} is not allowed."
    held = [TILE_NAMES[tile] for tile in concealed_tiles(referee.state, seat)]
    drawn = int(referee.state["drawn"])
    if drawn >= 0 and TILE_NAMES[drawn] in held:
        held.remove(TILE_NAMES[drawn])
    if not reply.tsumogiri and reply.pai not in held:
        return "tsumogiri is false but the pai is not in tehais."
    return f"Cannot dahai this pai now: {reply.pai}."
