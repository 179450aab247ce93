"""The paper's features of a hand of 13 tiles (Mizukami et al. 2013, section 5.2), all binary.

Each feature is an index into the weights; a hand has :data:`N_ACTIVE` of them, and its score is the
sum of their weights.  The paper lists the groups below and prints 37,488 features in all without
explaining how groups are counted; the counts here:

=====================================================  ======================================
shanten: regular 0..8, seven pairs 0..6, orphans 0..13  9 + 7 + 14
melds 0..4, two-sided shapes 0..6, blocks 0..7          5 + 7 + 8
accepting tiles 0..99                                   100
tiles of the suit with the most                         15
tiles 2..8                                              15
presence of each rank in each suit                      3 x 9
n-grams of each suit, n = 1..6                          3 x sum of (10 - n) x 5**n = 248,985
copies of each honour                                   7 x 5
=====================================================  ======================================

An n-gram is the counts of n neighbouring ranks, at each place of each suit.  Called and declared
melds count as melds and blocks.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import shanten_orphans, shanten_pairs, shanten_regular
from mjbot.learning.models.hand_shapes import MELD, SHAPE, ShapeTable, hand_shape
from mjbot.runtime.compiler.compiled import compiled

MAX_N: Final = 6

REGULAR: Final = 0
PAIRS: Final = REGULAR + 9
ORPHANS: Final = PAIRS + 7
MELDS: Final = ORPHANS + 14
TWO_SIDEDS: Final = MELDS + 5
BLOCKS: Final = TWO_SIDEDS + 7
ACCEPTING: Final = BLOCKS + 8
LONGEST: Final = ACCEPTING + 100
SIMPLES: Final = LONGEST + 15
PRESENT: Final = SIMPLES + 15
HONOURS: Final = PRESENT + 27
NGRAMS: Final = HONOURS + 35
NGRAMS_OF_SUIT: Final = sum((10 - n) * 5**n for n in range(1, MAX_N + 1))
N_FEATURES: Final = NGRAMS + 3 * NGRAMS_OF_SUIT

N_ACTIVE: Final = 9 + 27 + 7 + 3 * sum(10 - n for n in range(1, MAX_N + 1))
"""Room for the features of one hand (a rank that is not there has no feature)."""

Indices = NDArray[np.int32]


@compiled
def write_paper_features(
    shapes: ShapeTable,
    hand: NDArray[np.int8],
    n_melds: int,
    accepting: int,
    out: Indices,
) -> int:
    """Write the features of a hand of 3n+1 tiles to ``out``; return how many there are.

    ``accepting`` is the number of unseen tiles that lower its shanten.
    """
    shape = hand_shape(shapes, hand)
    melds = min(shape // MELD + n_melds, 4)
    two_tile = shape % MELD // SHAPE
    out[0] = REGULAR + max(shanten_regular(hand, n_melds), 0)
    out[1] = MELDS + melds
    out[2] = TWO_SIDEDS + min(shape % SHAPE, 6)
    out[3] = BLOCKS + min(melds + two_tile, 7)
    out[4] = ACCEPTING + min(accepting, 99)
    n = 5
    if n_melds == 0:
        out[5] = PAIRS + max(shanten_pairs(hand, 0), 0)
        out[6] = ORPHANS + max(shanten_orphans(hand, 0), 0)
        n = 7
    longest, simples = 0, 0
    for suit in range(3):
        size = 0
        for rank in range(9):
            size += hand[9 * suit + rank]
        longest = max(longest, size)
        simples += size - hand[9 * suit] - hand[9 * suit + 8]
    out[n] = LONGEST + min(longest, 14)
    out[n + 1] = SIMPLES + min(simples, 14)
    n += 2
    for kind in range(27):
        out[n] = PRESENT + kind
        n += hand[kind] > 0
    for honour in range(7):
        out[n + honour] = HONOURS + 5 * honour + hand[27 + honour]
    n += 7
    for suit in range(3):
        n = write_ngrams(hand, 9 * suit, NGRAMS + suit * NGRAMS_OF_SUIT, out, n)
    return n


@compiled
def write_ngrams(hand: NDArray[np.int8], first: int, base: int, out: Indices, n: int) -> int:
    """Write the n-grams of the suit from kind ``first`` on; return the new number of features.

    Those of one length and place are 5**length neighbours, the first rank lowest.
    """
    for index in range(9):
        offset, digit, code = base, 1, 0
        for rank in range(index, min(index + MAX_N, 9)):
            code += digit * hand[first + rank]
            digit *= 5
            length = rank - index + 1
            out[n] = offset + index * digit + code
            offset += (10 - length) * digit
            n += 1
    return n
