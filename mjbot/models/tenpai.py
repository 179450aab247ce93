"""How far others are from tenpai, read from their draws, discards and melds.

Takada and Sato 2022, section 4.1.1: P(shanten | draws d, discarded 3..7 of number tiles m),
counted in games of four greedy players by ``mjbot train greedy --games 1000 --seed 0``.  Greedy
players do not call.  For a seat with b melds we count only those greedy hands that hold b
complete blocks at least.  Cells are few hands each, so they lean on wider ones as if k =
:data:`PRIOR_HANDS` hands had been seen of those (n counts hands)::

    P(s | d, m, b) = (n(s, d, m, b) + k P(s | d, b)) / (n(d, m, b) + k)

and P(s | d, b) likewise on P(s | b).  k was set by hand and not tuned.  How that reads real
players: docs/hidden-hands.md.
"""

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.splitmix import next_below
from mjbot.models.weights import load_weights
from mjbot.table.hands import kind_of
from mjbot.table.state import NO_RIICHI, State

Counts = NDArray[np.int64]
Chances = NDArray[np.float64]

MAX_DRAWS: Final = 18
MAX_MIDDLE: Final = 18

PRIOR_HANDS: Final = 20
"""A cell's chances lean on those of its draws alone, as if so many hands had been seen of them;
and those on all hands with so many blocks."""
_RESOLUTION: Final = 1 << 30


@cache
def greedy_table() -> Chances:
    """Return P(shanten): float64[MAX_DRAWS + 1, MAX_MIDDLE + 1, MAX_BLOCKS + 1, 7], read-only."""
    chances = smoothed(load_weights("greedy")["hands"].astype(np.int64))
    chances.setflags(write=False)
    return chances


def smoothed(hands: Counts) -> Chances:
    """Turn counts of hands (the table's shape) into chances; see :data:`PRIOR_HANDS`."""
    of_blocks = hands.sum(axis=(0, 1), keepdims=True) + 1.0
    of_blocks /= of_blocks.sum(axis=-1, keepdims=True)
    of_draws = hands.sum(axis=1, keepdims=True) + PRIOR_HANDS * of_blocks
    of_draws /= of_draws.sum(axis=-1, keepdims=True)
    chances: Chances = hands + PRIOR_HANDS * of_draws
    chances /= chances.sum(axis=-1, keepdims=True)
    return chances


@compiled
def is_middle(kind: int) -> int:
    """Return 1 for a number tile from 3 to 7, else 0.

    >>> [is_middle(kind) for kind in (1, 2, 6, 7, 13, 30)]
    [0, 1, 1, 0, 1, 0]
    """
    return 1 if kind < 27 and 2 <= kind % 9 <= 6 else 0


@compiled
def middle_discards(state: State, seat: int) -> int:
    """Return how many number tiles from 3 to 7 the seat has discarded."""
    n = 0
    for place in range(state.n_river[seat]):
        n += is_middle(kind_of(state.river[seat, place]))
    return n


@compiled
def shanten_chances(state: State, seat: int, table: Chances, out: Chances) -> None:
    """Write how likely each shanten of a seat is to those who do not see its hand: float64[7].

    Every discard stands for a draw: who called had a tile of somebody else's instead.
    """
    for shanten in range(7):
        out[shanten] = 0.0
    if state.riichi[seat] != NO_RIICHI:
        out[0] = 1.0
        return
    chances = _row(state, seat, table)
    total = _possible(state, seat, chances)
    for shanten in range(_highest(state, seat) + 1):
        out[shanten] = chances[shanten] / total


@compiled
def tenpai_chance(state: State, seat: int, table: Chances) -> float:
    """Return how likely a seat is tenpai to those who do not see its hand; 1 in riichi."""
    if state.riichi[seat] != NO_RIICHI:
        return 1.0
    chances = _row(state, seat, table)
    return float(chances[0] / _possible(state, seat, chances))


@compiled
def draw_shanten(state: State, seat: int, table: Chances, random: NDArray[np.uint64]) -> int:
    """Draw a shanten for a seat by these chances: 0 in riichi, else 0..6."""
    if state.riichi[seat] != NO_RIICHI:
        return 0
    chances = _row(state, seat, table)
    highest = _highest(state, seat)
    at = _possible(state, seat, chances) * next_below(random, _RESOLUTION) / _RESOLUTION
    for shanten in range(highest):
        at -= chances[shanten]
        if at < 0:
            return shanten
    return highest


@compiled
def _row(state: State, seat: int, table: Chances) -> Chances:
    """Return the table's chances for the seat's draws, discards and melds: float64[7]."""
    draws = min(int(state.n_river[seat]), MAX_DRAWS)
    middle = min(middle_discards(state, seat), MAX_MIDDLE)
    row: Chances = table[draws, middle, int(state.n_melds[seat])]
    return row


@compiled
def _highest(state: State, seat: int) -> int:
    """Return the highest shanten that so few concealed tiles can have."""
    return int(min(6, 8 - 2 * state.n_melds[seat]))


@compiled
def _possible(state: State, seat: int, chances: Chances) -> float:
    """Return the chances of the shanten that are possible, together."""
    total = 0.0
    for shanten in range(_highest(state, seat) + 1):
        total += chances[shanten]
    return total
