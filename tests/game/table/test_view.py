"""What a strategy is given to see: nothing that it may not see, and nothing to write to."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numba.core.typing import typeof

from mjbot.game.referee import Referee
from mjbot.game.rules.ruleset import RuleSet
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.state import STATE, Phase, RiverFlag, copy_state
from mjbot.game.table.view import Sealed, View

JUNK = "1355m246p2479s12z"
ARRAYS: dict[str, Callable[[View], Any]] = {
    "hand": lambda view: view.hand,
    "red": lambda view: view.red,
    "river": lambda view: view.river(0),
    "river_flags": lambda view: view.river_flags(0),
    "unseen": lambda view: view.unseen,
    "dora": lambda view: view.dora,
    "dora_markers": lambda view: view.dora_markers,
    "scores": lambda view: view.scores,
    "a field of the record": lambda view: view.state["hand"][1],
}


@pytest.fixture
def view(story: Any) -> View:
    table = story([JUNK, None, None, None]).turn(0, "2m").draw(1, "?").table
    return table.view(0)  # type: ignore[no-any-return]


def test_phases_melds_and_river_flags_are_told_by_name(view: View) -> None:
    assert view.phase is Phase.TURN
    assert view.discards == ()
    assert RiverFlag(view.river_flags(0)[0]) is RiverFlag.TSUMOGIRI


@pytest.mark.parametrize("name", ARRAYS)
def test_no_array_of_a_sealed_view_can_be_written_to(view: View, name: str) -> None:
    array = ARRAYS[name](Sealed().view(view))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    array.copy()[0] = 1


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 4))[:, ::2],
        np.zeros((3, 4), order="F"),
        np.zeros((0, 4), np.uint64),
        np.zeros((), np.float32),
        np.zeros(2, STATE),
        np.zeros(2, STATE)["scores"],
        np.zeros(2, np.int8).view(np.recarray),
    ],
)
def test_compiled_code_takes_read_only_arrays_as_others(array: Any) -> None:
    """And others as numba does, whose own way for them imports numpy.ma."""
    expected = typeof._typeof_ndarray(array, None).copy(readonly=False)
    assert typeof.typeof(array, typeof.Purpose.argument) == expected
    array.flags.writeable = False
    assert typeof.typeof(array, typeof.Purpose.argument) == expected


def test_nor_can_a_field_of_its_record(view: View) -> None:
    sealed = Sealed().view(view)
    with pytest.raises(ValueError, match="read-only"):
        sealed.state["wall_left"] = 1
    assert sealed.wall_left == view.wall_left


def test_a_sealed_view_sees_what_the_seat_sees(view: View) -> None:
    sealed = Sealed().view(view)
    assert sealed.seat == view.seat
    assert all(np.array_equal(sealed.river(seat), view.river(seat)) for seat in range(4))
    assert (sealed.legal, sealed.shanten) == (view.legal, view.shanten)
    assert np.array_equal(sealed.unseen, view.unseen)


def test_the_codes_of_a_view_are_those_of_its_legal_actions() -> None:
    sealed = Sealed()
    for view in _views_of_a_game():
        seen = sealed.view(view)
        assert [action.code for action in seen.legal] == list(seen.codes) == list(view.codes)
        assert seen.discards == tuple(action for action in seen.legal if action.is_discard)
        assert [action.code for action in seen.discards] == list(seen.discard_codes)


def test_what_a_seat_cannot_see_leaves_no_trace_in_it() -> None:
    n_views = 0
    for view in _views_of_a_game():
        sealed = Sealed().view(view).state.copy()
        for other in _other_deals(view):
            for name in sealed.dtype.names:
                assert np.array_equal(Sealed().view(other).state[name], sealed[name]), name
        assert np.array_equal(sealed["hand"][view.seat], view.hand)
        n_views += 1
    assert n_views > 100


def _views_of_a_game() -> Iterator[View]:
    """Views of a game in bulk, where the table's record knows all hands and the wall."""
    referee = Referee(seed=13, rules="tonpu")
    referee.start()
    while not referee.over:
        for seat in referee.asked:
            yield referee.view(seat)
        referee.step({seat: referee.view(seat).default_action for seat in referee.asked})


def _other_deals(view: View) -> Iterator[View]:
    """The same table with hidden hands exchanged, another wall and other marks on the others."""
    others = [seat for seat in range(4) if seat != view.seat]
    for one, two in combinations(others, 2):
        state = copy_state(view.state)
        if state["hand_size"][one] == state["hand_size"][two]:
            for name in ("hand", "red", "waits", "missed"):
                state[name][[one, two]] = state[name][[two, one]]
        state["missed"][one] = 1 - min(int(state["missed"][one]), 1)
        state["wall"] = state["wall"][::-1].copy()
        state["ura_markers"] = [5, 6, 7, 8, 9]
        if state["turn"] not in (view.seat, -1) and state["drawn"] >= 0:
            state["drawn"] = (state["drawn"] + 1) % 34
        yield View(state, view.seat)


def test_compiled_code_is_not_compiled_anew_for_it(view: View) -> None:
    shanten(view.hand, 0)
    known = len(shanten.signatures)  # type: ignore[attr-defined]
    assert shanten(Sealed().view(view).hand, 0) == view.shanten
    assert len(shanten.signatures) == known  # type: ignore[attr-defined]


def test_no_byte_of_a_state_is_padding() -> None:
    """Digests and comparisons of states are of their bytes, and copies leave padding as it was."""
    assert sum(STATE[name].itemsize for name in STATE.names) == STATE.itemsize
    rules = RuleSet.dtype
    assert sum(rules[name].itemsize for name in rules.names) == rules.itemsize
