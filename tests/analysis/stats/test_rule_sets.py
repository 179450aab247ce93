"""Reports of games under one rule set."""

import itertools

import msgspec
import pytest

from mjbot.analysis.stats.rule_sets import left_out, rule_set_of
from mjbot.runtime.errors import ArgumentError
from tests.analysis.player.test_figures import game


def games_under(*rule_sets):
    return [
        msgspec.structs.replace(game(number, []), length=length, rules=rules)
        for number, (length, rules) in enumerate(rule_sets)
    ]


MIXED = games_under(
    ("", ""), ("", ""), ("tonpu", ""), ("hanchan", ""), ("hanchan", ""), ("hanchan", ",bust=no")
)


def test_most_games_of_a_known_length_choose_and_the_others_are_named():
    choice = rule_set_of(MIXED, None)
    assert [choice.fits(one) for one in MIXED] == [True, True, False, True, True, False]
    assert left_out(MIXED, choice) == [
        "1 game under tonpu, not hanchan (--under tonpu reports them)",
        "1 game under hanchan,bust=no, not hanchan (--under hanchan,bust=no reports them)",
    ]


def test_rules_can_be_chosen():
    choice = rule_set_of(MIXED, "hanchan,bust=no")
    assert [choice.fits(one) for one in MIXED] == [*[False] * 5, True]
    with pytest.raises(ArgumentError, match="--under east: the games are under hanchan, "):
        rule_set_of(MIXED, "east")


def test_games_that_show_no_length_are_reported_together():
    unknown = games_under(("", ""), ("", ""))
    choice = rule_set_of(unknown, None)
    assert str(choice) == "unknown length"
    assert all(map(choice.fits, unknown)) and not left_out(unknown, choice)


TIED = [("tonpu", ""), ("hanchan", ""), ("hanchan", ",bust=no"), ("tonpu", ",bust=no"), ("", "")]


@pytest.mark.parametrize("order", [*itertools.permutations(TIED)], ids=lambda order: str(order[0]))
def test_the_order_of_games_decides_no_tie_and_the_report_names_the_rule(order):
    games = games_under(*order)
    choice = rule_set_of(games, None)
    assert str(choice) == "hanchan"
    lines = left_out(games, choice)
    assert lines == [
        f"1 game under {rules}, as many as under hanchan: of as many the default rules are"
        f" reported, then the longer games (--under {rules} reports them)"
        for rules in ("tonpu", "hanchan,bust=no", "tonpu,bust=no")
    ]
    of_others = [one for one in games if one.length and one.rules]
    assert str(rule_set_of(of_others, None)) == "hanchan,bust=no"
