from mjbot.table.actions import ACTIONS, N_ACTIONS
from mjbot.table.state import STATE, copy_state, new_state


def test_state_is_compact():
    assert STATE.itemsize <= 1100


def test_copy_is_independent():
    state = new_state()
    copy = copy_state(state)
    copy["hand"][2][7] = 3
    copy["scores"][1] = 100
    assert state["hand"][2][7] == 0
    assert state["scores"][1] == 0


def test_action_codes_are_their_places():
    assert len(ACTIONS) == N_ACTIONS
    assert all(action.code == code for code, action in enumerate(ACTIONS))
    assert len(set(map(str, ACTIONS))) == N_ACTIONS
