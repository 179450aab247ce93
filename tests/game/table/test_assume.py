"""Suppositions leave a state in which all that is derived is right; nobody else writes to one."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.rules.wall_plan import FOUR_PLAYERS as WALL
from mjbot.game.table import assume
from mjbot.game.table.state import ACCEPTED, STATE, State, copy_state
from mjbot.game.table.view import View
from mjbot.protocol.tiles import N_KINDS, RED_FIVES, tile_kind
from tests.game.table.derived import check_derived

PACKAGES = ("protocol", "mjbot", "strategies", "papers", "proof", "bench")
WRITERS = ("apply.py", "apply_calls.py", "assume.py", "hands.py")


@pytest.fixture(scope="module")
def moments() -> list[State]:
    """Every seventh moment of a game in which all do anything that is legal."""
    rng, referee, found = Random(3), Referee(3, "tonpu"), []
    referee.start()
    while not referee.over:
        choices = {seat: rng.choice(actions) for seat, actions in referee.asked.items()}
        found.append(copy_state(referee.state))
        referee.step(choices)
    assert len(found) > 100
    return found[::7]


def test_a_hidden_hand_that_is_dealt_in_is_the_hand_that_was(moments):
    for state in moments:
        supposed = copy_state(state)
        assume.hide(supposed, 0)
        check_derived(supposed)
        for seat in range(1, 4):
            deal_in(supposed, seat, View(state, seat).tiles, int(state["drawn"]))
        check_derived(supposed)
        for name in ("hand_known", "hand", "red", "waits", "drawn", "hand_size"):
            assert np.array_equal(supposed[name], state[name]), name


def deal_in(state: State, seat: int, tiles: list[int], drawn: int) -> None:
    drew = len(tiles) % 3 == 2
    last = drawn if int(state["turn"]) == seat and drawn >= 0 else tiles[-1]
    if drew:
        tiles.remove(last)
    hand = np.bincount([tile_kind(tile) for tile in tiles], minlength=N_KINDS).astype(np.int8)
    assume.deal_in_hand(state, seat, hand, np.array([t in tiles for t in RED_FIVES], np.int8))
    if drew:
        assume.deal_in_drawn(state, seat, last)


def test_a_wall_that_is_dealt_in_is_the_wall_that_was(moments):
    for state in moments:
        wall, supposed = state["wall"], copy_state(state)
        first = (
            WALL["live"] + WALL["n_live"] - int(state["wall_left"]) - int(state["rinshan_taken"])
        )
        marker = WALL["dora"] + int(state["n_dora"])
        rinshan = WALL["rinshan"] + int(state["rinshan_taken"])
        assume.hide(supposed, 0)
        left = [*wall[first : WALL["dora"]], *wall[marker : WALL["rinshan"]], *wall[rinshan:]]
        assume.deal_in_wall(supposed, np.array(left, np.int8))
        check_derived(supposed)
        assert np.array_equal(
            supposed["wall"][first : WALL["rinshan"]], wall[first : WALL["rinshan"]]
        )
        assert np.array_equal(supposed["wall"][rinshan:], wall[rinshan:])
        assert supposed["has_wall"]


@pytest.mark.parametrize(
    "suppose",
    [
        lambda state: assume.assume_riichi(state, 1),
        lambda state: assume.assume_harmless(state, 1),
        assume.assume_no_liability,
        lambda state: assume.set_position(state, (1000, 2000, 3000, 94_000), 0),
        lambda state: assume.set_last_round(state, 7),
        lambda state: assume.pin_draws(state, True),
        lambda state: assume.show_ura(state, [3, 35]),
    ],
)
def test_no_other_supposition_touches_what_is_derived(moments, suppose: Callable[[State], None]):
    for state in moments:
        supposed = copy_state(state)
        suppose(supposed)
        check_derived(supposed)
        assert not np.array_equal(supposed, state) or suppose is assume.assume_no_liability


def test_each_supposition_says_what_it_says(moments):
    state = copy_state(moments[0])
    assume.assume_riichi(state, 2)
    assume.assume_harmless(state, 3)
    assert state["riichi"].tolist() == [0, 0, ACCEPTED, 0]
    assert View(state, 0).genbutsu(3) == assume.EVERY_KIND
    assume.show_ura(state, range(7))
    assert state["ura_markers"].tolist() == [0, 1, 2, 3, 4]
    assume.assume_alone(state, 12)
    assert (len(View(state, 0).dora_markers), View(state, 0).wall_left) == (0, 12)


# --- nobody else writes to a state -------------------------------------------------------------


def test_only_apply_hands_and_assume_write_to_a_state():
    found = [
        f"{path}:{line}"
        for package in PACKAGES
        for path in sorted(Path(package).rglob("*.py"))
        if not (path.parent == Path("mjbot/game/table") and path.name in WRITERS)
        for line in writes_to_states(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f(state: State):\n    state.drawn = 3", [2]),
        ("def f(table: State):\n    table.hand[0, 3] += 1", [2]),
        ("state = copy_state(view.state)\nstate['passed'][1] = 0", [2]),
        ("self.state['scores'] = 1", [1]),
        ("self._state['n_dora'], x = 1, 2", [1]),
        ("def f(state: State, win: Win):\n    win.hand[0] = state.hand[0, 0]", []),
        ("outcome['deltas'] = state['scores']", []),
    ],
)
def test_what_counts_as_a_write_to_a_state(source: str, lines: list[int]):
    assert list(writes_to_states(ast.parse(source))) == lines


def writes_to_states(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that assign to a field of a state: of one named or typed as such."""
    states = {"state", *names_of_states(tree)}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AugAssign) else targets
        parts = [part for target in targets for part in getattr(target, "elts", [target])]
        if any(owner(part).lstrip("_") in states for part in parts):
            yield node.lineno


def names_of_states(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name, annotation=ast.Name(id="State")):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="State")):
                yield name
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="copy_state" | "new_state")),
            ):
                yield name


def owner(target: ast.expr) -> str:
    """Return the name of what a field of a state is assigned to in, or ''."""
    while isinstance(target, ast.Subscript | ast.Attribute):
        field = (
            target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", "")
        )
        target = target.value
        if field in (STATE.names or ()):
            last = getattr(target, "attr", getattr(target, "id", ""))
            return str(last)
    return ""
