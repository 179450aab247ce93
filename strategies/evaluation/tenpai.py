"""Which discards leave a hand tenpai, and on what it then waits."""

import numpy as np

from mjbot.compiled import compiled
from mjbot.rules.waits import waits
from strategies.evaluation.draws import Counts, Numbers


def waits_by_discard(hand: Counts, n_melds: int) -> dict[int, int]:
    """Return kind -> mask of waits for the discards that leave 3n+2 concealed tiles tenpai.

    >>> from mjbot.rules.hands import hand_counts
    >>> waits_by_discard(hand_counts("23m55z9p"), 3) == {17: 1 << 0 | 1 << 3}
    True
    """
    masks = _waits_by_discard(hand, n_melds).tolist()
    return {kind: mask for kind, mask in enumerate(masks) if mask}


def tiles_of(kinds: int, unseen: Counts) -> int:
    """Return how many copies of the kinds in a mask are unseen."""
    return sum(int(unseen[kind]) for kind in range(34) if kinds >> kind & 1)


@compiled
def _waits_by_discard(hand: Counts, n_melds: int) -> Numbers:
    masks = np.zeros(34, np.int64)
    rest = hand.copy()
    for kind in range(34):
        if hand[kind]:
            rest[kind] -= 1
            masks[kind] = waits(rest, n_melds)
            rest[kind] += 1
    return masks
