"""How far a seat is from tenpai, by what all can see of it: learned from records.

Of a seat that is not in riichi the features below are active, one of each group (five of
:data:`RECENT`); a hidden layer of rectified sums gives seven numbers, whose softmax over the
shanten that so few concealed tiles can have are the chances::

    h = max(0, b + sum of first[f])        P(s) ~ exp(c[s] + h . last[s]),  0 <= s <= highest

Fitted by ``mjbot train shanten hanchan-2024.zip --games :4000 --validate 4000:4444 --check
hanchan-2020.zip`` (:mod:`mjbot.learning.training.networks.hidden_shanten`), for tables of three
players by ``mjbot train shanten sanma-hanchan.zip --players 3 --games :934 --validate 934: --passes
4``; how well it reads: docs/results/hidden-hands.md.  Where the groups are cut was chosen by hand.
No hidden hand is an input, not even the own hand of the reader: all players estimate a seat alike.
"""

from functools import cache
from math import exp
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.hands import kind_of
from mjbot.game.table.observe import dora_values, visible_kinds
from mjbot.game.table.settle import seats_ahead
from mjbot.game.table.state import CHI, NO_RIICHI, RIICHI_DISCARD, TSUMOGIRI, State
from mjbot.learning.models.danger_features import honour_value, shown_han
from mjbot.learning.models.weights import SHIPPED, WeightsError, load_weights
from mjbot.protocol.tiles import FIRST_HONOUR, N_KINDS
from mjbot.runtime.compiler.compiled import compiled

Floats = NDArray[np.float32]
Counts = NDArray[np.int8]
Active = NDArray[np.int16]
Chances = NDArray[np.float64]

NAME: Final = "shanten"
N_SHANTEN: Final = 7
"""0, tenpai, to 6 and more."""

MOST_DISCARDS: Final = 18
LOOKED_BACK: Final = 5
EARLY_DISCARDS: Final = 6
FRESH: Final = 3
"""A dora counts as given up lately for so many discards."""
NEVER: Final = 1000
"""A turn after all turns."""

# Where each group of features begins.
TURN: Final = 0  # own discards 0..18, x closed, one meld .. four, closed with a kan
RECENT: Final = 114  # each of the last five: none, else from hand or drawn, x sort of tile
STILL: Final = 169  # discards in a row that were just drawn 0..6, x closed, one meld, more
FROM_HAND: Final = 190  # discards from hand 0..12
GIVEN_DORA: Final = 203  # a dora or red five discarded: no, before, lately
EARLY_MIDDLE: Final = 206  # 3..7 among the first six discards 0..6
EARLY_HONOUR: Final = 213  # honours among them 0..6
MIDDLE: Final = 220  # 3..7 discarded 0..10
SUITS: Final = 231  # discards of the suit with fewest 0..3, x own discards by fours
TRIPLETS: Final = 247  # melds that are no runs 0..4
VALUE: Final = 252  # han of value triplets in melds 0..2
SIMPLES: Final = 255  # no melds, all simples, not
ONE_SUIT: Final = 258  # no melds, of one suit, honours only, several suits
SHOWN: Final = 262  # han that melds show 0..5
THREATS: Final = 268  # others in riichi 0..3, x closed, one meld, more
PUSHED: Final = 280  # own discards since the first riichi 0..3, x those not safe from it 0..3
LAST_PUSH: Final = 296  # the last of them: none, safe and drawn, from hand, not safe and so
WALL: Final = 301  # live tiles left, by sixes
CALLS: Final = 313  # melds of the others 0..5
PLACE: Final = 319  # rank now, x last kyoku
DEALER: Final = 327
POOR: Final = 329  # no points for a riichi
JOINED: Final = 331  # last two from hand: fewer, apart 0, 1, 2, more, x the last one just now
LAST_DORA: Final = 341  # last from hand: none, near the dora 0..3, x closed, one meld, more
LAST_HONOUR: Final = 356  # last from hand: no honour, else its copies in sight 1..4
N_FEATURES: Final = 361
N_ACTIVE: Final = 29


class ShantenWeights(NamedTuple):
    """float32: ``first`` [features, units], ``last`` [shanten, units], the others' length."""

    first: Floats
    first_bias: Floats
    last: Floats
    last_bias: Floats


@cache
def shanten_weights(folder: Path = SHIPPED) -> ShantenWeights:
    """Return the weights in a folder.  Raises ``WeightsError`` if they cannot be used."""
    arrays = load_weights(NAME, folder)
    by_name = {name: arrays.get(name) for name in ShantenWeights._fields}
    units = 0 if by_name["first_bias"] is None else by_name["first_bias"].size
    wanted = ((N_FEATURES, units), (units,), (N_SHANTEN, units), (N_SHANTEN,))
    for (name, array), shape in zip(by_name.items(), wanted, strict=True):
        if array is None or array.shape != shape or not units:
            raise WeightsError(folder / f"{NAME}.npz", f"{name} is not {shape}; train it again")
    return ShantenWeights(*(arrays[name].astype(np.float32) for name in ShantenWeights._fields))


# --- chances -----------------------------------------------------------------------------------


@compiled
def learned_chances(state: State, seat: int, weights: ShantenWeights, out: Chances) -> None:
    """Write how likely each shanten of a seat that is not in riichi is: float64[7].

    They add up to 1; those that so few concealed tiles cannot have are 0.
    """
    active = np.empty(N_ACTIVE, np.int16)
    write_signs(state, seat, active)
    predict(weights, active, highest_shanten(state, seat), out)


@compiled
def highest_shanten(state: State, seat: int) -> int:
    """Return the highest shanten that so few concealed tiles can have, 6 for all from there."""
    return int(min(N_SHANTEN - 1, 8 - 2 * state.n_melds[seat]))


@compiled
def predict(weights: ShantenWeights, active: Active, highest: int, out: Chances) -> None:
    """Write the chances of shanten 0 .. ``highest`` for active features: float64[7]."""
    hidden = weights.first_bias.copy()
    for index in range(N_ACTIVE):
        row = weights.first[active[index]]
        for unit in range(len(hidden)):
            hidden[unit] += row[unit]
    most = -np.inf
    for shanten in range(N_SHANTEN):
        out[shanten] = 0.0
        if shanten <= highest:
            total = weights.last_bias[shanten]
            for unit in range(len(hidden)):
                total += max(hidden[unit], np.float32(0)) * weights.last[shanten, unit]
            out[shanten] = total
            most = max(most, out[shanten])
    total_odds = 0.0
    for shanten in range(highest + 1):
        out[shanten] = exp(out[shanten] - most)
        total_odds += out[shanten]
    for shanten in range(highest + 1):
        out[shanten] /= total_odds


# --- features ----------------------------------------------------------------------------------


@compiled
def write_signs(state: State, seat: int, out: Active) -> None:
    """Write the active features of a seat: int16[29]."""
    dora = np.empty(N_KINDS, np.int8)
    dora_values(state, dora)
    openness = _openness(state, seat)
    width = min(int(state.n_melds[seat]), 2)
    discards = min(int(state.n_river[seat]), MOST_DISCARDS)
    out[0] = TURN + 6 * discards + openness
    _river_signs(state, seat, width, dora, out)
    _last_from_hand_signs(state, seat, width, dora, out)
    _meld_signs(state, seat, dora, out)
    _threat_signs(state, seat, width, out)
    out[22] = WALL + min(int(state.wall_left) // 6, 11)
    calls = 0
    for step in range(1, 4):
        calls += state.n_melds[(seat + step) & 3]
    out[23] = CALLS + min(calls, 5)
    last = int(state.round >= state.rules.last_round)
    out[24] = PLACE + 2 * seats_ahead(state.scores, seat) + last
    out[25] = DEALER + int(state.dealer == seat)
    out[26] = POOR + int(state.scores[seat] < state.rules.stick_points)


@compiled
def _openness(state: State, seat: int) -> int:
    """0 no melds, 1 .. 4 of an open hand, 5 concealed kans only."""
    if state.n_melds[seat] > 0 and not state.is_open[seat]:
        return 5
    return int(state.n_melds[seat])


@compiled
def _sort(state: State, seat: int, kind: int) -> int:
    """0 a guest wind, 1 an honour of value, 2 a terminal, 3 a 2 or 8, 4 from 3 to 7."""
    if kind >= FIRST_HONOUR:
        return 1 if honour_value(state, seat, kind) else 0
    return 2 + min(kind % 9, 8 - kind % 9, 2)


@compiled
def _river_signs(state: State, seat: int, width: int, dora: Counts, out: Active) -> None:
    """Write places 1 to 12."""
    n = int(state.n_river[seat])
    still, from_hand, given = 0, 0, 0
    early_middle, early_honours, middle = 0, 0, 0
    man, pin, sou = 0, 0, 0
    for back in range(LOOKED_BACK):
        out[1 + back] = RECENT + 11 * back
    for index in range(n):
        tile = state.river[seat, index]
        kind = kind_of(tile)
        drawn = state.river_flags[seat, index] & TSUMOGIRI
        sort = _sort(state, seat, kind)
        back = n - 1 - index
        if back < LOOKED_BACK:
            out[1 + back] += 1 + sort + (0 if drawn else 5)
        still = still + 1 if drawn else 0
        from_hand += 0 if drawn else 1
        if dora[kind] or tile >= N_KINDS:
            given = 2 if back < FRESH else 1
        if index < EARLY_DISCARDS:
            early_middle += sort == 4
            early_honours += sort < 2
        middle += sort == 4
        man += kind < 9
        pin += 9 <= kind < 18
        sou += 18 <= kind < FIRST_HONOUR
    out[6] = STILL + 3 * min(still, 6) + width
    out[7] = FROM_HAND + min(from_hand, 12)
    out[8] = GIVEN_DORA + given
    out[9] = EARLY_MIDDLE + early_middle
    out[10] = EARLY_HONOUR + early_honours
    out[11] = MIDDLE + min(middle, 10)
    out[12] = SUITS + 4 * min(n // 4, 3) + min(man, pin, sou, 3)


@compiled
def _last_from_hand_signs(state: State, seat: int, width: int, dora: Counts, out: Active) -> None:
    """Write places 13 to 15: the last two discards from hand."""
    last, before, place_of_last = -1, -1, -1
    for index in range(state.n_river[seat]):
        if not state.river_flags[seat, index] & TSUMOGIRI:
            before, last = last, kind_of(state.river[seat, index])
            place_of_last = index
    just_now = int(place_of_last >= 0 and place_of_last == state.n_river[seat] - 1)
    apart = 0
    if before >= 0:
        apart = 4
        if before == last or (last < FIRST_HONOUR and last // 9 == before // 9):
            apart = 1 + min(abs(last - before), 3)
    out[13] = JOINED + 2 * apart + just_now
    out[14] = LAST_DORA + 3 * (0 if last < 0 else 1 + _near_dora(dora, last)) + width
    out[15] = LAST_HONOUR
    if last >= FIRST_HONOUR:
        visible = np.empty(N_KINDS, np.int8)
        visible_kinds(state, visible)
        out[15] += min(max(int(visible[last]), 1), 4)


@compiled
def _near_dora(dora: Counts, kind: int) -> int:
    """3 the dora itself, 1 or 2 so far from it in its suit, else 0."""
    if dora[kind]:
        return 3
    if kind < FIRST_HONOUR:
        for far in range(1, 3):
            low, high = kind - far, kind + far
            if low >= 0 and low // 9 == kind // 9 and dora[low]:
                return far
            if high < FIRST_HONOUR and high // 9 == kind // 9 and dora[high]:
                return far
    return 0


@compiled
def _meld_signs(state: State, seat: int, dora: Counts, out: Active) -> None:
    """Write places 16 to 19 and 27."""
    triplets, value, simples, suits, honours = 0, 0, 1, 0, 0
    for meld in range(state.n_melds[seat]):
        kind = int(state.meld_kind[seat, meld])
        run = state.meld_type[seat, meld] == CHI
        triplets += 0 if run else 1
        if kind >= FIRST_HONOUR:
            simples, honours = 0, 1
            value += honour_value(state, seat, kind)
        else:
            suits |= 1 << (kind // 9)
            if kind % 9 == 0 or kind % 9 == (6 if run else 8):
                simples = 0
    none = state.n_melds[seat] == 0
    several = 3 if suits & (suits - 1) else 1 if suits else 2
    out[16] = TRIPLETS + triplets
    out[17] = VALUE + min(value, 2)
    out[18] = SIMPLES + (0 if none else 1 if simples and not honours else 2)
    out[19] = ONE_SUIT + (0 if none else several)
    out[27] = SHOWN + min(shown_han(state, seat, dora), 5)


@compiled
def _threat_signs(state: State, seat: int, width: int, out: Active) -> None:
    """Write places 20 and 21, and what was done since the first riichi of another.

    A kind is safe from that seat if it has discarded it, or it was let pass since.
    """
    threats, first, since_turn = 0, -1, NEVER
    for step in range(1, 4):
        other = (seat + step) & 3
        if state.riichi[other] == NO_RIICHI:
            continue
        threats += 1
        for index in range(state.n_river[other]):
            turn = int(state.river_turn[other, index])
            if state.river_flags[other, index] & RIICHI_DISCARD and turn < since_turn:
                first, since_turn = other, turn
    out[20] = THREATS + 3 * threats + width
    out[21] = PUSHED
    out[28] = LAST_PUSH
    if first < 0:
        return
    safe_from = np.full(N_KINDS, NEVER, np.int64)
    for other in range(4):
        for index in range(state.n_river[other]):
            turn = int(state.river_turn[other, index])
            if other == first or turn > since_turn:
                kind = kind_of(state.river[other, index])
                safe_from[kind] = min(safe_from[kind], turn)
    since, pushed = 0, 0
    for index in range(state.n_river[seat]):
        turn = int(state.river_turn[seat, index])
        if turn > since_turn:
            unsafe = safe_from[kind_of(state.river[seat, index])] >= turn
            drawn = state.river_flags[seat, index] & TSUMOGIRI
            since += 1
            pushed += unsafe
            out[28] = LAST_PUSH + 1 + 2 * unsafe + (0 if drawn else 1)
    out[21] = PUSHED + 4 * min(since, 3) + min(pushed, 3)
