"""What one seat may see of an event."""

from typing import Final

from msgspec.structs import replace

from mjbot.protocol import messages as m

HIDDEN_HAND: Final = ("?",) * 13


def masked(event: m.Event, seat: m.Seat) -> m.Event:
    """Return ``event`` as the original server would send it to ``seat``.

    Other hands and draws become ``?``; ``start_game.id`` is the seat's own number; offers
    (``possible_actions``, ``cannot_dahai``) reach only the seat that may use them.

    >>> masked(m.Tsumo(actor=2, pai="5mr"), 0).pai
    '?'
    """
    match event:
        case m.StartGame():
            return replace(event, id=seat)
        case m.StartKyoku(tehais=tehais):
            hands = [hand if owner == seat else HIDDEN_HAND for owner, hand in enumerate(tehais)]
            return replace(event, tehais=tuple(hands))
        case m.Tsumo(actor=actor):
            return event if actor == seat else m.Tsumo(actor=actor, pai="?")
        case m.Dahai(possible_actions=hints) | m.Kakan(possible_actions=hints):
            offered = _offered(hints, event.actor, seat)
            return event if offered == hints else replace(event, possible_actions=offered)
        case m.Chi() | m.Pon() | m.Reach():
            return event if event.actor == seat else replace(event, cannot_dahai=None)
        case _:
            return event


def _offered(
    hints: tuple[m.Hint, ...] | None, actor: m.Seat, seat: m.Seat
) -> tuple[m.Hint, ...] | None:
    """The seat of the tile is offered nothing; the others get a list, which may be empty."""
    if actor == seat or hints is None:
        return None
    return tuple([hint for hint in hints if hint.actor in (seat, None)]) if hints else hints
