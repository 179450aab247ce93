"""What the original server adds to an event for the seats that may act on it."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from mjbot.referee import Referee
from mjbot.referee.narrate import concealed_tiles
from mjbot.table.actions import Action
from protocol.messages import Chi, Dahai, Event, Hint, Kakan, Pon, Reach, Tsumo, hint
from protocol.tiles import TILE_NAMES

_ORDER: Final = ("tsumo", "ron", "riichi", "nine terminals")
_UNHINTED: Final = ("discard", "pass")

Asked = Mapping[int, tuple[Action, ...]]


def with_hints(event: Event, referee: Referee, asked: Asked) -> Event:
    """Return the event with all offers and bans, still unmasked.

    ``possible_actions`` goes with a draw, a discard and an added kan, ``cannot_dahai`` with a
    chi, a pon and a riichi; :func:`protocol.masking.masked` leaves each seat its own.  ``asked``
    is empty for an event that nobody may act on: its offers are then empty, not absent.
    """
    if isinstance(event, Tsumo | Dahai | Kakan):
        offers = [offer for seat in sorted(asked) for offer in offers_to(seat, referee, asked)]
        return replace(event, possible_actions=tuple(offers))
    if isinstance(event, Chi | Pon | Reach):
        return replace(event, cannot_dahai=_banned(event.actor, referee, asked))
    return event


def without_hints(event: Event) -> Event:
    """Return the event as a log shows it."""
    if isinstance(event, Tsumo | Dahai | Kakan):
        return replace(event, possible_actions=None)
    if isinstance(event, Chi | Pon | Reach):
        return replace(event, cannot_dahai=None)
    return event


def offers_to(seat: int, referee: Referee, asked: Asked) -> list[Hint]:
    """Return everything but discards and the pass, in the original server's order."""
    actions = [action for action in asked.get(seat, ()) if action.name not in _UNHINTED]
    actions.sort(key=_rank)
    return [hint(referee.message(seat, action)) for action in actions]


def _rank(action: Action) -> int:
    return _ORDER.index(action.name) if action.name in _ORDER else len(_ORDER)


def _banned(seat: int, referee: Referee, asked: Asked) -> tuple[str, ...]:
    allowed = {action.tile for action in asked.get(seat, ()) if action.name == "discard"}
    held = dict.fromkeys(concealed_tiles(referee.state, seat))
    return tuple([TILE_NAMES[tile] for tile in held if tile not in allowed])
