"""Yaku on the wire: Tenhou's ids 0..54 and the original mjai server's names for them.

This is the only table of ids and names; values are in :mod:`mjbot.game.rules.yaku_table`.
"""

from collections.abc import Iterable
from typing import Final

YAKUMAN_FAN: Final = 100
"""What the original mjai server counts for each yakuman."""

FIRST_YAKUMAN: Final = 37
DORA: Final = 52
URA_DORA: Final = 53
RED_DORA: Final = 54
RENHOU: Final = 36
"""Of some han or, by other rules, a yakuman."""

YAKU_NAMES: Final = (
    "menzenchin_tsumoho", "reach", "ippatsu", "chankan", "rinshankaiho", "haiteiraoyue",
    "hoteiraoyui", "pinfu", "tanyaochu", "ipeko", *["jikaze"] * 4, *["bakaze"] * 4,
    *["sangenpai"] * 3, "double_reach", "chitoitsu", "honchantaiyao", "ikkitsukan",
    "sanshokudojun", "sanshokudoko", "sankantsu", "toitoiho", "sananko", "shosangen", "honroto",
    "ryanpeko", "junchantaiyao", "honiso", "chiniso", "renho", "tenho", "chiho", "daisangen",
    "suanko", "suanko", "tsuiso", "ryuiso", "chinroto", "churenpoton", "churenpoton",
    "kokushimuso", "kokushimuso", "daisushi", "shosushi", "sukantsu", "dora", "uradora",
    "akadora",
)  # fmt: skip
"""By id."""
N_YAKU: Final = len(YAKU_NAMES)


def is_yakuman(yaku: int) -> bool:
    """Whether an id is a yakuman's.

    >>> is_yakuman(47), is_yakuman(54)
    (True, False)
    """
    return FIRST_YAKUMAN <= yaku < DORA


def named_yaku(
    yaku: Iterable[tuple[int, int]], yakuman: Iterable[int]
) -> tuple[tuple[str, int], ...]:
    """Return mjai names with their han; ``yaku`` pairs ids with han, ``yakuman`` has ids alone.

    Dora come first, by id, then the yaku in the order given.  Dragons count as one yaku of n
    han.  Raises ``ValueError`` for an id that does not exist, or not among those.

    >>> named_yaku([(1, 1), (18, 1), (19, 1), (52, 2), (54, 1), (53, 0)], [])
    (('dora', 2), ('akadora', 1), ('reach', 1), ('sangenpai', 2))
    """
    han: dict[str, int] = {}
    for yaku_id, value in sorted(yaku, key=lambda pair: pair[0] if pair[0] >= DORA else N_YAKU):
        name = _name(yaku_id, False)
        han[name] = han.get(name, 0) + value
    for yaku_id in yakuman:
        han[_name(yaku_id, True)] = YAKUMAN_FAN
    return tuple([(name, value) for name, value in han.items() if value])


def _name(yaku: int, of_yakuman: bool) -> str:
    if not 0 <= yaku < N_YAKU or (is_yakuman(yaku) != of_yakuman and yaku != RENHOU):
        raise ValueError(f"{'yakuman' if of_yakuman else 'yaku'} {yaku} is unknown")
    return YAKU_NAMES[yaku]
