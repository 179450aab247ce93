"""The flow of a kyoku in compiled code: choices in, events out, up to the next decision.

Rules: docs/rules.md; order of events: docs/protocol.md, section 3.  Every event goes through
:mod:`mjbot.game.table.apply`.
"""

from mjbot.game.referee.choices import own_action, resolve_discard, resolve_kakan
from mjbot.game.referee.ending import draw
from mjbot.game.referee.step import StepBuffer
from mjbot.game.table.actions import (
    DECIDES_CALLS,
    DECIDES_TURNS,
    DECIDES_WINS,
    DECLARE_RIICHI,
    PASS,
    RON,
    TSUMO,
)
from mjbot.game.table.apply import apply_deal
from mjbot.game.table.default_action import default_code
from mjbot.game.table.legal import legal_codes
from mjbot.game.table.state import CHANKAN, DRAW, REACTION, RINSHAN, WON, State
from mjbot.runtime.compiler.compiled import compiled


@compiled
def deal(state: State, buffer: StepBuffer, round_: int, honba: int) -> None:
    """Start a kyoku from ``state.wall``; :func:`advance` then makes the first draw."""
    buffer.asked = 0
    buffer.outcome.n_wins = 0
    apply_deal(state, round_, honba)


@compiled
def carry_out(state: State, buffer: StepBuffer) -> None:
    """Carry out ``buffer.choices`` of the seats that may do something now."""
    if state.phase == REACTION:
        resolve_discard(state, buffer)
    elif state.phase == CHANKAN:
        resolve_kakan(state, buffer)
    elif state.phase == DRAW or state.phase == RINSHAN:
        draw(state, state.turn, buffer)
    else:
        own_action(state, buffer)


@compiled
def offer(state: State, buffer: StepBuffer) -> None:
    """Note which seats are asked now, and their legal actions."""
    buffer.asked = 0
    for seat in range(4):
        buffer.n_codes[seat] = legal_codes(state, seat, buffer.codes[seat])
        if buffer.n_codes[seat] > 0:
            buffer.asked |= 1 << seat


@compiled
def advance(state: State, buffer: StepBuffer) -> int:
    """Carry out the choices and continue to the next decision or the end of the kyoku.

    ``buffer.choices`` are legal action codes of the seats that were asked; the others' entries
    are ignored.  Returns ``buffer.asked``.  At the end of a kyoku that is 0, the phase is WON or
    DRAWN and ``buffer.outcome`` has the result.
    """
    buffer.n_rows = 0
    for seat in range(4):
        if not (buffer.asked >> seat) & 1:
            buffer.choices[seat] = PASS
    carry_out(state, buffer)
    offer(state, buffer)
    while buffer.asked == 0 and state.phase < WON:
        for seat in range(4):
            buffer.choices[seat] = PASS
        carry_out(state, buffer)
        offer(state, buffer)
    return buffer.asked


@compiled
def advance_to_choice(state: State, buffer: StepBuffer) -> int:
    """The same, but up to a choice that a player decides on; nothing is logged.

    A seat with one legal action takes it, a seat that does not decide takes its default action.
    Returns the mask of the seats to ask, or ``-1 - seat``, having done nothing, if the choice of
    that seat is not legal.
    """
    illegal = illegal_choice(buffer)
    if illegal:
        return illegal
    advance(state, buffer)
    asked = settle_choices(state, buffer)
    while buffer.asked and not asked:
        advance(state, buffer)
        asked = settle_choices(state, buffer)
    return asked


@compiled
def illegal_choice(buffer: StepBuffer) -> int:
    """Return ``-1 - seat`` of a seat that was asked and chose what it may not do, else 0."""
    for seat in range(4):
        if (buffer.asked >> seat) & 1 and not _is_offered(buffer, seat, buffer.choices[seat]):
            return -1 - seat
    return 0


@compiled
def settle_choices(state: State, buffer: StepBuffer) -> int:
    """Choose for the seats that need no decision; return the mask of the others."""
    asked = 0
    for seat in range(4):
        if not (buffer.asked >> seat) & 1:
            continue
        if buffer.n_codes[seat] == 1:
            buffer.choices[seat] = buffer.codes[seat, 0]
        elif _is_asked(buffer, seat):
            asked |= 1 << seat
        else:
            buffer.choices[seat] = default_code(state, seat)
    return asked


@compiled
def _is_asked(buffer: StepBuffer, seat: int) -> bool:
    decides = buffer.decides[seat]
    on_own_turn = buffer.codes[seat, 0] < DECLARE_RIICHI
    if decides & (DECIDES_TURNS if on_own_turn else DECIDES_CALLS):
        return True
    return decides & DECIDES_WINS != 0 and (
        _is_offered(buffer, seat, RON) or _is_offered(buffer, seat, TSUMO)
    )


@compiled
def _is_offered(buffer: StepBuffer, seat: int, code: int) -> bool:
    for index in range(buffer.n_codes[seat]):
        if buffer.codes[seat, index] == code:
            return True
    return False
