"""Fold scores in positions made by hand; seat 0 holds what each test says."""

import pytest

from mjbot.protocol.tiles import TILE_NAMES
from mjbot.strategies.evaluation.fast_riichi.steps import Folding

SAFEST, RIICHI, LATE = 20, 500, 500
HAND = "1405m19p55s2234z1s9s"
RIVERS = {1: "46m1z"}


def safety(view) -> dict[str, int]:
    return dict(zip(TILE_NAMES, Folding().safety(view).tolist(), strict=False))


def test_without_threat_each_opponent_counts_one_or_two(position):
    points = safety(position(HAND, drawn="3m", rivers=RIVERS))
    assert points["4m"] == SAFEST - 0 - 2 - 2  # genbutsu of seat 1
    assert points["1m"] == SAFEST - 1 - 2 - 2  # suji of seat 1's 4m
    assert points["5m"] == SAFEST - 2 - 2 - 2


def test_a_riichi_outweighs_the_others(position):
    points = safety(position(HAND, drawn="3m", rivers=RIVERS, riichi=[1]))
    assert points["4m"] == SAFEST - 4
    assert points["1m"] == SAFEST - RIICHI - 4
    assert points["5m"] == points["5mr"] == SAFEST - 2 * RIICHI - 4


@pytest.mark.parametrize(
    ("tile", "suji"),
    [("1m", True), ("7m", True), ("3m", True), ("9m", True), ("2m", False), ("8m", False)],
)
def test_suji_needs_both_neighbours_three_off_where_there_are_two(position, tile, suji):
    points = safety(position(HAND, drawn="3m", rivers=RIVERS, riichi=[1]))
    assert points[tile] == SAFEST - (RIICHI if suji else 2 * RIICHI) - 4


def test_the_middle_needs_two_suji(position):
    one_side = safety(position(HAND, drawn="3m", rivers={1: "1m"}, riichi=[1]))
    both_sides = safety(position(HAND, drawn="3m", rivers={1: "17m"}, riichi=[1]))
    assert one_side["4m"] == SAFEST - 2 * RIICHI - 4
    assert both_sides["4m"] == SAFEST - RIICHI - 4


def test_honours_of_which_the_table_shows_none_are_more_dangerous(position):
    points = safety(position(HAND, drawn="3m", rivers=RIVERS, riichi=[2], markers="3z"))
    assert points["E"] == SAFEST - 0 - RIICHI - 1  # in seat 1's river
    assert points["W"] == SAFEST - 1 - RIICHI - 1  # the dora marker
    assert points["S"] == SAFEST - 2 - 2 * RIICHI - 2  # two in the own hand do not count


def test_what_others_discard_after_a_riichi_is_safe_too(position):
    view = position(HAND, drawn="3m", rivers=RIVERS, riichi=[1])
    view.state["passed"][1] = 1 << 4  # 5m
    assert safety(view)["5m"] == SAFEST - 4


def test_late_in_the_kyoku_every_opponent_counts(position):
    late = safety(position(HAND, drawn="3m", rivers=RIVERS, wall_left=15))
    assert late["4m"] == SAFEST - LATE * (0 + 2 + 2)
    assert late["1m"] == SAFEST - LATE * (1 + 2 + 2)


def test_with_sixteen_tiles_left_it_is_not_late(position):
    points = safety(position(HAND, drawn="3m", rivers=RIVERS, wall_left=16))
    assert points["1m"] == SAFEST - 1 - 2 - 2


def test_late_and_riichi_multiply(position):
    points = safety(position(HAND, drawn="3m", rivers=RIVERS, riichi=[1], wall_left=15))
    assert points["1m"] == SAFEST - LATE * (RIICHI + 2 + 2)


@pytest.mark.parametrize(("wall_left", "riichi", "threat"), [(16, [], False), (15, [], True)])
def test_a_short_wall_is_a_threat(position, wall_left, riichi, threat):
    view = position(HAND, drawn="3m", riichi=riichi, wall_left=wall_left)
    assert Folding().threatened(view) is threat


def test_a_riichi_is_a_threat_unless_it_is_the_own(position):
    assert Folding().threatened(position(HAND, drawn="3m", riichi=[2]))
    assert not Folding().threatened(position(HAND, drawn="3m", riichi=[0]))
