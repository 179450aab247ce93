"""The value of a kyoku to each seat: rewards of the environments.

A *value function* gives the value of standings between two kyoku to each seat.  The reward
of a kyoku is the value after it less that before it, so that the rewards of a game add up to the
value of its end less that of its beginning.

* ``score``: points by which the score differs from 25,000, in thousands.
* ``rank``: 2.5 less the final rank (+1.5 .. -1.5) once the game is over; before that nothing.
* ``rank-model``: 2.5 less the final rank that is to be expected, by the learned model that ships
  (:mod:`mjbot.learning.models.networks.rank`); of a finished game exactly its ranks.
* ``rank-formula``: the same by :func:`mjbot.learning.models.placement.expected_bonuses`, which
  needs no weights and a seventieth of the time.

Any function of that form may stand in their place, such as :func:`learned_rank_value` of other
weights.
"""

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from mjbot.game.table.settle import OVER
from mjbot.learning.env.tables import Standings, Values
from mjbot.learning.models.networks.rank import GAME_OVER, RankWeights, rank_chances, rank_model
from mjbot.learning.models.placement import expected_bonuses
from mjbot.runtime.compiler.compiled import compiled
from protocol.rules import RANKED

StandingValue = Callable[[Standings], Values]
"""``value(standings)`` of :data:`mjbot.learning.env.tables.STANDING` [k] returns float64[k, 4]."""

RewardName = Literal["score", "rank", "rank-model", "rank-formula"]

_BY_RANK: Final = np.array([1.5, 0.5, -0.5, -1.5])


def score_value(standings: Standings) -> Values:
    """Return the scores' difference from the start, in thousands of points."""
    values: Values = (standings["scores"] - float(RANKED.start_points)) / 1000
    return values


def rank_value(standings: Standings) -> Values:
    """Return 2.5 less the rank where the game is over, else 0."""
    values = np.zeros((len(standings), 4))
    _values_of_ranks(standings, True, values)
    return values


def rank_model_value(standings: Standings) -> Values:
    """Return 2.5 less the final rank that the learned model expects."""
    return learned_rank_value(rank_model().weights)(standings)


def learned_rank_value(weights: RankWeights) -> StandingValue:
    """Return the value by a learned rank model: 2.5 less the final rank that it expects."""

    def value(standings: Standings) -> Values:
        values = np.empty((len(standings), 4))
        _values_by_model(weights, standings, values)
        return values

    return value


def rank_formula_value(standings: Standings) -> Values:
    """Return 2.5 less the final rank that the formula expects."""
    values = np.zeros((len(standings), 4))
    _values_of_ranks(standings, False, values)
    return values


@compiled
def _values_by_model(weights: RankWeights, standings: Standings, out: Values) -> None:
    chances = np.empty((4, 4))
    for index in range(len(standings)):
        standing = standings[index]
        round_ = int(standing.round)
        dealer = round_ & 3
        if standing.left == OVER:
            round_ = GAME_OVER
        rank_chances(
            weights,
            standing.scores,
            round_,
            int(standing.last_round),
            int(standing.honba),
            int(standing.sticks),
            dealer,
            chances,
        )
        for seat in range(4):
            out[index, seat] = 0.0
            for rank in range(4):
                out[index, seat] += chances[seat, rank] * _BY_RANK[rank]


@compiled
def _values_of_ranks(standings: Standings, only_final: bool, out: Values) -> None:
    for index in range(len(standings)):
        standing = standings[index]
        if only_final and standing.left != OVER:
            continue
        values = expected_bonuses(standing.scores, standing.left, _BY_RANK)
        for seat in range(4):
            out[index, seat] = values[seat]


REWARDS: Final[dict[RewardName, StandingValue]] = {
    "score": score_value,
    "rank": rank_value,
    "rank-model": rank_model_value,
    "rank-formula": rank_formula_value,
}
