"""The record of a rule set holds all of it, and the plan of its wall."""

import pytest

from mjbot.cli import arguments
from mjbot.game.rules.ruleset import rule_set, rules_of
from mjbot.game.rules.wall_plan import FOUR_PLAYERS, HAND_TILES, MAX_MARKERS, wall_plan
from mjbot.game.statistics.figures import uma_points
from mjbot.protocol.rules import RANKED, Rules

MAX_KANS = 4


@pytest.mark.parametrize(
    "rules",
    [
        RANKED,
        Rules(length="tonpu", red_fives=False, bust=False),
        Rules(open_tanyao=False, start_points=30_000, target_points=35_000),
        Rules(uma=(15_000, 5_000, -5_000, -15_000)),
        Rules(target_points=35_000, return_points=30_000, kiriage=True, double_wind_fu=2),
        Rules().under("mahjong-soul"),
        Rules(length="tonpu").under("mahjong-soul", players=3),
        Rules(players=3),
        Rules(players=3, length="tonpu", tsumo_loss=False, north_calls=False),
    ],
)
def test_a_rule_set_comes_back_from_its_record(rules: Rules) -> None:
    assert rules_of(rule_set(rules)) == rules
    assert Rules.read(rules.announced or {}, players=(3, 4)) == rules


def test_the_parts_of_the_wall_lie_side_by_side() -> None:
    sizes = {
        "live": FOUR_PLAYERS["n_live"],
        "dora": MAX_MARKERS,
        "ura": MAX_MARKERS,
        "rinshan": MAX_KANS,
    }
    end = 4 * HAND_TILES
    for part, size in sizes.items():
        assert FOUR_PLAYERS[part] == end
        end += size
    assert end == FOUR_PLAYERS["n_tiles"] == 136


def test_three_players_wall_is_tenhous() -> None:
    """Its list from the live end on: 55 draws, markers 9, 11, ..., ura 8, 10, ..., replacements."""
    wall = wall_plan(3)
    last = wall["n_tiles"] - 1
    place = {part: last - int(wall[part]) for part in ("live", "dora", "ura", "rinshan")}
    assert place == {"live": 68, "dora": 9, "ura": 8, "rinshan": 7}
    assert wall["live"] == 3 * HAND_TILES
    assert wall["marker_step"] == -2
    assert place["live"] - int(wall["n_live"]) + 1 == 14


def test_what_follows_from_the_number_of_players() -> None:
    rules = Rules(players=3)
    assert (rules.start_points, rules.target_points, rules.last_round) == (35_000, 40_000, 6)
    assert rules.placement_points == (35_000, 0, -20_000)
    assert rules.announced == {"length": "hanchan", "players": 3}
    assert Rules.read(rules.announced, players=(3,)) == rules
    assert str(Rules(players=3, uma=(15_000, 0, -15_000))) == "hanchan,uma=15000/0/-15000,players=3"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"players": 3}, "players: 3 is not implemented, games have four players"),
        ({"players": 2}, "players: 2 is not implemented, games have three or four"),
        ({"uma": [10_000, 0, -10_000]}, "must have 4 values"),
        ({"start_points": 0}, "start_points: 0 is not a multiple of 100"),
    ],
)
def test_rules_that_cannot_be_played_are_named(value: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Rules.read(value)


@pytest.mark.parametrize(
    "text", ["mahjong-soul", "tenhou,tonpu", "mahjong-soul,bust=no,kiriage=yes"]
)
def test_a_rule_set_is_taken_by_name_and_written_as_it_is_taken(text: str) -> None:
    rules = arguments.rules(text)
    assert str(rules) == text.removeprefix("tenhou,")
    assert rules.double_yakuman == ("mahjong-soul" in text)


def test_the_points_of_mahjong_soul_have_no_oka() -> None:
    four, three = Rules().under("mahjong-soul"), Rules().under("mahjong-soul", players=3)
    assert four.placement_points == (15_000, 5_000, -5_000, -15_000)
    assert three.placement_points == (15_000, 0, -15_000)
    assert uma_points(45_000, 1, [part / 1000 for part in four.uma], four) == 35.0
