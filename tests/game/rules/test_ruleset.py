"""The record of a rule set holds all of it, and the plan of its wall."""

import pytest

from mjbot.game.rules.ruleset import rule_set, rules_of
from mjbot.game.rules.wall_plan import FOUR_PLAYERS, HAND_TILES, MAX_MARKERS
from protocol.rules import RANKED, Rules


@pytest.mark.parametrize(
    "rules",
    [
        RANKED,
        Rules(length="tonpu", red_fives=False, bust=False),
        Rules(open_tanyao=False, start_points=30_000, target_points=35_000),
        Rules(uma=(15_000, 5_000, -5_000, -15_000)),
    ],
)
def test_a_rule_set_comes_back_from_its_record(rules: Rules) -> None:
    assert rules_of(rule_set(rules)) == rules


def test_the_parts_of_the_wall_lie_side_by_side() -> None:
    sizes = {
        "live": FOUR_PLAYERS["n_live"],
        "dora": MAX_MARKERS,
        "ura": MAX_MARKERS,
        "rinshan": FOUR_PLAYERS["n_rinshan"],
    }
    end = 4 * HAND_TILES
    for part, size in sizes.items():
        assert FOUR_PLAYERS[part] == end
        end += size
    assert end == FOUR_PLAYERS["n_tiles"] == 136
