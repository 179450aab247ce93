"""What decisions cost: both choices played on in the same worlds, most worlds where they matter."""

from dataclasses import replace

import numpy as np

from mjbot.playouts.override import playout_us
from mjbot.review.decisions import ReviewedDecision
from mjbot.review.mjai_json import review_json
from mjbot.review.page_data import page_data
from mjbot.review.playouts import (
    FIRST_WORLDS,
    LOOK_Z,
    LOOKS,
    CostEstimator,
    Shown,
    alternatives,
    is_open,
)
from mjbot.review.sentences import cost_text
from mjbot.review.summary import Review, loss_of
from mjbot.rules.shanten import shanten
from mjbot.statistics.estimates import Estimate
from mjbot.strategy.explanation import Explanation, Rated
from mjbot.table.actions import ACTIONS, DECLARE_RIICHI, RON, TSUMO
from protocol.tiles import tile_kind


def let_go(review, codes=(RON, TSUMO)):
    """Return a decision in which a win was let go, the win being the reviewer's choice."""
    won = next(each for each in review.judged.decisions if each.actual.code in codes)
    rather = next(each for each in won.view.legal if each.is_pass or each.is_discard)
    told = Explanation(won.actual)
    return ReviewedDecision(
        won.event, won.kyoku, won.name, won.place, won.seat, won.turn, won.asked, won.view, told,
        rather,
    )  # fmt: skip


def shanten_after(view, discard):
    hand = view.hand.copy()
    hand[tile_kind(discard.tile)] -= 1
    return int(shanten(hand, view.n_melds))


def test_a_win_let_go_is_shown_to_be_a_loss_at_the_first_look(by_points):
    decision = let_go(by_points)
    assert is_open(decision)
    shown = CostEstimator(60.0).estimate([decision])[decision]
    assert shown.verdict == "shown"
    assert shown.points.value > 500
    assert shown.deals == FIRST_WORLDS  # more were of no use
    assert shown.better == decision.expected
    assert "By playouts it costs 0." in cost_text(decision, shown)


def test_the_reviewers_own_choice_is_not_played_on(by_points):
    agreed = [each for each in by_points.decisions if each.is_equal]
    assert agreed and CostEstimator(1.0).estimate(agreed) == {}


def test_worlds_go_to_the_large_costs_first_and_a_review_repeats(by_points):
    decisions = [each for each in by_points.decisions if is_open(each)][:6]
    first = CostEstimator(0.0).estimate(decisions)
    assert {each.deals for each in first.values()} == {FIRST_WORLDS}
    looks = [2 * FIRST_WORLDS * playout_us(each.view.wall_left) for each in decisions]
    budget_s = (sum(looks) + max(looks)) / 1e6  # one look more
    estimator = CostEstimator(budget_s)
    found = estimator.estimate(decisions)
    assert estimator.estimate(decisions) == found  # the budget is counted, not timed
    more = [each for each in decisions if found[each].deals > FIRST_WORLDS]
    open_ = [each for each in decisions if not first[each].is_settled]
    assert len(open_) > len(more) > 0
    assert max(open_, key=lambda each: first[each].expected) == more[0]
    assert found[more[0]].deals == 2 * FIRST_WORLDS
    assert found[more[0]].ranks.half_width < first[more[0]].ranks.half_width


def test_another_favourite_is_the_alternative_where_it_gains_more(by_points):
    good = ACTIONS[DECLARE_RIICHI]
    chances = (each for each in by_points.judged.decisions if good in each.view.legal)
    early = next(each for each in chances if each.at == "E3-0:12")  # an early and dear tenpai
    by_distance = sorted(early.view.discards, key=lambda each: shanten_after(early.view, each))
    done, bad = by_distance[-2:]  # both take the hand apart
    rated = [Rated(done, 10), Rated(bad, 60, is_chosen=True), Rated(good, 30)]
    asked = replace(
        early,
        actual=done,
        then=None,
        expected_then=None,
        explanation=Explanation(bad, "% of strong players", rated),
    )
    assert [action for action, _ in alternatives(asked)] == [bad, good]
    assert CostEstimator(0.0).estimate([asked])[asked].better == good
    rated[2] = Rated(good, 7)
    unlikely = replace(asked, explanation=Explanation(bad, "% of strong players", rated))
    assert [action for action, _ in alternatives(unlikely)] == [bad]
    assert CostEstimator(0.0).estimate([unlikely])[unlikely].better == bad


def test_intervals_hold_the_truth_however_often_one_looks():
    """Where the true mean is 0, one look of all goes beyond the interval in 5 % of cases."""
    random, missed, n = np.random.default_rng(4), 0, 4000
    steps = [1, *[2**look for look in range(LOOKS - 1)]]
    for _ in range(n):
        sums = np.cumsum([random.normal(0, step**0.5) for step in steps])
        missed += bool((np.abs(sums) / np.cumsum(steps) ** 0.5 > LOOK_Z).any())
    assert 0.035 < missed / n < 0.06


def test_what_playouts_show_is_listed_first_the_costliest_first(by_points):
    lost = by_points.costliest
    small, large, unsure = (Estimate(points, 100, 3000) for points in (300, 2400, 5000))
    shown, open_ = Estimate(0.06, 0.02, 0.1), Estimate(0.06, -0.02, 0.1)
    found = {
        lost[3]: Shown(small, shown, 10),
        lost[5]: Shown(large, shown, 10),
        lost[0]: Shown(unsure, open_, 10),
    }
    review = Review("g", by_points.seat, by_points.by, by_points.judged, found)
    order = review.costliest
    assert order[:3] == [lost[5], lost[3], lost[0]]
    losses = [each.loss for each in order[2:] if each.loss is not None]
    assert losses == sorted(losses, reverse=True)


def test_where_the_interval_holds_0_nothing_is_shown_and_nothing_counts(by_points):
    decision = by_points.costliest[0]
    unsure = Shown(Estimate(300, -100, 700), Estimate(0.02, -0.01, 0.05), 10)
    sure = Shown(Estimate(900, 500, 1300), Estimate(0.06, 0.02, 0.1), 10)
    other = Shown(Estimate(-900, -1300, -500), Estimate(-0.06, -0.1, -0.02), 10)
    assert [each.verdict for each in (unsure, sure, other)] == [
        "not shown to differ", "shown", "shown to be no loss",
    ]  # fmt: skip
    for shown, n in ((unsure, 0), (sure, 1), (other, 0)):
        total = loss_of(by_points.decisions, {decision: shown})
        assert (total.shown, total.shown_points) == (n, 900 * n)
    for shown, counts in ((unsure, False), (sure, True), (other, False)):
        held = Review("g", by_points.seat, by_points.by, by_points.judged, {decision: shown})
        assert held.counts(decision) is counts
        found = page_data(review_json(held))["decisions"]
        entry = next(each for each in found if each["at"] == decision.at)
        assert shown.verdict in entry["tags"] and entry["counts"] is counts


def test_what_is_shown_to_cost_most_comes_first_and_what_is_shown_to_be_no_loss_last(by_points):
    lost = by_points.costliest
    losses = [decision.loss for decision in lost]
    assert losses == sorted(losses, reverse=True) and len(lost) > 6
    points, wide = Estimate(0, 0, 0), Estimate(0.01, -0.1, 0.2)
    shown = {
        lost[0]: Shown(points, Estimate(-0.2, -0.3, -0.1), 10),
        lost[1]: Shown(points, wide, 10),
        lost[-2]: Shown(Estimate(100, 50, 150), Estimate(0.1, 0.05, 0.15), 10),
        lost[-1]: Shown(Estimate(300, 200, 400), Estimate(0.3, 0.2, 0.4), 10),
    }
    review = Review("g", by_points.seat, by_points.by, by_points.judged, shown)
    expected = [lost[-1], lost[-2], *lost[1:-2], lost[0]]
    assert [each.event for each in review.costliest] == [each.event for each in expected]
