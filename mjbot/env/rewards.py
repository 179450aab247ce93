"""What a kyoku was worth to each seat: rewards of the environments.

A *worth* says of where games stand between two kyoku what that is worth to each seat.  The reward
of a kyoku is the worth after it less that before it, so that the rewards of a game add up to the
worth of its end less that of its beginning.

* ``score``: points by which the score differs from 25,000, in thousands.
* ``rank``: 2.5 less the final rank (+1.5 .. -1.5) once the game is over; before that nothing.
* ``rank-model``: 2.5 less the final rank that is to be expected, by the learned model that ships
  (:mod:`mjbot.models.networks.rank`); of a finished game exactly its ranks.
* ``rank-formula``: the same by :func:`mjbot.models.placement.expected_bonuses`, which needs no
  weights and a seventieth of the time.

Any function of that form may stand in their place, such as :func:`learned_rank_worth` of other
weights.
"""

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from mjbot.compiler.compiled import compiled
from mjbot.env.tables import Standings, Worths
from mjbot.models.networks.rank import GAME_OVER, RankWeights, rank_chances, rank_model
from mjbot.models.placement import expected_bonuses
from mjbot.table.settle import OVER
from protocol.rules import RANKED

Worth = Callable[[Standings], Worths]
"""``worth(standings)`` of :data:`mjbot.env.tables.STANDING` [k] returns float64[k, 4]."""

RewardName = Literal["score", "rank", "rank-model", "rank-formula"]

_BY_RANK: Final = np.array([1.5, 0.5, -0.5, -1.5])


def score_worth(standings: Standings) -> Worths:
    """Return the scores' difference from the start, in thousands of points."""
    worths: Worths = (standings["scores"] - float(RANKED.start_points)) / 1000
    return worths


def rank_worth(standings: Standings) -> Worths:
    """Return 2.5 less the rank where the game is over, else 0."""
    worths = np.zeros((len(standings), 4))
    _worth_of_ranks(standings, True, worths)
    return worths


def rank_model_worth(standings: Standings) -> Worths:
    """Return 2.5 less the final rank that the learned model expects."""
    return learned_rank_worth(rank_model().weights)(standings)


def learned_rank_worth(weights: RankWeights) -> Worth:
    """Return the worth by a learned rank model: 2.5 less the final rank that it expects."""

    def worth(standings: Standings) -> Worths:
        worths = np.empty((len(standings), 4))
        _worth_by_model(weights, standings, worths)
        return worths

    return worth


def rank_formula_worth(standings: Standings) -> Worths:
    """Return 2.5 less the final rank that the formula expects."""
    worths = np.zeros((len(standings), 4))
    _worth_of_ranks(standings, False, worths)
    return worths


@compiled
def _worth_by_model(weights: RankWeights, standings: Standings, out: Worths) -> None:
    chances = np.empty((4, 4))
    for place in range(len(standings)):
        standing = standings[place]
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
            out[place, seat] = 0.0
            for rank in range(4):
                out[place, seat] += chances[seat, rank] * _BY_RANK[rank]


@compiled
def _worth_of_ranks(standings: Standings, only_final: bool, out: Worths) -> None:
    for place in range(len(standings)):
        standing = standings[place]
        if only_final and standing.left != OVER:
            continue
        worths = expected_bonuses(standing.scores, standing.left, _BY_RANK)
        for seat in range(4):
            out[place, seat] = worths[seat]


WORTHS: Final[dict[RewardName, Worth]] = {
    "score": score_worth,
    "rank": rank_worth,
    "rank-model": rank_model_worth,
    "rank-formula": rank_formula_worth,
}
