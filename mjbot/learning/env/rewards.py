"""The value of a kyoku to each seat: rewards of the environments.

A *value function* gives the value of standings between two kyoku to each seat.  The reward
of a kyoku is the value after it less that before it, so that the rewards of a game add up to the
value of its end less that of its beginning.

* ``score``: points by which the score differs from that at the start, in thousands.
* ``rank``: the mean rank (2.5, of three players 2) less the final one once the game is over, before
  that nothing.
* ``rank-model``: the mean rank less the one that is to be expected, by the learned model that ships
  (:mod:`mjbot.learning.models.networks.rank`); of a finished game exactly its ranks.
* ``rank-formula``: the same by :func:`mjbot.learning.models.placement.expected_bonuses`, which
  needs no weights and a seventieth of the time.

Any function of that form may stand in their place, such as
:func:`learned_rank_value` of other weights.
"""

from collections.abc import Callable
from typing import Final, Literal, Protocol

import numpy as np

from mjbot.game.table.settle import OVER, ranks_of
from mjbot.learning.env.tables import Standings, Values
from mjbot.learning.models.networks.rank import GAME_OVER, RankWeights, rank_chances, rank_model
from mjbot.learning.models.placement import expected_bonuses
from mjbot.protocol.rules import RANKED, Rules
from mjbot.runtime.compiler.compiled import compiled

StandingValue = Callable[[Standings], Values]
"""``value(standings)`` of :data:`mjbot.learning.env.tables.STANDING` [k] returns float64[k, 4], or
[k, 3] of three players."""

RewardName = Literal["score", "rank", "rank-model", "rank-formula"]


class NamedValue(Protocol):
    """A value of standings under some rules."""

    def __call__(self, standings: Standings, rules: Rules = RANKED) -> Values: ...  # noqa: D102


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


def rank_model_value(standings: Standings, rules: Rules = RANKED) -> Values:
    """Return the mean rank less the final rank that the learned model expects."""
    return learned_rank_value(rank_model(rules.players).weights, rules)(standings)


def learned_rank_value(weights: RankWeights, rules: Rules = RANKED) -> StandingValue:
    """Return the value by a learned rank model: the mean rank less the one that it expects."""

    def value(standings: Standings) -> Values:
        values = np.empty((len(standings), rules.players))
        _values_by_model(weights, standings, values, _by_rank(rules))
        return values

    return value


def rank_formula_value(standings: Standings, rules: Rules = RANKED) -> Values:
    """Return the mean rank less the final rank that the formula expects."""
    values = np.empty((len(standings), rules.players))
    _expected_values(standings, values, _by_rank(rules))
    return values


def _by_rank(rules: Rules) -> Values:
    """Return the value of ranks 1 to 4, without a fourth player one that nobody gets."""
    values: Values = (rules.players + 1) / 2 - np.arange(1.0, 5.0)
    return values


@compiled
def _values_by_model(
    weights: RankWeights, standings: Standings, out: Values, by_rank: Values
) -> None:
    players = out.shape[1]
    chances = np.empty((4, 4))
    for index in range(len(standings)):
        standing = standings[index]
        round_ = int(standing.round)
        dealer = round_ & 3
        if standing.left == OVER:
            round_ = GAME_OVER
        rank_chances(
            weights,
            standing.scores[:players],
            round_,
            int(standing.last_round),
            int(standing.honba),
            int(standing.sticks),
            dealer,
            chances,
        )
        for seat in range(players):
            out[index, seat] = 0.0
            for rank in range(4):
                out[index, seat] += chances[seat, rank] * by_rank[rank]


@compiled
def _expected_values(standings: Standings, out: Values, by_rank: Values) -> None:
    players = out.shape[1]
    for index in range(len(standings)):
        standing = standings[index]
        values = expected_bonuses(standing.scores[:players], standing.left, by_rank)
        for seat in range(players):
            out[index, seat] = values[seat]


REWARDS: Final[dict[RewardName, NamedValue]] = {
    "score": score_value,
    "rank": rank_value,
    "rank-model": rank_model_value,
    "rank-formula": rank_formula_value,
}
