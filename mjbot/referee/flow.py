"""The flow of a kyoku in compiled code: choices in, events out, up to the next decision.

Rules: tenhou.md section 8; order of events: mjai-protocol.md section 3, family A.  Every event
goes through :mod:`mjbot.table.apply` and is noted as one row of the log: type, actor, target,
tile, four consumed tiles, flag (-1 where a field does not apply).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.referee.ending import Wins, abort_kyoku, exhaust_kyoku, win_kyoku
from mjbot.referee.live_wall import next_live_tile
from mjbot.referee.outcome import Outcome
from mjbot.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_LOW,
    CHI_LOW_RED,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    NINE_TERMINALS,
    PASS,
    PON_PLAIN,
    PON_RED,
    RON,
    TSUMO,
)
from mjbot.table.apply import (
    N_KINDS,
    apply_ankan,
    apply_chi,
    apply_daiminkan,
    apply_discard,
    apply_dora,
    apply_draw,
    apply_kakan,
    apply_pon,
    apply_riichi,
    apply_riichi_accepted,
    apply_start_kyoku,
    kind_of,
)
from mjbot.table.draws import NINE_TERMINALS as ABORT_NINE
from mjbot.table.draws import TRIPLE_RON
from mjbot.table.legal import legal_codes
from mjbot.table.settle import abort_reason
from mjbot.table.state import (
    CHANKAN,
    DECLARED,
    DORA_WALL,
    DRAW,
    REACTION,
    RINSHAN,
    RINSHAN_WALL,
    State,
)

LOG_DRAW: Final = 0
LOG_DISCARD: Final = 1
LOG_RIICHI: Final = 2
LOG_RIICHI_ACCEPTED: Final = 3
LOG_CHI: Final = 4
LOG_PON: Final = 5
LOG_DAIMINKAN: Final = 6
LOG_KAKAN: Final = 7
LOG_ANKAN: Final = 8
LOG_DORA: Final = 9
LOG_COLUMNS: Final = 9
LOG_ROWS: Final = 256

Log = NDArray[np.int8]


@compiled
def deal(state: State, round_: int, honba: int, sticks: int) -> None:
    """Start a kyoku from ``state.wall``."""
    hands = np.empty((4, 13), np.int8)
    for seat in range(4):
        for place in range(13):
            hands[seat, place] = state.wall[13 * seat + place]
    apply_start_kyoku(state, round_, honba, sticks, state.wall[DORA_WALL], hands)
    state.has_wall = 1


@compiled
def is_asked(state: State, seat: int, codes: NDArray[np.uint8]) -> bool:
    """Return whether the seat has to decide something now."""
    return legal_codes(state, seat, codes) > 0


@compiled
def is_legal(state: State, seat: int, code: int, codes: NDArray[np.uint8]) -> bool:
    """Return whether ``code`` is one of the seat's legal actions (``codes``: scratch space)."""
    for place in range(legal_codes(state, seat, codes)):
        if codes[place] == code:
            return True
    return False


@compiled
def advance(
    state: State,
    choices: NDArray[np.int16],
    log: Log,
    outcome: Outcome,
    wins: Wins,
    codes: NDArray[np.uint8],
) -> int:
    """Carry out the choices and go on to the next decision or the end of the kyoku.

    ``choices`` is int16[4] of legal action codes of the seats that were asked; the others'
    entries are ignored.  Returns the number of log rows written.  At the end of a kyoku the
    phase is WON or DRAWN and ``outcome`` tells how.
    """
    n = _carry_out(state, choices, log, 0, outcome, wins)
    while True:
        phase = state.phase
        if phase == DRAW or phase == RINSHAN:
            n = _draw(state, state.turn, log, n)
        elif (phase == REACTION or phase == CHANKAN) and not _anyone_asked(state, codes):
            choices[:] = PASS
            n = _carry_out(state, choices, log, n, outcome, wins)
        else:
            return n


@compiled
def _anyone_asked(state: State, codes: NDArray[np.uint8]) -> bool:
    for step in range(1, 4):
        if is_asked(state, (state.turn + step) & 3, codes):
            return True
    return False


@compiled
def _carry_out(
    state: State, choices: NDArray[np.int16], log: Log, n: int, outcome: Outcome, wins: Wins
) -> int:
    phase = state.phase
    if phase == DRAW:
        outcome.n_wins = 0
        return n
    if phase == REACTION:
        return _resolve_discard(state, choices, log, n, outcome, wins)
    if phase == CHANKAN:
        return _resolve_kakan(state, choices, log, n, outcome, wins)
    return _own_action(state, choices[state.turn], log, n, outcome, wins)


@compiled
def _note(log: Log, n: int, type_: int, actor: int, target: int, tile: int, flag: int) -> int:
    row = log[n]
    row[:] = -1
    row[0] = type_
    row[1] = actor
    row[2] = target
    row[3] = tile
    row[8] = flag
    return n + 1


# --- draws and dora --------------------------------------------------------------------------


@compiled
def _draw(state: State, seat: int, log: Log, n: int) -> int:
    if state.phase == RINSHAN or state.phase == CHANKAN:
        tile = state.wall[RINSHAN_WALL + state.rinshan_taken]
    else:
        tile = next_live_tile(state, seat)
    apply_draw(state, seat, tile)
    return _note(log, n, LOG_DRAW, seat, -1, tile, 0)


@compiled
def _turn_dora(state: State, log: Log, n: int) -> int:
    while state.pending_dora > 0:
        marker = state.wall[DORA_WALL + state.n_dora]
        apply_dora(state, marker)
        n = _note(log, n, LOG_DORA, -1, -1, marker, 0)
    return n


# --- own turn --------------------------------------------------------------------------------


@compiled
def _own_action(state: State, code: int, log: Log, n: int, outcome: Outcome, wins: Wins) -> int:
    seat = state.turn
    if code < DECLARE_RIICHI:
        return _discard(state, seat, code, log, n)
    if code == DECLARE_RIICHI:
        apply_riichi(state, seat)
        return _note(log, n, LOG_RIICHI, seat, -1, -1, 0)
    if code == TSUMO:
        win_kyoku(state, seat, outcome, wins)
        return n
    if code == NINE_TERMINALS:
        outcome.actor = seat
        abort_kyoku(state, ABORT_NINE, outcome)
        return n
    if code < ADDED_KAN:
        return _concealed_kan(state, seat, code - CONCEALED_KAN, log, n)
    return _added_kan(state, seat, code - ADDED_KAN, log, n)


@compiled
def _discard(state: State, seat: int, code: int, log: Log, n: int) -> int:
    tsumogiri = code >= DISCARD_DRAWN
    tile = code - DISCARD_DRAWN if tsumogiri else code
    n = _turn_dora(state, log, n)  # an open kan's marker shows before the discard
    apply_discard(state, seat, tile, tsumogiri)
    return _note(log, n, LOG_DISCARD, seat, -1, tile, tsumogiri)


@compiled
def _concealed_kan(state: State, seat: int, kind: int, log: Log, n: int) -> int:
    suit = kind // 9
    has_red = kind < 27 and kind % 9 == 4 and state.red[seat, suit] > 0
    apply_ankan(state, seat, kind, has_red)
    n = _note(log, n, LOG_ANKAN, seat, -1, -1, 0)
    for place in range(4):
        log[n - 1, 4 + place] = kind
    if has_red:
        log[n - 1, 7] = N_KINDS + suit
    return _turn_dora(state, log, n)


@compiled
def _added_kan(state: State, seat: int, kind: int, log: Log, n: int) -> int:
    tile = kind
    if kind < 27 and kind % 9 == 4 and state.red[seat, kind // 9]:
        tile = N_KINDS + kind // 9
    n = _note(log, n, LOG_KAKAN, seat, -1, tile, 0)
    for place in range(state.n_melds[seat]):
        if state.meld_kind[seat, place] == kind:
            for copy in range(3):
                log[n - 1, 4 + copy] = kind
            if state.meld_red[seat, place]:
                log[n - 1, 6] = N_KINDS + kind // 9
    apply_kakan(state, seat, tile)
    return n


# --- others' claims --------------------------------------------------------------------------


@compiled
def _wins(state: State, choices: NDArray[np.int16], outcome: Outcome, wins: Wins) -> bool:
    """Carry out the rons, nearest to the discarder first; three of them abort the kyoku."""
    rons = 0
    for step in range(1, 4):
        rons += choices[(state.turn + step) & 3] == RON
    if rons == 0:
        return False
    if rons == 3:
        abort_kyoku(state, TRIPLE_RON, outcome)
        for step in range(1, 4):
            outcome.tenpai[(state.turn + step) & 3] = 1
        return True
    for step in range(1, 4):
        seat = (state.turn + step) & 3
        if choices[seat] == RON:
            win_kyoku(state, seat, outcome, wins)
    return True


@compiled
def _resolve_discard(
    state: State, choices: NDArray[np.int16], log: Log, n: int, outcome: Outcome, wins: Wins
) -> int:
    if _wins(state, choices, outcome, wins):
        return n
    if state.riichi[state.turn] == DECLARED:
        apply_riichi_accepted(state, state.turn)
        n = _note(log, n, LOG_RIICHI_ACCEPTED, state.turn, -1, -1, 0)
    reason = abort_reason(state)
    if reason:
        abort_kyoku(state, reason, outcome)
        return n
    caller = _first_caller(state, choices)
    if caller >= 0:
        return _call(state, caller, choices[caller], log, n)
    if state.wall_left == 0:
        exhaust_kyoku(state, outcome)
        return n
    return _draw(state, (state.turn + 1) & 3, log, n)


@compiled
def _resolve_kakan(
    state: State, choices: NDArray[np.int16], log: Log, n: int, outcome: Outcome, wins: Wins
) -> int:
    if _wins(state, choices, outcome, wins):
        return n
    n = _turn_dora(state, log, n)  # what earlier kans owe; this one's comes after its draw
    return _draw(state, state.turn, log, n)


@compiled
def _first_caller(state: State, choices: NDArray[np.int16]) -> int:
    """Return the seat whose call goes through: pon and kan before chi, or -1."""
    chi = -1
    for step in range(1, 4):
        seat = (state.turn + step) & 3
        code = choices[seat]
        if code == PON_PLAIN or code == PON_RED or code == CALL_KAN:
            return seat
        if CHI_LOW <= code < CALL_KAN:
            chi = seat
    return chi


@compiled
def _call(state: State, seat: int, code: int, log: Log, n: int) -> int:
    target = state.turn
    tile = state.last_tile
    if CHI_LOW <= code < CALL_KAN:
        return _chi(state, seat, code, log, n)
    kind = kind_of(tile)
    red = N_KINDS + kind // 9
    if code == CALL_KAN:
        holds_red = kind < 27 and kind % 9 == 4 and state.red[seat, kind // 9] > 0
        last = red if holds_red else kind
        apply_daiminkan(state, seat, kind, kind, last)
        n = _note(log, n, LOG_DAIMINKAN, seat, target, tile, 0)
        log[n - 1, 4] = kind
        log[n - 1, 5] = kind
        log[n - 1, 6] = last
        return n
    last = red if code == PON_RED else kind
    apply_pon(state, seat, kind, last)
    n = _note(log, n, LOG_PON, seat, target, tile, 0)
    log[n - 1, 4] = kind
    log[n - 1, 5] = last
    return n


@compiled
def _chi(state: State, seat: int, code: int, log: Log, n: int) -> int:
    target = state.turn
    tile = state.last_tile
    kind = kind_of(tile)
    low = kind - (code - CHI_LOW) % 3
    n = _note(log, n, LOG_CHI, seat, target, tile, 0)
    place = 4
    for other in range(low, low + 3):
        if other == kind:
            continue
        used = other
        if code >= CHI_LOW_RED and other % 9 == 4:
            used = N_KINDS + other // 9
        log[n - 1, place] = used
        place += 1
    apply_chi(state, seat, log[n - 1, 4], log[n - 1, 5])
    return n
