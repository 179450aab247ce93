"""Tiles into and out of a hand, and what it waits on."""

from typing import Final

from mjbot.compiler.compiled import compiled
from mjbot.rules.acceptance import waits
from mjbot.table.state import State
from protocol.tiles import N_KINDS

UNKNOWN: Final = 37
"""The tile that cannot be seen."""
FIRST_WIND: Final = 27
FIRST_DRAGON: Final = 31
MAX_HAND: Final = 14


@compiled
def kind_of(tile: int) -> int:
    """Return the kind (0..33) of a tile (0..36)."""
    if tile < N_KINDS:
        return tile
    return 4 + 9 * (tile - N_KINDS)


@compiled
def add_tile(state: State, seat: int, tile: int) -> None:
    """Put a tile (0..37) into a hand; of one that is unknown only the size grows."""
    if state.hand_size[seat] == MAX_HAND:
        return  # only a contradicting server, met leniently, comes here
    state.hand_size[seat] += 1
    if state.hand_known[seat] and tile != UNKNOWN:
        state.hand[seat, kind_of(tile)] += 1
        if tile >= N_KINDS:
            state.red[seat, tile - N_KINDS] = 1


@compiled
def remove_tile(state: State, seat: int, tile: int) -> None:
    """Take a tile (0..36) out of a hand; of one that is unknown only the size shrinks."""
    state.hand_size[seat] -= 1
    if state.hand_known[seat] and state.hand[seat, kind_of(tile)] > 0:
        state.hand[seat, kind_of(tile)] -= 1
        if tile >= N_KINDS:
            state.red[seat, tile - N_KINDS] = 0


@compiled
def refresh_waits(state: State, seat: int) -> None:
    """Reckon the waits of a known hand of 3n+1 tiles anew."""
    if state.hand_known[seat]:
        state.waits[seat] = waits(state.hand[seat], state.n_melds[seat])
