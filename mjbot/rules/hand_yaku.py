"""Yaku that do not depend on how the hand is split: circumstances and kinds of tiles."""

from mjbot.compiled import compiled
from mjbot.rules import wins, yaku
from mjbot.rules.bits import EDGES, GREEN, HONOURS, SUIT, TERMINALS, count_bits
from mjbot.rules.melds import Melds
from mjbot.rules.shanten import Hand
from mjbot.rules.wins import Win

_ALWAYS = (
    (wins.IPPATSU, 1 << yaku.IPPATSU),
    (wins.CHANKAN, 1 << yaku.CHANKAN),
    (wins.RINSHAN, 1 << yaku.RINSHAN),
    (wins.HOUTEI, 1 << yaku.HOUTEI),
)


@compiled
def circumstances(win: Win, melds: Melds) -> int:
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
    if flags & wins.TSUMO:
        if melds.closed:
            mask |= 1 << yaku.TSUMO
        if flags & wins.HAITEI and not flags & wins.RINSHAN:
            mask |= 1 << yaku.HAITEI
        if flags & wins.FIRST_TURN and win.n_melds == 0:
            mask |= 1 << (yaku.CHIIHOU if win.seat_wind else yaku.TENHOU)
    return mask


@compiled
def kinds_held(hand: Hand) -> int:
    """Return the mask of the kinds in the concealed part."""
    mask = 0
    for kind in range(34):
        mask |= int(hand[kind] > 0) << kind
    return mask


@compiled
def kinds_yaku(kinds: int, closed: bool) -> int:
    """Return the yaku mask that the mask of all kinds, melds included, decides alone."""
    mask = 0
    if not kinds & EDGES:
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
    """Tell whether the hand is seven different pairs."""
    if win.n_melds or count_bits(kinds) != 7:
        return False
    for kind in range(34):
        if win.hand[kind] not in (0, 2):
            return False
    return True
