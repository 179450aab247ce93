"""The chance to win that is reported: the estimate, calibrated on recorded games.

The estimate (:mod:`mjbot.strategies.evaluation.push_fold.race`) is that of a player who always
plays for the win, against opponents who win at their usual pace.  Hands near a win are estimated
too high: opponents fold, and players fold.  In each situation a monotone function makes the share
of wins of it that hands of such an estimate had, whatever their players did later.  No choice
depends on it.

Fitted by ``python -m proof calibration --fit`` on every fifth game of the Phoenix room 2024, 0 to
3999 (800 games, 481,093 decisions, 2026-11-24).  How well it holds in other games:
docs/review.md, *Chances to win*.
"""

from functools import cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import Action
from mjbot.game.table.mirror.wire import consumed_tiles
from mjbot.game.table.view import View
from mjbot.protocol.tiles import tile_kind

WinSituation = Literal[
    "riichi",
    "silent tenpai",
    "closed, 1 shanten",
    "closed, 2 shanten",
    "closed, 3 shanten or more",
    "open tenpai",
    "open, 1 shanten",
    "open, 2 shanten or more",
]
CLOSED: Final[tuple[WinSituation, ...]] = (
    "silent tenpai",
    "closed, 1 shanten",
    "closed, 2 shanten",
    "closed, 3 shanten or more",
)
OPEN: Final[tuple[WinSituation, ...]] = (
    "open tenpai",
    "open, 1 shanten",
    "open, 2 shanten or more",
)
SITUATIONS: Final[tuple[WinSituation, ...]] = ("riichi", *CLOSED, *OPEN)


def situation_after(view: View, action: Action, in_riichi: bool = False) -> WinSituation:
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


def calibrated(chance: float, situation: WinSituation) -> float:
    """Return the share of wins (0..1) of hands with that estimated chance (0..1) in records."""
    estimates, shares = _knots(situation)
    return float(np.interp(chance, estimates, shares))


@cache
def _knots(situation: WinSituation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = np.array(CALIBRATION[situation])
    return points[:, 0], points[:, 1]


# fmt: off
CALIBRATION: Final[dict[WinSituation, tuple[tuple[float, float], ...]]] = {
    "riichi": (
        (0.000, 0.000), (0.269, 0.203), (0.378, 0.330), (0.450, 0.338), (0.533, 0.384),
        (0.599, 0.434), (0.631, 0.440), (0.666, 0.478), (0.703, 0.530), (0.762, 0.533),
        (0.824, 0.595), (0.850, 0.628), (0.872, 0.697), (0.909, 0.749),
    ),
    "silent tenpai": (
        (0.009, 0.016), (0.091, 0.110), (0.144, 0.119), (0.183, 0.201), (0.224, 0.237),
        (0.265, 0.288), (0.342, 0.296), (0.410, 0.308), (0.459, 0.311), (0.496, 0.370),
        (0.528, 0.402), (0.599, 0.450), (0.710, 0.467), (0.772, 0.501), (0.834, 0.534),
        (0.907, 0.620),
    ),
    "closed, 1 shanten": (
        (0.000, 0.000), (0.015, 0.012), (0.063, 0.037), (0.097, 0.054), (0.124, 0.067),
        (0.148, 0.090), (0.168, 0.107), (0.187, 0.127), (0.207, 0.139), (0.225, 0.157),
        (0.244, 0.172), (0.261, 0.183), (0.278, 0.208), (0.295, 0.215), (0.313, 0.222),
        (0.332, 0.239), (0.352, 0.251), (0.374, 0.255), (0.398, 0.278), (0.423, 0.284),
        (0.451, 0.294), (0.483, 0.320), (0.520, 0.356), (0.568, 0.383), (0.659, 0.465),
    ),
    "closed, 2 shanten": (
        (0.002, 0.001), (0.021, 0.004), (0.043, 0.012), (0.063, 0.022), (0.082, 0.038),
        (0.100, 0.055), (0.117, 0.070), (0.132, 0.081), (0.146, 0.098), (0.159, 0.114),
        (0.171, 0.125), (0.183, 0.137), (0.195, 0.151), (0.207, 0.158), (0.219, 0.170),
        (0.232, 0.193), (0.246, 0.196), (0.261, 0.208), (0.279, 0.230), (0.299, 0.240),
        (0.324, 0.251), (0.355, 0.265), (0.399, 0.284), (0.492, 0.337),
    ),
    "closed, 3 shanten or more": (
        (0.000, 0.000), (0.013, 0.004), (0.048, 0.012), (0.070, 0.036), (0.086, 0.055),
        (0.097, 0.063), (0.106, 0.091), (0.114, 0.093), (0.121, 0.112), (0.128, 0.113),
        (0.134, 0.127), (0.140, 0.133), (0.147, 0.138), (0.153, 0.146), (0.163, 0.156),
        (0.173, 0.169), (0.190, 0.171), (0.214, 0.183), (0.234, 0.197), (0.260, 0.233),
        (0.326, 0.256),
    ),
    "open tenpai": (
        (0.000, 0.018), (0.105, 0.076), (0.321, 0.187), (0.416, 0.237), (0.486, 0.282),
        (0.594, 0.284), (0.692, 0.326), (0.740, 0.349), (0.754, 0.390), (0.773, 0.399),
        (0.819, 0.458), (0.858, 0.460), (0.867, 0.506), (0.877, 0.535), (0.890, 0.546),
        (0.902, 0.559), (0.916, 0.616), (0.943, 0.706),
    ),
    "open, 1 shanten": (
        (0.000, 0.000), (0.016, 0.012), (0.106, 0.057), (0.154, 0.083), (0.190, 0.099),
        (0.227, 0.112), (0.257, 0.135), (0.279, 0.157), (0.299, 0.171), (0.331, 0.203),
        (0.369, 0.213), (0.397, 0.263), (0.435, 0.263), (0.469, 0.279), (0.490, 0.301),
        (0.511, 0.324), (0.532, 0.357), (0.554, 0.384), (0.578, 0.405), (0.607, 0.428),
        (0.648, 0.449), (0.729, 0.556),
    ),
    "open, 2 shanten or more": (
        (0.002, 0.013), (0.026, 0.022), (0.048, 0.028), (0.070, 0.065), (0.091, 0.066),
        (0.108, 0.080), (0.126, 0.096), (0.143, 0.130), (0.159, 0.133), (0.173, 0.151),
        (0.185, 0.184), (0.206, 0.191), (0.225, 0.234), (0.239, 0.243), (0.254, 0.262),
        (0.270, 0.288), (0.289, 0.289), (0.314, 0.310), (0.379, 0.323), (0.476, 0.377),
    ),
}
"""Estimated chance and share of wins, by situation; linear in between, constant beyond the last."""
