"""Push or fold: what each discard is worth, its danger against what the hand may still win.

``worth(discard) = (1 - chance to deal in) x worth of the hand left - worth lost by dealing in``.
The worth of a hand is never below 0: that is folding from here on.  So a hand that cannot pay
for its danger discards the safest tile, and of safe enough tiles the one that keeps most.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.rules.shanten import count_kinds_held, shanten, shanten_regular
from mjbot.rules.wins import WIN
from mjbot.table.apply import kind_of
from mjbot.table.state import State
from strategies.evaluation.danger import DangerWeights, deal_in_chances
from strategies.evaluation.placement import N_STEPS, rank_worth, worth_of
from strategies.evaluation.plans import closed_han, open_worth, regular_acceptance
from strategies.evaluation.race import (
    MAX_DRAWS,
    N_STAGES,
    USUAL_TILES,
    Race,
    Stages,
    far_worth,
    fill_stages,
    new_stages,
    one_away_worth,
    stage_worth,
    tenpai_worth,
)
from strategies.evaluation.win_value import Holding, read_holding, typical_points

Counts = NDArray[np.int8]
Floats = NDArray[np.float64]

N_TILES: Final = 37
NEVER: Final = -1e9
HONBA_POINTS: Final = 300.0
STICK: Final = 1000.0
DETOUR: Final = 0.75
"""What a hand one step back keeps of the worth that its wide acceptance promises."""
PAIRS: Final = 0.45
"""The same for seven pairs, whose waits are narrow."""
SECOND_WAY: Final = 0.2
"""How much of the worth of the second best of calling and staying closed counts."""
FAR: Final = 4
"""From this shanten on discards are compared without looking a draw ahead."""


class Temper(NamedTuple):
    """The weights of the strategy, as compiled code takes them."""

    ron: float
    calls: float
    swing: float
    share: float
    caution: float
    tenpai_points: float
    going_round: float
    pace: Floats  # float64[18, 4]: chance that another wins before the next discard


class Position(NamedTuple):
    """Everything that a decision looks at."""

    race: Race
    stages: Stages
    holding: Holding
    deal_in: Floats  # float64[34]: chance to deal in
    loss: Floats  # float64[34]: worth lost by that, in the mean


@compiled
def read_position(
    state: State, seat: int, unseen: Counts, draws: int, weights: DangerWeights, temper: Temper
) -> Position:
    """Return what a seat with so many own draws left has to weigh.  ``unseen`` is int8[34]."""
    worth = np.empty(N_STEPS)
    rank_worth(state, seat, temper.swing, temper.share, worth)
    deal_in, loss = np.zeros(34), np.zeros(34)
    _read_dangers(state, seat, unseen, weights, temper, worth, deal_in, loss)
    total, mean_loss, mean_deal_in = 1e-6, 0.0, 0.0
    for kind in range(34):
        total += unseen[kind]
        mean_loss += unseen[kind] * loss[kind]
        mean_deal_in += unseen[kind] * deal_in[kind]
    draws = min(max(draws, 0), MAX_DRAWS)
    live, risk = np.ones(MAX_DRAWS + 1), np.zeros(MAX_DRAWS + 1)
    _read_pace(state, seat, draws, temper, live)
    live *= 1 - temper.going_round * mean_deal_in / total
    risk[:] = mean_loss / total
    may_riichi = not state.is_open[seat] and state.scores[seat] >= STICK
    race = Race(
        unseen, total, draws, int(state.discarded[seat]), live, risk, risk * temper.going_round,
        worth, temper.ron, temper.calls, worth_of(worth, temper.tenpai_points),
        HONBA_POINTS * state.honba + STICK * state.sticks, may_riichi and state.wall_left >= 4,
    )  # fmt: skip
    stages = new_stages()
    fill_stages(race, stages)
    holding = read_holding(state, seat, np.zeros(1, WIN), np.zeros(34, np.int8))
    return Position(race, stages, holding, deal_in, loss)


@compiled
def _read_dangers(
    state: State,
    seat: int,
    unseen: Counts,
    weights: DangerWeights,
    temper: Temper,
    worth: Floats,
    deal_in: Floats,
    loss: Floats,
) -> None:
    chance, points = np.zeros((4, 34)), np.zeros((4, 34))
    deal_in_chances(state, seat, unseen, weights, chance, points)
    for kind in range(34):
        safe = 1.0
        for opponent in range(4):
            if chance[opponent, kind] > 0:
                paid = points[opponent, kind] + HONBA_POINTS * state.honba
                loss[kind] -= temper.caution * chance[opponent, kind] * worth_of(worth, -paid)
                safe *= 1 - chance[opponent, kind]
        deal_in[kind] = 1 - safe


@compiled
def _read_pace(state: State, seat: int, draws: int, temper: Temper, live: Floats) -> None:
    """Fill the chance that nobody else wins in each go-around to come.

    The threats of now fade into those that the turn usually has.
    """
    threats = 0
    for step in range(1, 4):
        threats += state.riichi[(seat + step) & 3] > 0
    fade = 1.0
    for ahead in range(draws):
        turn = min(state.n_river[seat] + ahead, 17)
        now = temper.pace[turn, threats]
        usual = temper.pace[turn, 3]
        live[draws - ahead] = 1 - (fade * now + (1 - fade) * max(now, usual))
        fade *= 0.7


@compiled
def hand_worth(
    hand: Counts, n_melds: int, is_open: bool, position: Position, near: int, calls: bool
) -> float:
    """Return the worth of 3n+1 tiles, no riichi declared yet; ``near`` is the least shanten."""
    race, holding = position.race, position.holding
    stage, accepted = shanten_and_acceptance(hand, n_melds)
    one = np.zeros(MAX_DRAWS + 1)
    best = 0.0
    if stage == 0:
        tenpai_worth(hand, accepted, race, holding, False, one)
        best = one[race.draws]
    elif stage == 1:
        one_away_worth(hand, n_melds, accepted, race, holding, is_open, one)
        best = one[race.draws]
    elif not is_open:
        best = _closed_worth(hand, n_melds, position, near)
    if calls or is_open:
        other = open_worth(hand, n_melds, race, position.stages, holding)
        if stage < 2:
            return max(best, other)
        best = max(best, other) + SECOND_WAY * min(best, other)
    return best


@compiled
def _closed_worth(hand: Counts, n_melds: int, position: Position, near: int) -> float:
    """Return the worth of a closed hand from 2 shanten on, as four blocks or as seven pairs."""
    race, holding, stages = position.race, position.holding, position.stages
    stage, accepted = regular_acceptance(hand, n_melds)
    han = closed_han(hand, holding)
    gain = worth_of(race.worth, typical_points(han, holding.is_dealer) + race.extra_points)
    tiles = min(count_tiles(accepted, race.unseen), USUAL_TILES[min(stage, N_STAGES - 1)] * 1.3)
    if stage > near:
        best = DETOUR * stage_worth(race, stages, stage, tiles, gain)
    elif 2 <= stage < FAR:
        best = far_worth(hand, n_melds, accepted, race, stages, stage, gain)
    else:
        best = stage_worth(race, stages, stage, tiles, gain)
    n_kinds, n_pairs, _, _ = count_kinds_held(hand)
    if n_melds or n_pairs < 4 or n_kinds < 7:
        return best
    singles = 0
    for kind in range(34):
        singles += race.unseen[kind] if hand[kind] == 1 else 0
    return max(best, PAIRS * stage_worth(race, stages, 6 - n_pairs, singles, gain))


@compiled
def riichi_worth(hand: Counts, n_melds: int, position: Position) -> float:
    """Return the worth of 3n+1 tiles in tenpai with riichi declared; NEVER if not tenpai."""
    stage, accepted = shanten_and_acceptance(hand, n_melds)
    if stage != 0:
        return NEVER
    live = count_tiles(accepted, position.race.unseen)
    if live == 0:
        return NEVER
    one = np.zeros(MAX_DRAWS + 1)
    tenpai_worth(hand, accepted, position.race, position.holding, True, one)
    return float(one[position.race.draws])


@compiled
def weigh_discards(
    hand: Counts,
    n_melds: int,
    is_open: bool,
    tiles: NDArray[np.int64],
    position: Position,
    taste: Floats,
    calls: bool,
    worths: Floats,
    riichis: Floats,
) -> None:
    """Fill the worth of discarding each tile of ``tiles`` (0..36) from 3n+2 concealed tiles.

    ``taste`` float64[34] is what share of its worth a hand far from tenpai keeps after discarding
    a kind.  ``worths`` float64[37] without riichi, ``riichis`` float64[37] with it; NEVER for others.
    """
    worths[:] = NEVER
    riichis[:] = NEVER
    least = shanten(hand, n_melds)
    near = shanten_regular(hand, n_melds)
    for tile in tiles:
        kind = kind_of(tile)
        gives_red = tile >= 34
        hand[kind] -= 1
        position.holding.bonus[1] -= gives_red
        value = hand_worth(hand, n_melds, is_open, position, near, calls)
        if least >= 2:
            value *= taste[kind]
        stays = 1 - position.deal_in[kind]
        worths[tile] = stays * value - position.loss[kind]
        if not is_open and position.race.may_riichi and least == 0:
            declared = riichi_worth(hand, n_melds, position)
            if declared > NEVER:
                riichis[tile] = stays * declared - position.loss[kind]
        hand[kind] += 1
        position.holding.bonus[1] += gives_red
