"""Losses that can be shown: both choices played on from the same deals."""

import numpy as np
import pytest

from mjbot.review.decisions import ReviewedDecision
from mjbot.review.page import page
from mjbot.review.playouts import Shown, is_open, show
from mjbot.review.summary import Review, loss_of
from mjbot.statistics.estimates import Estimate
from mjbot.strategy.explanation import Explanation
from mjbot.strategy.playouts import Plan, PlaysOut
from mjbot.strategy.registry import make_strategy
from mjbot.table.actions import ACTIONS, PASS, RON, TSUMO

DEALS = 12


@pytest.fixture(scope="module")
def by():
    return make_strategy("collusion-mc")


def test_only_who_plays_positions_on_offers_it(by):
    assert isinstance(by, PlaysOut)
    assert not isinstance(make_strategy("supervised"), PlaysOut)


def test_the_same_choice_twice_ends_the_same_in_every_deal(by, by_points):
    decision = next(each for each in by_points.decisions if each.actual.is_discard)
    plans = [Plan(decision.actual), Plan(decision.actual)]
    ends = by.play_out(decision.view, plans, DEALS)
    assert ends.points.shape == ends.ranks.shape == (DEALS, 2)
    assert (ends.points[:, 0] == ends.points[:, 1]).all()
    assert len(set(ends.points[:, 0].tolist())) > 1
    assert ((ends.ranks >= 1) & (ends.ranks <= 4)).all()
    again = by.play_out(decision.view, plans[:1], DEALS)
    assert (again.points[:, 0] == ends.points[:, 0]).all()


def test_points_and_rank_go_together(by, by_points):
    decision = by_points.costliest[0]
    plans = [Plan(decision.actual, decision.then), Plan(decision.expected, decision.expected_then)]
    ends = by.play_out(decision.view, plans, DEALS)
    pairs = np.corrcoef(ends.points.ravel(), ends.ranks.ravel())
    assert pairs[0, 1] < -0.8


def test_a_win_let_go_is_shown_to_be_a_loss(by, by_points):
    won = next(
        each
        for each in by_points.judged.decisions
        if each.actual.code in (RON, TSUMO) and each.seat != by_points.seat
    )
    rather = next(each for each in won.view.legal if each.is_pass or each.is_discard)
    told = Explanation(won.actual)
    let_go = ReviewedDecision(
        won.event, won.kyoku, won.name, won.place, won.seat, won.turn, won.asked, won.view, told,
        rather,
    )  # fmt: skip
    assert is_open(let_go)
    shown = show(let_go, by, DEALS)
    assert shown.verdict == "shown"
    assert shown.points.value > 500
    assert ACTIONS[PASS].is_pass


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
        assert shown.verdict in page(held)


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
