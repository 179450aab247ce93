"""How far others are from tenpai, read from their draws, discards and melds, in one of two ways.

*learned*: a network fitted to records (:mod:`mjbot.learning.models.networks.hidden_shanten`).

*greedy*: Takada and Sato 2022, section 4.1.1: P(shanten | draws d, discarded 3..7 of number tiles
m), counted in games of four greedy players by
``python -m papers train-greedy --games 1000 --seed 0``.  Greedy players do not call.  For a seat
with b melds we count only those greedy hands that hold b complete blocks at least.  Cells are few
hands each, so they lean on wider ones as if k = :data:`PRIOR_HANDS` hands had been seen of those (n
counts hands)::

    P(s | d, m, b) = (n(s, d, m, b) + k P(s | d, b)) / (n(d, m, b) + k)

and P(s | d, b) likewise on P(s | b).  k was set by hand and not tuned.

Riichi is tenpai to both.  How either reads real players: docs/results/hidden-hands.md.
"""

from functools import cache
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.hands import kind_of
from mjbot.game.table.state import NO_RIICHI, State
from mjbot.learning.models.networks.hidden_shanten import (
    N_SHANTEN,
    ShantenWeights,
    highest_shanten,
    learned_chances,
    shanten_weights,
)
from mjbot.learning.models.weights import OF_PLAYERS, load_weights
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import next_below

Counts = NDArray[np.int64]
Chances = NDArray[np.float64]

MAX_DRAWS: Final = 18
MAX_MIDDLE: Final = 18

PRIOR_HANDS: Final = 20
"""A cell's chances lean on those of its draws alone, as if so many hands had been seen of them;
and those on all hands with so many blocks."""
_RESOLUTION: Final = 1 << 30

Reading = Literal["learned", "greedy"]


class HandReader(NamedTuple):
    """How hands are read; compiled code takes it whole."""

    is_learned: bool
    greedy: Chances  # :func:`greedy_table`
    weights: ShantenWeights


@cache
def hand_reader(reading: Reading = "learned", players: int = 4) -> HandReader:
    """Return the reader by the weights that ship for so many players.

    The greedy table is that of four players.  Raises ``WeightsError``.
    """
    weights = shanten_weights(OF_PLAYERS[players])
    return HandReader(reading == "learned", greedy_table(), weights)


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
    for index in range(state.n_river[seat]):
        n += is_middle(kind_of(state.river[seat, index]))
    return n


@compiled
def shanten_chances(state: State, seat: int, reader: HandReader, out: Chances) -> None:
    """Write the probability of each shanten of a seat, as seen by its opponents: float64[7].

    The greedy table counts one draw for each discard: after a call the tile is another player's
    discard.
    """
    total = _write_odds(state, seat, reader, out)
    for shanten in range(N_SHANTEN):
        out[shanten] /= total


@compiled
def tenpai_chance(state: State, seat: int, reader: HandReader) -> float:
    """Return the probability that a seat is tenpai, as seen by its opponents; 1 in riichi."""
    odds = np.empty(N_SHANTEN)
    total = _write_odds(state, seat, reader, odds)
    return float(odds[0] / total)


@compiled
def draw_shanten(state: State, seat: int, reader: HandReader, random: NDArray[np.uint64]) -> int:
    """Draw a shanten for a seat by these chances: 0 in riichi, else 0..6."""
    if state.riichi[seat] != NO_RIICHI:
        return 0
    odds = np.empty(N_SHANTEN)
    highest = highest_shanten(state, seat)
    at = _write_odds(state, seat, reader, odds) * next_below(random, _RESOLUTION) / _RESOLUTION
    for shanten in range(highest):
        at -= odds[shanten]
        if at < 0:
            return shanten
    return highest


@compiled
def _write_odds(state: State, seat: int, reader: HandReader, out: Chances) -> float:
    """Write the odds of each shanten, 0 for those that cannot be; return what they add up to."""
    out[:] = 0
    if state.riichi[seat] != NO_RIICHI:
        out[0] = 1.0
        return 1.0
    if reader.is_learned:
        learned_chances(state, seat, reader.weights, out)
        return 1.0
    return greedy_odds(state, seat, reader.greedy, out)


@compiled
def greedy_odds(state: State, seat: int, table: Chances, out: Chances) -> float:
    """Write the table's odds of a seat that is not in riichi; return what they add up to."""
    draws = min(int(state.n_river[seat]), MAX_DRAWS)
    middle = min(middle_discards(state, seat), MAX_MIDDLE)
    highest = highest_shanten(state, seat)
    total = 0.0
    for shanten in range(N_SHANTEN):
        out[shanten] = 0.0
        if shanten <= highest:
            out[shanten] = table[draws, middle, int(state.n_melds[seat]), shanten]
            total += out[shanten]
    return total
