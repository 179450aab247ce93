"""Features of the fold recogniser, including the grades of safety.

The features are the 34 of Mizukami et al. 2013 (table 5).  The paper lists 33 (a grade counts as
four); the last one here, how many tiles the hand would accept, is our choice.

How safe a discard is against one opponent is one of four grades (section 7.2 of the paper),
safest first: genbutsu; an honour of which one or more are on the table, suji of the terminals, or
behind a wall; other honours and other suji; no suji.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.shanten import NEVER, shanten_pairs, shanten_regular
from mjbot.game.table.hands import count_meld_reds
from mjbot.game.table.observe import dora_values, genbutsu, unseen_kinds
from mjbot.game.table.state import CALLED_AWAY, CHI, PON, State
from mjbot.protocol.tiles import FIRST_HONOUR, N_KINDS
from mjbot.runtime.compiler.compiled import compiled

GENBUTSU: Final = 0
NEARLY_SAFE: Final = 1
SUJI: Final = 2
NO_SUJI: Final = 3
N_GRADES: Final = 4

THREATENING_MELDS: Final = 2

# What a two-sided wait on one side of a number tile is.
_POSSIBLE: Final = 0
_NO_SUCH: Final = 1  # there are no three ranks on that side
_FURITEN: Final = 2  # its other tile is genbutsu
_WALLED: Final = 3  # all copies of a tile it needs are in sight


@compiled
def safety_grade(state: State, unseen: NDArray[np.int8], viewer: int, seat: int, kind: int) -> int:
    """Return the grade of a kind against ``seat`` as ``viewer`` sees it.

    ``unseen`` is int8[34], the copies that the viewer does not see.  Genbutsu are the seat's own
    discards and what it let pass since its riichi.  An honour counts as shown by rivers, melds
    and dora markers, not by the viewer's own hand; a wall is made of all that the viewer sees.
    A tile is behind a wall if no two-sided wait on it is left and a wall is why on one side.
    """
    safe = genbutsu(state, seat)
    if safe >> kind & 1:
        return GENBUTSU
    if kind >= FIRST_HONOUR:
        shown = 4 - unseen[kind] - state.hand[viewer, kind]
        return NEARLY_SAFE if shown > 0 else SUJI
    low, high = _side(safe, unseen, kind, -1), _side(safe, unseen, kind, 1)
    if low == _POSSIBLE or high == _POSSIBLE:
        return NO_SUJI
    terminal = kind % 9 == 0 or kind % 9 == 8
    return NEARLY_SAFE if terminal or low == _WALLED or high == _WALLED else SUJI


@compiled
def safety_grades(state: State, viewer: int, seat: int) -> NDArray[np.int8]:
    """Return the grade of every kind against ``seat`` as ``viewer`` sees it: int8[34]."""
    unseen = np.empty(N_KINDS, np.int8)
    unseen_kinds(state, viewer, unseen)
    grades = np.empty(N_KINDS, np.int8)
    for kind in range(N_KINDS):
        grades[kind] = safety_grade(state, unseen, viewer, seat, kind)
    return grades


@compiled
def threats_to(state: State, viewer: int) -> int:
    """Return a mask of the seats that threaten ``viewer``.

    The opponents in riichi; if there are none, those with two melds or more.
    """
    riichi, called = 0, 0
    for step in range(1, 4):
        seat = (viewer + step) & 3
        if state.riichi[seat]:
            riichi |= 1 << seat
        elif state.n_melds[seat] >= THREATENING_MELDS:
            called |= 1 << seat
    return riichi if riichi else called


@compiled
def joint_grades(state: State, viewer: int, seats: int) -> NDArray[np.int8]:
    """Return each kind's worst grade against the seats in a mask, 0 for no seat: int8[34]."""
    worst = np.zeros(N_KINDS, np.int8)
    for seat in range(4):
        if seats >> seat & 1:
            grades = safety_grades(state, viewer, seat)
            for kind in range(N_KINDS):
                worst[kind] = max(worst[kind], grades[kind])
    return worst


@compiled
def _side(safe: int, unseen: NDArray[np.int8], kind: int, step: int) -> int:
    """Return what the two-sided wait on ``kind`` is that the two tiles below (-1) or above make."""
    rank = kind % 9 + 3 * step
    if rank < 0 or rank > 8:
        return _NO_SUCH
    if safe >> (kind + 3 * step) & 1:
        return _FURITEN
    if unseen[kind + step] == 0 or unseen[kind + 2 * step] == 0:
        return _WALLED
    return _POSSIBLE


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
    """Fill ``out`` float32[34]: the table seen by ``seat`` that prefers to discard ``kind``.

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
        for index in range(N_GRADES):
            out[at + 4 + index] = index == grade
    out[FIRST_TABLE] = state.kans
    out[FIRST_TABLE + 1] = _dora_in_rivers(state, dora)
    out[FIRST_TABLE + 2] = state.wall_left
    out[FIRST_TABLE + 3] = _accepted(hand, n_melds, kind, unseen)
    for index in range(N_FEATURES):
        out[index] /= RANGES[index]


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
    for meld in range(state.n_melds[seat]):
        type_, kind = state.meld_type[seat, meld], state.meld_kind[seat, meld]
        if type_ == CHI:
            total += dora[kind] + dora[kind + 1] + dora[kind + 2]
        else:
            total += dora[kind] * (3 if type_ == PON else 4)
        total += count_meld_reds(state.meld_red[seat, meld])
    return total


@compiled
def _dora_in_rivers(state: State, dora: Counts) -> int:
    """Return the dora among all discards, without those called away: they are in melds."""
    total = 0
    for seat in range(4):
        for index in range(state.n_river[seat]):
            if not state.river_flags[seat, index] & CALLED_AWAY:
                tile = state.river[seat, index]
                if tile < N_KINDS:
                    total += dora[tile]
                else:
                    total += dora[4 + 9 * (tile - N_KINDS)] + 1
    return total
