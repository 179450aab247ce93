"""Counting what is visible: unseen tiles, dora, copies, and an honest copy for one seat."""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.hands import kind_of
from mjbot.game.table.state import ANKAN, CALLED_AWAY, CHI, DAIMINKAN, KAKAN, State
from mjbot.protocol.tiles import FIRST_DRAGON, FIRST_HONOUR, N_KINDS, NORTH
from mjbot.runtime.compiler.compiled import compiled


@compiled
def dora_kind(marker: int, players: int) -> int:
    """Return the kind that a marker tile makes dora.

    Ranks wrap within the suit, winds and dragons among themselves; three players have no 2m to 8m.
    """
    kind = kind_of(marker)
    if kind == 0 and players == 3:
        return 8
    if kind < FIRST_HONOUR:
        return kind - 8 if kind % 9 == 8 else kind + 1
    if kind < FIRST_DRAGON:
        return FIRST_HONOUR + (kind - FIRST_HONOUR + 1) % 4
    return FIRST_DRAGON + (kind - FIRST_DRAGON + 1) % 3


@compiled
def dora_values(state: State, out: NDArray[np.int8]) -> None:
    """Write how many dora a tile of each kind is: int8[34]."""
    out[:] = 0
    for index in range(state.n_dora):
        out[dora_kind(state.dora_markers[index], state.rules.players)] += 1


@compiled
def ura_values(state: State, out: NDArray[np.int8]) -> None:
    """Write how many ura dora a tile of each kind is: int8[34]."""
    out[:] = 0
    for index in range(state.n_ura):
        out[dora_kind(state.ura_markers[index], state.rules.players)] += 1


@compiled
def add_melds(state: State, seat: int, counts: NDArray[np.int8]) -> None:
    """Add the tiles in the seat's melds to int8[34] counts."""
    for meld in range(state.n_melds[seat]):
        type_ = state.meld_type[seat, meld]
        kind = state.meld_kind[seat, meld]
        if type_ == CHI:
            for step in range(3):
                counts[kind + step] += 1
        else:
            quad = type_ == ANKAN or type_ == KAKAN or type_ == DAIMINKAN
            counts[kind] += 4 if quad else 3


@compiled
def visible_kinds(state: State, out: NDArray[np.int8]) -> None:
    """Write the public copies of each kind: melds, kita, rivers (called tiles once), markers."""
    out[:] = 0
    for seat in range(4):
        add_melds(state, seat, out)
        out[NORTH] += state.kita[seat]
        for index in range(state.n_river[seat]):
            if not state.river_flags[seat, index] & CALLED_AWAY:
                out[kind_of(state.river[seat, index])] += 1
    for index in range(state.n_dora):
        out[kind_of(state.dora_markers[index])] += 1


@compiled
def unseen_kinds(state: State, seat: int, out: NDArray[np.int8]) -> None:
    """Write 4 minus the copies that the seat sees, 0 for kinds not in the game: int8[34]."""
    visible_kinds(state, out)
    for kind in range(N_KINDS):
        out[kind] = 4 - out[kind] - state.hand[seat, kind]
    if state.rules.players == 3:
        for kind in range(1, 8):
            out[kind] = 0


@compiled
def genbutsu(state: State, seat: int) -> int:
    """Return the mask of kinds that a seat cannot win by ron: its discards and what it let pass."""
    return int(state.discarded[seat] | state.passed[seat])


@compiled
def offered_since(state: State, seat: int) -> int:
    """Return the mask of kinds that others have discarded since the seat's own last discard."""
    own, kinds = state.n_river[seat], 0
    since = int(state.river_turn[seat, own - 1]) if own else -1
    for other in range(4):
        if other != seat:
            for index in range(state.n_river[other]):
                if state.river_turn[other, index] > since:
                    kinds |= 1 << kind_of(state.river[other, index])
    return kinds


@compiled
def extra_copy(state: State, visible: NDArray[np.int8]) -> int:
    """Return a kind of which more than four copies are known (all known hands included), or -1.

    ``visible`` is int8[34] of scratch space.
    """
    visible_kinds(state, visible)
    for kind in range(N_KINDS):
        copies = visible[kind]
        for seat in range(4):
            copies += state.hand[seat, kind]
        if copies > 4:
            return kind
    return -1
