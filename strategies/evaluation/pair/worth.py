"""What the scores after a kyoku are worth to a pair, in points.

The measure is the pair's scores plus the placement points that it may expect: those of the ranks
as they are if the rules then end the game; otherwise the nearer two scores are and the more kyoku
are left, the more their order is open.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.rules.ruleset import OKA_POINTS, UMA_POINTS
from mjbot.table.settle import game_ends
from mjbot.table.state import copy_state
from mjbot.table.view import View

PLACEMENT_POINTS: Final = (UMA_POINTS[0] + OKA_POINTS, *UMA_POINTS[1:])
"""What each rank is worth in the end: uma, and oka for the first."""
SWING_POINTS: Final = 4000
"""How far a kyoku drives two scores apart, roughly; grows with the root of their number."""
REPEAT_POINTS: Final = 1500
"""What one more kyoku as dealer is worth."""

Pair = tuple[int, int]
Scores = Sequence[int]


def pair_worth(scores: Scores, pair: Pair, kyoku_left: int) -> float:
    """Return the worth of scores with so many kyoku to come.

    >>> pair_worth((30000, 29000, 21000, 20000), (0, 1), 0)
    109000.0
    >>> round(pair_worth((25000, 25000, 25000, 25000), (0, 1), 7))
    60000
    """
    placement = _placement(np.array(scores, np.int64), pair[0], pair[1], kyoku_left)
    return sum(scores[seat] for seat in pair) + float(placement)


@compiled
def _placement(scores: NDArray[np.int64], one: int, other: int, kyoku_left: int) -> float:
    """Return the placement points that two seats may expect together."""
    if kyoku_left == 0 or scores.min() < 0:
        return _final_placement(scores, one) + _final_placement(scores, other)
    expected = _expected_placements(scores, SWING_POINTS * math.sqrt(kyoku_left))
    return float(expected[one] + expected[other])


@compiled
def _final_placement(scores: NDArray[np.int64], seat: int) -> float:
    rank = 0
    for other in range(4):
        rank += scores[other] > scores[seat] or (scores[other] == scores[seat] and other < seat)
    return float(PLACEMENT_POINTS[rank])


@compiled
def _expected_placements(scores: NDArray[np.int64], swing: float) -> NDArray[np.float64]:
    """Return the placement points that each seat may expect: float64[4].

    Each score is driven on by a Gumbel variable of scale ``swing``: two keep their order with a
    logistic chance, and of some players one comes first in proportion to exp(score / swing)
    (Plackett and Luce).
    """
    weight = np.exp((scores - scores.max()) / swing)
    total = weight.sum()
    expected = np.zeros(4)
    for first in range(4):
        leads = weight[first] / total
        expected[first] += leads * PLACEMENT_POINTS[0]
        for second in range(4):
            if second == first:
                continue
            left = total - weight[first]
            follows = leads * weight[second] / left
            expected[second] += follows * PLACEMENT_POINTS[1]
            for third in range(4):
                if third in (first, second):
                    continue
                last = 6 - first - second - third
                chance = follows * weight[third] / (weight[third] + weight[last])
                expected[third] += chance * PLACEMENT_POINTS[2]
                expected[last] += chance * PLACEMENT_POINTS[3]
    return expected


def kyoku_to_come(view: View, scores: Scores, dealer_stays: bool) -> int:
    """Return how many kyoku follow if this one ends with these scores: 0 if the game is over.

    Over the last scheduled one there is one more until somebody has the points to end the game.
    """
    after = copy_state(view.state)
    after["scores"], after["dealer_stays"], after["aborted"] = scores, dealer_stays, 0
    if game_ends(after):
        return 0
    return max(1, view.last_round - view.round + dealer_stays)


def worth_after(view: View, pair: Pair, deltas: Scores, winner: int | None = None) -> float:
    """Return what the table is worth to the pair if the kyoku ends with these gains and losses.

    ``winner`` is the seat that won, ``None`` for a draw after which the dealer does not stay.
    """
    scores = [int(score) + int(delta) for score, delta in zip(view.scores, deltas, strict=True)]
    dealer_stays = winner == view.dealer
    left = kyoku_to_come(view, scores, dealer_stays)
    worth = pair_worth(scores, pair, left)
    return worth + (REPEAT_POINTS if left and dealer_stays and winner in pair else 0)
