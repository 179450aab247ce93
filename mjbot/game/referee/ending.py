"""Draws and dora, and the ways a kyoku ends with what each pays: compiled."""

from mjbot.game.referee.step import LOG_DORA, LOG_DRAW, StepBuffer, note
from mjbot.game.referee.wall import next_live_tile
from mjbot.game.table.apply import apply_dora, apply_draw, apply_hora, apply_ryukyoku, apply_ura
from mjbot.game.table.settle import exhaustive_deltas, win_payment
from mjbot.game.table.state import (
    ACCEPTED,
    CHANKAN,
    EXHAUSTIVE,
    FOUR_RIICHI,
    NAGASHI,
    NO_DRAW,
    RINSHAN,
    State,
)
from mjbot.runtime.compiler.compiled import compiled


@compiled
def win_kyoku(state: State, winner: int, buffer: StepBuffer) -> None:
    """``winner`` wins on the drawn tile or the tile on offer; note and pay it."""
    outcome = buffer.outcome
    by_draw = winner == state.turn
    tile = state.drawn if by_draw else state.last_tile
    if state.riichi[winner] == ACCEPTED:
        apply_ura(state)
    win = buffer.wins[outcome.n_wins]
    win_payment(state, winner, tile, by_draw, win)
    outcome.reason = NO_DRAW
    outcome.target = state.turn
    outcome.tile = tile
    outcome.n_wins += 1
    apply_hora(state, winner, win.deltas)


@compiled
def abort_kyoku(state: State, reason: int, buffer: StepBuffer) -> None:
    """An abortive draw: nothing is paid, the dealer stays."""
    outcome = buffer.outcome
    outcome.reason = reason
    for seat in range(4):
        outcome.deltas[seat] = 0
        outcome.tenpai[seat] = reason == FOUR_RIICHI
    apply_ryukyoku(state, outcome.deltas, 1, 1)


@compiled
def exhaust_kyoku(state: State, buffer: StepBuffer) -> None:
    """The wall is empty: nagashi mangan or noten payments; the dealer stays if tenpai."""
    outcome = buffer.outcome
    for seat in range(4):
        outcome.tenpai[seat] = state.waits[seat] != 0
    nagashi = exhaustive_deltas(state, outcome.tenpai, outcome.deltas)
    outcome.reason = NAGASHI if nagashi else EXHAUSTIVE
    apply_ryukyoku(state, outcome.deltas, 0, outcome.tenpai[state.dealer])


@compiled
def draw(state: State, seat: int, buffer: StepBuffer) -> None:
    """``seat`` draws, after a kan or kita from the dead wall."""
    if state.phase == RINSHAN or state.phase == CHANKAN:
        tile = int(state.wall[state.rules.wall.rinshan + state.rinshan_taken])
    else:
        tile = next_live_tile(state, seat)
    apply_draw(state, seat, tile)
    note(buffer, LOG_DRAW, seat, -1, tile, 0)


@compiled
def turn_dora(state: State, buffer: StepBuffer) -> None:
    """Turn the markers owed for kans."""
    while state.pending_dora > 0:
        marker = state.wall[state.rules.wall.dora + state.rules.wall.marker_step * state.n_dora]
        apply_dora(state, marker)
        note(buffer, LOG_DORA, -1, -1, marker, 0)
