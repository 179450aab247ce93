"""One random hand out of the tiles that are left: tenpai, or of another shanten.

:mod:`mjbot.learning.playouts.sampler` has the chance of each hand.  How often is
dealt and swapped was set by hand: dealing up to :data:`DEALS` times is exact, and quicker than
walking there.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import shanten as shanten_of
from mjbot.learning.playouts.tenpai_parts import Tenpai, prepare
from mjbot.learning.playouts.tenpai_samples import sample_tenpai
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int8s, Int64, Record
from mjbot.runtime.compiler.splitmix import next_below

DEALS: Final = 3000
SWAPS: Final = 600
MORE_SWAPS: Final = 16
MOST_SWAPS: Final = 20_000
DISTANCE_WEIGHT: Final = 12


class HandSampler(Record):
    """What dealing hands at random works with."""

    unseen: Annotated[Int8s, 34]  # tiles that are not dealt yet, per kind
    red: Annotated[Int8s, 3]  # 1 for a red five among them
    hand: Annotated[Int8s, 34]
    hand_red: Annotated[Int8s, 3]  # how many red fives are in it
    deck: Annotated[Int8s, 136]
    n_deck: Int64
    tenpai: Tenpai


HAND_SAMPLER: Final = HandSampler.dtype


def new_hand_sampler() -> HandSampler:
    """Return an empty record to deal with."""
    return HandSampler.new()


@compiled
def deal_tenpai(
    sampler: HandSampler, n_melds: int, barred: int, random: NDArray[np.uint64]
) -> bool:
    """Deal ``sampler.hand`` as a hand in tenpai that waits on none of the kinds in a mask."""
    tenpai = sampler.tenpai
    for kind in range(34):
        tenpai.unseen[kind] = sampler.unseen[kind]
    tenpai.barred = barred
    tenpai.n_melds = n_melds
    prepare(tenpai)
    if not sample_tenpai(tenpai, random):
        return False
    for kind in range(34):
        sampler.hand[kind] = tenpai.hand[kind]
    return True


@compiled
def deal_shanten(
    sampler: HandSampler, size: int, n_melds: int, wished: int, random: NDArray[np.uint64]
) -> bool:
    """Deal ``sampler.hand``: ``size`` tiles of that shanten; False if none is found."""
    stack_unseen(sampler)
    for _ in range(DEALS):
        deal_fairly(sampler, size, random)
        if shanten_of(sampler.hand, n_melds) == wished:
            return True
    return walk_to_shanten(sampler, size, n_melds, wished, random)


@compiled
def walk_to_shanten(
    sampler: HandSampler, size: int, n_melds: int, wished: int, random: NDArray[np.uint64]
) -> bool:
    """Swap tiles of the hand that was dealt until it is a random one of the wished shanten."""
    here = shanten_of(sampler.hand, n_melds)
    for number in range(MOST_SWAPS):
        here = _swap(sampler, size, n_melds, wished, here, random)
        if here == wished and number >= SWAPS and number % MORE_SWAPS == 0:
            return True
    return False


@compiled
def stack_unseen(sampler: HandSampler) -> None:
    """Lay the tiles that are not dealt yet out in the deck, as kinds."""
    n = 0
    for kind in range(34):
        for _ in range(sampler.unseen[kind]):
            sampler.deck[n] = kind
            n += 1
    sampler.n_deck = n


@compiled
def deal_fairly(sampler: HandSampler, size: int, random: NDArray[np.uint64]) -> None:
    """Deal ``sampler.hand`` from the deck: its first ``size`` tiles, any of them as likely."""
    deck, hand = sampler.deck, sampler.hand
    for kind in range(34):
        hand[kind] = 0
    for index in range(size):
        other = index + next_below(random, sampler.n_deck - index)
        kind = deck[other]
        deck[other] = deck[index]
        deck[index] = kind
        hand[kind] += 1


@compiled
def _swap(
    sampler: HandSampler,
    size: int,
    n_melds: int,
    wished: int,
    here: int,
    random: NDArray[np.uint64],
) -> int:
    """Swap a tile of the hand for another one, or not; return the hand's shanten."""
    deck, hand = sampler.deck, sampler.hand
    index = next_below(random, size)
    other = size + next_below(random, sampler.n_deck - size)
    old, new = deck[index], deck[other]
    if old == new:
        return here
    hand[old] -= 1
    hand[new] += 1
    there = shanten_of(hand, n_melds)
    away, farther = max(0, here - wished), max(0, there - wished)
    while farther > away and next_below(random, DISTANCE_WEIGHT) == 0:
        farther -= 1
    if farther > away:
        hand[old] += 1
        hand[new] -= 1
        return here
    deck[index], deck[other] = new, old
    return there
