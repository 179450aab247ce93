"""What the scores after a kyoku are worth to a pair, in points.

The measure is the pair's scores plus the placement points that it may expect: those of the ranks
as they are if the game is over, be it by the last hand or by a bust; otherwise the nearer two
scores are and the more kyoku are left, the more their order is open.
"""

import math
from collections.abc import Sequence
from typing import Final

from mjbot.rules.ruleset import UMA_POINTS
from mjbot.table.view import View

STEP_POINTS: Final = (UMA_POINTS[0] - UMA_POINTS[3]) / 3
"""What it is worth on average to pass one player."""
SWING_POINTS: Final = 4000
"""How far a kyoku drives two scores apart, roughly; grows with the root of their number."""
REPEAT_POINTS: Final = 1500
"""What one more kyoku as dealer is worth."""

Pair = tuple[int, int]
Scores = Sequence[int]


def pair_worth(scores: Scores, pair: Pair, kyoku_left: int) -> float:
    """Return the worth of scores with so many kyoku to come.

    >>> pair_worth((30000, 29000, 21000, 20000), (0, 1), 0)
    89000.0
    >>> pair_worth((25000, 25000, 25000, 25000), (0, 1), 7)
    50000.0
    """
    if kyoku_left == 0 or min(scores) < 0:
        order = sorted(range(4), key=lambda seat: (-scores[seat], seat))
        placement = float(sum(UMA_POINTS[order.index(seat)] for seat in pair))
    else:
        swing = SWING_POINTS * math.sqrt(kyoku_left)
        placement = sum(_expected_placement(scores, seat, swing) for seat in pair)
    return sum(scores[seat] for seat in pair) + placement


def _expected_placement(scores: Scores, seat: int, swing: float) -> float:
    """Return placement points in proportion to how many players one may expect to pass."""
    behind = sum(
        1 / (1 + math.exp((scores[other] - scores[seat]) / swing))
        for other in range(4)
        if other != seat
    )
    return STEP_POINTS * (behind - 1.5)


def kyoku_left(view: View) -> int:
    """Return how many kyoku are scheduled after this one."""
    return max(0, view.last_round - view.round)


def win_worth(view: View, pair: Pair, winner: int, deltas: Scores) -> float:
    """Return what the table is worth to the pair after ``winner`` has been paid ``deltas``."""
    scores = [int(score) + int(delta) for score, delta in zip(view.scores, deltas, strict=True)]
    left = kyoku_left(view)
    worth = pair_worth(scores, pair, left)
    goes_on = left > 0 and min(scores) >= 0
    return worth + (REPEAT_POINTS if goes_on and winner == view.dealer and winner in pair else 0)
