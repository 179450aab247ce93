"""What points are worth: how a change of the own score moves the rank one may expect.

The order of two scores stays open while kyoku remain: the chance to end above another is
logistic in the difference, the wider the more kyoku are left.
"""

from math import exp, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.table.state import State

Floats = NDArray[np.float64]

STEP: Final = 500
LOWEST: Final = -36000
N_STEPS: Final = 181
"""The table reaches from -36,000 to +54,000 points."""


@compiled
def rank_worth(state: State, seat: int, swing: float, share: float, out: Floats) -> None:
    """Fill ``out`` float64[181] with the worth of changing the own score by -36,000 .. +54,000.

    The worth of no change is 0, and that of small changes is what they are in points.  ``swing``
    is how many points one kyoku drives two scores apart, ``share`` (0..1) how much of a change
    counts as rank, the rest as points.  Others' scores move by a third of it the other way.
    """
    left = max(0, state.last_round - state.round) + 1.0
    scale = swing * sqrt(left) * 0.55
    here = _expected_rank(state, seat, 0, scale)
    slope = _expected_rank(state, seat, -1000, scale) - _expected_rank(state, seat, 1000, scale)
    slope = max(slope / 2, 0.004)
    for place in range(N_STEPS):
        points = LOWEST + STEP * place
        ranks = (here - _expected_rank(state, seat, points, scale)) / slope * 1000
        out[place] = share * ranks + (1 - share) * points


@compiled
def _expected_rank(state: State, seat: int, points: float, scale: float) -> float:
    rank = 1.0
    own = state.scores[seat] + points
    for step in range(1, 4):
        other = (seat + step) & 3
        tie = 50.0 if other < seat else -50.0
        ahead = state.scores[other] - points / 3 + tie - own
        rank += 1 / (1 + exp(-ahead / scale))
    return rank


@compiled
def worth_of(table: Floats, points: float) -> float:
    """Return the worth of a change in points, between the table's steps linearly.

    >>> table = np.arange(181) * 500.0 - 36000
    >>> worth_of(table, 1250.0)
    1250.0
    """
    place = (points - LOWEST) / STEP
    if place <= 0:
        return float(table[0])
    if place >= N_STEPS - 1:
        return float(table[N_STEPS - 1])
    low = int(place)
    return float(table[low] + (place - low) * (table[low + 1] - table[low]))
