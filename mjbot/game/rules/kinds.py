"""Sets of kinds as int64 masks (bit ``kind``), and hands as counts of kinds, from tiles or
shorthand.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.protocol.tiles import N_KINDS, parse_tiles, tile_kind, tile_name
from mjbot.runtime.compiler.compiled import compiled

Counts = NDArray[np.int8]
"""A hand as counts by kind: int8[34]."""

HONOURS: Final = 0x7F << 27
WINDS: Final = 0xF << 27
DRAGONS: Final = 0x7 << 31
TERMINALS: Final = sum(1 << kind for kind in (0, 8, 9, 17, 18, 26))
EDGES: Final = TERMINALS | HONOURS
"""Terminals and honours."""
GREEN: Final = sum(1 << kind for kind in (19, 20, 21, 23, 25, 32))
N_COPIES: Final = 4
"""How many tiles there are of a kind."""
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


def count_kinds(tiles: Iterable[int]) -> NDArray[np.int8]:
    """Count tiles (0..36) per kind: ``int8[34]``, of at most 127 each."""
    return np.array(count_any_kinds(tiles), np.int8)


def count_any_kinds(tiles: Iterable[int]) -> list[int]:
    """Count tiles (0..36) per kind, however many they are: an int8 would wrap."""
    counts = [0] * N_KINDS
    for tile in tiles:
        counts[tile_kind(tile)] += 1
    return counts


def hand_counts(text: str) -> NDArray[np.int8]:
    """Read the shorthand of :func:`mjbot.protocol.tiles.parse_tiles` into counts per kind.

    Raises ``ValueError`` for more than four tiles of a kind.

    >>> hand_counts("1105m")[:5].tolist()
    [2, 0, 0, 0, 2]
    """
    counts = count_any_kinds(parse_tiles(text))
    most = max(counts)
    if most > N_COPIES:
        kind = tile_name(counts.index(most))
        problem = f"{most} tiles of {kind}, but there are {N_COPIES} of a kind"
        raise ValueError(f"tiles {text!r}: {problem}")
    return np.array(counts, np.int8)


def kinds_of(mask: int) -> list[int]:
    """List the kinds (0..33) in a bit mask of kinds, as waits and acceptance give it.

    >>> kinds_of(0b101)
    [0, 2]
    """
    return [kind for kind in range(N_KINDS) if mask >> kind & 1]
