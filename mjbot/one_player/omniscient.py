"""When a wall could have been won by somebody who knew it: a bound for every player.

The 14 tiles of a win are among the 13 dealt and those drawn so far, and whoever knows which they
are can keep them: at no time are they more than the hand holds.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.one_player.game import N_DEALT, N_DRAWS, N_KINDS
from mjbot.rules.shanten import is_edge

BLOCKS = 4


@compiled
def first_possible(wall: NDArray[np.int8]) -> int:
    """Return the first draw with which the tiles int8[40] so far hold a complete hand, 0: none.

    >>> from mjbot.one_player.game import new_game
    >>> int(first_possible(new_game(2013, 0)["wall"]))
    14
    """
    counts = np.zeros(N_KINDS + 2, np.int64)
    for place in range(N_DEALT):
        counts[wall[place]] += 1
    for draw in range(N_DRAWS):
        counts[wall[N_DEALT + draw]] += 1
        if holds_complete(counts):
            return draw + 1
    return 0


@compiled
def holds_complete(counts: NDArray[np.int64]) -> bool:
    """Return whether some of the tiles make a complete hand; ``counts`` is int64[36], two spare.

    The counts are changed on the way and are as before in the end.
    """
    pairs, edges, edge_pair = 0, 0, False
    for kind in range(N_KINDS):
        pairs += counts[kind] >= 2
        if is_edge(kind):
            edges += counts[kind] >= 1
            edge_pair |= counts[kind] >= 2
    if pairs >= 7 or (edges == 13 and edge_pair):
        return True
    blocks = np.empty(4, np.int64)
    for suit in range(4):
        blocks[suit] = most_blocks(counts, 9 * suit, min(9 * suit + 9, N_KINDS))
    for kind in range(N_KINDS):
        if counts[kind] >= 2:
            suit = kind // 9
            counts[kind] -= 2
            with_pair = most_blocks(counts, 9 * suit, min(9 * suit + 9, N_KINDS))
            counts[kind] += 2
            if blocks.sum() - blocks[suit] + with_pair >= BLOCKS:
                return True
    return False


@compiled
def most_blocks(counts: NDArray[np.int64], kind: int, end: int) -> int:
    """Return the most triplets and runs among the kinds ``kind`` .. ``end - 1`` of one suit."""
    while kind < end and counts[kind] == 0:
        kind += 1
    if kind == end:
        return 0
    counts[kind] -= 1
    best = most_blocks(counts, kind, end)  # without one of the tiles
    counts[kind] += 1
    if counts[kind] >= 3:
        counts[kind] -= 3
        best = max(best, 1 + most_blocks(counts, kind, end))
        counts[kind] += 3
    if kind < 27 and kind + 2 < end and counts[kind + 1] and counts[kind + 2]:
        for step in range(3):
            counts[kind + step] -= 1
        best = max(best, 1 + most_blocks(counts, kind, end))
        for step in range(3):
            counts[kind + step] += 1
    return best
