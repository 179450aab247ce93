"""Acceptance: the kinds that bring a hand one step nearer, and how many tiles of them are left.

Hands as in :mod:`mjbot.game.rules.shanten`.  A set of kinds is an int64 mask with bit ``kind``.  A
kind of which the hand itself holds all four copies is never accepted.  The acceptance of a hand
in tenpai are its waits.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.shanten import NEVER, count_kinds_held, is_edge, shanten
from mjbot.game.rules.tables import (
    honour_row,
    honour_row_of,
    join,
    missing,
    number_of_five,
    number_of_four,
    number_of_three,
    suit_row,
    suit_row_of,
)
from mjbot.runtime.compiler.compiled import compiled


@compiled
def acceptance(hand: Counts, n_melds: int) -> int:
    """Return the mask of kinds that lower the shanten of a hand of 3n+1 tiles.

    >>> from mjbot.game.rules.kinds import hand_counts, kinds_of
    >>> from mjbot.protocol.tiles import tile_name
    >>> [tile_name(kind) for kind in kinds_of(acceptance(hand_counts("1235m67p11234s555z"), 0))]
    ['5p', '8p']
    """
    return shanten_and_acceptance(hand, n_melds)[1]


@compiled
def shanten_and_acceptance(hand: Counts, n_melds: int) -> tuple[int, int]:
    """Return the shanten of a hand of 3n+1 tiles and the mask of kinds that lower it."""
    man, pin, sou = suit_row_of(hand, 0), suit_row_of(hand, 9), suit_row_of(hand, 18)
    honours = honour_row_of(hand)
    man_pin, sou_honours = join(man, pin), join(sou, honours)
    here = missing(join(man_pin, sou_honours), n_melds) - 1
    mask = 0
    if n_melds == 0:
        special, mask = _special_acceptance(hand)
        if special < here:
            return special, mask
        if special > here:
            mask = 0
    mask |= _suit_acceptance(hand, 0, join(pin, sou_honours), n_melds)
    mask |= _suit_acceptance(hand, 9, join(man, sou_honours), n_melds)
    mask |= _suit_acceptance(hand, 18, join(man_pin, honours), n_melds)
    mask |= _honour_acceptance(hand, join(man_pin, sou), n_melds)
    return here, mask


@compiled
def acceptance_by_discard(
    hand: Counts,
    n_melds: int,
    unseen: NDArray[np.int8],
    out_shanten: NDArray[np.int8],
    out_mask: NDArray[np.int64],
    out_count: NDArray[np.int16],
) -> None:
    """Fill what each discard from a hand of 3n+2 tiles would leave.

    For every kind in the hand: the shanten after discarding it, the mask of kinds accepted
    then, and the number of tiles of those kinds in ``unseen[34]``.  For the other kinds
    :data:`~mjbot.game.rules.shanten.NEVER`, 0 and 0.
    """
    rest = hand.copy()
    for kind in range(34):
        out_shanten[kind], out_mask[kind], out_count[kind] = NEVER, 0, 0
        if hand[kind] == 0:
            continue
        rest[kind] -= 1
        out_shanten[kind], out_mask[kind] = shanten_and_acceptance(rest, n_melds)
        out_count[kind] = count_tiles(out_mask[kind], unseen)
        rest[kind] += 1


@compiled
def acceptance_many(
    hands: NDArray[np.int8], n_melds: NDArray[np.int8], unseen: NDArray[np.int8]
) -> tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.int16]]:
    """Return :func:`acceptance_by_discard` of many hands: ``shanten, mask, count``, each [n, 34].

    ``hands[n, 34]`` have 3n+2 tiles, ``n_melds[n]`` melds, and ``unseen[n, 34]`` tiles left.
    """
    n = len(hands)
    shantens = np.empty((n, 34), np.int8)
    masks = np.empty((n, 34), np.int64)
    counts = np.empty((n, 34), np.int16)
    for i in range(n):
        acceptance_by_discard(
            hands[i], int(n_melds[i]), unseen[i], shantens[i], masks[i], counts[i]
        )
    return shantens, masks, counts


@compiled
def count_tiles(mask: int, unseen: NDArray[np.int8]) -> int:
    """Return how many tiles of the kinds in ``mask`` are in ``unseen[34]``."""
    total = 0
    for kind in range(34):
        total += unseen[kind] * (mask >> kind & 1)
    return total


@compiled
def _suit_acceptance(hand: Counts, first: int, others: int, n_melds: int) -> int:
    """Return the kinds of a suit that bring the hand nearer; ``others`` is the rest's row."""
    low, high = number_of_five(hand, first), number_of_four(hand, first + 5)
    here = missing(join(suit_row(low, high), others), n_melds)
    mask, step = 0, 1
    for kind in range(first, first + 5):
        if hand[kind] < 4:
            drawn = suit_row(low + step, high)
            mask |= int(missing(join(drawn, others), n_melds) < here) << kind
        step *= 5
    step = 1
    for kind in range(first + 5, first + 9):
        if hand[kind] < 4:
            drawn = suit_row(low, high + step)
            mask |= int(missing(join(drawn, others), n_melds) < here) << kind
        step *= 5
    return mask


@compiled
def _honour_acceptance(hand: Counts, others: int, n_melds: int) -> int:
    """Return the same for the honours."""
    winds, dragons = number_of_four(hand, 27), number_of_three(hand, 31)
    here = missing(join(honour_row(winds, dragons), others), n_melds)
    mask, step = 0, 1
    for kind in range(27, 31):
        if hand[kind] < 4:
            drawn = honour_row(winds + step, dragons)
            mask |= int(missing(join(drawn, others), n_melds) < here) << kind
        step *= 5
    step = 1
    for kind in range(31, 34):
        if hand[kind] < 4:
            drawn = honour_row(winds, dragons + step)
            mask |= int(missing(join(drawn, others), n_melds) < here) << kind
        step *= 5
    return mask


@compiled
def _special_acceptance(hand: Counts) -> tuple[int, int]:
    """Return the lower shanten of seven pairs and orphans, and the kinds that lower it."""
    n_kinds, n_pairs, n_edges, edge_pair = count_kinds_held(hand)
    pairs = 6 - n_pairs + max(0, 7 - n_kinds)
    orphans = 13 - n_edges - edge_pair
    here, mask = min(pairs, orphans), 0
    for kind in range(34):
        single = hand[kind] == 1
        for_pairs = single or (hand[kind] == 0 and n_kinds < 7)
        for_orphans = is_edge(kind) and (hand[kind] == 0 or (single and not edge_pair))
        nearer = (pairs == here and for_pairs) or (orphans == here and for_orphans)
        mask |= int(nearer) << kind
    return here, mask


@compiled
def waits(hand: Counts, n_melds: int) -> int:
    """Return the mask of kinds completing a hand of 3n+1 tiles; 0 if it is not tenpai.

    Only the shape counts, not whether it would have a yaku.  A kind of which the concealed
    part holds all four copies does not count; tiles in melds or elsewhere in sight are not
    looked at (Tenhou's rule for tenpai at a draw).

    >>> from mjbot.game.rules.kinds import hand_counts, kinds_of
    >>> kinds_of(waits(hand_counts("2345m"), 3))
    [1, 4]
    >>> waits(hand_counts("1111m"), 3)
    0
    """
    if shanten(hand, n_melds) != 0:
        return 0
    return acceptance(hand, n_melds)
