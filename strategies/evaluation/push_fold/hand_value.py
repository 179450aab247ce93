"""What each discard leaves: the value of a hand by its shape, its yaku and the draws left.

=============== ======================================================================
tenpai, 1 away  every draw, wait and score (:mod:`mjbot.strategies.evaluation.push_fold.race`)
2, 3 away       one draw ahead, then the chances of hands of the usual shape
4 and more      the chances of hands of the usual shape
=============== ======================================================================

From 2 shanten on the chance to win is multiplied by what the han in sight are paid
(:mod:`mjbot.strategies.evaluation.push_fold.plans`), and a hand that may be opened has the
value of its best plan with calls, too.  With ``hand_quality`` off (a control) all hands of
one shanten have the same value.

The weights below were set by hand, :data:`DETOUR` revised once, from 0.6; no run of theirs is kept.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.shanten import count_kinds_held, shanten, shanten_regular
from mjbot.game.table.hands import kind_of
from mjbot.learning.models.placement import worth_of
from mjbot.learning.models.win_value import typical_points
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.push_fold.plans import closed_han, open_value, regular_acceptance
from mjbot.strategies.evaluation.push_fold.push import PushPosition
from mjbot.strategies.evaluation.push_fold.race import (
    MAX_DRAWS,
    N_STAGES,
    USUAL_TILES,
    far_value,
    one_away_value,
    stage_value,
    tenpai_value,
)

Floats = NDArray[np.float64]

N_TILES: Final = 37
NEVER: Final = -1e9
FAR: Final = 4
"""From this shanten on discards are compared without looking a draw ahead."""
DETOUR: Final = 0.75
"""What a hand one step back keeps of the value that its wide acceptance promises."""
WIDEST: Final = 1.3
"""So many times the usual tiles of its shanten at most are believed of a hand."""
PAIRS: Final = 0.45
"""What seven pairs keep, whose waits are narrow."""
SECOND_WAY: Final = 0.2
"""How much of the value of the second best of calling and staying closed counts."""
MEAN_HAN: Final = 3.1
"""Han of a win where hands are judged by shanten alone."""


@compiled
def expected_value(
    hand: Counts,
    n_melds: int,
    is_open: bool,
    position: PushPosition,
    near: int,
    given: int,
    calls: bool,
) -> float:
    """Return the value of 3n+1 tiles, no riichi declared yet.

    ``near`` is the least shanten that some discard would have left, ``given`` the mask of the kind
    just discarded, ``calls`` whether the hand may be opened.
    """
    race, hand_context = position.race, position.hand_context
    stage, accepted = shanten_and_acceptance(hand, n_melds)
    one = np.zeros(MAX_DRAWS + 1)
    best = 0.0
    if not position.hand_quality:
        points = typical_points(MEAN_HAN, hand_context.is_dealer) + race.extra_points
        usual = USUAL_TILES[min(stage, N_STAGES - 1)]
        return stage_value(race, position.stages, stage, usual, worth_of(race.value, points))
    if stage == 0:
        tenpai_value(hand, accepted, race, hand_context, race.own | given, False, one)
        best = one[race.draws]
    elif stage == 1:
        one_away_value(hand, n_melds, accepted, race, hand_context, is_open, one)
        best = one[race.draws]
    elif not is_open:
        best = _closed_value(hand, n_melds, position, near)
    if calls or is_open:
        other = open_value(hand, n_melds, race, position.stages, hand_context)
        if stage < 2:
            return max(best, other)
        best = max(best, other) + SECOND_WAY * min(best, other)
    return best


@compiled
def _closed_value(hand: Counts, n_melds: int, position: PushPosition, near: int) -> float:
    """Return the value of a closed hand from 2 shanten on, as four blocks or as seven pairs."""
    race, hand_context, stages = position.race, position.hand_context, position.stages
    stage, accepted = regular_acceptance(hand, n_melds)
    han = closed_han(hand, hand_context)
    gain = worth_of(race.value, typical_points(han, hand_context.is_dealer) + race.extra_points)
    usual = USUAL_TILES[min(stage, N_STAGES - 1)]
    tiles = min(count_tiles(accepted, race.unseen), usual * WIDEST)
    if stage > near:
        best = DETOUR * stage_value(race, stages, stage, tiles, gain)
    elif 2 <= stage < FAR:
        best = far_value(hand, n_melds, accepted, race, stages, stage, gain)
    else:
        best = stage_value(race, stages, stage, tiles, gain)
    n_kinds, n_pairs, _, _ = count_kinds_held(hand)
    if n_melds or n_pairs < 4 or n_kinds < 7:
        return best
    singles = 0
    for kind in range(34):
        singles += race.unseen[kind] if hand[kind] == 1 else 0
    return max(best, PAIRS * stage_value(race, stages, 6 - n_pairs, singles, gain))


@compiled
def riichi_value(hand: Counts, n_melds: int, position: PushPosition, given: int) -> float:
    """Return the value of 3n+1 tiles in tenpai with riichi declared; NEVER if not tenpai."""
    stage, accepted = shanten_and_acceptance(hand, n_melds)
    if stage != 0:
        return NEVER
    live = count_tiles(accepted, position.race.unseen)
    if live == 0:
        return NEVER
    one = np.zeros(MAX_DRAWS + 1)
    race = position.race
    tenpai_value(hand, accepted, race, position.hand_context, race.own | given, True, one)
    return float(one[race.draws])


@compiled
def weigh_discards(
    hand: Counts,
    n_melds: int,
    is_open: bool,
    tiles: NDArray[np.int64],
    position: PushPosition,
    calls: bool,
    values: Floats,
    riichis: Floats,
) -> None:
    """Fill the value of the hands that discarding each tile of ``tiles`` (0..36) leaves.

    ``hand`` are 3n+2 concealed tiles.  ``values`` float64[37] without riichi, ``riichis``
    float64[37] with it, NEVER where that cannot be; the danger of the tile itself is left out.
    """
    values[:] = NEVER
    riichis[:] = NEVER
    near = shanten_regular(hand, n_melds)
    declares = not is_open and position.race.may_riichi and shanten(hand, n_melds) == 0
    for tile in tiles:
        kind = kind_of(tile)
        gives_red = tile >= 34
        hand[kind] -= 1
        position.hand_context.bonus[1] -= gives_red
        values[tile] = expected_value(hand, n_melds, is_open, position, near, 1 << kind, calls)
        if declares:
            riichis[tile] = riichi_value(hand, n_melds, position, 1 << kind)
        hand[kind] += 1
        position.hand_context.bonus[1] += gives_red


@compiled
def less_danger(values: Floats, position: PushPosition) -> Floats:
    """Return the value of discarding each tile: its hand's, less what it risks; float64[37]."""
    values_left = np.full(N_TILES, NEVER)
    for tile in range(N_TILES):
        if values[tile] > NEVER:
            kind = kind_of(tile)
            values_left[tile] = (1 - position.deal_in[kind]) * values[tile] - position.loss[kind]
    return values_left
