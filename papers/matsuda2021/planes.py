"""What the networks of Matsuda and Ito 2021 see of a table: 17 planes of 34 kinds by 4 copies.

*Data plane structure* (their section 2, after Gao et al. 2019): in each plane a row is a kind,
and column k of it is 1 where more than k copies are meant.  Table 3.1 lists 15 planes; the
network's input is printed as 34 x 4 x 17.  We take the 15 and add the two winds to reach 17::

    0        own hand, concealed
    1        own red fives among it
    2 .. 5   discards of each seat, those called away included
    6 .. 9   melds of each seat
    10       dora, as often as markers show it
    11 .. 13 an opponent's riichi: the whole plane
    14       the last discard of any seat (or tile added to a pon)
    15, 16   seat wind, round wind

Seats are in order of play from the own one on, opponents from the next one on.  What the paper
leaves open is decided here: whether a called discard still counts in its river (it does), and
that red fives are on no plane but the own.  No hidden tile is read.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.hands import kind_of
from mjbot.game.table.observe import add_melds, dora_values
from mjbot.game.table.state import NO_RIICHI, State
from mjbot.protocol.tiles import FIRST_HONOUR, N_KINDS
from mjbot.runtime.compiler.compiled import compiled

N_COPIES: Final = 4
N_PLANES: Final = 17
PLANES_SHAPE: Final = (N_KINDS, N_COPIES, N_PLANES)

HAND: Final = 0
RED: Final = 1
RIVERS: Final = 2
MELDS: Final = 6
DORA: Final = 10
RIICHI: Final = 11
LAST_DISCARD: Final = 14
SEAT_WIND: Final = 15
ROUND_WIND: Final = 16


@compiled
def write_paper_planes(state: State, seat: int, out: NDArray[Any]) -> None:
    """Write all planes as a seat sees them: [34, 4, 17] of 0 and 1, of any type."""
    out[:] = 0
    counts = np.empty(N_KINDS, np.int8)
    for kind in range(N_KINDS):
        _fill(out, kind, HAND, state.hand[seat, kind])
    for suit in range(3):
        _fill(out, 9 * suit + 4, RED, state.red[seat, suit])
    for step in range(4):
        other = (seat + step) & 3
        counts[:] = 0
        for place in range(state.n_river[other]):
            counts[kind_of(state.river[other, place])] += 1
        _fill_all(out, RIVERS + step, counts)
        counts[:] = 0
        add_melds(state, other, counts)
        _fill_all(out, MELDS + step, counts)
        if step and state.riichi[other] != NO_RIICHI:
            out[:, :, RIICHI + step - 1] = 1
    dora_values(state, counts)
    _fill_all(out, DORA, counts)
    if state.last_tile >= 0:
        out[kind_of(state.last_tile), 0, LAST_DISCARD] = 1
    out[FIRST_HONOUR + ((seat - state.dealer) & 3), 0, SEAT_WIND] = 1
    out[FIRST_HONOUR + (state.round >> 2), 0, ROUND_WIND] = 1


@compiled
def _fill_all(out: NDArray[Any], plane: int, counts: NDArray[np.int8]) -> None:
    for kind in range(N_KINDS):
        _fill(out, kind, plane, counts[kind])


@compiled
def _fill(out: NDArray[Any], kind: int, plane: int, copies: int) -> None:
    for copy in range(min(copies, N_COPIES)):
        out[kind, copy, plane] = 1


@compiled
def write_paper_batch(
    states: NDArray[np.void], seats: NDArray[np.int8], places: NDArray[np.int64], out: NDArray[Any]
) -> None:
    """Write the planes of ``states[places]``, seen by ``seats[places]``: [n, 34, 4, 17]."""
    for row in range(len(places)):
        place = places[row]
        write_paper_planes(states[place], seats[place], out[row])
