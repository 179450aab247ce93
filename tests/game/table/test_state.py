import pytest

from mjbot.game.table.actions import (
    ACTIONS,
    N_ACTIONS,
    gives_red_code,
    is_chi_code,
    is_discard_code,
    is_pon_code,
)
from mjbot.game.table.state import STATE, MeldType, copy_state, new_state
from mjbot.game.table.view import Meld


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


def test_an_action_is_one_thing_and_calls_are_those_of_others_tiles():
    for action in ACTIONS:
        own_kan = action.is_kan and not action.is_call
        kinds = [
            action.is_discard, action.is_riichi, action.is_win, action.is_nine_terminals,
            action.is_pass, action.is_call, own_kan, action.is_kita,
        ]  # fmt: skip
        assert sum(kinds) == 1, action
    names = {action.name for action in ACTIONS if action.is_call}
    assert names == {"pon", "chi", "daiminkan"}
    assert {action.name for action in ACTIONS if action.is_kan} == {"daiminkan", "ankan", "kakan"}
    assert {action.name for action in ACTIONS if action.is_win} == {"tsumo", "ron"}


def test_compiled_code_tells_codes_apart_as_actions_do():
    for action in ACTIONS:
        assert is_discard_code(action.code) == action.is_discard
        assert is_pon_code(action.code) == (action.name == "pon")
        assert is_chi_code(action.code) == (action.name == "chi")
        assert gives_red_code(action.code) == action.red


@pytest.mark.parametrize(
    ("kind_of_meld", "tiles"),
    [
        (MeldType.CHI, (3, 4, 5)),
        (MeldType.PON, (3, 3, 3)),
        (MeldType.DAIMINKAN, (3, 3, 3, 3)),
        (MeldType.KAKAN, (3, 3, 3, 3)),
        (MeldType.ANKAN, (3, 3, 3, 3)),
    ],
)
def test_a_meld_tells_its_tiles(kind_of_meld, tiles):
    meld = Meld(kind_of_meld, 3, 0, 3, 1)
    assert meld.tiles == list(tiles)
    assert meld.type.is_kan == (len(tiles) == 4)


def test_a_red_five_stands_in_a_meld_for_one_of_its_fives():
    assert Meld(MeldType.CHI, 3, 0b001, 3, 1).tiles == [3, 34, 5]
    assert Meld(MeldType.PON, 13, 0b010, 13, 1).tiles == [35, 13, 13]
