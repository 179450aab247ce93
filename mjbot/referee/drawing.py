"""Tiles leave the wall: draws and dora markers, in compiled code."""

from mjbot.compiled import compiled
from mjbot.referee.desk import LOG_DORA, LOG_DRAW, Desk, note
from mjbot.referee.live_wall import next_live_tile
from mjbot.table.apply import apply_dora, apply_draw
from mjbot.table.state import CHANKAN, DORA_WALL, RINSHAN, RINSHAN_WALL, State


@compiled
def draw(state: State, seat: int, desk: Desk) -> None:
    """``seat`` draws, after a kan from the dead wall."""
    if state.phase == RINSHAN or state.phase == CHANKAN:
        tile = int(state.wall[RINSHAN_WALL + state.rinshan_taken])
    else:
        tile = next_live_tile(state, seat)
    apply_draw(state, seat, tile)
    note(desk, LOG_DRAW, seat, -1, tile, 0)


@compiled
def turn_dora(state: State, desk: Desk) -> None:
    """Turn the markers owed for kans."""
    while state.pending_dora > 0:
        marker = state.wall[DORA_WALL + state.n_dora]
        apply_dora(state, marker)
        note(desk, LOG_DORA, -1, -1, marker, 0)
