"""What the choices of the seats do to the kyoku, in compiled code.

On its own turn: win, kan, riichi, discard, nine terminals.  After a discard or an added kan:
wins, calls, or the next draw.
"""

from mjbot.game.referee.ending import abort_kyoku, draw, exhaust_kyoku, turn_dora, win_kyoku
from mjbot.game.referee.step import (
    LOG_ANKAN,
    LOG_CHI,
    LOG_DAIMINKAN,
    LOG_DISCARD,
    LOG_KAKAN,
    LOG_KITA,
    LOG_PON,
    LOG_RIICHI,
    LOG_RIICHI_ACCEPTED,
    StepBuffer,
    note,
    note_used,
)
from mjbot.game.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_LOW,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    KITA,
    NINE_TERMINALS,
    PON_RED,
    RON,
    TSUMO,
    gives_red_code,
    is_chi_code,
    is_discard_code,
    is_pon_code,
)
from mjbot.game.table.apply import apply_discard, apply_riichi, apply_riichi_accepted
from mjbot.game.table.apply_calls import (
    apply_ankan,
    apply_chi,
    apply_daiminkan,
    apply_kakan,
    apply_kita,
    apply_pon,
)
from mjbot.game.table.hands import count_meld_reds, kind_of
from mjbot.game.table.legal import held_tiles
from mjbot.game.table.seats import next_seat, seat_after
from mjbot.game.table.settle import abort_reason, three_rons_draw
from mjbot.game.table.state import DECLARED, RINSHAN, TRIPLE_RON, State
from mjbot.game.table.state import NINE_TERMINALS as ABORT_NINE
from mjbot.protocol.tiles import N_KINDS, NORTH
from mjbot.runtime.compiler.compiled import compiled


@compiled
def own_action(state: State, buffer: StepBuffer) -> None:
    """Carry out the choice of the seat whose turn it is."""
    seat = state.turn
    code = buffer.choices[seat]
    if is_discard_code(code):
        _discard(state, seat, code, buffer)
    elif code == DECLARE_RIICHI:
        apply_riichi(state, seat)
        note(buffer, LOG_RIICHI, seat, -1, -1, 0)
    elif code == TSUMO:
        win_kyoku(state, seat, buffer)
    elif code == NINE_TERMINALS:
        buffer.outcome.actor = seat
        abort_kyoku(state, ABORT_NINE, buffer)
    elif code < ADDED_KAN:
        _concealed_kan(state, seat, code - CONCEALED_KAN, buffer)
    elif code == KITA:
        apply_kita(state, seat)
        note(buffer, LOG_KITA, seat, -1, NORTH, 0)
    else:
        _added_kan(state, seat, code - ADDED_KAN, buffer)


@compiled
def _discard(state: State, seat: int, code: int, buffer: StepBuffer) -> None:
    turn_dora(state, buffer)  # an open kan's marker shows before the discard
    drawn = code >= DISCARD_DRAWN
    tile = code - DISCARD_DRAWN if drawn else code
    apply_discard(state, seat, tile, drawn)
    note(buffer, LOG_DISCARD, seat, -1, tile, drawn)


@compiled
def _held_reds(state: State, seat: int, kind: int) -> int:
    return int(state.red[seat, kind // 9]) if kind < 27 and kind % 9 == 4 else 0


@compiled
def _concealed_kan(state: State, seat: int, kind: int, buffer: StepBuffer) -> None:
    n_reds = _held_reds(state, seat, kind)
    apply_ankan(state, seat, kind, n_reds)
    note(buffer, LOG_ANKAN, seat, -1, -1, 0)
    for index in range(4):
        note_used(buffer, index, kind)
    for index in range(n_reds):
        note_used(buffer, 3 - index, N_KINDS + kind // 9)
    if state.phase == RINSHAN:
        turn_dora(state, buffer)


@compiled
def _added_kan(state: State, seat: int, kind: int, buffer: StepBuffer) -> None:
    tile = N_KINDS + kind // 9 if _held_reds(state, seat, kind) else kind
    note(buffer, LOG_KAKAN, seat, -1, tile, 0)
    for index in range(3):
        note_used(buffer, index, kind)
    for meld in range(state.n_melds[seat]):
        if state.meld_kind[seat, meld] == kind:
            for index in range(count_meld_reds(state.meld_red[seat, meld])):
                note_used(buffer, 2 - index, N_KINDS + kind // 9)
    apply_kakan(state, seat, tile)


@compiled
def resolve_discard(state: State, buffer: StepBuffer) -> None:
    """Ron goes before abortive draws, these before pon and kan, these before chi."""
    if _wins(state, buffer):
        return
    if state.riichi[state.turn] == DECLARED:
        apply_riichi_accepted(state, state.turn)
        note(buffer, LOG_RIICHI_ACCEPTED, state.turn, -1, -1, 0)
    reason = abort_reason(state)
    caller = _first_caller(state, buffer)
    if reason:
        abort_kyoku(state, reason, buffer)
    elif caller >= 0:
        _call(state, caller, buffer)
    elif state.wall_left == 0:
        exhaust_kyoku(state, buffer)
    else:
        draw(state, next_seat(state, state.turn), buffer)


@compiled
def resolve_kakan(state: State, buffer: StepBuffer) -> None:
    """A kan or kita is robbed, or its replacement tile drawn."""
    if not _wins(state, buffer):
        # what earlier kans and a concealed one owe; an added kan's own mostly comes after its draw
        turn_dora(state, buffer)
        draw(state, state.turn, buffer)


@compiled
def _wins(state: State, buffer: StepBuffer) -> bool:
    """Carry out the rons, nearest to the discarder first; three may abort the kyoku."""
    discarder = state.turn
    rons = 0
    for steps in range(1, state.rules.players):
        rons += buffer.choices[seat_after(state, discarder, steps)] == RON
    if rons == 0:
        return False
    rules = state.rules
    if rons == 3 and three_rons_draw(rules):
        abort_kyoku(state, TRIPLE_RON, buffer)
        for steps in range(1, state.rules.players):
            buffer.outcome.tenpai[seat_after(state, discarder, steps)] = 1
        return True
    for steps in range(1, state.rules.players):
        seat = seat_after(state, discarder, steps)
        if buffer.choices[seat] == RON and (state.wins == 0 or not rules.head_bump):
            win_kyoku(state, seat, buffer)
    return True


@compiled
def _first_caller(state: State, buffer: StepBuffer) -> int:
    """Return the seat whose call goes through: pon and kan before chi, or -1."""
    chi = -1
    for steps in range(1, state.rules.players):
        seat = seat_after(state, state.turn, steps)
        code = buffer.choices[seat]
        if is_pon_code(code) or code == CALL_KAN:
            return seat
        if is_chi_code(code):
            chi = seat
    return chi


@compiled
def _call(state: State, seat: int, buffer: StepBuffer) -> None:
    code = buffer.choices[seat]
    if is_chi_code(code):
        _chi(state, seat, code, buffer)
        return
    target, tile = state.turn, state.last_tile
    kind = kind_of(tile)
    red = N_KINDS + kind // 9
    if code == CALL_KAN:
        n_reds = _held_reds(state, seat, kind)
        middle, last = red if n_reds > 1 else kind, red if n_reds else kind
        apply_daiminkan(state, seat, kind, middle, last)
        note(buffer, LOG_DAIMINKAN, seat, target, tile, 0)
        note_used(buffer, 1, middle)
        note_used(buffer, 2, last)
        note_used(buffer, 0, kind)
        if state.rules.open_kan_dora_at_once:
            turn_dora(state, buffer)
    else:
        last = red if code == PON_RED else kind
        first = kind if held_tiles(state, seat, kind) else red
        apply_pon(state, seat, first, last)
        note(buffer, LOG_PON, seat, target, tile, 0)
        note_used(buffer, 1, last)
        note_used(buffer, 0, first)


@compiled
def _chi(state: State, seat: int, code: int, buffer: StepBuffer) -> None:
    kind = kind_of(state.last_tile)
    low = kind - (code - CHI_LOW) % 3
    first, second = low, low + 2
    if kind == low:
        first = low + 1
    elif kind == low + 2:
        second = low + 1
    if gives_red_code(code):
        first, second = _red_if_five(first), _red_if_five(second)
    note(buffer, LOG_CHI, seat, state.turn, state.last_tile, 0)
    note_used(buffer, 0, first)
    note_used(buffer, 1, second)
    apply_chi(state, seat, first, second)


@compiled
def _red_if_five(kind: int) -> int:
    return N_KINDS + kind // 9 if kind % 9 == 4 else kind
