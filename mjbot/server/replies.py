"""What a seat's reply means at this table, or why it cannot stand.

:mod:`protocol.replies` has checked what needs no table; here are the rest of the original
server's checks (mjai-protocol.md section 4.3).
"""

from collections.abc import Sequence

from mjbot.referee import Referee
from mjbot.referee.narrate import concealed_tiles
from mjbot.table.actions import Action
from mjbot.table.convert import to_action
from protocol.messages import Dahai, PlayerAction, Skip, wire_name
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
