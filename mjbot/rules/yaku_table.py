"""The yaku: Tenhou's ids 0..54 (an id is also a bit of a yaku mask), values and names.

``CLOSED_HAN`` and ``OPEN_HAN`` are indexed by id; a yakuman has 0 there and is in
:data:`YAKUMAN`.  Ranked Tenhou rules: no yakuman counts twice, no renhou, no local yaku.
"""

from typing import Final, NamedTuple

import numpy as np

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
RENHOU: Final = 36  # never scored
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
DORA: Final = 52
URA_DORA: Final = 53
RED_DORA: Final = 54
N_YAKU: Final = 55


class Yaku(NamedTuple):
    """One yaku: its English name, the original mjai server's name, han closed and open."""

    name: str
    mjai_name: str
    closed_han: int
    open_han: int


_WINDS = ("East", "South", "West", "North")

YAKU: Final[tuple[Yaku, ...]] = (
    Yaku("fully concealed self-draw", "menzenchin_tsumoho", 1, 0),
    Yaku("riichi", "reach", 1, 0),
    Yaku("ippatsu", "ippatsu", 1, 0),
    Yaku("robbing a kan", "chankan", 1, 1),
    Yaku("after a kan", "rinshankaiho", 1, 1),
    Yaku("last tile draw", "haiteiraoyue", 1, 1),
    Yaku("last tile discard", "hoteiraoyui", 1, 1),
    Yaku("pinfu", "pinfu", 1, 0),
    Yaku("all simples", "tanyaochu", 1, 1),
    Yaku("twin runs", "ipeko", 1, 0),
    *(Yaku(f"seat wind {wind}", "jikaze", 1, 1) for wind in _WINDS),
    *(Yaku(f"round wind {wind}", "bakaze", 1, 1) for wind in _WINDS),
    *(Yaku(f"{colour} dragon", "sangenpai", 1, 1) for colour in ("white", "green", "red")),
    Yaku("double riichi", "double_reach", 2, 0),
    Yaku("seven pairs", "chitoitsu", 2, 0),
    Yaku("half outside hand", "honchantaiyao", 2, 1),
    Yaku("full straight", "ikkitsukan", 2, 1),
    Yaku("mixed triple run", "sanshokudojun", 2, 1),
    Yaku("triple triplet", "sanshokudoko", 2, 2),
    Yaku("three kans", "sankantsu", 2, 2),
    Yaku("all triplets", "toitoiho", 2, 2),
    Yaku("three concealed triplets", "sananko", 2, 2),
    Yaku("little three dragons", "shosangen", 2, 2),
    Yaku("all terminals and honours", "honroto", 2, 2),
    Yaku("two twin runs", "ryanpeko", 3, 0),
    Yaku("fully outside hand", "junchantaiyao", 3, 2),
    Yaku("half flush", "honiso", 3, 2),
    Yaku("full flush", "chiniso", 6, 5),
    Yaku("blessing of man", "renho", 0, 0),
    Yaku("blessing of heaven", "tenho", 0, 0),
    Yaku("blessing of earth", "chiho", 0, 0),
    Yaku("big three dragons", "daisangen", 0, 0),
    Yaku("four concealed triplets", "suanko", 0, 0),
    Yaku("four concealed triplets, pair wait", "suanko", 0, 0),
    Yaku("all honours", "tsuiso", 0, 0),
    Yaku("all green", "ryuiso", 0, 0),
    Yaku("all terminals", "chinroto", 0, 0),
    Yaku("nine gates", "churenpoton", 0, 0),
    Yaku("nine gates, nine waits", "churenpoton", 0, 0),
    Yaku("thirteen orphans", "kokushimuso", 0, 0),
    Yaku("thirteen orphans, thirteen waits", "kokushimuso", 0, 0),
    Yaku("big four winds", "daisushi", 0, 0),
    Yaku("little four winds", "shosushi", 0, 0),
    Yaku("four kans", "sukantsu", 0, 0),
    Yaku("dora", "dora", 0, 0),
    Yaku("ura dora", "uradora", 0, 0),
    Yaku("red dora", "akadora", 0, 0),
)
"""Indexed by Tenhou's id."""

CLOSED_HAN: Final = np.array([yaku.closed_han for yaku in YAKU], np.int8)
OPEN_HAN: Final = np.array([yaku.open_han for yaku in YAKU], np.int8)
YAKUMAN: Final = ((1 << DORA) - 1) & ~((1 << TENHOU) - 1)
"""Mask of all yakuman."""


def yaku_ids(mask: int) -> list[int]:
    """List the ids in a yaku mask, ascending.

    >>> [YAKU[yaku].name for yaku in yaku_ids(1 << RIICHI | 1 << PINFU)]
    ['riichi', 'pinfu']
    """
    return [yaku for yaku in range(N_YAKU) if mask >> yaku & 1]
