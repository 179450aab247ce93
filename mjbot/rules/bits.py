"""Sets of kinds as int64 masks (bit ``kind``), for compiled code."""

from typing import Final

from mjbot.compiled import compiled

HONOURS: Final = 0x7F << 27
WINDS: Final = 0xF << 27
DRAGONS: Final = 0x7 << 31
TERMINALS: Final = sum(1 << kind for kind in (0, 8, 9, 17, 18, 26))
EDGES: Final = TERMINALS | HONOURS
"""Terminals and honours."""
GREEN: Final = sum(1 << kind for kind in (19, 20, 21, 23, 25, 32))
SUIT: Final = 0x1FF
"""The nine kinds of man; shift by 9 or 18 for pin and sou."""


@compiled
def count_bits(mask: int) -> int:
    """Return the number of set bits of a non-negative mask.

    >>> count_bits((1 << 33) | 0b101)
    3
    """
    mask -= (mask >> 1) & 0x5555555555555555
    mask = (mask & 0x3333333333333333) + ((mask >> 2) & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((mask * 0x0101010101010101) >> 56) & 0xFF
