"""What the scores at the end of a playout are worth to a seat: points and placement bonus.

Compiled code; ``bonus`` is float64[4], the points of first to fourth place.
"""

from math import exp, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.table.settle import game_ends, give_leftover_sticks, next_kyoku
from mjbot.table.state import State

Points = NDArray[np.float64]
Scores = NDArray[np.int32]

OVER: Final = 0
"""As ``kyoku_left``: the game is over, ranks are what they are."""
SWING_POINTS: Final = 4000.0
"""How far a kyoku drives two scores apart, roughly; grows with the root of their number."""


@compiled
def kyoku_left(state: State) -> int:
    """Return how many kyoku are to come at least after the one just paid."""
    if game_ends(state):
        return OVER
    return max(1, state.last_round - next_kyoku(state)[0] + 1)


@compiled
def final_worth(state: State, seat: int, bonus: Points, guess_ranks: bool) -> float:
    """Return the worth of a kyoku that has just been paid; sticks left over are given out.

    While the game goes on, the bonus is that of the ranks to be expected or, without
    ``guess_ranks``, nothing.
    """
    left = kyoku_left(state)
    if left == OVER:
        give_leftover_sticks(state)
    elif not guess_ranks:
        return float(state.scores[seat])
    return worth(state.scores, seat, left, bonus)


@compiled
def worth(scores: Scores, seat: int, left: int, bonus: Points) -> float:
    """Return the score of a seat and the bonus it has (``left`` OVER) or may expect.

    >>> league = np.array([50000.0, 10000, -10000, -30000])
    >>> even = np.array([25000, 25000, 25000, 25000], np.int32)
    >>> worth(even, 1, OVER, league), worth(even, 1, 4, league)
    (35000.0, 25000.0)
    """
    own = scores[seat]
    ahead = 0.0
    swing = SWING_POINTS * sqrt(left)
    for other in range(4):
        if other == seat:
            continue
        if left == OVER:
            ahead += scores[other] > own or (scores[other] == own and other < seat)
        else:
            ahead += 1 / (1 + exp((own - scores[other]) / swing))
    place = min(int(ahead), 2)
    part = ahead - place
    return float(own + (1 - part) * bonus[place] + part * bonus[place + 1])
