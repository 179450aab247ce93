"""Tiles into and out of a hand, and what it waits on."""

from typing import Final

from mjbot.game.rules.tile_sets import waits_of
from mjbot.game.table.state import State
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, tile_kind
from mjbot.runtime.compiler.compiled import compiled

UNKNOWN: Final = 37
"""The tile that cannot be seen."""
MAX_HAND: Final = 14

kind_of: Final = compiled(tile_kind)
"""The kind (0..33) of a tile (0..36), for compiled code.

Python code asks :func:`mjbot.protocol.tiles.tile_kind` itself, which costs less than a compiled
call.
"""


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
    """Recompute the waits of a known hand of 3n+1 tiles."""
    if state.hand_known[seat]:
        state.waits[seat] = waits_of(state.hand[seat], state.n_melds[seat], state.rules.players)


def concealed_tiles(state: State, seat: int) -> list[int]:
    """Return the concealed tiles (0..36) of a known hand in order, red fives after fives."""
    tiles: list[int] = []
    reds = state["red"][seat].tolist()
    for kind, count in enumerate(state["hand"][seat].tolist()):
        has_red = count > 0 and kind in FIVE_KINDS and reds[kind // 9] > 0
        tiles += [kind] * (count - has_red)
        if has_red:
            tiles.append(N_KINDS + kind // 9)
    return tiles
