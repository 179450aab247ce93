"""What counts as a mistake: missed wins, an ally's tile, the class by what playouts favour."""

import json
from dataclasses import replace

import pytest

from mjbot.analysis.review.decisions import judge
from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.page import summary_html, verdict_html
from mjbot.analysis.review.page_data import page_data
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import FIRST_WORLDS, Shown, is_open
from mjbot.analysis.review.reasons import class_of_mistake
from mjbot.analysis.review.sentences import sentence, size_text
from mjbot.analysis.review.summary import Review
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.table.actions import RON
from mjbot.learning.playouts.override import Gain
from mjbot.protocol import messages as m
from mjbot.strategy.explanation import Explanation
from mjbot.strategy.registry import Spec
from tests.analysis.review.test_playouts import let_go


def shown_as(ranks, better=None):
    gain = Gain(ranks[0], 0.01, FIRST_WORLDS)
    return Shown(Estimate(900, 500, 1300), Estimate(*ranks), gain, gain, better)


def with_win_let_go(review, **changes):
    """Return a review of the seat that let a ron go, and that decision."""
    missed = let_go(review, [RON])
    missed = replace(missed, **changes)
    others = [each for each in review.judged.decisions if each.event != missed.event]
    judged = replace(review.judged, decisions=[*others, missed])
    return Review("g", missed.seat, review.by, judged), missed


def entry_of(review, decision):
    found = page_data(json.loads(json.dumps(review_json(review))))
    return found, next(each for each in found["decisions"] if each["n"] == decision.event)


def test_a_missed_win_is_a_mistake_with_playouts_and_without(by_points):
    review, missed = with_win_let_go(by_points)
    assert missed.loss is None and missed.is_missed_win  # the reviewer does not rate it
    assert review.counts(missed) and review.costliest[0] is missed
    _, entry = entry_of(review, missed)
    assert entry["counts"] and entry["cost_size"] is None  # no threshold hides it
    review.shown[missed] = shown_as((0.38, 0.3, 0.46))
    found, entry = entry_of(review, missed)
    assert entry["counts"] and entry["cost_size"] == 0.38 and found["unit"] == "ranks"
    assert entry["size"] == "0.380 places"
    assert review.worst(10) == [missed]
    assert "0.380 (0.300 to 0.460)" in summary_html(review).replace("+", "")


def test_a_win_on_an_allys_tile_is_named_and_is_no_mistake(by_points):
    review, missed = with_win_let_go(by_points)
    review, missed = with_win_let_go(by_points, ally=int(missed.view.turn))
    assert not review.counts(missed) and missed not in review.costliest and not is_open(missed)
    assert "The tile is your ally's; a pair lets it pass, and no loss is counted." in sentence(
        missed
    )
    assert size_text(missed, None) == "your ally's tile"
    assert not entry_of(review, missed)[1]["counts"]


@pytest.mark.parametrize("number", [0, 1])
def test_the_names_of_a_record_mark_the_ally(events, number):
    seats = (0, 2) if number else (1, 3)
    names = ["a", "b", "c", "d"]
    for half, seat in enumerate(seats, 1):
        names[seat] = f"crane (team {half}/2)"
    marked = [replace_names(event, names) for event in events[:60]]
    judged = judge(marked, SeatedPlayers(Spec.read("fast-riichi-d"), 0), range(4), ())
    allies = {each.seat: each.ally for each in judged.decisions}
    assert {seats[0]: seats[1], seats[1]: seats[0]}.items() <= allies.items()
    assert all(ally is None for seat, ally in allies.items() if seat not in seats)


def replace_names(event, names):
    return m.StartGame(names=tuple(names)) if isinstance(event, m.StartGame) else event


def test_the_class_is_that_of_the_choice_that_playouts_favour(by_points):
    """The reviewer prefers another discard, playouts prefer riichi: the class is riichi."""
    decision = next(
        each
        for each in by_points.judged.decisions
        if any(action.is_riichi for action in each.view.legal)
    )
    riichi = next(action for action in decision.view.legal if action.is_riichi)
    done, other = decision.view.discards[:2]
    asked = replace(decision, actual=done, then=None, explanation=Explanation(other, "points", []))
    assert class_of_mistake(asked) != "riichi" == class_of_mistake(asked, riichi)
    judged = replace(by_points.judged, decisions=[asked])
    review = Review("g", asked.seat, by_points.by, judged, {})
    assert review.mistake_class(asked) != "riichi"
    review.shown[asked] = shown_as((0.1, 0.05, 0.15), riichi)
    assert review.mistake_class(asked) == "riichi"


def test_with_playouts_only_what_they_show_is_listed_and_sized_in_places(by_points):
    first, second = by_points.costliest[:2]
    review = Review("g", by_points.seat, by_points.by, by_points.judged)
    review.shown = {first: shown_as((0.01, -0.02, 0.04)), second: shown_as((0.05, 0.02, 0.08))}
    assert review.worst(10) == [second]
    assert (review.size(first), review.size(second)) == (0.01, 0.05)
    assert size_text(first, review.shown[first]) == "not shown to differ"
    page = verdict_html(review)
    assert page.index("playouts show to be losses") < page.index("grade by the reviewer")
    assert "points lost in all" not in page and "lost per decision" not in page


def test_without_playouts_the_page_states_that_costs_are_unknown_and_how_to_get_them(by_points):
    page = summary_html(by_points)
    assert "What these choices cost is not known" in page
    assert "<code>--playouts SECONDS</code>" in page
    shown = json.dumps(review_json(by_points)["review"]["summary"])
    assert "mean_loss" not in shown and '"loss"' not in shown


def test_positions_that_the_record_leaves_open_are_named(by_points):
    judged = replace(by_points.judged, unknown=[(by_points.seat, "E1-0:3"), (9, "E9-0:1")])
    review = Review("g", by_points.seat, by_points.by, judged)
    page = summary_html(review)
    assert "(another player's call or win came first): E1-0:3." in page and "E9-0:1" not in page
    assert review_json(review)["review"]["summary"]["unknown"] == ["E1-0:3"]


def test_one_number_of_worlds_is_no_range(by_points):
    first = by_points.costliest[0]
    review = Review("g", by_points.seat, by_points.by, by_points.judged)
    review.shown = {first: shown_as((0.1, 0.05, 0.15))}
    assert "in the same 128 worlds" in summary_html(review)
