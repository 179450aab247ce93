"""Spare the ally: let its tile pass where a win on it gains the pair nothing.

Not of the paper.  Points that one of a pair wins from the other change nothing between the pair
and its rivals; what the win brings is the end of the kyoku, sticks, and placements.
"""

import numpy as np

from mjbot.table.actions import RON, Action
from mjbot.table.settle import PAYMENT, win_payment
from strategies.evaluation.techniques.danger import expected_win
from strategies.evaluation.techniques.situation import Situation
from strategies.evaluation.techniques.worth import worth_after


def spares_ally(situation: Situation, win: Action, reluctance: float) -> bool:
    """Whether to pass on the ally's tile: playing on is worth at least as much.

    ``reluctance`` are points by which the win must be worth more.
    """
    view, ally = situation.view, situation.ally
    if win.code != RON or view.turn != ally.seat:
        return False
    deltas = ron_points(situation)
    won = worth_after(view, situation.pair, deltas, view.seat)
    usual = round(expected_win(view, ally.seat))
    on = situation.worth_of_playing_on(usual, deltas[view.seat])
    return on + reluctance >= won


def ron_points(situation: Situation) -> list[int]:
    """Return what each seat gains by our ron of the tile on offer."""
    view = situation.view
    payment = np.zeros(1, PAYMENT)[0]
    win_payment(view.state, view.seat, view.claim_tile, False, payment)
    deltas: list[int] = payment["deltas"].tolist()
    return deltas
