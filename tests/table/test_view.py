"""What a strategy is given to see cannot be written to."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mjbot.rules.shanten import shanten
from mjbot.table.state import Phase, RiverFlag
from mjbot.table.view import Sealed, View

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


def test_nor_can_a_field_of_its_record(view: View) -> None:
    sealed = Sealed().view(view)
    with pytest.raises(ValueError, match="read-only"):
        sealed.state["wall_left"] = 1
    assert sealed.wall_left == view.wall_left


def test_a_sealed_view_sees_what_the_other_sees(view: View) -> None:
    sealed = Sealed().view(view)
    assert sealed.state.tobytes() == view.state.tobytes()
    assert sealed.seat == view.seat
    assert (sealed.legal, sealed.shanten) == (view.legal, view.shanten)
    assert np.array_equal(sealed.unseen, view.unseen)


def test_compiled_code_is_not_compiled_anew_for_it(view: View) -> None:
    shanten(view.hand, 0)
    known = len(shanten.signatures)  # type: ignore[attr-defined]
    assert shanten(Sealed().view(view).hand, 0) == view.shanten
    assert len(shanten.signatures) == known  # type: ignore[attr-defined]
