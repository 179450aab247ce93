"""Shanten: how many tiles a hand is away from tenpai; 0 is tenpai, -1 a complete hand.

A hand is ``int8[34]``: counts of the concealed tiles per kind, red fives counted as fives, of
3n+1 or 3n+2 tiles.  ``n_melds`` counts declared melds, closed kans included.  A hand of 3n+2
tiles has the shanten of its best discard.  All functions work from Python and in compiled code.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.tables import honour_row_of, join, missing, suit_row_of
from mjbot.runtime.compiler.compiled import compiled

NEVER = 99
"""The shanten of a form that the hand cannot have: seven pairs or orphans with a meld."""


@compiled
def shanten(hand: Counts, n_melds: int) -> int:
    """Return the lowest shanten of the three forms.

    >>> from mjbot.game.rules.kinds import hand_counts
    >>> shanten(hand_counts("123m456p789s1122z"), 0), shanten(hand_counts("19m19p19s1234567z"), 0)
    (0, 0)
    >>> shanten(hand_counts("1111m222p333444s"), 0)  # no fifth 1m to wait for
    1
    """
    lowest = shanten_regular(hand, n_melds)
    if n_melds == 0:
        n_kinds, n_pairs, n_edges, edge_pair = count_kinds_held(hand)
        lowest = min(lowest, 6 - n_pairs + max(0, 7 - n_kinds), 13 - n_edges - edge_pair)
    return lowest


@compiled
def shanten_regular(hand: Counts, n_melds: int) -> int:
    """Return the shanten for four blocks (melds included) and a pair."""
    man_pin = join(suit_row_of(hand, 0), suit_row_of(hand, 9))
    sou_honours = join(suit_row_of(hand, 18), honour_row_of(hand))
    return missing(join(man_pin, sou_honours), n_melds) - 1


@compiled
def shanten_pairs(hand: Counts, n_melds: int) -> int:
    """Return the shanten for seven different pairs, :data:`NEVER` with a meld."""
    if n_melds:
        return NEVER
    n_kinds, n_pairs, _, _ = count_kinds_held(hand)
    return 6 - n_pairs + max(0, 7 - n_kinds)


@compiled
def shanten_orphans(hand: Counts, n_melds: int) -> int:
    """Return the shanten for thirteen orphans (kokushi), :data:`NEVER` with a meld."""
    if n_melds:
        return NEVER
    _, _, n_edges, edge_pair = count_kinds_held(hand)
    return 13 - n_edges - edge_pair


@compiled
def shanten_many(hands: NDArray[np.int8], n_melds: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return :func:`shanten` of each row of ``hands[n, 34]`` with ``n_melds[n]``."""
    results = np.empty(len(hands), np.int8)
    for i in range(len(hands)):
        results[i] = shanten(hands[i], int(n_melds[i]))
    return results


@compiled
def is_edge(kind: int) -> bool:
    """Return whether a kind is a terminal or an honour.

    >>> [kind for kind in range(34) if is_edge(kind)]
    [0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33]
    """
    return kind >= 27 or kind % 9 == 0 or kind % 9 == 8


@compiled
def count_kinds_held(hand: Counts) -> tuple[int, int, int, int]:
    """Return the number of kinds, of pairs, of terminals and honours, and 1 for a pair of those."""
    n_kinds, n_pairs, n_edges, edge_pair = 0, 0, 0, 0
    for kind in range(34):
        n_kinds += hand[kind] >= 1
        n_pairs += hand[kind] >= 2
    for kind in (0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33):
        n_edges += hand[kind] >= 1
        edge_pair |= hand[kind] >= 2
    return n_kinds, n_pairs, n_edges, edge_pair
