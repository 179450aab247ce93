"""Acceptance: the kinds that bring a hand one step nearer, and how many tiles of them are left.

Hands as in :mod:`mjbot.rules.shanten`.  A set of kinds is an int64 mask with bit ``kind``.  A
kind of which the hand itself holds all four copies is never accepted.
"""

from mjbot.compiled import compiled
from mjbot.rules.shanten import Hand, shanten


@compiled
def acceptance(hand: Hand, n_melds: int) -> int:
    """Return the mask of kinds that lower the shanten of a hand of 3n+1 tiles.

    >>> from mjbot.rules.hands import hand_counts, kinds_of
    >>> from protocol.tiles import tile_name
    >>> [tile_name(kind) for kind in kinds_of(acceptance(hand_counts("1235m67p11234s555z"), 0))]
    ['5p', '8p']
    """
    here = shanten(hand, n_melds)
    mask = 0
    for kind in range(34):
        if hand[kind] < 4:
            hand[kind] += 1
            if shanten(hand, n_melds) < here:
                mask |= 1 << kind
            hand[kind] -= 1
    return mask
