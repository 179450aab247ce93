"""Seats and turn order.

A table has four chairs, 0..3: whatever is kept by seat has four places.  Of a table's players
each takes one of the first chairs, and turns go round these.
"""

from mjbot.game.table.state import State
from mjbot.runtime.compiler.compiled import compiled


@compiled
def is_seated(state: State, seat: int) -> bool:
    """Return whether a player has the chair."""
    return seat < state.rules.players


@compiled
def seat_after(state: State, seat: int, steps: int) -> int:
    """Return the seat whose turn comes so many turns after that of ``seat``, at most one round."""
    players = state.rules.players
    later = seat + steps
    return later - players if later >= players else later


@compiled
def next_seat(state: State, seat: int) -> int:
    """Return the seat whose turn follows that of ``seat``."""
    return seat_after(state, seat, 1)


@compiled
def steps_between(state: State, first: int, other: int) -> int:
    """Return how many turns after that of ``first`` the turn of ``other`` comes: 0 for itself."""
    steps = other - first
    return steps + state.rules.players if steps < 0 else steps
