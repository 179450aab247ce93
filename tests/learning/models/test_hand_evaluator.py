"""The evaluator as strategies use it, with the weights that ship."""

import json

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.rules.acceptance import acceptance_by_discard
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.table.assume import hide
from mjbot.game.table.state import copy_state
from mjbot.learning.models import hand_plus_features as plus_features
from mjbot.learning.models.hand import (
    FEATURE_SETS,
    N_FEATURES,
    HandEvaluator,
    new_position,
    weights_name,
)
from mjbot.learning.models.hand_position import observe
from mjbot.learning.models.weights import (
    SHIPPED,
    Manifest,
    WeightsError,
    load_manifest,
    save_weights,
)
from mjbot.protocol.tiles import TILE_NAMES


def unseen_beside(hand):
    return (4 - hand).astype(np.int8)


def best_of(evaluator, text, n_melds=0):
    hand = hand_counts(text)
    return TILE_NAMES[int(np.argmax(evaluator.scores(hand, n_melds, unseen_beside(hand))))]


@pytest.mark.parametrize("features", FEATURE_SETS)
@pytest.mark.parametrize(
    ("text", "n_melds", "expected"),
    [
        ("123m456p789s1123z4z", 0, ("S", "W", "N")),  # the pair stays
        ("234567m345p2268s1z", 0, ("E",)),  # keeps the shape 68s
        ("2345678m345p22s1z", 0, ("E",)),
        ("1133m2244p5566s7z9s", 0, ("C", "9s")),  # seven pairs
        ("23456m55p2z", 2, ("S",)),
        ("23m55p7z", 3, ("C",)),
        ("23m", 4, ("2m", "3m")),
    ],
)
def test_plain_discards(features, text, n_melds, expected):
    assert best_of(HandEvaluator.load(features), text, n_melds) in expected


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_only_held_kinds_have_a_score(features):
    hand = hand_counts("2344m457p3456s112z")
    scores = HandEvaluator.load(features).scores(hand, 0, unseen_beside(hand))
    assert np.array_equal(np.isfinite(scores), hand > 0)
    assert np.array_equal(scores == -np.inf, hand == 0)


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_it_goes_towards_a_win_where_it_is_near(features, random_hand):
    """From 1-shanten on it nearly never takes a step back, which it could in any hand."""
    evaluator = HandEvaluator.load(features)
    dice = np.random.default_rng(6)
    shantens, masks = np.zeros(34, np.int8), np.zeros(34, np.int64)
    counts = np.zeros(34, np.int16)
    near = kept = 0
    for _ in range(3000):
        hand = random_hand(dice, 14)
        acceptance_by_discard(hand, 0, unseen_beside(hand), shantens, masks, counts)
        held = shantens[hand > 0]
        if held.min() == 1 and held.max() > 1:
            near += 1
            scores = evaluator.scores(hand, 0, unseen_beside(hand))
            kept += shantens[int(np.argmax(scores))] == 1
    assert near > 100
    assert kept / near > 0.9


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_at_a_table_it_sees_what_the_seat_sees_and_no_more(features):
    evaluator = HandEvaluator.load(features)
    referee = Referee(seed=3)
    referee.start()
    looked = 0
    while not referee.over and looked < 40:
        for seat in referee.asked:
            if int(referee.state["turn"]) == seat and int(referee.state["drawn"]) >= 0:
                scores = evaluator.scores_at(referee.state, seat)
                position = new_position()
                observe(referee.state, seat, position)
                assert np.array_equal(scores, evaluator.scores_of(position))
                blank = copy_state(referee.state)
                hide(blank, seat)
                assert np.array_equal(scores, evaluator.scores_at(blank, seat))
                looked += 1
        referee.step({seat: referee.view(seat).default_action for seat in referee.asked})
    assert looked == 40


def test_dora_and_value_honours_are_kept_beyond_the_paper():
    evaluator = HandEvaluator.load("plus")
    position = new_position()
    position["hand"] = hand_counts("123m456p2279s1256z")
    position["unseen"] = unseen_beside(position["hand"])
    position["seat_wind"], position["round_wind"], position["dragons"] = 0, 0, 1
    plain = evaluator.scores_of(position)
    assert plain[28] > plain[27]  # South, a guest wind, goes before East, worth two yaku
    position["dora"][28] = 1
    assert evaluator.scores_of(position)[28] < plain[28]
    position["seat_wind"] = position["round_wind"] = 1
    assert evaluator.scores_of(position)[27] > evaluator.scores_of(position)[28]


def test_beyond_the_paper_a_wait_that_the_player_discarded_is_worth_less():
    evaluator = HandEvaluator.load("plus")
    position = new_position()
    position["hand"] = hand_counts("123m456p234s55z578s")
    position["unseen"] = unseen_beside(position["hand"])
    fresh = evaluator.scores_of(position)
    position["own"] = 1 << 23 | 1 << 26  # 6s and 9s
    assert evaluator.scores_of(position)[22] - fresh[22] < 0


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_the_shipped_weights_are_small_and_say_where_they_come_from(features):
    name = weights_name(features)
    manifest = load_manifest(name)
    assert (SHIPPED / f"{name}.npz").stat().st_size < 300_000
    assert manifest.arrays["weights"].shape == (N_FEATURES[features],)
    assert manifest.command.startswith("mjbot train hand")  # as it was called then
    paper = {1: 0.53, 2: 0.77, 3: 0.85}
    for rank, share in paper.items():
        report = str(manifest.scores[f"held out, up to the first riichi, rank {rank}"])
        assert float(report.split(maxsplit=1)[0]) > share


def test_weights_of_another_version_are_refused(tmp_path):
    manifest = Manifest(data="", command="", seed=0, scores={})
    save_weights("hand-plus", {"weights": np.zeros(7, np.float16)}, manifest, tmp_path)
    shapes = rf"weights is of shape \(7,\), not \({plus_features.N_FEATURES},\)"
    with pytest.raises(WeightsError, match=shapes):
        HandEvaluator.load("plus", tmp_path)
    assert json.loads((tmp_path / "hand-plus.json").read_text())["seed"] == 0
