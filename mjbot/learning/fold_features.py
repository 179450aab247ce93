"""What the fold recogniser looks at: the 34 features of Mizukami et al. 2013 (table 5).

The paper lists 33 (a grade counts as four); the last one here, how many tiles the hand would
accept, is our choice.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.learning.fold_safety import N_GRADES, safety_grade
from mjbot.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.rules.shanten import NEVER, shanten_pairs, shanten_regular
from mjbot.table.observe import dora_values, unseen_kinds
from mjbot.table.state import CALLED_AWAY, CHI, PON, State
from protocol.tiles import N_KINDS

Features = NDArray[np.float32]
Counts = NDArray[np.int8]

_OWN: Final = ("shanten", "pairs_shanten", "riichi", "dealer", "melds", "dora")
_OPPONENT: Final = (
    "riichi", "melds", "dora_shown", "dealer",
    "genbutsu", "nearly_safe", "suji", "no_suji",
)  # fmt: skip
_TABLE: Final = ("kans", "dora_discarded", "tiles_left", "accepted")

NAMES: Final = (
    *[f"own_{name}" for name in _OWN],
    *[f"{who}_{name}" for who in ("right", "across", "left") for name in _OPPONENT],
    *_TABLE,
)
"""The features in order; right is the next player, left the one before."""
N_FEATURES: Final = len(NAMES)

FIRST_OPPONENT: Final = len(_OWN)
PER_OPPONENT: Final = len(_OPPONENT)
FIRST_TABLE: Final = FIRST_OPPONENT + 3 * PER_OPPONENT

_OPPONENT_RANGE: Final = (1, 4, 8, 1, 1, 1, 1, 1)
RANGES: Final = np.array(
    [6, 6, 1, 1, 4, 8, *_OPPONENT_RANGE, *_OPPONENT_RANGE, *_OPPONENT_RANGE, 4, 8, 70, 20],
    np.float32,
)
"""Features are divided by these, so that nearly all lie in 0..1."""

NO_PAIRS: Final = 6
"""The shanten of seven pairs that a hand with melds is given."""


@compiled
def fold_features(state: State, seat: int, kind: int, out: Features) -> None:
    """Fill ``out`` float32[34]: the table as ``seat`` sees it when it wants to discard ``kind``.

    It is the seat's turn: 3n+2 concealed tiles.  Counts of dora include red fives.
    """
    unseen, dora = np.empty(N_KINDS, np.int8), np.empty(N_KINDS, np.int8)
    unseen_kinds(state, seat, unseen)
    dora_values(state, dora)
    hand, n_melds = state.hand[seat], state.n_melds[seat]
    pairs = shanten_pairs(hand, n_melds)
    out[0] = shanten_regular(hand, n_melds)
    out[1] = NO_PAIRS if pairs == NEVER else pairs
    out[2] = state.riichi[seat] != 0
    out[3] = seat == state.dealer
    out[4] = n_melds
    out[5] = _dora_in_hand(state, seat, dora) + _dora_in_melds(state, seat, dora)
    for step in range(1, 4):
        other, at = (seat + step) & 3, FIRST_OPPONENT + (step - 1) * PER_OPPONENT
        out[at] = state.riichi[other] != 0
        out[at + 1] = state.n_melds[other]
        out[at + 2] = _dora_in_melds(state, other, dora)
        out[at + 3] = other == state.dealer
        grade = safety_grade(state, unseen, seat, other, kind)
        for place in range(N_GRADES):
            out[at + 4 + place] = place == grade
    out[FIRST_TABLE] = state.kans
    out[FIRST_TABLE + 1] = _dora_in_rivers(state, dora)
    out[FIRST_TABLE + 2] = state.wall_left
    out[FIRST_TABLE + 3] = _accepted(hand, n_melds, kind, unseen)
    for place in range(N_FEATURES):
        out[place] /= RANGES[place]


@compiled
def _accepted(hand: Counts, n_melds: int, kind: int, unseen: Counts) -> int:
    """Return how many unseen tiles bring the hand nearer once ``kind`` is gone."""
    rest = hand.copy()
    rest[kind] -= 1
    return count_tiles(shanten_and_acceptance(rest, n_melds)[1], unseen)


@compiled
def _dora_in_hand(state: State, seat: int, dora: Counts) -> int:
    total = 0
    for kind in range(N_KINDS):
        total += state.hand[seat, kind] * dora[kind]
    for suit in range(3):
        total += state.red[seat, suit]
    return total


@compiled
def _dora_in_melds(state: State, seat: int, dora: Counts) -> int:
    total = 0
    for place in range(state.n_melds[seat]):
        type_, kind = state.meld_type[seat, place], state.meld_kind[seat, place]
        if type_ == CHI:
            total += dora[kind] + dora[kind + 1] + dora[kind + 2]
        else:
            total += dora[kind] * (3 if type_ == PON else 4)
        red = state.meld_red[seat, place]
        total += (red & 1) + (red >> 1 & 1) + (red >> 2 & 1)
    return total


@compiled
def _dora_in_rivers(state: State, dora: Counts) -> int:
    """Return the dora among all discards, without those called away: they are in melds."""
    total = 0
    for seat in range(4):
        for place in range(state.n_river[seat]):
            if not state.river_flags[seat, place] & CALLED_AWAY:
                tile = state.river[seat, place]
                if tile < N_KINDS:
                    total += dora[tile]
                else:
                    total += dora[4 + 9 * (tile - N_KINDS)] + 1
    return total
