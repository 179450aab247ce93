"""Suppositions about a state, and facts that come without an event.

A state is written to in two ways: by events (:mod:`mjbot.game.table.apply`) and by the suppositions
here, for guesses and for positions in the middle of a game: a seat holds that hand, the wall lies
in this order, a riichi stands.  Derived fields (``waits``) are updated.  Nothing else writes to a
state.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.wall_plan import MAX_MARKERS
from mjbot.game.table.hands import UNKNOWN, kind_of, refresh_waits
from mjbot.game.table.state import (
    ACCEPTED,
    NO_RIICHI,
    State,
)
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled

EVERY_KIND: Final = (1 << N_KINDS) - 1

# --- hands and walls, in compiled code ---------------------------------------------------------


@compiled
def hide(state: State, seat: int) -> None:
    """Blank everything in the record that ``seat`` may not see: other hands, wall, ura."""
    for other in range(4):
        if other != seat:
            state.hand_known[other] = 0
            state.hand[other] = 0
            state.red[other] = 0
            state.waits[other] = 0
            state.missed[other] = 0
    if state.turn != seat and state.drawn >= 0:
        state.drawn = UNKNOWN
    state.ura_markers[:] = -1
    state.n_ura = 0
    state.has_wall = 0
    state.wall[:] = -1


@compiled
def deal_in_hand(state: State, seat: int, hand: NDArray[np.int8], red: NDArray[np.int8]) -> None:
    """Suppose that a seat holds these tiles, and has missed no win.

    ``hand`` int8[34] are its 3n+1 tiles, red fives included, without what it has drawn (see
    :func:`deal_in_drawn`); ``red`` int8[3] are the red fives among them.
    """
    state.hand_known[seat] = 1
    state.missed[seat] = 0
    for kind in range(N_KINDS):
        state.hand[seat, kind] = hand[kind]
    for suit in range(3):
        state.red[seat, suit] = red[suit]
    refresh_waits(state, seat)


@compiled
def deal_in_drawn(state: State, seat: int, tile: int) -> None:
    """Suppose that a seat that has 3n+2 tiles holds this one (0..36) in addition to its hand.

    If the seat has drawn, it is the tile that it drew.
    """
    state.hand[seat, kind_of(tile)] += 1
    if tile >= N_KINDS:
        state.red[seat, tile - N_KINDS] += 1
    if state.turn == seat and state.drawn >= 0:
        state.drawn = tile


@compiled
def deal_in_wall(state: State, tiles: NDArray[np.int8]) -> None:
    """Suppose that the tiles (0..36) that are left lie in the wall in this order.

    First the live wall, then the hidden markers and the rinshan tiles, by their places.
    Draws come in order from then on, also where the table's draws were pinned.
    """
    state.pinned = 0
    state.has_wall = 1
    plan = state.rules.wall
    drawn = plan.n_live - state.wall_left - state.rinshan_taken
    for index in range(state.n_dora):
        state.wall[plan.dora + plan.marker_step * index] = state.dora_markers[index]
    n = 0
    for place in range(plan.live + drawn, plan.n_tiles):
        if not _is_taken(state, place):
            state.wall[place] = tiles[n]
            n += 1


@compiled
def assume_pinned_wall(state: State, tiles: NDArray[np.int8]) -> None:
    """Suppose that these tiles int8[70] are the live wall, drawn ones included; pin the draws."""
    state.pinned = 1
    for index in range(state.rules.wall.n_live):
        state.wall[state.rules.wall.live + index] = tiles[index]


@compiled
def _is_taken(state: State, place: int) -> bool:
    """Return whether a place of the dead wall holds a turned marker, or held a rinshan tile."""
    plan = state.rules.wall
    for index in range(state.n_dora):
        if place == plan.dora + plan.marker_step * index:
            return True
    return plan.rinshan <= place < plan.rinshan + state.rinshan_taken


# --- what stands at the table ------------------------------------------------------------------


def assume_riichi(state: State, seat: int) -> None:
    """Suppose that a seat's riichi stands."""
    state["riichi"][seat] = ACCEPTED


def assume_harmless(state: State, seat: int) -> None:
    """Suppose that a seat can win on no discard and is not in riichi."""
    state["passed"][seat] = EVERY_KIND
    state["riichi"][seat] = NO_RIICHI


def assume_no_liability(state: State) -> None:
    """Suppose that no seat is liable for a yakuman."""
    state["pao_dragons"] = -1
    state["pao_winds"] = -1


def assume_alone(state: State, wall_left: int) -> None:
    """Suppose one-player mahjong: no dora, and so many tiles to draw."""
    state["n_dora"] = 0
    state["wall_left"] = wall_left


# --- frame of a game, and what is known late ----------------------------------------------------


def set_position(state: State, scores: Sequence[int], sticks: int) -> None:
    """Set the points of the four seats, and the riichi sticks on the table."""
    state["scores"] = scores
    state["sticks"] = sticks


def set_last_round(state: State, last_round: int) -> None:
    """Set how long the game is scheduled: 3 tonpu, 7 hanchan."""
    state["rules"]["last_round"] = last_round


def pin_draws(state: State, pinned: bool) -> None:
    """Set whether every seat draws from its own part of the wall."""
    state["pinned"] = pinned


def show_ura(state: State, tiles: Sequence[int]) -> None:
    """Turn these ura markers (0..36), five at most."""
    state["n_ura"] = min(len(tiles), MAX_MARKERS)
    state["ura_markers"][: state["n_ura"]] = tiles[:MAX_MARKERS]


def name_drawn(state: State, tile: int) -> None:
    """Set which tile (0..36) was drawn unseen."""
    state["drawn"] = tile
