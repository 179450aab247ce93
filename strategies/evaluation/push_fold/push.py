"""Push or fold: what a seat has to weigh, the danger of each tile and the race for the win.

``value(discard) = (1 - chance to deal in) x value of the hand left - value lost by dealing in``.
The value of a hand is never below 0: that is folding from here on.  So a hand that cannot pay
for its danger discards the safest tile, and of safe enough tiles the one that keeps most.

Of a kind that opponent o wins on with p_o for m_o points (:mod:`mjbot.learning.models.danger`)::

    deal_in = 1 - product of (1 - p_o)
    loss    = caution x sum of p_o x value lost by paying m_o and honba

A tile still to be drawn risks the mean of these over the unseen tiles, ``mawashi_cost`` times it
while the discard can be chosen.  That no other seat wins in the i-th go-around from now has the
chance 1 - pace_i: the pace of now fades into the usual one of that turn by FADING ** i.  Both are
counted in records (``mjbot train danger``, array ``pace``).  :data:`FADING` was set by hand and
not tuned; :mod:`mjbot.strategies.fold_recognition_plus` gives the origin of the other weights.

When folding by the paper's verdict instead, the safest tile is that of the best joint grade
(Mizukami et al. 2013, section 8; grades: :mod:`mjbot.learning.models.fold_features`).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.wins import WIN
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import State
from mjbot.learning.models.danger import DangerWeights, deal_in_chances, grade_chances
from mjbot.learning.models.fold_features import safety_grades
from mjbot.learning.models.placement import N_STEPS, rank_worth, worth_of
from mjbot.learning.models.win_value import HandContext, read_holding
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.push_fold.race import (
    MAX_DRAWS,
    Race,
    StageTable,
    fill_stages,
)

Floats = NDArray[np.float64]

USUAL: Final = 4
"""Column of the paces: with as many in riichi as the turn usually has; before it, with 0 to 3."""
OTHERS: Final = 3
"""Opponents that the rates of the parameters are for; of two there is as much less."""
FADING: Final = 0.7
"""How much of the present threats' pace is left after each go-around."""


class PushParameters(NamedTuple):
    """The weights of the strategy, as compiled code takes them."""

    ron_rate: float  # discards of three others per own draw to win on
    call_rate: float  # tiles to call per opponent's discard
    score_spread: float  # points that a kyoku moves two scores
    rank_share: float  # of a change's value that is rank, 0..1
    caution: float  # x what a deal-in costs
    tenpai_points: float  # of tenpai at a draw, with three others
    mawashi_cost: float  # x the danger of a drawn tile, while the discard can be chosen (mawashi)
    fine_danger: bool  # False: the four grades of the paper
    hand_quality: bool  # False: hands are judged by shanten alone
    pace: Floats  # float64[18, 5]: chance that another wins before the next discard


class PushPosition(NamedTuple):
    """Everything that a decision looks at."""

    race: Race
    stages: StageTable
    hand_context: HandContext
    hand_quality: bool
    deal_in: Floats  # float64[34]: chance to deal in
    loss: Floats  # float64[34]: value lost by that, in the mean


@compiled
def read_position(
    state: State,
    seat: int,
    unseen: Counts,
    draws: int,
    weights: DangerWeights,
    parameters: PushParameters,
    stages: StageTable,
) -> PushPosition:
    """Return what a seat with so many own draws left has to weigh.

    ``unseen`` is int8[34]; ``stages`` is filled.
    """
    value = np.empty(N_STEPS)
    rank_worth(state, seat, parameters.score_spread, parameters.rank_share, value)
    deal_in, loss = np.zeros(34), np.zeros(34)
    _read_dangers(state, seat, unseen, weights, parameters, value, deal_in, loss)
    total, mean_loss, mean_deal_in = 1e-6, 0.0, 0.0
    for kind in range(34):
        total += unseen[kind]
        mean_loss += unseen[kind] * loss[kind]
        mean_deal_in += unseen[kind] * deal_in[kind]
    draws = min(max(draws, 0), MAX_DRAWS)
    live, risk = np.ones(MAX_DRAWS + 1), np.zeros(MAX_DRAWS + 1)
    _read_pace(state, seat, draws, parameters, live)
    live *= 1 - parameters.mawashi_cost * mean_deal_in / total
    risk[:] = mean_loss / total
    may_riichi = not state.is_open[seat] and state.scores[seat] >= state.rules.stick_points
    others = state.rules.players - 1
    honba = others * state.rules.honba_points * state.honba
    rate = others / OTHERS
    race = Race(
        unseen, total, draws, int(state.discarded[seat]), live, risk,
        risk * parameters.mawashi_cost, value, rate * parameters.ron_rate, parameters.call_rate,
        worth_of(value, rate * parameters.tenpai_points),
        honba + float(state.rules.stick_points * state.sticks),
        may_riichi and state.wall_left > others, others,
    )  # fmt: skip
    fill_stages(race, stages)
    hand_context = read_holding(state, seat, np.zeros(1, WIN), np.zeros(34, np.int8))
    return PushPosition(race, stages, hand_context, parameters.hand_quality, deal_in, loss)


@compiled
def _read_dangers(
    state: State,
    seat: int,
    unseen: Counts,
    weights: DangerWeights,
    parameters: PushParameters,
    value: Floats,
    deal_in: Floats,
    loss: Floats,
) -> None:
    chance, points = np.zeros((4, 34)), np.zeros((4, 34))
    deal_in_chances(state, seat, unseen, weights, chance, points)
    if not parameters.fine_danger:
        grade_chances(state, seat, unseen, weights, chance)
    honba = (state.rules.players - 1) * state.rules.honba_points * state.honba
    for kind in range(34):
        safe = 1.0
        for opponent in range(4):
            if chance[opponent, kind] > 0:
                paid = points[opponent, kind] + honba
                loss[kind] -= parameters.caution * chance[opponent, kind] * worth_of(value, -paid)
                safe *= 1 - chance[opponent, kind]
        deal_in[kind] = 1 - safe


@compiled
def _read_pace(
    state: State, seat: int, draws: int, parameters: PushParameters, live: Floats
) -> None:
    """Fill the chance that no other seat wins in each go-around to come.

    The threats of now fade into those that the turn usually has.
    """
    threats = 0
    for step in range(1, state.rules.players):
        threats += state.riichi[seat_after(state, seat, step)] > 0
    fade = 1.0
    for ahead in range(draws):
        turn = min(state.n_river[seat] + ahead, 17)
        now = parameters.pace[turn, threats]
        usual = parameters.pace[turn, USUAL]
        live[draws - ahead] = 1 - (fade * now + (1 - fade) * max(now, usual))
        fade *= FADING


WORST_STEP: Final = 16
"""More than three opponents' grades can add up to."""


@compiled
def seats_to_fold_to(state: State, seat: int) -> int:
    """Return a mask of the opponents whose grades count when ``seat`` folds.

    All in riichi; without any, those with the most melds, so that with no meld on the table it
    is all three.
    """
    riichi, called, most = 0, 0, -1
    for step in range(1, state.rules.players):
        other = seat_after(state, seat, step)
        if state.riichi[other]:
            riichi |= 1 << other
        if state.n_melds[other] > most:
            called, most = 0, int(state.n_melds[other])
        if state.n_melds[other] == most:
            called |= 1 << other
    return riichi if riichi else called


@compiled
def joint_danger(state: State, seat: int, others: int) -> NDArray[np.int64]:
    """Return the danger of each kind to ``seat`` from the seats in a mask: int64[34].

    16 times the worst grade, plus the sum of the grades: what is safe against all comes first,
    and of two as bad against one the safer against the rest.
    """
    danger = np.zeros(N_KINDS, np.int64)
    worst = np.zeros(N_KINDS, np.int64)
    for other in range(4):
        if others >> other & 1:
            grades = safety_grades(state, seat, other)
            for kind in range(N_KINDS):
                worst[kind] = max(worst[kind], grades[kind])
                danger[kind] += grades[kind]
    return WORST_STEP * worst + danger
