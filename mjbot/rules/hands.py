"""Hands as the rules take them, made from tiles or from readable shorthand."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from protocol.tiles import N_KINDS, parse_tiles, tile_kind


def count_kinds(tiles: Iterable[int]) -> NDArray[np.int8]:
    """Count tiles (0..36) per kind: ``int8[34]``."""
    counts = np.zeros(N_KINDS, np.int8)
    for tile in tiles:
        counts[tile_kind(tile)] += 1
    return counts


def hand_counts(text: str) -> NDArray[np.int8]:
    """Read the shorthand of :func:`protocol.tiles.parse_tiles` into counts per kind.

    >>> hand_counts("1105m")[:5].tolist()
    [2, 0, 0, 0, 2]
    """
    return count_kinds(parse_tiles(text))


def kinds_of(mask: int) -> list[int]:
    """List the kinds (0..33) in a bit mask of kinds, as waits and acceptance give it.

    >>> kinds_of(0b101)
    [0, 2]
    """
    return [kind for kind in range(N_KINDS) if mask >> kind & 1]
