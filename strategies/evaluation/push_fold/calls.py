"""Calls by their value: the hand after the call and its best discard, against passing.

Both are values in the sense of :mod:`mjbot.strategies.evaluation.push_fold.race`, with the own
draws that each leaves: with p players w tiles left in the wall give w // p after a call,
(w - b + p - 1) // p after a pass, b being the seats that draw before us.  How much better a call
has to be is up to the strategy (``call_factor``, ``call_margin``).  Nothing here is tuned.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.table.actions import CHI_LOW, PON_PLAIN, gives_red_code, is_chi_code
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import kuikae_kinds
from mjbot.game.table.state import CHI, PON, State
from mjbot.learning.models.danger import DangerWeights
from mjbot.learning.models.win_value import add_meld
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.push_fold.hand_value import (
    N_TILES,
    NEVER,
    expected_value,
    less_danger,
    weigh_discards,
)
from mjbot.strategies.evaluation.push_fold.push import PushParameters, PushPosition, read_position
from mjbot.strategies.evaluation.push_fold.race import Race, StageTable

Floats = NDArray[np.float64]

N_CALLS: Final = 8
"""Pon, pon with red, chi low, middle, high, the same with red: codes from PON_PLAIN on."""


@compiled
def weigh_calls(
    state: State,
    seat: int,
    unseen: Counts,
    codes: NDArray[np.int64],
    weights: DangerWeights,
    parameters: PushParameters,
    stages: StageTable,
    values_left: Floats,
) -> float:
    """Fill the value of each call in ``codes`` and return that of passing.

    ``codes`` are legal pons and chis (:mod:`mjbot.game.table.actions`), ``values_left`` float64[8]
    by code from PON_PLAIN on, NEVER for the rest.
    """
    draws = max(draws_left(state, seat))
    position = read_position(state, seat, unseen, draws, weights, parameters, stages)
    return weigh_calls_in(state, seat, codes, position, values_left)


@compiled
def draws_left(state: State, seat: int) -> tuple[int, int]:
    """Return the own draws to come after passing the tile on offer, and after calling it."""
    players = state.rules.players
    before_own = (seat - state.turn - 1) % players
    passing = (state.wall_left - before_own + players - 1) // players
    return int(passing), int(state.wall_left // players)


@compiled
def weigh_calls_in(
    state: State,
    seat: int,
    codes: NDArray[np.int64],
    position: PushPosition,
    values_left: Floats,
) -> float:
    """Do what :func:`weigh_calls` does in a position that has the draws of both."""
    values_left[:] = NEVER
    passing, calling = draws_left(state, seat)
    here = with_draws(position, passing)
    is_open = state.is_open[seat] > 0
    hand = state.hand[seat].copy()
    passed = expected_value(hand, state.n_melds[seat], is_open, here, NEAREST, 0, True)
    after = with_draws(position, calling)
    for code in codes:
        values_left[code - PON_PLAIN] = _call_value(state, seat, code, after)
    return passed


NEAREST: Final = 99
"""However far: the hand as it stands is no detour."""


@compiled
def with_draws(position: PushPosition, draws: int) -> PushPosition:
    """Return the same position with other (fewer) own draws left."""
    r = position.race
    race = Race(
        r.unseen, r.total, min(max(draws, 0), r.draws), r.own, r.live, r.risk, r.evasion, r.value,
        r.ron_rate, r.call_rate, r.tenpai_points, r.extra_points, r.may_riichi, r.others,
    )  # fmt: skip
    return PushPosition(
        race,
        position.stages,
        position.hand_context,
        position.hand_quality,
        position.deal_in,
        position.loss,
    )


@compiled
def _call_value(state: State, seat: int, code: int, position: PushPosition) -> float:
    """Return the value of the hand after a call and its best discard."""
    hand_context = position.hand_context
    claimed = state.last_tile
    kind = kind_of(claimed)
    hand, red = state.hand[seat].copy(), state.red[seat].copy()
    is_chi = is_chi_code(code)
    gives_red = gives_red_code(code)
    low = kind - (code - CHI_LOW) % 3 if is_chi else kind
    gained = hand_context.dora[kind] + int(claimed >= 34)
    for step in range(3):
        used = low + step if is_chi else kind
        if (is_chi and used == kind) or (not is_chi and step == 0):
            continue
        hand[used] -= 1
        gained += hand_context.dora[used]
    gained += gives_red
    if gives_red:
        red[kind // 9] -= 1
    record = hand_context.win[0]
    melds = record.n_melds
    add_meld(hand_context, CHI if is_chi else PON, low)
    hand_context.bonus[0] += gained
    hand_context.bonus[1] -= gives_red
    banned = kuikae_kinds(CHI if is_chi else PON, kind, low)
    values, riichis = np.empty(N_TILES), np.empty(N_TILES)
    tiles = _discards(hand, red, banned)
    weigh_discards(hand, melds + 1, True, tiles, position, True, values, riichis)
    record.n_melds = melds
    hand_context.bonus[0] -= gained
    hand_context.bonus[1] += gives_red
    return float(less_danger(values, position).max())


@compiled
def _discards(hand: Counts, red: Counts, banned: int) -> NDArray[np.int64]:
    """Return the different tiles (0..36) that may be discarded; a red five only if alone."""
    tiles = np.empty(N_TILES, np.int64)
    n = 0
    for kind in range(34):
        if hand[kind] == 0 or banned >> kind & 1:
            continue
        only_red = kind < 27 and kind % 9 == 4 and red[kind // 9] >= hand[kind]
        tiles[n] = 34 + kind // 9 if only_red else kind
        n += 1
    return tiles[:n]
