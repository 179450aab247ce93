"""Yaku and fu of one split of the hand, and the yaku that do not depend on how it is split."""

from typing import NamedTuple

from mjbot.game.rules import wins
from mjbot.game.rules import yaku_table as yaku
from mjbot.game.rules.kinds import (
    DRAGONS,
    EDGES,
    GREEN,
    HONOURS,
    SUIT,
    TERMINALS,
    WINDS,
    Counts,
    count_bits,
)
from mjbot.game.rules.shapes import MeldSummary, triplet_fu
from mjbot.game.rules.wins import TSUMO, Win
from mjbot.runtime.compiler.compiled import compiled

_OUTSIDE_RUNS = 0b1000001 * (1 | 1 << 9 | 1 << 18)  # 123 and 789
_STRAIGHT = 0b1001001  # 123, 456, 789

TWO_SIDES = 0
ONE_TILE = 1  # closed, edge or pair wait
TRIPLET = 2  # one of two pairs becomes a triplet

BASE_FU = 20


class HandSplit(NamedTuple):
    """One split: masks over concealed blocks and melds together, except ``concealed``."""

    pair: int
    triplets: int
    runs: int
    twins: int
    concealed: int  # concealed triplets, closed kans not included


@compiled
def shape_yaku(shape: HandSplit, melds: MeldSummary, win: Win) -> int:
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
def _run_yaku(shape: HandSplit, closed: bool) -> int:
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
def _outside_yaku(shape: HandSplit) -> int:
    """Chanta or junchan: an outside tile in every block, and a run (else it is honroutou)."""
    blocks = shape.triplets | 1 << shape.pair
    if not shape.runs or shape.runs & ~_OUTSIDE_RUNS or blocks & ~EDGES:
        return 0
    return 1 << (yaku.CHANTA if blocks & HONOURS else yaku.JUNCHAN)


@compiled
def _honour_yaku(shape: HandSplit, win: Win) -> int:
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
def concealed_yaku(shape: HandSplit, melds: MeldSummary, wait: int, is_tsumo: bool) -> int:
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
def shape_fu(shape: HandSplit, melds: MeldSummary, win: Win) -> int:
    """Return the fu of blocks and pair: all but the base, the wait and the way of winning."""
    n_edges = count_bits(shape.concealed & EDGES)
    fu = melds.fu + 4 * count_bits(shape.concealed) + 4 * n_edges
    fu += 2 * (shape.pair >= 31)
    is_seat_wind = shape.pair == 27 + win.seat_wind
    is_round_wind = shape.pair == 27 + win.round_wind
    if is_seat_wind and is_round_wind and win.flags & wins.LOW_DOUBLE_WIND:
        return fu + 2
    return fu + 2 * is_seat_wind + 2 * is_round_wind


@compiled
def total_fu(fu: int, wait: int, melds: MeldSummary, win: Win) -> int:
    """Add base, wait and way of winning to :func:`shape_fu`, and round up."""
    fu += wait_fu(wait, win)
    return (BASE_FU + fu + way_fu(fu, wait, melds, win) + 9) // 10 * 10


@compiled
def wait_fu(wait: int, win: Win) -> int:
    """Return the fu of the wait.

    A triplet completed by ron counts as an open one, which takes fu away.
    """
    if wait == ONE_TILE:
        return 2
    if wait == TRIPLET and not win.flags & TSUMO:
        bit = 1 << int(win.win_kind)
        return triplet_fu(bit, False) - triplet_fu(bit, True)
    return 0


@compiled
def way_fu(fu: int, wait: int, melds: MeldSummary, win: Win) -> int:
    """Return the fu of the way of winning, ``fu`` being those of blocks, pair and wait.

    A pinfu self-draw has none; without any fu an open hand has 10.
    """
    if win.flags & TSUMO:
        return 0 if is_pinfu(fu, wait, melds) else 2
    return 10 if melds.closed or fu == 0 else 0


@compiled
def is_pinfu(fu: int, wait: int, melds: MeldSummary) -> bool:
    """Return whether a closed hand has no fu of blocks, pair and wait."""
    return melds.closed and wait == TWO_SIDES and fu == 0


_ALWAYS = (
    (wins.IPPATSU, 1 << yaku.IPPATSU),
    (wins.CHANKAN, 1 << yaku.CHANKAN),
    (wins.RINSHAN, 1 << yaku.RINSHAN),
    (wins.HOUTEI, 1 << yaku.HOUTEI),
)


@compiled
def circumstances(win: Win, melds: MeldSummary) -> int:
    """Return the yaku mask of how the tile came and what was declared."""
    flags = win.flags
    mask = 0
    for flag, bit in _ALWAYS:
        if flags & flag:
            mask |= bit
    if flags & wins.DOUBLE_RIICHI:
        mask |= 1 << yaku.DOUBLE_RIICHI
    elif flags & wins.RIICHI:
        mask |= 1 << yaku.RIICHI
    if flags & wins.FIRST_TURN and not flags & wins.TSUMO and win.n_melds == 0:
        if flags & wins.RENHOU_MANGAN:
            mask |= 1 << yaku.RENHOU
        elif flags & wins.RENHOU_YAKUMAN:
            mask |= 1 << yaku.RENHOU_YAKUMAN
    if flags & wins.TSUMO:
        if melds.closed:
            mask |= 1 << yaku.TSUMO
        if flags & wins.HAITEI and not flags & wins.RINSHAN:
            mask |= 1 << yaku.HAITEI
        if flags & wins.FIRST_TURN and win.n_melds == 0:
            mask |= 1 << (yaku.CHIIHOU if win.seat_wind else yaku.TENHOU)
    return mask


@compiled
def kinds_held(hand: Counts) -> int:
    """Return the mask of the kinds in the concealed part."""
    mask = 0
    for kind in range(34):
        mask |= int(hand[kind] > 0) << kind
    return mask


@compiled
def kinds_yaku(kinds: int, win: Win, closed: bool) -> int:
    """Return the yaku mask that the mask of all kinds, melds included, decides alone."""
    mask = 0
    if not kinds & EDGES:
        if closed or not win.flags & wins.CLOSED_TANYAO:
            mask |= 1 << yaku.TANYAO
    elif not kinds & ~EDGES:
        mask |= 1 << yaku.HONROUTOU
    if not kinds & ~HONOURS:
        mask |= 1 << yaku.TSUUIISOU
    if not kinds & ~GREEN:
        mask |= 1 << yaku.RYUUIISOU
    if not kinds & ~TERMINALS:
        mask |= 1 << yaku.CHINROUTOU
    suits = int(kinds & SUIT > 0) + int(kinds >> 9 & SUIT > 0) + int(kinds >> 18 & SUIT > 0)
    if suits == 1:
        mask |= 1 << (yaku.HONITSU if kinds & HONOURS else yaku.CHINITSU)
    return mask


@compiled
def nine_gates(win: Win, kinds: int) -> int:
    """Return the mask of chuuren, or 0: 1112345678999 of one suit and one tile more."""
    if win.n_melds or kinds & HONOURS:
        return 0
    first = win.win_kind // 9 * 9
    if kinds != SUIT << first:
        return 0
    for rank in range(9):
        if win.hand[first + rank] < (3 if rank in (0, 8) else 1):
            return 0
    spare = win.hand[win.win_kind] - (3 if win.win_kind - first in (0, 8) else 1)
    return 1 << (yaku.CHUUREN_NINE_WAITS if spare == 1 else yaku.CHUUREN)


@compiled
def thirteen_orphans(win: Win, kinds: int) -> int:
    """Return the mask of kokushi, or 0."""
    if win.n_melds or kinds != EDGES:
        return 0
    pair = win.hand[win.win_kind] == 2
    return 1 << (yaku.KOKUSHI_THIRTEEN_WAITS if pair else yaku.KOKUSHI)


@compiled
def is_seven_pairs(win: Win, kinds: int) -> bool:
    """Return whether the hand is seven different pairs."""
    if win.n_melds or count_bits(kinds) != 7:
        return False
    for kind in range(34):
        if win.hand[kind] not in (0, 2):
            return False
    return True
