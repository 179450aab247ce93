"""Waits: the kinds that complete a hand in tenpai."""

from mjbot.compiled import compiled
from mjbot.rules.acceptance import acceptance
from mjbot.rules.shanten import Hand, shanten


@compiled
def waits(hand: Hand, n_melds: int) -> int:
    """Return the mask of kinds completing a hand of 3n+1 tiles; 0 if it is not tenpai.

    Only the shape counts, not whether it would have a yaku.  A kind of which the concealed
    part holds all four copies does not count; tiles in melds or elsewhere in sight are not
    looked at (Tenhou's rule for tenpai at a draw).

    >>> from mjbot.rules.hands import hand_counts, kinds_of
    >>> kinds_of(waits(hand_counts("2345m"), 3))
    [1, 4]
    >>> waits(hand_counts("1111m"), 3)
    0
    """
    if shanten(hand, n_melds) != 0:
        return 0
    return acceptance(hand, n_melds)
