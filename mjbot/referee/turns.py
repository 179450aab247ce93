"""What a seat does on its own turn, in compiled code."""

from mjbot.compiled import compiled
from mjbot.referee.desk import (
    LOG_ANKAN,
    LOG_DISCARD,
    LOG_KAKAN,
    LOG_RIICHI,
    Desk,
    note,
    note_used,
)
from mjbot.referee.drawing import turn_dora
from mjbot.referee.ending import abort_kyoku, win_kyoku
from mjbot.table.actions import (
    ADDED_KAN,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    NINE_TERMINALS,
    TSUMO,
)
from mjbot.table.apply import apply_discard, apply_riichi
from mjbot.table.apply_calls import apply_ankan, apply_kakan
from mjbot.table.draws import NINE_TERMINALS as ABORT_NINE
from mjbot.table.state import State
from protocol.tiles import N_KINDS


@compiled
def own_action(state: State, desk: Desk) -> None:
    """Carry out the choice of the seat whose turn it is."""
    seat = state.turn
    code = desk.choices[seat]
    if code < DECLARE_RIICHI:
        _discard(state, seat, code, desk)
    elif code == DECLARE_RIICHI:
        apply_riichi(state, seat)
        note(desk, LOG_RIICHI, seat, -1, -1, 0)
    elif code == TSUMO:
        win_kyoku(state, seat, desk)
    elif code == NINE_TERMINALS:
        desk.outcome.actor = seat
        abort_kyoku(state, ABORT_NINE, desk)
    elif code < ADDED_KAN:
        _concealed_kan(state, seat, code - CONCEALED_KAN, desk)
    else:
        _added_kan(state, seat, code - ADDED_KAN, desk)


@compiled
def _discard(state: State, seat: int, code: int, desk: Desk) -> None:
    turn_dora(state, desk)  # an open kan's marker shows before the discard
    drawn = code >= DISCARD_DRAWN
    tile = code - DISCARD_DRAWN if drawn else code
    apply_discard(state, seat, tile, drawn)
    note(desk, LOG_DISCARD, seat, -1, tile, drawn)


@compiled
def _holds_red(state: State, seat: int, kind: int) -> bool:
    return bool(kind < 27 and kind % 9 == 4 and state.red[seat, kind // 9] > 0)


@compiled
def _concealed_kan(state: State, seat: int, kind: int, desk: Desk) -> None:
    has_red = _holds_red(state, seat, kind)
    apply_ankan(state, seat, kind, has_red)
    note(desk, LOG_ANKAN, seat, -1, -1, 0)
    for place in range(4):
        note_used(desk, place, kind)
    if has_red:
        note_used(desk, 3, N_KINDS + kind // 9)
    turn_dora(state, desk)


@compiled
def _added_kan(state: State, seat: int, kind: int, desk: Desk) -> None:
    tile = N_KINDS + kind // 9 if _holds_red(state, seat, kind) else kind
    note(desk, LOG_KAKAN, seat, -1, tile, 0)
    for place in range(3):
        note_used(desk, place, kind)
    for meld in range(state.n_melds[seat]):
        if state.meld_kind[seat, meld] == kind and state.meld_red[seat, meld]:
            note_used(desk, 2, N_KINDS + kind // 9)
    apply_kakan(state, seat, tile)
