"""Are things as frequent as they should be?  Hands counted one by one, and a chi-square test."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

Hand = tuple[int, ...]
RARE = 5
"""Things expected more seldom are taken together."""


def hands_from(unseen: NDArray[np.int8], size: int) -> Iterator[tuple[NDArray[np.int8], int]]:
    """Yield every hand of so many tiles from ``unseen[34]``, and in how many ways it is dealt."""
    hand = np.zeros(34, np.int8)
    left = [0, *np.cumsum(unseen[::-1]).tolist()][::-1]  # tiles of this kind and later ones

    def deal(kind: int, size: int, ways: int) -> Iterator[tuple[NDArray[np.int8], int]]:
        if size == 0:
            yield hand.copy(), ways
        elif left[kind] >= size:
            copies = int(unseen[kind])
            for held in range(min(copies, size) + 1):
                hand[kind] = held
                yield from deal(kind + 1, size - held, ways * comb(copies, held))
            hand[kind] = 0

    return deal(0, size, 1)


def deviation(plural: Mapping[Hand, int], weights: Mapping[Hand, float]) -> float:
    """Return by how many standard deviations chi-square is off (Wilson and Hilferty 1931).

    What has no weight must not have been counted.  Above 4 chance alone is below 1 in 30,000.
    """
    assert set(plural) <= set(weights)
    n, total = sum(plural.values()), sum(weights.values())
    cells: Counter[Hand | None] = Counter()
    expected: Counter[Hand | None] = Counter()
    for hand, weight in weights.items():
        share = n * weight / total
        cell = None if share < RARE else hand
        cells[cell] += plural.get(hand, 0)
        expected[cell] += share
    chi_square = sum((cells[cell] - share) ** 2 / share for cell, share in expected.items())
    freedom = len(expected) - 1
    assert freedom > 3
    spread = 2 / (9 * freedom)
    return ((chi_square / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread)
