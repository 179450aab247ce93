"""How far each rival is, what it would cost to deal in to it, and how likely each tile does.

The chances are round numbers of our own, in the order that players' statistics have them; they
were not fitted to anything.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.table.state import State
from mjbot.table.view import View
from protocol.tiles import FIVE_KINDS, N_KINDS, N_TILES
from strategies.evaluation.draws import Counts
from strategies.evaluation.fold import FIRST_HONOUR, is_suji
from strategies.evaluation.techniques.worth import Pair, kyoku_left, pair_worth

Points = NDArray[np.float64]

TENPAI_PER_TURN: Final = (0.012, 0.035, 0.06, 0.08, 0.1)
"""Chance of tenpai per own discard, by open melds; riichi is certain."""
MOST_TENPAI: Final = 0.9
RIICHI_LOSS: Final = 6000
QUIET_LOSS: Final = 4000
OPEN_LOSS: Final = 2500
DORA_LOSS: Final = 1500
DEALER_FACTOR: Final = 1.5

HONOUR_CHANCE: Final = (0.0, 0.015, 0.035, 0.06, 0.06)
"""Chance that an honour is the winning tile of a tenpai hand, by unseen copies."""
SUJI_CHANCE: Final = (0.03, 0.045, 0.05, 0.05, 0.055)
OTHER_CHANCE: Final = (0.065, 0.085, 0.1, 0.125, 0.13)
"""The same of a number tile, by its distance from the terminals."""


def tenpai_chance(view: View, seat: int) -> float:
    """Return how likely a seat is tenpai, by its riichi, melds and turns."""
    if view.riichi(seat):
        return 1.0
    melds = len(view.melds(seat)) if view.is_open(seat) else 0
    return min(MOST_TENPAI, TENPAI_PER_TURN[melds] * len(view.river(seat)))


def expected_win(view: View, seat: int) -> float:
    """Return what a win of the seat is about worth, in points."""
    loss = RIICHI_LOSS if view.riichi(seat) else OPEN_LOSS if view.is_open(seat) else QUIET_LOSS
    for meld in view.melds(seat):
        loss += DORA_LOSS * (int(view.dora[meld.kind]) * 3 + meld.red.bit_count())
    return loss * (DEALER_FACTOR if seat == view.dealer else 1.0)


def deal_in_cost(view: View, pair: Pair, payer: int, winner: int) -> float:
    """Return what it costs the pair, placements included, if one of it deals in to a rival."""
    loss = round(expected_win(view, winner))
    before = [int(score) for score in view.scores]
    after = list(before)
    after[payer] -= loss
    after[winner] += loss
    left = kyoku_left(view)
    return max(0.0, pair_worth(before, pair, left) - pair_worth(after, pair, left))


def discard_danger(view: View, pair: Pair) -> Points:
    """Return the points that discarding each tile (0..36) is expected to lose to the rivals."""
    danger = np.zeros(N_TILES)
    for rival in range(4):
        if rival not in pair:
            stake = tenpai_chance(view, rival) * deal_in_cost(view, pair, view.seat, rival)
            danger[:N_KINDS] += stake * deal_in_chances(view.state, rival, view.unseen)
    danger[N_KINDS:] = danger[list(FIVE_KINDS)]
    return danger


@compiled
def deal_in_chances(state: State, rival: int, unseen: Counts) -> Points:
    """Return for each kind the chance that a tenpai rival wins on it: float64[34]."""
    safe = state.discarded[rival] | state.passed[rival]
    chances = np.zeros(N_KINDS)
    for kind in range(N_KINDS):
        if safe >> kind & 1:
            continue
        if kind >= FIRST_HONOUR:
            chances[kind] = HONOUR_CHANCE[unseen[kind]]
        else:
            depth = min(kind % 9, 8 - kind % 9)
            chances[kind] = (SUJI_CHANCE if is_suji(safe, kind) else OTHER_CHANCE)[depth]
    return chances
