"""The yaku: ids, which are also bits of a yaku mask, values and names.

The ids are mjbot's.  0..54 are those that Tenhou has, too (:mod:`mjbot.protocol.yaku`); rows from
55 on, up to 62, have no id on Tenhou's wire.  Blessing of man has two: 36 where it counts 5 han, 55
where it is a yakuman.  The masks
:data:`YAKUMAN`, :data:`BONUS` and :data:`ORDINARY` define the kind of a yaku, not its number.

``CLOSED_HAN`` and ``OPEN_HAN`` are indexed by id; a yakuman has 0 there.  There are no
local yaku.
"""

from typing import Final, NamedTuple

import numpy as np

from mjbot.game.rules.wins import DOUBLE_YAKUMAN
from mjbot.protocol import yaku as wire

TSUMO: Final = 0
RIICHI: Final = 1
IPPATSU: Final = 2
CHANKAN: Final = 3
RINSHAN: Final = 4
HAITEI: Final = 5
HOUTEI: Final = 6
PINFU: Final = 7
TANYAO: Final = 8
IIPEIKOU: Final = 9
SEAT_WIND: Final = 10  # + wind
ROUND_WIND: Final = 14  # + wind
HAKU: Final = 18  # hatsu and chun follow
DOUBLE_RIICHI: Final = 21
CHIITOI: Final = 22
CHANTA: Final = 23
ITTSUU: Final = 24
SANSHOKU: Final = 25
SANSHOKU_DOUKOU: Final = 26
SANKANTSU: Final = 27
TOITOI: Final = 28
SANANKOU: Final = 29
SHOUSANGEN: Final = 30
HONROUTOU: Final = 31
RYANPEIKOU: Final = 32
JUNCHAN: Final = 33
HONITSU: Final = 34
CHINITSU: Final = 35
RENHOU: Final = wire.RENHOU  # of 5 han
TENHOU: Final = 37
CHIIHOU: Final = 38
DAISANGEN: Final = 39
SUUANKOU: Final = 40
SUUANKOU_TANKI: Final = 41
TSUUIISOU: Final = 42
RYUUIISOU: Final = 43
CHINROUTOU: Final = 44
CHUUREN: Final = 45
CHUUREN_NINE_WAITS: Final = 46
KOKUSHI: Final = 47
KOKUSHI_THIRTEEN_WAITS: Final = 48
DAISUUSHII: Final = 49
SHOUSUUSHII: Final = 50
SUUKANTSU: Final = 51
DORA: Final = wire.DORA
URA_DORA: Final = wire.URA_DORA
RED_DORA: Final = wire.RED_DORA
N_YAKU: Final = wire.N_YAKU
"""Those with an id on Tenhou's wire."""
RENHOU_YAKUMAN: Final = 55


class Yaku(NamedTuple):
    """One yaku: its English name, the original mjai server's name, han closed and open."""

    name: str
    mjai_name: str
    closed_han: int
    open_han: int


_WINDS = ("East", "South", "West", "North")

_VALUES: Final = (
    ("fully concealed self-draw", 1, 0),
    ("riichi", 1, 0),
    ("ippatsu", 1, 0),
    ("robbing a kan", 1, 1),
    ("after a kan", 1, 1),
    ("last tile draw", 1, 1),
    ("last tile discard", 1, 1),
    ("pinfu", 1, 0),
    ("all simples", 1, 1),
    ("twin runs", 1, 0),
    *((f"seat wind {wind}", 1, 1) for wind in _WINDS),
    *((f"round wind {wind}", 1, 1) for wind in _WINDS),
    *((f"{colour} dragon", 1, 1) for colour in ("white", "green", "red")),
    ("double riichi", 2, 0),
    ("seven pairs", 2, 0),
    ("half outside hand", 2, 1),
    ("full straight", 2, 1),
    ("mixed triple run", 2, 1),
    ("triple triplet", 2, 2),
    ("three kans", 2, 2),
    ("all triplets", 2, 2),
    ("three concealed triplets", 2, 2),
    ("little three dragons", 2, 2),
    ("all terminals and honours", 2, 2),
    ("two twin runs", 3, 0),
    ("fully outside hand", 3, 2),
    ("half flush", 3, 2),
    ("full flush", 6, 5),
    ("blessing of man", 5, 0),
    ("blessing of heaven", 0, 0),
    ("blessing of earth", 0, 0),
    ("big three dragons", 0, 0),
    ("four concealed triplets", 0, 0),
    ("four concealed triplets, pair wait", 0, 0),
    ("all honours", 0, 0),
    ("all green", 0, 0),
    ("all terminals", 0, 0),
    ("nine gates", 0, 0),
    ("nine gates, nine waits", 0, 0),
    ("thirteen orphans", 0, 0),
    ("thirteen orphans, thirteen waits", 0, 0),
    ("big four winds", 0, 0),
    ("little four winds", 0, 0),
    ("four kans", 0, 0),
    ("dora", 0, 0),
    ("ura dora", 0, 0),
    ("red dora", 0, 0),
)

YAKU: Final[tuple[Yaku, ...]] = tuple(
    [
        Yaku(name, mjai_name, closed_han, open_han)
        for (name, closed_han, open_han), mjai_name in zip(_VALUES, wire.YAKU_NAMES, strict=True)
    ]
    + [Yaku("blessing of man", wire.YAKU_NAMES[RENHOU], 0, 0)]
)
"""Indexed by id."""

CLOSED_HAN: Final = np.array([yaku.closed_han for yaku in YAKU], np.int8)
OPEN_HAN: Final = np.array([yaku.open_han for yaku in YAKU], np.int8)
YAKUMAN: Final = sum(1 << yaku for yaku in (*range(TENHOU, SUUKANTSU + 1), RENHOU_YAKUMAN))
"""Mask of all yakuman."""
DOUBLED: Final = sum(
    1 << yaku for yaku in (SUUANKOU_TANKI, CHUUREN_NINE_WAITS, KOKUSHI_THIRTEEN_WAITS, DAISUUSHII)
)
"""Mask of the yakuman that count twice where the rules have double yakuman."""
BONUS: Final = 1 << DORA | 1 << URA_DORA | 1 << RED_DORA
"""Mask of what adds han to a hand with a yaku and is none itself."""
ORDINARY: Final = ((1 << len(YAKU)) - 1) & ~YAKUMAN & ~BONUS
"""Mask of all other yaku."""


def yaku_ids(mask: int) -> list[int]:
    """List the ids in a yaku mask, ascending.

    >>> [YAKU[yaku].name for yaku in yaku_ids(1 << RIICHI | 1 << PINFU)]
    ['riichi', 'pinfu']
    """
    return [yaku for yaku in range(len(YAKU)) if mask >> yaku & 1]


def wire_ids(yakuman: int) -> list[int]:
    """List the ids on Tenhou's wire of a mask of yakuman, ascending.

    >>> wire_ids(1 << RENHOU_YAKUMAN | 1 << TSUUIISOU)
    [36, 42]
    """
    return sorted(RENHOU if yaku == RENHOU_YAKUMAN else yaku for yaku in yaku_ids(yakuman))


def yakuman_counts(mask: int, flags: int) -> list[tuple[int, int]]:
    """List the yakuman in a mask with how often each counts by the rules among a win's flags.

    >>> yakuman_counts(1 << TSUUIISOU | 1 << DAISUUSHII, DOUBLE_YAKUMAN)
    [(42, 1), (49, 2)]
    """
    doubled = DOUBLED if flags & DOUBLE_YAKUMAN else 0
    return [(yaku, 1 + (doubled >> yaku & 1)) for yaku in yaku_ids(mask & YAKUMAN)]


def yaku_han(
    mask: int, is_open: bool, bonus: tuple[int, int, int], flags: int = 0
) -> list[tuple[int, int]]:
    """List the ids in a yaku mask with their han, a yakuman with 13, a double one with 26.

    ``bonus`` counts dora, ura dora and red fives; ``flags`` are those of the win.

    >>> yaku_han(1 << CHINITSU | 1 << DORA, True, (2, 0, 0))
    [(35, 5), (52, 2)]
    """
    if mask & YAKUMAN:
        return [(yaku, 13 * times) for yaku, times in yakuman_counts(mask, flags)]
    values = OPEN_HAN if is_open else CLOSED_HAN
    counted = zip((DORA, URA_DORA, RED_DORA), bonus, strict=True)
    ordinary = [(yaku, int(values[yaku])) for yaku in yaku_ids(mask & ORDINARY)]
    return ordinary + [(yaku, count) for yaku, count in counted if count]
