"""Yaku of one split of the hand, and its fu."""

from typing import NamedTuple

from mjbot.compiled import compiled
from mjbot.rules import yaku
from mjbot.rules.bits import DRAGONS, EDGES, HONOURS, SUIT, WINDS, count_bits
from mjbot.rules.melds import Melds
from mjbot.rules.wins import TSUMO, Win

_OUTSIDE_RUNS = 0b1000001 * (1 | 1 << 9 | 1 << 18)  # 123 and 789
_STRAIGHT = 0b1001001  # 123, 456, 789

TWO_SIDES = 0
ONE_TILE = 1  # closed, edge or pair wait
TRIPLET = 2  # one of two pairs becomes a triplet


class Shape(NamedTuple):
    """One split: masks over concealed blocks and melds together, except ``concealed``."""

    pair: int
    triplets: int
    runs: int
    twins: int
    concealed: int  # concealed triplets, closed kans not included


@compiled
def shape_yaku(shape: Shape, melds: Melds, win: Win) -> int:
    """Return the yaku mask that does not depend on which block the winning tile completed."""
    mask = _run_yaku(shape, melds.closed) | _outside_yaku(shape)
    mask |= _honour_yaku(shape, win)
    triplets = shape.triplets
    if triplets & triplets >> 9 & triplets >> 18 & SUIT:
        mask |= 1 << yaku.SANSHOKU_DOUKOU
    if not shape.runs:
        mask |= 1 << yaku.TOITOI
    if melds.n_kans == 3:
        mask |= 1 << yaku.SANKANTSU
    if melds.n_kans == 4:
        mask |= 1 << yaku.SUUKANTSU
    return mask


@compiled
def _run_yaku(shape: Shape, closed: bool) -> int:
    mask = 0
    runs = shape.runs
    if closed and shape.twins:
        mask |= 1 << (yaku.RYANPEIKOU if shape.twins == 2 else yaku.IIPEIKOU)
    if runs & runs >> 9 & runs >> 18 & SUIT:
        mask |= 1 << yaku.SANSHOKU
    for suit in range(3):
        if runs >> 9 * suit & _STRAIGHT == _STRAIGHT:
            mask |= 1 << yaku.ITTSUU
    return mask


@compiled
def _outside_yaku(shape: Shape) -> int:
    """Chanta or junchan: an outside tile in every block, and a run (else it is honroutou)."""
    blocks = shape.triplets | 1 << shape.pair
    if not shape.runs or shape.runs & ~_OUTSIDE_RUNS or blocks & ~EDGES:
        return 0
    return 1 << (yaku.CHANTA if blocks & HONOURS else yaku.JUNCHAN)


@compiled
def _honour_yaku(shape: Shape, win: Win) -> int:
    mask = 0
    triplets, pair = shape.triplets, 1 << shape.pair
    if not triplets & HONOURS:
        return mask
    if triplets & 1 << (27 + win.seat_wind):
        mask |= 1 << (yaku.SEAT_WIND + win.seat_wind)
    if triplets & 1 << (27 + win.round_wind):
        mask |= 1 << (yaku.ROUND_WIND + win.round_wind)
    mask |= (triplets & DRAGONS) >> 31 << yaku.HAKU
    n_dragons, n_winds = count_bits(triplets & DRAGONS), count_bits(triplets & WINDS)
    if n_dragons == 3:
        mask |= 1 << yaku.DAISANGEN
    elif n_dragons == 2 and pair & DRAGONS:
        mask |= 1 << yaku.SHOUSANGEN
    if n_winds == 4:
        mask |= 1 << yaku.DAISUUSHII
    elif n_winds == 3 and pair & WINDS:
        mask |= 1 << yaku.SHOUSUUSHII
    return mask


@compiled
def concealed_yaku(shape: Shape, melds: Melds, wait: int, is_tsumo: bool) -> int:
    """Return sanankou or suuankou: a triplet completed by ron is not concealed."""
    n_concealed = count_bits(shape.concealed) + melds.n_closed_kans
    if wait == TRIPLET and not is_tsumo:
        n_concealed -= 1
    if n_concealed == 3:
        return 1 << yaku.SANANKOU
    if n_concealed == 4:
        # The only wait of four triplets on one tile is the pair.
        return 1 << (yaku.SUUANKOU_TANKI if wait == ONE_TILE else yaku.SUUANKOU)
    return 0


@compiled
def shape_fu(shape: Shape, melds: Melds, win: Win) -> int:
    """Return the fu of blocks and pair: all but the base, the wait and the way of winning."""
    n_edges = count_bits(shape.concealed & EDGES)
    fu = melds.fu + 4 * count_bits(shape.concealed) + 4 * n_edges
    fu += 2 * (shape.pair >= 31)
    fu += 2 * (shape.pair == 27 + win.seat_wind)
    fu += 2 * (shape.pair == 27 + win.round_wind)
    return fu


@compiled
def total_fu(fu: int, wait: int, melds: Melds, win: Win) -> int:
    """Add base, wait and way of winning to :func:`shape_fu`, and round up.

    A result of 20 is a pinfu self-draw; without any fu an open hand has 30.
    """
    is_tsumo = win.flags & TSUMO > 0
    pinfu = melds.closed and wait == TWO_SIDES and fu == 0
    if wait == ONE_TILE:
        fu += 2
    if wait == TRIPLET and not is_tsumo:
        fu -= 4 if EDGES >> win.win_kind & 1 else 2
    if is_tsumo:
        fu += 0 if pinfu else 2
    elif melds.closed:
        fu += 10
    elif fu == 0:
        fu = 10
    return (20 + fu + 9) // 10 * 10
