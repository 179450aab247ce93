"""The hands and the wall that a seat cannot see, filled in at random.

Takada and Sato 2022, section 4.1.2: every other seat gets a hand of a given shanten from the
tiles that the deciding seat has not seen, then the rest is shuffled into the wall, and the table
can be played on.

The hands are dealt one after the other, those in tenpai first, then in the order of their
shanten, then of the seats after the deciding one.  Each is drawn from the tiles that are left,
every set of tiles of its class being equally likely:

* tenpai: not furiten (own discards; in riichi also what it let pass), 73 % with two sides open and
  27 % waiting on one kind, as :mod:`mjbot.learning.playouts.tenpai_samples` has it,
  exactly;
* else: a fair deal, dealt again until it has the shanten, exactly.  Where none of 3,000 has, the
  last one is walked there by swapping tiles (Metropolis; a hand of each shanten beyond the wished
  one has a twelfth of the weight), for 600 swaps and then on until it is there: nearly so.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.table.assume import deal_in_drawn, deal_in_hand, deal_in_wall, hide
from mjbot.game.table.hands import red_copies
from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import ACCEPTED, CALLED_AWAY, NO_RIICHI, State
from mjbot.learning.playouts.random_hands import (
    HAND_SAMPLER,
    HandSampler,
    deal_shanten,
    deal_tenpai,
    new_hand_sampler,
    stack_unseen,
)
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import next_below

__all__ = [
    "HAND_SAMPLER",
    "HandSampler",
    "barred_waits",
    "deal_hands",
    "deal_wall",
    "new_hand_sampler",
]


@compiled
def deal_hands(
    state: State, seat: int, shanten: Counts, random: NDArray[np.uint64], sampler: HandSampler
) -> bool:
    """Fill in the hands of the others, at random where ``seat`` does not see them.

    ``shanten`` int8[4] is what each hand shall have (``seat``'s own entry is ignored); it is
    lowered to the most that a hand with so many melds can have, and a seat in riichi is tenpai.
    A seat that has 3n+2 tiles has one at random more.  What ``state`` knew of the others before
    is forgotten, the wall with it.  False if some hand cannot have its shanten: it then has
    another one.  ``random`` uint64[1] is advanced.
    """
    hide(state, seat)
    unseen_kinds(state, seat, sampler.unseen)
    unseen_reds(state, seat, sampler.red)
    found = True
    for wanted in range(9):
        for step in range(1, state.rules.players):
            other = seat_after(state, seat, step)
            if wanted == wished_shanten(state, other, shanten[other]):
                found = _deal_hand(state, other, wanted, random, sampler) and found
    return found


@compiled
def wished_shanten(state: State, seat: int, wished: int) -> int:
    """Return the shanten that a seat can have: 0 in riichi, 6 at most, 2 less for each meld."""
    if state.riichi[seat] != NO_RIICHI:
        return 0
    n_melds = state.n_melds[seat]
    return int(max(0, min(wished, 8 - 2 * n_melds, 6)))


@compiled
def barred_waits(state: State, seat: int) -> int:
    """Return the kinds on which the seat's wait would be furiten, as all can see."""
    barred = state.discarded[seat]
    if state.riichi[seat] == ACCEPTED:
        barred |= state.passed[seat]
    return int(barred)


@compiled
def _deal_hand(
    state: State, seat: int, wished: int, random: NDArray[np.uint64], sampler: HandSampler
) -> bool:
    """Deal one hand out of ``sampler.unseen`` and write it into the state."""
    size = state.hand_size[seat]
    drew = size % 3 == 2
    n_melds = int(state.n_melds[seat])
    found = False
    if wished == 0:
        found = deal_tenpai(sampler, n_melds, barred_waits(state, seat), random)
    if not found:
        found = deal_shanten(sampler, size - drew, n_melds, wished, random)
        found = found and wished > 0  # a tenpai hand that comes here is furiten
    for kind in range(34):
        sampler.unseen[kind] -= sampler.hand[kind]
    _write_hand(state, seat, sampler, random)
    if drew:
        _draw_one_more(state, seat, sampler, random)
    return found


@compiled
def _write_hand(state: State, seat: int, sampler: HandSampler, random: NDArray[np.uint64]) -> None:
    """Put the hand into the state; which fives of it are red is a matter of chance."""
    for suit in range(3):
        five = 9 * suit + 4
        held, left = int(sampler.hand[five]), int(sampler.unseen[five])
        sampler.hand_red[suit] = 0
        for gone in range(sampler.red[suit]):
            if held > 0 and next_below(random, held + left - gone) < held:
                sampler.hand_red[suit] += 1
                held -= 1
        sampler.red[suit] -= sampler.hand_red[suit]
    deal_in_hand(state, seat, sampler.hand, sampler.hand_red)


@compiled
def _draw_one_more(
    state: State, seat: int, sampler: HandSampler, random: NDArray[np.uint64]
) -> None:
    """Give the seat whose turn it is its last tile."""
    stack_unseen(sampler)
    kind = int(sampler.deck[next_below(random, sampler.n_deck)])
    tile = kind
    reds = int(sampler.red[kind // 9]) if kind < 27 and kind % 9 == 4 else 0
    if reds and next_below(random, int(sampler.unseen[kind])) < reds:
        tile = 34 + kind // 9
        sampler.red[kind // 9] -= 1
    sampler.unseen[kind] -= 1
    deal_in_drawn(state, seat, tile)


@compiled
def unseen_reds(state: State, seat: int, red: Counts) -> None:
    """Write how many red fives of each suit the seat does not see: int8[3]."""
    for suit in range(3):
        red[suit] = red_copies(state.rules, suit) - state.red[seat, suit]
    for other in range(4):
        for place in range(state.n_melds[other]):
            for suit in range(3):
                red[suit] -= (state.meld_red[other, place] >> suit) & 1
            red[1] -= state.meld_red[other, place] >> 3 & 1
        for place in range(state.n_river[other]):
            called = state.river_flags[other, place] & CALLED_AWAY
            if state.river[other, place] >= 34 and not called:
                red[state.river[other, place] - 34] -= 1
    for place in range(state.n_dora):
        if state.dora_markers[place] >= 34:
            red[state.dora_markers[place] - 34] -= 1
    for suit in range(3):
        red[suit] = max(red[suit], 0)


# --- the wall ----------------------------------------------------------------------------------


@compiled
def deal_wall(state: State, random: NDArray[np.uint64], sampler: HandSampler) -> None:
    """Shuffle all tiles that are in no hand and not visible into the wall.

    All hands must be known.
    """
    _unknown_tiles(state, sampler)
    deck = sampler.deck
    n = sampler.n_deck
    for place in range(n - 1, 0, -1):
        other = next_below(random, place + 1)
        tile = deck[place]
        deck[place] = deck[other]
        deck[other] = tile
    deal_in_wall(state, deck)


@compiled
def _unknown_tiles(state: State, sampler: HandSampler) -> None:
    """Write the tiles (0..36) that no hand holds and no seat sees into the deck."""
    unseen, deck = sampler.unseen, sampler.deck
    unseen_kinds(state, 0, unseen)
    unseen_reds(state, 0, sampler.red)
    for seat in range(1, state.rules.players):
        for kind in range(34):
            unseen[kind] -= state.hand[seat, kind]
        for suit in range(3):
            sampler.red[suit] = max(sampler.red[suit] - state.red[seat, suit], 0)
    n = 0
    for kind in range(34):
        for _ in range(unseen[kind]):
            deck[n] = kind
            n += 1
        if kind < 27 and kind % 9 == 4:
            for index in range(min(unseen[kind], sampler.red[kind // 9])):
                deck[n - 1 - index] = 34 + kind // 9
    sampler.n_deck = n
