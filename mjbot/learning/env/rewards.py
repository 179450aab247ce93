"""The value of a kyoku to each seat: rewards of the environments.

A *value function* gives the value of standings between two kyoku to each seat.  The reward
of a kyoku is the value after it less that before it, so that the rewards of a game add up to the
value of its end less that of its beginning.

* ``score``: points by which the score differs from that at the start, in thousands.
* ``rank``: 2.5 (of three players 2) less the final rank once the game is over; before that nothing.
* ``rank-model``: 2.5 less the final rank that is to be expected, by the learned model that ships
  (:mod:`mjbot.learning.models.networks.rank`); of a finished game exactly its ranks.
* ``rank-formula``: the same by :func:`mjbot.learning.models.placement.expected_bonuses`, which
  needs no weights and a seventieth of the time.

The last two are of four players only.  Any function of that form may stand in their place, such as
:func:`learned_rank_value` of other weights.
"""

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from mjbot.game.table.settle import OVER, ranks_of
from mjbot.learning.env.tables import Standings, Values
from mjbot.learning.models.networks.rank import GAME_OVER, RankWeights, rank_chances, rank_model
from mjbot.learning.models.placement import expected_bonuses
from mjbot.runtime.compiler.compiled import compiled
from protocol.rules import RANKED, Rules

StandingValue = Callable[[Standings], Values]
"""``value(standings)`` of :data:`mjbot.learning.env.tables.STANDING` [k] returns float64[k, 4], or
[k, 3] of three players."""

RewardName = Literal["score", "rank", "rank-model", "rank-formula"]

_BY_RANK: Final = np.array([1.5, 0.5, -0.5, -1.5])


def score_value(standings: Standings, rules: Rules = RANKED) -> Values:
    """Return the scores' difference from the start, in thousands of points."""
    scores = standings["scores"][:, : rules.players]
    values: Values = (scores - float(rules.start_points)) / 1000
    return values


def rank_value(standings: Standings, rules: Rules = RANKED) -> Values:
    """Return the mean rank less the rank where the game is over, else 0."""
    players = rules.players
    values = np.zeros((len(standings), players))
    for index in np.flatnonzero(standings["left"] == OVER).tolist():
        ranks = ranks_of(standings["scores"][index, :players].tolist())
        values[index] = (players + 1) / 2 - np.array(ranks)
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
    _expected_values(standings, values)
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
def _expected_values(standings: Standings, out: Values) -> None:
    for index in range(len(standings)):
        standing = standings[index]
        values = expected_bonuses(standing.scores, standing.left, _BY_RANK)
        for seat in range(4):
            out[index, seat] = values[seat]


FOR_ALL: Final = {"score": score_value, "rank": rank_value}
"""The rewards of tables of three players, too, which take the rules."""
REWARDS: Final[dict[RewardName, StandingValue]] = {
    "score": score_value,
    "rank": rank_value,
    "rank-model": rank_model_value,
    "rank-formula": rank_formula_value,
}
