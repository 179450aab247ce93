"""Tiles into and out of a hand, and what it waits on."""

from typing import Final

from mjbot.game.rules.ruleset import RuleSet
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
def red_copies(rules: RuleSet, suit: int) -> int:
    """Return how many red fives of a suit there may be: one, or two of 5p."""
    return 2 if suit == 1 and rules.two_red_5p else 1


@compiled
def count_meld_reds(red: int) -> int:
    """Return how many red fives a meld holds: bits 0 man, 1 pin, 2 sou, 3 the second of pin."""
    return (red & 1) + (red >> 1 & 1) + (red >> 2 & 1) + (red >> 3 & 1)


@compiled
def add_tile(state: State, seat: int, tile: int) -> None:
    """Put a tile (0..37) into a hand; of one that is unknown only the size grows."""
    if state.hand_size[seat] == MAX_HAND:
        return  # only a contradicting server, met leniently, comes here
    state.hand_size[seat] += 1
    if state.hand_known[seat] and tile != UNKNOWN:
        state.hand[seat, kind_of(tile)] += 1
        if tile >= N_KINDS:
            suit = tile - N_KINDS
            state.red[seat, suit] = min(state.red[seat, suit] + 1, red_copies(state.rules, suit))


@compiled
def remove_tile(state: State, seat: int, tile: int) -> None:
    """Take a tile (0..36) out of a hand; of one that is unknown only the size shrinks."""
    state.hand_size[seat] -= 1
    if state.hand_known[seat] and state.hand[seat, kind_of(tile)] > 0:
        state.hand[seat, kind_of(tile)] -= 1
        if tile >= N_KINDS:
            state.red[seat, tile - N_KINDS] = max(state.red[seat, tile - N_KINDS] - 1, 0)


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
        n_reds = min(count, reds[kind // 9]) if kind in FIVE_KINDS else 0
        tiles += [kind] * (count - n_reds) + [N_KINDS + kind // 9] * n_reds
    return tiles
