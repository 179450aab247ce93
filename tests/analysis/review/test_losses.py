"""What is judged of a recorded game, and what its losses come to."""

import math
from itertools import pairwise

import pytest

from mjbot.analysis.review.decisions import Judged, judge, points_of
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.summary import (
    Review,
    Reviewer,
    by_class,
    by_kyoku,
    by_seat,
    looked,
    loss_of,
    rating,
)
from mjbot.game.records.choices import Numbering, steps_of
from mjbot.game.table.settle import ranks_of
from mjbot.strategy.explanation import same_choice
from mjbot.strategy.registry import Spec


def test_every_choice_between_different_things_is_judged_once(review, events):
    numbering, wanted = Numbering(), []
    for step in steps_of(events):
        for seat in numbering.choosers(step):
            legal = step.choices(seat)
            different = any(not same_choice(legal[0], other) for other in legal)
            if different and step.recorded(seat) is not None:
                wanted.append((step.number, seat, legal))
    judged = review.judged.decisions
    assert [(each.event, each.seat, each.view.legal) for each in judged] == wanted


def test_a_view_shows_what_the_seat_saw_and_what_it_did_is_legal(review):
    for decision in review.judged.decisions:
        assert any(same_choice(decision.actual, action) for action in decision.view.legal)
        assert decision.expected in decision.view.legal
        known = [seat for seat in range(4) if decision.view.state["hand"][seat].any()]
        assert known == [decision.seat]


def test_losses_add_up_by_class_by_kyoku_and_alone(review):
    whole = loss_of(review.decisions, {})
    assert whole.decisions == len(review.decisions) > 50
    for parts in (by_class(review).values(), by_kyoku(review)):
        assert sum(part.differing for part in parts) == whole.differing > 10
        assert sum(part.disputed for part in parts) == whole.disputed
        assert sum(part.unrated for part in parts) == whole.unrated
    own = next(line for line in by_seat(review) if line.seat == review.seat)
    assert (own.decisions, own.decisions - own.agreed) == (whole.decisions, whole.differing)
    assert own.rating == rating(review.decisions)


def test_a_loss_is_a_difference_in_points_and_never_below_0(review):
    lost = [each for each in review.decisions if not each.is_equal and each.loss is not None]
    for decision in lost:
        points = [points_of(each, review.by.unit) for each in (decision.done, decision.better)]
        assert decision.points == pytest.approx(points[1] - points[0])
        assert decision.loss == max(0.0, decision.points)
        assert decision.is_disputed == (decision.points <= 0)
    assert len(lost) > 10
    assert review.unit == "points"
    assert all(each.loss == 0 for each in review.decisions if each.is_equal)


def test_where_points_favour_what_was_done_no_loss_counts(by_shares):
    disputed = [each for each in by_shares.decisions if each.is_disputed]
    assert disputed
    for decision in disputed:
        assert decision.value_loss > 0
        assert decision.loss == 0
        assert not by_shares.counts(decision)
        assert decision not in by_shares.costliest
    assert loss_of(by_shares.decisions, {}).disputed == len(disputed)


def test_a_reviewer_without_points_counts_in_its_own_unit(events):
    judged = judge(events, SeatedPlayers(Spec.read("fast-riichi-d"), 0), [0], [0])
    review = Review("g", 0, Reviewer.of(Spec.read("fast-riichi-d")), judged)
    assert review.unit == "rating points"
    lost = [each for each in review.decisions if each.loss]
    assert len(lost) > 10
    assert all(each.loss == each.value_loss and not each.is_disputed for each in lost)


def test_places_of_equal_scores_are_those_of_the_rules():
    judged = Judged(scores=(25000, 40000, 25000, 10000))
    assert judged.final_ranks == (2, 1, 3, 4) == tuple(ranks_of(judged.scores))


@pytest.mark.parametrize("name", ["supervised", "fold-recognition-plus", "fast-riichi-d"])
def test_of_a_game_that_the_reviewer_played_itself_nothing_is_lost(played, name):
    events = played(name, 7)
    judged = judge(events, SeatedPlayers(Spec.read(name), 0), [0])
    assert len(judged.decisions) > 20
    assert all(each.is_equal for each in judged.decisions)
    review = Review("own", 0, Reviewer(name, ""), judged)
    assert loss_of(review.decisions, {}).differing == 0
    assert review.costliest == []
    assert rating(review.decisions).value == 1


def test_the_others_at_the_table_are_judged_by_the_same_measure(by_points, events):
    other = (by_points.seat + 1) % 4
    alone = judge(events, SeatedPlayers(Spec.read("fold-recognition-plus"), 0), [other], [other])
    beside = by_points.of(other)
    assert [each.loss for each in alone.decisions] == [each.loss for each in beside]
    assert {line.seat for line in by_seat(by_points)} == {0, 1, 2, 3}
    assert sorted(line.final_rank for line in by_seat(by_points)) == [1, 2, 3, 4]


def test_deal_ins_say_what_was_paid_and_what_else_would_have_dealt_in(by_points):
    found = by_points.judged.deal_ins
    assert found
    for each in found:
        assert each.paid > 0
        assert each.tile % 34 in each.deadly or each.tile >= 34
        assert set(each.deadly) <= set(each.held)
        if each.decision is not None:
            assert each.decision.actual.tile == each.tile
            assert each.decision.seat == each.seat
            seen = looked(each)
            assert seen is None or 0 < seen < 100


def test_ranks_and_scores_stand_at_the_start_of_each_kyoku(by_points):
    kyoku = by_points.judged.kyoku
    assert kyoku[0].scores == (25000,) * 4
    for one, other in pairwise(kyoku):
        assert one.scores_after == other.scores
    for each in kyoku:
        assert all(math.isclose(sum(row), 1, abs_tol=1e-4) for row in each.chances)
    first = by_points.judged.final_ranks.index(1)
    assert by_points.judged.scores[first] == max(by_points.judged.scores)


def test_what_can_hardly_be_told_apart_is_marked(by_points):
    close = [each for each in by_points.judged.decisions if each.is_close]
    far = [each for each in by_points.decisions if each.loss and not each.is_close]
    assert close and far
    for decision in close:
        worths = [each.value for each in decision.explanation.rated]
        assert decision.loss <= 0.02 * (max(worths) - min(worths))


@pytest.mark.parametrize(
    ("by", "is_known"),
    [("fast-riichi-d", True), ("fast-riichi-d,late_tiles=4", False), ("combo-partner", False)],
)
def test_only_what_was_measured_is_said_of_the_reviewer(by, is_known):
    """What is changed by options or by a subclass was not."""
    assert (Reviewer.of(Spec.read(by)).strength is not None) is is_known
