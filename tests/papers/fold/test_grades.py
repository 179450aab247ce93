"""The four grades, on tables made by hand; seat 0 looks at seat 1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.state import new_state
from mjbot.learning.models.fold_features import (
    GENBUTSU,
    NEARLY_SAFE,
    NO_SUJI,
    SUJI,
    joint_grades,
    safety_grade,
    safety_grades,
    threats_to,
)
from mjbot.protocol.tiles import TILE_BY_NAME

HAND = "145m19p55s2234z1s9s3m"


def grade(state, tile: str, seat: int = 1) -> int:
    return int(safety_grades(state, 0, seat)[TILE_BY_NAME[tile]])


def test_what_it_discarded_or_let_pass_is_genbutsu(table_before):
    state = table_before(HAND, rivers={1: "4m"}, riichi=[1])
    assert grade(state, "4m") == GENBUTSU
    assert grade(state, "8s") == NO_SUJI
    state["passed"][1] = 1 << TILE_BY_NAME["8s"]
    assert grade(state, "8s") == GENBUTSU
    assert grade(state, "8s", seat=2) == NO_SUJI


@pytest.mark.parametrize(
    ("tile", "expected"),
    [("1m", NEARLY_SAFE), ("7m", SUJI), ("9m", NEARLY_SAFE), ("3m", SUJI), ("2m", NO_SUJI),
     ("5m", NO_SUJI), ("8m", NO_SUJI)],
)  # fmt: skip
def test_suji_of_the_terminals_is_safer_than_other_suji(table_before, tile, expected):
    assert grade(table_before(HAND, rivers={1: "46m"}), tile) == expected


def test_the_middle_needs_suji_on_both_sides(table_before):
    assert grade(table_before(HAND, rivers={1: "1m"}), "4m") == NO_SUJI
    assert grade(table_before(HAND, rivers={1: "17m"}), "4m") == SUJI


def test_an_honour_on_the_table_is_safer_than_one_that_is_not(table_before):
    state = table_before(HAND, rivers={2: "1z"}, melds={3: ["666z"]}, markers="3z")
    assert [grade(state, tile) for tile in "EFW"] == [NEARLY_SAFE] * 3
    assert grade(state, "S") == SUJI  # two in the own hand show nothing
    assert grade(state, "C") == SUJI


def test_a_wall_shuts_out_the_waits_behind_it(table_before):
    walled = table_before("8888m123p456s1122z", rivers={1: "1p"})
    assert grade(walled, "9m") == NEARLY_SAFE  # 78m and 79m are no longer to be had
    assert grade(walled, "7m") == NO_SUJI  # 56m still is
    assert grade(walled, "6m") == NO_SUJI
    split = table_before("7777m123p456s1122z", rivers={1: "2m"})
    assert grade(split, "8m") == NEARLY_SAFE
    assert grade(split, "5m") == NEARLY_SAFE  # 34m is furiten by 2m, 67m is behind the wall
    assert grade(split, "6m") == NO_SUJI  # 45m


def test_a_wall_is_made_of_all_that_one_sees(table_before):
    rest = {"rivers": {2: "88m"}, "markers": "8m"}
    assert grade(table_before("8m11223p456s1122z9m", **rest), "9m") == NEARLY_SAFE
    assert grade(table_before("7m11223p456s1122z9m", **rest), "9m") == NO_SUJI


def test_riichi_threatens_and_without_it_two_melds_do(table_before):
    called = {2: ["777z", "123m"], 3: ["666z"]}
    assert threats_to(table_before(HAND), 0) == 0
    assert threats_to(table_before(HAND, melds=called), 0) == 1 << 2
    assert threats_to(table_before(HAND, melds=called, riichi=[1, 3]), 0) == 1 << 1 | 1 << 3
    assert threats_to(table_before(HAND, riichi=[0]), 0) == 0


def test_against_several_the_worst_grade_counts(table_before):
    state = table_before(HAND, rivers={1: "4m9s", 2: "9s1m"}, riichi=[1, 2])
    grades = joint_grades(state, 0, 1 << 1 | 1 << 2)
    assert grades[TILE_BY_NAME["9s"]] == GENBUTSU
    assert grades[TILE_BY_NAME["4m"]] == NO_SUJI
    assert grades[TILE_BY_NAME["1m"]] == NEARLY_SAFE
    assert not joint_grades(state, 0, 0).any()


def slow_grade(genbutsu: set[int], unseen: list[int], own: list[int], kind: int) -> int:
    """The grades from every two-sided wait there is, instead of by sides."""
    if kind in genbutsu:
        return GENBUTSU
    if kind >= 27:
        return NEARLY_SAFE if unseen[kind] + own[kind] < 4 else SUJI
    suit = range(kind // 9 * 9, kind // 9 * 9 + 9)
    waits = [(low, low + 1) for low in suit if low + 1 in suit]
    waits = [w for w in waits if w[0] - 1 in suit and w[1] + 1 in suit]  # not 12 and 89
    waits = [w for w in waits if kind in (w[0] - 1, w[1] + 1)]
    alive = [w for w in waits if not {w[0] - 1, w[1] + 1} & genbutsu]
    if any(unseen[a] and unseen[b] for a, b in alive):
        return NO_SUJI
    return NEARLY_SAFE if alive or kind % 9 in (0, 8) else SUJI


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_grades_are_those_of_all_two_sided_waits(random):
    wall = [kind for kind in range(34) for _ in range(4)]
    random.shuffle(wall)
    state, own = new_state(), np.zeros(34, np.int8)
    for kind in wall[:14]:
        own[kind] += 1
    state["hand"][0], river = own, wall[14 : 14 + random.randrange(30)]
    state["river"][1, : len(river)], state["n_river"][1] = river, len(river)
    state["discarded"][1] = sum(1 << kind for kind in set(river[::2]))
    unseen = np.empty(34, np.int8)
    unseen_kinds(state, 0, unseen)
    expected = [
        slow_grade(set(river[::2]), unseen.tolist(), own.tolist(), kind) for kind in range(34)
    ]
    assert [safety_grade(state, unseen, 0, 1, kind) for kind in range(34)] == expected
