"""Turn order among the players of a table, of whom there may be three at its four chairs."""

import pytest

from mjbot.game.table.seats import is_seated, next_seat, seat_after, steps_between
from mjbot.game.table.state import new_state


@pytest.mark.parametrize("players", [3, 4])
def test_turns_go_round_the_players(players):
    state = new_state()
    state["rules"]["players"] = players
    assert [seat for seat in range(4) if is_seated(state, seat)] == [*range(players)]
    for seat in range(players):
        assert next_seat(state, seat) == (seat + 1) % players
        for steps in range(players):
            other = (seat + steps) % players
            assert seat_after(state, seat, steps) == other
            assert steps_between(state, seat, other) == steps
        assert seat_after(state, seat, players) == seat
