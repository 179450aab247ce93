"""Yaku as the original mjai server lists them in a hora."""

from typing import Final

from mjbot.rules.yaku import DORA, HAKU, RED_DORA, URA_DORA, YAKU, YAKUMAN, yaku_ids

YAKUMAN_FAN: Final = 100
DRAGONS: Final = range(HAKU, HAKU + 3)


def wire_yakus(
    yaku_mask: int, is_open: bool, bonus: tuple[int, int, int]
) -> tuple[tuple[str, int], ...]:
    """Return (name, fan) pairs, dora first; ``bonus`` counts dora, ura dora and red fives.

    ``sangenpai`` stands once with the number of dragon triplets; a yakuman counts 100.

    >>> wire_yakus(1 << 7 | 1 << 8, False, (2, 0, 0))
    (('dora', 2), ('pinfu', 1), ('tanyaochu', 1))
    """
    if yaku_mask & YAKUMAN:
        return tuple((YAKU[yaku].mjai_name, YAKUMAN_FAN) for yaku in yaku_ids(yaku_mask & YAKUMAN))
    pairs = [
        (YAKU[yaku].mjai_name, count)
        for yaku, count in zip((DORA, URA_DORA, RED_DORA), bonus, strict=True)
        if count
    ]
    dragons = 0
    for yaku in yaku_ids(yaku_mask):
        if yaku in DRAGONS:
            dragons += 1
        elif yaku < DORA:
            pairs.append(
                (YAKU[yaku].mjai_name, YAKU[yaku].open_han if is_open else YAKU[yaku].closed_han)
            )
    if dragons:
        pairs.append(("sangenpai", dragons))
    return tuple(pairs)
