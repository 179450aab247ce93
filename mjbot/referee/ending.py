"""How a kyoku ends, in compiled code: wins, draws and what they pay."""

from mjbot.compiled import compiled
from mjbot.referee.desk import Desk
from mjbot.table.apply import apply_hora, apply_ryukyoku
from mjbot.table.draws import EXHAUSTIVE, FOUR_RIICHI, NAGASHI, NO_DRAW
from mjbot.table.settle import exhaustive_deltas, win_payment
from mjbot.table.state import ACCEPTED, URA_WALL, State


@compiled
def _turn_ura(state: State) -> None:
    state.n_ura = state.n_dora
    for place in range(state.n_dora):
        state.ura_markers[place] = state.wall[URA_WALL + place]


@compiled
def win_kyoku(state: State, winner: int, desk: Desk) -> None:
    """``winner`` wins on the drawn tile or the tile on offer; note and pay it."""
    outcome = desk.outcome
    by_draw = winner == state.turn
    tile = state.drawn if by_draw else state.last_tile
    if state.riichi[winner] == ACCEPTED:
        _turn_ura(state)
    win = desk.wins[outcome.n_wins]
    win_payment(state, winner, tile, by_draw, win)
    outcome.reason = NO_DRAW
    outcome.target = state.turn
    outcome.tile = tile
    outcome.n_wins += 1
    apply_hora(state, winner, win.deltas)


@compiled
def abort_kyoku(state: State, reason: int, desk: Desk) -> None:
    """An abortive draw: nothing is paid, the dealer stays."""
    outcome = desk.outcome
    outcome.reason = reason
    for seat in range(4):
        outcome.deltas[seat] = 0
        outcome.tenpai[seat] = reason == FOUR_RIICHI
    apply_ryukyoku(state, outcome.deltas, 1, 1)


@compiled
def exhaust_kyoku(state: State, desk: Desk) -> None:
    """The wall is empty: nagashi mangan or noten payments; the dealer stays if tenpai."""
    outcome = desk.outcome
    for seat in range(4):
        outcome.tenpai[seat] = state.waits[seat] != 0
    nagashi = exhaustive_deltas(state, outcome.tenpai, outcome.deltas)
    outcome.reason = NAGASHI if nagashi else EXHAUSTIVE
    apply_ryukyoku(state, outcome.deltas, 0, outcome.tenpai[state.dealer])
