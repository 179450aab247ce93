"""What can be seen of how dangerous a tile is: features of the deal-in model.

A tile kind against one opponent is described by a list of active features, one at most of each
group below; the model's log-odds are the sum of their weights.  Two models share the features:
for opponents in riichi and for all others (whose tenpai is uncertain).

Where the groups are cut (six early discards, a two-sided wait counting as hardly open from four
ways down, turns by three) was chosen by hand; the weights are fitted
(:mod:`mjbot.learning.models.danger`).
"""

from itertools import accumulate
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.hands import count_meld_reds, kind_of
from mjbot.game.table.observe import genbutsu
from mjbot.game.table.seats import steps_between
from mjbot.game.table.state import CHI, RIICHI_DISCARD, TSUMOGIRI, State
from mjbot.protocol.tiles import FIRST_DRAGON, FIRST_HONOUR, NORTH
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int64, Int64s, Record

Counts = NDArray[np.int8]

EARLY_DISCARDS: Final = 6

_SIZES: Final = {
    "SHAPE": 21,  # number tile: rank class and how open its two-sided waits are
    "COPIES": 8,  # number tile: unseen copies of it, x a two-sided wait is possible
    "CLOSED_WAIT": 3,  # number tile: copies left for a wait on its middle
    "NEAR_DORA": 4,  # other, one away, two away, the dora itself
    "TURN": 12,  # discards of the opponent, x number tile or honour
    "LINES_LEFT": 24,  # two-sided waits not yet refuted, x those through this tile
    "OUTSIDE": 9,  # number tile: how near the opponent discarded, early x late
    "DECLARED_NEAR": 4,  # number tile: distance to the riichi discard in its suit
    "HONOUR": 12,  # honour: unseen copies x guest wind, value, double value
    "SUIT_DISCARDS": 5,  # the opponent's discards of this suit, 0..4+
    "MELDS": 30,  # not in riichi: melds x discards
    "FLUSH": 10,  # not in riichi: melds of one suit, x this tile in it, honour, other
    "STYLE": 10,  # not in riichi: yaku suggested by the melds, x simple or not
    "STILL": 8,  # not in riichi: discards in a row that were just drawn, x melds
    "AFTER_RIICHI": 6,  # in riichi: discards since
    "BIAS": 1,
}
"""How many features each group has, in their order."""
(
    SHAPE, COPIES, CLOSED_WAIT, NEAR_DORA, TURN, LINES_LEFT, OUTSIDE, DECLARED_NEAR, HONOUR,
    SUIT_DISCARDS, MELDS, FLUSH, STYLE, STILL, AFTER_RIICHI, BIAS, N_FEATURES,
) = accumulate(_SIZES.values(), initial=0)  # fmt: skip
# Where each group begins, and where the last one ends.

N_GRADES: Final = 3
MAX_ACTIVE: Final = 14


class OpponentSigns(Record):
    """What the features of all kinds have in common for one opponent."""

    lines: Annotated[Int64s, 27]  # two-sided wait from each low kind: 0 refuted, 1 hardly, 2 open
    n_lines: Int64  # those not refuted
    suits: Annotated[Int64s, 4]  # discards by suit, honours last
    declared: Int64  # kind of the riichi discard, -1 none
    early: Int64  # mask of the first discards
    late: Int64  # mask of the later ones, before riichi
    after_riichi: Int64  # discards since
    just_drawn: Int64  # discards in a row that were just drawn
    meld_suit: Int64  # -1 no meld, 3 honours only, 4 several
    style: Int64  # see :func:`_style`


OPPONENT_SIGNS: Final = OpponentSigns.dtype


@compiled
def read_opponent(state: State, opponent: int, unseen: Counts, signs: OpponentSigns) -> None:
    """Fill ``signs`` (:data:`OPPONENT_SIGNS`)."""
    safe = genbutsu(state, opponent)
    signs.n_lines = 0
    for low in range(27):
        signs.lines[low] = 0
        if low % 9 < 6:
            signs.lines[low] = _line(unseen, safe, low)
            signs.n_lines += signs.lines[low] > 0
    _read_river(state, opponent, signs)
    signs.meld_suit = _meld_suit(state, opponent)
    signs.style = _style(state, opponent)


@compiled
def _line(unseen: Counts, safe: int, low: int) -> int:
    """How open a wait on ``low`` and ``low + 3`` is."""
    if (safe >> low | safe >> (low + 3)) & 1:
        return 0
    ways = unseen[low + 1] * unseen[low + 2]
    if ways == 0:
        return 0
    return 1 if ways <= 4 else 2


@compiled
def _read_river(state: State, opponent: int, signs: OpponentSigns) -> None:
    for suit in range(4):
        signs.suits[suit] = 0
    signs.early, signs.late, signs.declared = 0, 0, -1
    signs.after_riichi, signs.just_drawn = 0, 0
    for index in range(state.n_river[opponent]):
        kind = kind_of(state.river[opponent, index])
        flags = state.river_flags[opponent, index]
        signs.suits[kind // 9] += 1
        if signs.declared >= 0:
            signs.after_riichi += 1
        elif index < EARLY_DISCARDS:
            signs.early |= 1 << kind
        else:
            signs.late |= 1 << kind
        if flags & RIICHI_DISCARD:
            signs.declared = kind
        signs.just_drawn = signs.just_drawn + 1 if flags & TSUMOGIRI else 0


@compiled
def _meld_suit(state: State, opponent: int) -> int:
    suit = -1
    for meld in range(state.n_melds[opponent]):
        here = state.meld_kind[opponent, meld] // 9
        if suit < 0 or suit == 3:
            suit = here
        elif here not in (3, suit):
            return 4
    return suit


@compiled
def _style(state: State, opponent: int) -> int:
    """0 no melds, 1 a value triplet, 2 all simples, 3 two or more triplets only, 4 other."""
    melds = state.n_melds[opponent]
    if melds == 0:
        return 0
    simples, triplets, value = True, True, False
    for index in range(melds):
        kind = state.meld_kind[opponent, index]
        run = state.meld_type[opponent, index] == CHI
        triplets &= not run
        if kind >= FIRST_HONOUR:
            simples = False
            value |= honour_value(state, opponent, kind) > 0
        elif kind % 9 == 0 or kind % 9 == (6 if run else 8):
            simples = False
    if value:
        return 1
    if simples:
        return 2
    return 3 if triplets and melds > 1 else 4


@compiled
def honour_value(state: State, seat: int, kind: int) -> int:
    """Return the han of a triplet of an honour for a seat: 0, 1 or 2."""
    if kind >= FIRST_DRAGON:
        return 1
    wind = kind - FIRST_HONOUR
    own_wind = steps_between(state, state.dealer, seat)
    return int(wind == own_wind) + int(wind == state.round >> 2)


@compiled
def active_features(
    state: State,
    opponent: int,
    kind: int,
    unseen: Counts,
    dora: Counts,
    signs: OpponentSigns,
    out: NDArray[np.int16],
) -> int:
    """Write the active features of discarding ``kind`` against the opponent; return how many."""
    out[0] = BIAS
    rivers = min(state.n_river[opponent] // 3, 5)
    if kind < FIRST_HONOUR:
        n = _number_tile(kind, unseen, signs, out)
        out[n] = TURN + rivers
    else:
        value = honour_value(state, opponent, kind)
        out[1] = HONOUR + 4 * value + min(unseen[kind], 3)
        out[2] = TURN + 6 + rivers
        n = 2
    out[n + 1] = SUIT_DISCARDS + min(signs.suits[kind // 9], 4)
    out[n + 2] = NEAR_DORA + _near_dora(dora, kind)
    n += 3
    if state.riichi[opponent]:
        out[n] = AFTER_RIICHI + min(signs.after_riichi, 5)
        return n + 1
    melds = min(state.n_melds[opponent], 4)
    edge = kind >= FIRST_HONOUR or kind % 9 == 0 or kind % 9 == 8
    out[n] = MELDS + 6 * melds + rivers
    out[n + 1] = FLUSH + _flush(signs.meld_suit, melds, kind)
    out[n + 2] = STYLE + 2 * signs.style + edge
    out[n + 3] = STILL + 4 * (melds > 0) + min(signs.just_drawn, 3)
    return n + 4


@compiled
def _number_tile(kind: int, unseen: Counts, signs: OpponentSigns, out: NDArray[np.int16]) -> int:
    rank = kind % 9
    upper = signs.lines[kind] if rank < 6 else 0
    lower = signs.lines[kind - 3] if rank > 2 else 0
    if 3 <= rank <= 5:
        high, low = max(upper, lower), min(upper, lower)
        out[1] = SHAPE + 9 + 6 * (rank == 4) + high * (high + 1) // 2 + low
    else:
        out[1] = SHAPE + 3 * min(rank, 8 - rank) + max(upper, lower)
    through = int(upper > 0) + int(lower > 0)
    out[2] = COPIES + 4 * (through > 0) + min(unseen[kind], 3)
    ways = unseen[kind - 1] * unseen[kind + 1] if 0 < rank < 8 else 0
    out[3] = CLOSED_WAIT + (0 if ways == 0 else 1 if ways <= 4 else 2)
    out[4] = LINES_LEFT + 8 * through + min(max(signs.n_lines - 2, 0) // 2, 7)
    out[5] = OUTSIDE + 3 * _distance(signs.early, kind) + _distance(signs.late, kind)
    declared = signs.declared
    out[6] = DECLARED_NEAR
    if declared >= 0 and declared // 9 == kind // 9 and declared != kind:
        out[6] = DECLARED_NEAR + min(abs(declared - kind), 4) % 4
    return 7


@compiled
def _distance(mask: int, kind: int) -> int:
    """Return 1 or 2 if a kind in the mask is that far off in the suit, else 0."""
    for far in range(1, 3):
        for other in (kind - far, kind + far):
            if 0 <= other < FIRST_HONOUR and other // 9 == kind // 9 and mask >> other & 1:
                return far
    return 0


@compiled
def _near_dora(dora: Counts, kind: int) -> int:
    if dora[kind]:
        return 3
    if kind >= FIRST_HONOUR:
        return 0
    for far in range(1, 3):
        for other in (kind - far, kind + far):
            if 0 <= other < FIRST_HONOUR and other // 9 == kind // 9 and dora[other]:
                return far
    return 0


@compiled
def _flush(suit: int, melds: int, kind: int) -> int:
    if melds == 0 or suit > 3:
        return 0
    here = 2
    if kind >= FIRST_HONOUR:
        here = 1
    elif suit in (3, kind // 9):
        here = 0
    return 1 + 3 * (min(melds, 3) - 1) + here


@compiled
def shown_han(state: State, opponent: int, dora: Counts) -> int:
    """Return the han that melds and kita show: dora, red fives and value triplets."""
    han = int(state.kita[opponent] * (1 + dora[NORTH]))
    for meld in range(state.n_melds[opponent]):
        kind = state.meld_kind[opponent, meld]
        type_ = state.meld_type[opponent, meld]
        han += count_meld_reds(state.meld_red[opponent, meld])
        if type_ == CHI:
            han += dora[kind] + dora[kind + 1] + dora[kind + 2]
        else:
            han += dora[kind] * (3 if type_ < 2 else 4)
            if kind >= FIRST_HONOUR:
                han += honour_value(state, opponent, kind)
    return han


# Features of the points of a deal-in.
LOSS_KIND: Final = 0  # riichi; else closed, one meld, two, three and more
LOSS_DEALER: Final = 5
LOSS_SHOWN: Final = 7  # han shown by melds, 0..5
LOSS_TILE: Final = 13  # dora of the tile, 0..2
LOSS_MARKERS: Final = 16  # dora markers, 1..4
LOSS_FLUSH: Final = 20  # melds of one suit
LOSS_TURN: Final = 22  # discards of the opponent
LOSS_STYLE: Final = 28
N_LOSS: Final = 33
LOSS_ACTIVE: Final = 8


@compiled
def loss_features(
    state: State, opponent: int, kind: int, dora: Counts, out: NDArray[np.int16]
) -> int:
    """Write the active features of the points lost to the opponent; return how many."""
    riichi = state.riichi[opponent] > 0
    melds = state.n_melds[opponent]
    suit = _meld_suit(state, opponent)
    out[0] = LOSS_KIND + (0 if riichi else 1 + min(melds, 3))
    out[1] = LOSS_DEALER + int(state.dealer == opponent)
    out[2] = LOSS_SHOWN + min(shown_han(state, opponent, dora), 5)
    out[3] = LOSS_TILE + min(dora[kind], 2)
    out[4] = LOSS_MARKERS + min(state.n_dora, 4) - 1
    out[5] = LOSS_FLUSH + int(melds >= 2 and suit < 4)
    out[6] = LOSS_TURN + min(state.n_river[opponent] // 3, 5)
    out[7] = LOSS_STYLE + _style(state, opponent)
    return LOSS_ACTIVE


@compiled
def grade(kind: int, safe: int, unseen: NDArray[np.int8]) -> int:
    """Return the safety grade of Mizukami 2013 of a kind that is no genbutsu, 0 the safest.

    0: an honour of which one is seen, suji of 1 and 9, or behind a wall; 1: other honours and
    suji; 2: the rest.  The fourth and safest grade of the paper is genbutsu.
    """
    if kind >= FIRST_HONOUR:
        return 0 if unseen[kind] < 3 else 1
    rank = kind % 9
    upper = rank < 6 and not safe >> (kind + 3) & 1
    lower = rank > 2 and not safe >> (kind - 3) & 1
    if upper and (unseen[kind + 1] == 0 or unseen[kind + 2] == 0):
        return 0
    if lower and (unseen[kind - 1] == 0 or unseen[kind - 2] == 0):
        return 0
    if upper or lower:
        return 2
    return 0 if rank in (0, 8) else 1
