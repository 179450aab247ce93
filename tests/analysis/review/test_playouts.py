"""What decisions cost: both choices played on in the same worlds, most worlds where they matter."""

from dataclasses import replace

import numpy as np
import pytest

from mjbot.analysis.review.decisions import ReviewedDecision
from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.page_data import page_data
from mjbot.analysis.review.playouts import (
    FIRST_WORLDS,
    LEAST_COST,
    LOOKS,
    PRECISE,
    CostEstimator,
    Shown,
    alternatives,
    is_open,
    verdict_of,
)
from mjbot.analysis.review.sentences import amount, cost_text, sentence, sentence_and_cost
from mjbot.analysis.review.summary import Review, loss_of
from mjbot.game.rules.shanten import shanten
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.table.actions import ACTIONS, DECLARE_RIICHI, RON, TSUMO
from mjbot.learning.playouts.override import CHALLENGERS, Gain, GainPrior, playout_us
from mjbot.protocol.tiles import tile_kind
from mjbot.strategy.explanation import Explanation, Rated, same_choice
from mjbot.viewer.drawing.tiles import tile_text


def let_go(review, codes=(RON, TSUMO)):
    """Return a decision in which a win was let go, the win being the reviewer's choice."""
    won = next(each for each in review.judged.decisions if each.actual.code in codes)
    rather = next(each for each in won.view.legal if each.is_pass or each.is_discard)
    told = Explanation(won.actual)
    return ReviewedDecision(
        won.event, won.kyoku, won.name, won.number, won.seat, won.turn, won.asked, won.view, told,
        rather,
    )  # fmt: skip


def shanten_after(view, discard):
    hand = view.hand.copy()
    hand[tile_kind(discard.tile)] -= 1
    return int(shanten(hand, view.n_melds))


def shown_as(points, ranks):
    """Return costs with these intervals."""
    gain = Gain(0.0, 1.0, FIRST_WORLDS)
    return Shown(Estimate(*points), Estimate(*ranks), gain, gain)


def test_a_win_let_go_is_shown_to_be_a_loss(by_points):
    decision = let_go(by_points)
    assert is_open(decision)
    shown = CostEstimator(60.0).estimate([decision])[decision]
    assert shown.verdict == "shown"
    assert shown.points.value > 500
    assert shown.deals < FIRST_WORLDS << (LOOKS - 1)  # more were of no use
    assert PRECISE * shown.gain.ranks <= shown.ranks.value < shown.gain.ranks
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
    assert max(open_, key=lambda each: first[each].ranks.value) == more[0]
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


def test_the_posterior_is_that_of_a_conjugate_normal():
    gain, prior = Gain(0.05, 0.01, 400), GainPrior(-0.01, 0.02)
    grid = np.linspace(-0.3, 0.3, 200_001)
    density = np.exp(
        -0.5 * ((grid - gain.ranks) / gain.error) ** 2
        - 0.5 * ((grid - prior.mean) / prior.spread) ** 2
    )
    density /= density.sum()
    mean = float((grid * density).sum())
    spread = float(((grid - mean) ** 2 * density).sum()) ** 0.5
    found = prior.posterior(gain)
    assert (found.ranks, found.error) == pytest.approx((mean, spread), rel=1e-6)
    assert prior.weight(gain) == pytest.approx(0.8)
    alike = Gain(0.3, 0.0, 128)  # all worlds agree
    assert prior.posterior(alike) == alike
    unknown = prior.posterior(Gain(0.0, float("inf"), 1))
    assert (unknown.ranks, unknown.error) == (prior.mean, prior.spread)


def test_the_searchs_constants_follow_from_the_same_model():
    for error, least in ((0.030, 0.019), (0.0095, 0.002)):
        assert CHALLENGERS.posterior(Gain(least - 0.001, error, 1)).ranks < 0
        assert CHALLENGERS.posterior(Gain(least + 0.001, error, 1)).ranks > 0


def test_a_loss_is_shown_above_0_and_from_the_least_cost_on():
    assert verdict_of(Estimate(LEAST_COST, 0.001, 0.1)) == "shown"
    assert verdict_of(Estimate(LEAST_COST - 0.001, 0.001, 0.1)) == "too small to count"
    assert verdict_of(Estimate(0.3, -0.001, 0.6)) == "not shown to differ"
    assert verdict_of(Estimate(-0.3, -0.6, -0.001)) == "shown to be no loss"
    assert verdict_of(Estimate(0.0, 0.0, 0.0)) == "not shown to differ"


def test_what_playouts_show_is_listed_first_the_costliest_first(by_points):
    lost = by_points.costliest
    small, large, unsure = ((points, 100, 3000) for points in (300, 2400, 5000))
    shown, open_ = (0.06, 0.02, 0.1), (0.06, -0.02, 0.1)
    found = {
        lost[3]: shown_as(small, shown),
        lost[5]: shown_as(large, shown),
        lost[0]: shown_as(unsure, open_),
    }
    review = Review("g", by_points.seat, by_points.by, by_points.judged, found)
    order = review.costliest
    assert order[:3] == [lost[5], lost[3], lost[0]]
    losses = [each.loss for each in order[2:] if each.loss is not None]
    assert losses == sorted(losses, reverse=True)


def test_where_the_interval_holds_0_nothing_is_shown_and_nothing_counts(by_points):
    decision = by_points.costliest[0]
    unsure = shown_as((300, -100, 700), (0.02, -0.01, 0.05))
    sure = shown_as((900, 500, 1300), (0.06, 0.02, 0.1))
    small = shown_as((90, 50, 130), (0.006, 0.002, 0.01))
    other = shown_as((-900, -1300, -500), (-0.06, -0.1, -0.02))
    assert [each.verdict for each in (unsure, sure, small, other)] == [
        "not shown to differ", "shown", "too small to count", "shown to be no loss",
    ]  # fmt: skip
    for shown, n in ((unsure, 0), (sure, 1), (small, 0), (other, 0)):
        total = loss_of(by_points.decisions, {decision: shown})
        assert (total.shown, total.shown_points.value) == (n, 900 * n)
    for shown, counts in ((unsure, False), (sure, True), (small, False), (other, False)):
        held = Review("g", by_points.seat, by_points.by, by_points.judged, {decision: shown})
        assert held.counts(decision) is counts
        found = page_data(review_json(held))["decisions"]
        entry = next(each for each in found if each["at"] == decision.at)
        assert shown.verdict in entry["tags"] and entry["counts"] is counts


def test_what_is_shown_to_cost_most_comes_first_and_what_is_shown_to_be_no_loss_last(by_points):
    lost = by_points.costliest
    losses = [decision.loss for decision in lost]
    assert losses == sorted(losses, reverse=True) and len(lost) > 6
    points, wide = (0, 0, 0), (0.01, -0.1, 0.2)
    shown = {
        lost[0]: shown_as(points, (-0.2, -0.3, -0.1)),
        lost[1]: shown_as(points, wide),
        lost[2]: shown_as(points, (0.006, 0.002, 0.01)),
        lost[-2]: shown_as((100, 50, 150), (0.1, 0.05, 0.15)),
        lost[-1]: shown_as((300, 200, 400), (0.3, 0.2, 0.4)),
    }
    review = Review("g", by_points.seat, by_points.by, by_points.judged, shown)
    expected = [lost[-1], lost[-2], *lost[1:-2], lost[0]]
    assert [each.event for each in review.costliest] == [each.event for each in expected]


def test_progress_counts_the_rounds_after_the_last_decision_too(by_points):
    decisions = [each for each in by_points.decisions if is_open(each)][:4]
    looks = [2 * FIRST_WORLDS * playout_us(each.view.wall_left) for each in decisions]
    steps = []
    budget_s = 4 * sum(looks) / 1e6
    CostEstimator(budget_s).estimate(decisions, lambda *step: steps.append(step))
    shares = [share for share, _ in steps]
    assert [note for _, note in steps][:4] == [f"first round {n} of 4" for n in (1, 2, 3, 4)]
    assert sum(shares[:4]) == pytest.approx(25)
    assert len(steps) > 4 and all(share > 0 for share in shares) and sum(shares) <= 100 + 1e-6


def test_what_playouts_show_against_another_choice_is_the_only_size_of_the_sentence(by_points):
    """Else one sentence has three tiles and two sizes, which may be opposite."""
    decisions = [
        each
        for each in by_points.decisions
        if is_open(each) and each.actual.is_discard and each.expected.is_discard and each.loss
    ]
    decision = next(each for each in decisions if len(each.view.discards) > 2)
    others = (decision.actual, decision.expected)
    third = next(
        action
        for action in decision.view.discards
        if not any(same_choice(action, other) for other in others)
    )
    size = amount(decision.loss, decision.loss_unit)
    for ranks, points in (((0.1, 0.05, 0.2), (800, 500, 900)), ((-0.1, -0.2, -0.05), (-9, -9, -9))):
        shown = replace(shown_as(points, ranks), better=third)
        text = sentence_and_cost(sentence(decision), decision, shown)
        assert size not in text and "against" not in text
        assert tile_text(third.tile) in text
        assert f"discarding {tile_text(decision.expected.tile)}" not in text
        assert f"{tile_text(decision.expected.tile)} was better" not in text
        same = replace(shown, better=decision.expected)
        assert size in sentence_and_cost(sentence(decision), decision, same)
