"""The value of points: how scores, and changes of them, change the expected rank.

Theory.  While kyoku remain the order of two scores is open.  Each kyoku moves the difference of
two scores by a random amount, so after ``left`` kyoku its spread is that of one times
``sqrt(left)``.  The chance that a seat that leads another by ``d`` points ends above it is taken
to be logistic, ``1 / (1 + exp(-d / s))``, with the scale

    s = s1 * sqrt(left)    in points; s1 is the scale of one kyoku, left >= 1 the kyoku to come.

A logistic variable of scale ``s`` has the standard deviation ``pi / sqrt(3) * s``, 1.81 s.

Two ways lead from pairs of seats to ranks.

* One seat (:func:`rank_worth`): its expected rank is one, and one more for each other seat by the
  chance that it ends above.
* All seats (:func:`expected_bonuses`): each score changes by a Gumbel variable of scale
  ``s``.  Pairs are logistic as above, and of some seats one comes first in proportion to
  ``exp(score / s)`` (Plackett and Luce), which gives the chance of every order.  Bonuses then add
  up to what there is.  Two seats that share their fate need that: on chances of their own, points
  moved inside an even pair seemed to gain.

Constants.  None was fitted to records.

* ``SCALE_POINTS`` = 4000, s1 of the pair: a round guess; the standard
  deviation of a kyoku is then 7,255 points.
* ``swing`` = 7000, of fold-recognition-plus, is a standard deviation: s1 = 3,850.  Its weights were
  tried by hand on some 100 walls per choice against three fast-riichi-a.  Its whole rank model
  off costs 0.006 +- 0.039 of a rank in 800 games (docs/results/index.md): the size hardly matters.
* ``SCALE_OF_DEVIATION`` = 0.55: sqrt(3) / pi = 0.551.
* ``TIE_POINTS`` = 50: half of the least difference of two scores, for the earlier seat's better
  rank.  ``LEAST_SLOPE`` = 0.004 ranks for 1,000 points keeps a seat whose rank is settled from
  dividing by zero; a hanchan's first kyoku has 0.09 between even scores.
"""

from math import exp, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.apply import apply_end_game
from mjbot.game.table.seats import seat_after
from mjbot.game.table.settle import OVER, kyoku_left, seats_ahead
from mjbot.game.table.state import State
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int32s

Floats = NDArray[np.float64]

SCALE_POINTS: Final = 4000.0
SCALE_OF_DEVIATION: Final = 0.55
TIE_POINTS: Final = 50.0
LEAST_SLOPE: Final = 0.004

STEP: Final = 500
LOWEST: Final = -36000
N_STEPS: Final = 181
"""The table of :func:`rank_worth` reaches from -36,000 to +54,000 points."""


@compiled
def chance_above(lead: float, scale: float) -> float:
    """Return the chance to end above another seat that one leads by so many points.

    >>> chance_above(0.0, 4000.0), round(chance_above(-4000.0, 4000.0), 3)
    (0.5, 0.269)
    """
    return 1 / (1 + exp(-lead / scale))


# --- the value of a change of the own score ---------------------------------------------------


@compiled
def rank_worth(state: State, seat: int, swing: float, share: float, out: Floats) -> None:
    """Fill ``out`` float64[181] with the value of changing the own score by -36,000 .. +54,000.

    The value of no change is 0, and that of small changes is their points.  ``swing``
    is the standard deviation, in points, by which one kyoku drives two scores apart, ``share``
    (0..1) how much of a change counts as rank, the rest as points.  Others' scores move by an
    equal share of it each, the other way.
    """
    left = max(0, state.rules.last_round - state.round) + 1.0
    scale = swing * sqrt(left) * SCALE_OF_DEVIATION
    here = _expected_rank(state, seat, 0, scale)
    slope = _expected_rank(state, seat, -1000, scale) - _expected_rank(state, seat, 1000, scale)
    slope = max(slope / 2, LEAST_SLOPE)
    for index in range(N_STEPS):
        points = LOWEST + STEP * index
        ranks = (here - _expected_rank(state, seat, points, scale)) / slope * 1000
        out[index] = share * ranks + (1 - share) * points


@compiled
def _expected_rank(state: State, seat: int, points: float, scale: float) -> float:
    rank = 1.0
    own = state.scores[seat] + points
    others = state.rules.players - 1
    for step in range(1, others + 1):
        other = seat_after(state, seat, step)
        tie = TIE_POINTS if other < seat else -TIE_POINTS
        rank += chance_above(state.scores[other] - points / others + tie - own, scale)
    return rank


@compiled
def worth_of(table: Floats, points: float) -> float:
    """Return the value of a change in points, interpolated linearly between the table's steps.

    >>> table = np.arange(181) * 500.0 - 36000
    >>> worth_of(table, 1250.0)
    1250.0
    """
    position = (points - LOWEST) / STEP
    if position <= 0:
        return float(table[0])
    if position >= N_STEPS - 1:
        return float(table[N_STEPS - 1])
    low = int(position)
    return float(table[low] + (position - low) * (table[low + 1] - table[low]))


# --- the value of scores with a bonus by rank --------------------------------------------------


@compiled
def final_value(state: State, seat: int, bonus: Floats) -> float:
    """Return the points of a seat after a kyoku that has just been paid.

    If the game is over, with the sticks that are left over and the bonus of the rank, float64[4].
    """
    if kyoku_left(state) != OVER:
        return float(state.scores[seat])
    apply_end_game(state)
    return float(state.scores[seat] + bonus[seats_ahead(state.scores, seat)])


@compiled
def expected_bonuses(scores: Int32s, left: int, bonus: Floats) -> Floats:
    """Return the bonus that each seat has (``left`` OVER) or may expect, all together: float64[4].

    ``scores`` are those of the players; of three the fourth chair comes last for certain.

    >>> league = np.array([40000.0, 10000, -10000, -20000])
    >>> expected_bonuses(np.array([30000, 29000, 21000, 20000], np.int32), OVER, league).tolist()
    [40000.0, 10000.0, -10000.0, -20000.0]
    """
    expected = np.zeros(4)
    if left == OVER:
        for seat in range(len(scores)):
            expected[seat] = bonus[seats_ahead(scores, seat)]
        return expected
    weight = np.zeros(4)
    weight[: len(scores)] = np.exp((scores - scores.max()) / (SCALE_POINTS * sqrt(left)))
    total = weight.sum()
    for first in range(4):
        leads = weight[first] / total
        expected[first] += leads * bonus[0]
        for second in range(4):
            if second == first:
                continue
            follows = leads * weight[second] / (total - weight[first])
            expected[second] += follows * bonus[1]
            for third in range(4):
                if third in (first, second):
                    continue
                last = 6 - first - second - third
                chance = follows * weight[third] / (weight[third] + weight[last])
                expected[third] += chance * bonus[2]
                expected[last] += chance * bonus[3]
    return expected
