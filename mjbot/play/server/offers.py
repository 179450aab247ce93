"""What a seat may do, as the original server offers it, and what the seat's reply then means.

The original server adds to an event what the seats may do about it.  Of its checks of a reply
(docs/protocol.md, section 4.3) :mod:`mjbot.protocol.sessions.lockstep_server` has those that need
no table; here are the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.hands import concealed_tiles
from mjbot.game.table.mirror.wire import to_action
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import TILE_NAMES, tile_names

_ORDER: Final = ("tsumo", "ron", "riichi", "nine terminals")
_UNHINTED: Final = ("discard", "pass")
_OFFERING: Final = (m.Tsumo, m.Dahai, m.Kakan)
_BANNING: Final = (m.Chi, m.Pon, m.Reach)

Asked = Mapping[int, tuple[Action, ...]]


def with_hints(event: m.Event, referee: Referee, asked: Asked) -> m.Event:
    """Return the event with all offers and bans, still unmasked.

    ``possible_actions`` goes with a draw, a discard and an added kan, ``cannot_dahai`` with a
    chi, a pon and a riichi; :func:`mjbot.protocol.masking.masked` leaves each seat its own.
    ``asked`` is empty for an event that no seat may act on: its offers are then empty, not absent.
    """
    if isinstance(event, _OFFERING):
        offers = [offer for seat in sorted(asked) for offer in offers_to(seat, referee, asked)]
        return replace(event, possible_actions=tuple(offers))
    if isinstance(event, _BANNING):
        return replace(event, cannot_dahai=_banned(event.actor, referee, asked))
    return event


def without_hints(event: m.Event) -> m.Event:
    """Return the event as a log shows it."""
    if isinstance(event, _OFFERING):
        return replace(event, possible_actions=None)
    if isinstance(event, _BANNING):
        return replace(event, cannot_dahai=None)
    return event


def offers_to(seat: int, referee: Referee, asked: Asked) -> list[m.Hint]:
    """Return everything but discards and the pass, in the original server's order."""
    actions = [action for action in asked.get(seat, ()) if action.name not in _UNHINTED]
    actions.sort(key=_rank)
    return [m.hint(referee.message(seat, action)) for action in actions]


def _rank(action: Action) -> int:
    return _ORDER.index(action.name) if action.name in _ORDER else len(_ORDER)


def _banned(seat: int, referee: Referee, asked: Asked) -> tuple[str, ...]:
    allowed = {action.tile for action in asked.get(seat, ()) if action.name == "discard"}
    held = dict.fromkeys(concealed_tiles(referee.state, seat))
    return tile_names(tile for tile in held if tile not in allowed)


class ReplyError(ValueError):
    """A reply that cannot stand; the text is the reason, as of the original server."""


def read_reply(
    referee: Referee, seat: int, reply: m.PlayerAction, legal: Sequence[Action]
) -> Action | None:
    """Return what ``seat`` does; ``None`` if it was not asked and sent ``none``.

    ``legal`` is what it may do, empty when it is not asked.  Raises :class:`ReplyError`.
    """
    if not legal:  # the referee may be further than the event that the seat has answered
        if isinstance(reply, m.Skip):
            return None
        raise ReplyError(_not_allowed(referee, reply))
    try:
        action = to_action(referee.state, seat, reply)
    except ValueError as error:
        raise ReplyError(f"{m.wire_name(reply)}: {error}.") from None
    if action not in legal or not _same_tiles(referee.message(seat, action), reply):
        raise ReplyError(_why_not(referee, seat, reply))
    return action


def _same_tiles(ours: m.PlayerAction, theirs: m.PlayerAction) -> bool:
    """Red fives count: the very tiles that the table would offer, in any order."""
    consumed = sorted(getattr(ours, "consumed", ())) == sorted(getattr(theirs, "consumed", ()))
    return consumed and getattr(ours, "pai", None) == getattr(theirs, "pai", None)


def _why_not(referee: Referee, seat: int, reply: m.PlayerAction) -> str:
    if not isinstance(reply, m.Dahai):
        return _not_allowed(referee, reply)
    held = list(tile_names(concealed_tiles(referee.state, seat)))
    drawn = int(referee.state["drawn"])
    if drawn >= 0 and TILE_NAMES[drawn] in held:
        held.remove(TILE_NAMES[drawn])
    if not reply.tsumogiri and reply.pai not in held:
        return "tsumogiri is false but the pai is not in tehais."
    return f"Cannot dahai this pai now: {reply.pai}."


def _not_allowed(referee: Referee, reply: m.PlayerAction) -> str:
    is_chi_of_three = isinstance(reply, m.Chi) and referee.rules.players == 3
    why = ": three play, without chi" if is_chi_of_three else ""
    return f"The {m.wire_name(reply)} is not allowed{why}."
