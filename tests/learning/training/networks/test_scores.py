"""Figures of how well choices are foretold."""

import math

import numpy as np
import pytest

from mjbot.game.statistics.estimates import Estimate
from mjbot.game.table.state import ANKAN, DAIMINKAN, KAKAN
from mjbot.learning.training.networks.decisions import DECISION, DecisionKind
from mjbot.learning.training.networks.scores import auc, manifest_figures, parts_of, scores_of


def made(choices, games=None, legal=3):
    rows = np.zeros(len(choices), DECISION)
    rows["choice"], rows["legal"], rows["form"] = choices, legal, -1
    rows["game"] = np.arange(len(choices)) if games is None else games
    return rows


def yes(*chances):
    return np.array([[1 - chance, chance] for chance in chances], np.float32)


def value(scores, name):
    return scores[name].value if isinstance(scores[name], Estimate) else scores[name]


def test_always_no_agrees_at_the_majority_rate_and_recalls_one_class_of_two():
    rows = made([0] * 9 + [1])
    scores = scores_of(DecisionKind.PON, yes(*[0.1] * 10), rows)
    assert value(scores, "accuracy") == value(scores, "majority") == pytest.approx(0.9)
    assert value(scores, "mean recall") == pytest.approx(0.5)
    assert value(scores, "auc") == pytest.approx(0.5)
    entropy = -0.9 * math.log(0.9) - 0.1 * math.log(0.1)
    assert value(scores, "log loss") == pytest.approx(entropy, abs=1e-6)
    assert value(scores, "prior's log loss") == pytest.approx(entropy, abs=1e-6)


def test_a_balanced_answer_weighs_chances_by_how_common_the_classes_are():
    scores = scores_of(DecisionKind.PON, yes(0.1, 0.1, 0.3, 0.4), made([0, 0, 0, 1]))
    assert value(scores, "accuracy") == 0.75
    assert value(scores, "mean recall") == 0.5
    assert value(scores, "balanced recall") == pytest.approx((2 / 3 + 1) / 2)


def test_only_legal_classes_count():
    rows = made([1, 0, 1, 0], legal=0b11)
    spread = np.array([[0.1, 0.2, 0.7, 0.0]] * 4)
    scores = scores_of(DecisionKind.CHI, spread, rows)
    assert value(scores, "accuracy") == pytest.approx(0.5)
    assert value(scores, "log loss") == pytest.approx(-(math.log(1 / 3) + math.log(2 / 3)) / 2)
    assert value(scores, "prior's log loss") == pytest.approx(math.log(2))


def test_intervals_count_games_not_rows():
    rng = np.random.default_rng(1)
    choices = rng.integers(0, 2, 400)
    chances = yes(*rng.random(400))
    many = scores_of(DecisionKind.PON, chances, made(choices))
    rows = made(np.repeat(choices, 4), np.repeat(np.arange(400), 4))
    same = scores_of(DecisionKind.PON, np.repeat(chances, 4, axis=0), rows)
    for name in ("accuracy", "mean recall", "log loss", "auc"):
        assert same[name].value == pytest.approx(many[name].value)
        assert same[name].half_width == pytest.approx(many[name].half_width)


def test_the_auc_has_the_interval_that_repeated_samples_spread_over():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        labels = rng.random(300) < 0.3
        found.append(auc(labels + rng.normal(size=300) * 1.5, labels, np.arange(300)))
    spread = np.std([estimate.value for estimate in found])
    assert np.mean([estimate.half_width for estimate in found]) == pytest.approx(
        1.97 * spread, rel=0.12
    )


def test_equal_values_have_half_a_chance():
    labels = np.array([True, False, True, False])
    assert auc(np.array([1.0, 1, 1, 1]), labels, np.arange(4)).value == 0.5
    assert math.isnan(auc(np.ones(2), np.array([True, True]), np.arange(2)).value)


def test_riichi_is_also_told_at_the_first_chance_of_each_seat():
    rows = made([0, 0, 1, 1], [0, 0, 0, 1])
    rows["seat"] = [2, 2, 2, 2]
    assert parts_of(DecisionKind.RIICHI, rows)["first chance"].tolist() == [
        True,
        False,
        False,
        True,
    ]
    scores = scores_of(DecisionKind.RIICHI, yes(0.4, 0.4, 0.9, 0.9), rows)
    assert value(scores, "first chance: rows") == 2


def test_kan_is_told_by_form():
    rows = made([0, 1, 0])
    rows["form"] = [ANKAN, KAKAN, DAIMINKAN]
    scores = scores_of(DecisionKind.KAN, yes(0.2, 0.8, 0.8), rows)
    assert value(scores, "ankan: accuracy") == value(scores, "kakan: accuracy") == 1
    assert value(scores, "daiminkan: accuracy") == 0


def test_discards_have_their_three_likeliest_in_place_of_a_yes():
    chances = np.zeros((2, 34))
    chances[:, :4] = [0.4, 0.3, 0.2, 0.1]
    scores = scores_of(DecisionKind.DISCARD, chances, made([2, 3], legal=0b1111))
    assert value(scores, "accuracy") == 0
    assert value(scores, "top 3") == 0.5
    assert "auc" not in scores


def test_probabilities_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"\(1, 2\) probabilities for 2 chi rows of 4 classes"):
        scores_of(DecisionKind.CHI, yes(0.5), made([0, 1]))


def test_a_manifest_is_told_figures_with_their_intervals():
    assert manifest_figures({"rows": 5.0, "auc": Estimate(0.5, 0.25, 0.75), "x": 0.123456}) == {
        "rows": 5,
        "auc": "0.5000 [0.2500, 0.7500]",
        "x": 0.12346,
    }


def test_the_first_chance_of_riichi_is_one_of_each_seat_in_each_kyoku():
    places = [(0, 0, 1), (0, 0, 1), (0, 0, 2), (0, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]
    rows = made([0] * len(places))
    rows["game"], rows["kyoku"], rows["seat"] = np.transpose(places)
    first = parts_of(DecisionKind.RIICHI, rows)["first chance"]
    assert first.tolist() == [True, False, True, True, False, True, True]


def test_a_row_costs_no_more_than_a_chance_of_one_in_ten_million():
    scores = scores_of(DecisionKind.PON, yes(0.0, 0.5), made([1, 1]))
    assert value(scores, "log loss") == pytest.approx((math.log(1e7) + math.log(2)) / 2)
