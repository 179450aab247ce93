"""The model of hidden hands: what it looks at, how it answers, and that it was fitted."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.game.table.assume import hide
from mjbot.game.table.state import NO_RIICHI, RIICHI_DISCARD, TSUMOGIRI, copy_state
from mjbot.learning.models.networks.hidden_shanten import (
    LAST_PUSH,
    N_ACTIVE,
    N_FEATURES,
    N_SHANTEN,
    PUSHED,
    RECENT,
    ShantenWeights,
    learned_chances,
    predict,
    shanten_weights,
    write_signs,
)
from mjbot.learning.models.weights import (
    SHIPPED,
    Manifest,
    WeightsError,
    load_manifest,
    load_weights,
    save_weights,
)
from mjbot.learning.training.positions import index_games, steps

LOGS = sorted((Path(__file__).parents[4] / "logs").glob("*.mjson"))
FIRST_OF_GROUPS = [
    0, *range(RECENT, RECENT + 55, 11), 169, 190, 203, 206, 213, 220, 231, 247, 252, 255, 258, 262,
    268, 280, 296, 301, 313, 319, 327, 329, 331, 341, 356, N_FEATURES,
]  # fmt: skip


def signs_of(state, seat):
    active = np.full(N_ACTIVE, -1, np.int16)
    write_signs(state, seat, active)
    return active


def chances_of(state, seat, weights=None):
    out = np.empty(N_SHANTEN)
    learned_chances(state, seat, weights or shanten_weights(), out)
    return out


def test_one_feature_of_each_group_is_active_and_nothing_hidden_is_looked_at():
    seen = 0
    for game in steps(index_games(LOGS[:2])):
        for number, step in enumerate(game):
            if number % 9 or not step.state["n_river"].any():
                continue
            for seat in range(4):
                active = signs_of(step.state, seat)
                groups = np.searchsorted(FIRST_OF_GROUPS, active, side="right")
                assert sorted(groups.tolist()) == list(range(1, N_ACTIVE + 1))
                blind = copy_state(step.state)
                hide(blind, (seat + 1) % 4)  # who looks knows its own hand, and the seat not
                assert (signs_of(blind, seat) == active).all()
                seen += 1
    assert seen > 200


def test_chances_are_the_softmax_of_a_hidden_layer_over_what_is_possible():
    dice = np.random.default_rng(1)
    shapes = ((N_FEATURES, 5), (5,), (N_SHANTEN, 5), (N_SHANTEN,))
    weights = ShantenWeights(*(dice.normal(size=shape).astype(np.float32) for shape in shapes))
    active = dice.permutation(N_FEATURES)[:N_ACTIVE].astype(np.int16)
    hidden = np.maximum(0, weights.first[active].sum(axis=0) + weights.first_bias)
    numbers = weights.last @ hidden + weights.last_bias
    for highest in (0, 2, 6):
        out, odds = np.empty(N_SHANTEN), np.exp(numbers - numbers.max())
        predict(weights, active, highest, out)
        odds[highest + 1 :] = 0
        assert out == pytest.approx(odds / odds.sum(), abs=1e-4)


@pytest.mark.parametrize("melds", [0, 1, 2, 3, 4])
def test_so_few_tiles_are_not_so_far(position, melds):
    state = position("123m", rivers={1: "19m1234z456p"}).state
    state["n_melds"][1] = melds
    chances = chances_of(state, 1)
    assert chances.sum() == pytest.approx(1)
    assert (chances[: 9 - 2 * melds] > 0).all()
    assert not chances[9 - 2 * melds :].any()


def test_a_discard_that_is_not_safe_from_riichi_is_told_from_a_safe_one(position):
    state = position("123m", rivers={1: "19m5p", 2: "9p1z3s", 3: "4s"}, riichi=[2]).state
    state["river_turn"][1, :3], state["river_turn"][2, :3] = (0, 3, 6), (1, 4, 7)
    state["river_turn"][3, 0] = 5
    state["river_flags"][2, 1] = RIICHI_DISCARD  # at turn 4
    signs = set(signs_of(state, 1).tolist())
    assert {PUSHED + 4 * 1 + 1, LAST_PUSH + 4} <= signs  # 5p, from hand
    state["river"][1, 2] = 21  # 4s was let pass the turn before
    state["river_flags"][1, 2] = TSUMOGIRI
    assert {PUSHED + 4 * 1, LAST_PUSH + 1} <= set(signs_of(state, 1).tolist())
    state["riichi"][2] = NO_RIICHI
    assert {PUSHED, LAST_PUSH} <= set(signs_of(state, 1).tolist())


def test_a_silent_hand_is_far_and_melds_bring_it_near(position):
    state = position("123m", rivers={1: "19m1234z456p22s"}).state
    found = [chances_of(state, 1)[0]]
    state["is_open"][1] = 1
    for melds in range(1, 4):
        state["n_melds"][1] = melds
        state["meld_kind"][1, :melds] = (0, 9, 18)[:melds]
        found.append(chances_of(state, 1)[0])
    assert found == sorted(found)
    assert found[0] < 0.1
    assert found[3] > 0.5


def test_what_ships_is_small_and_beats_the_greedy_table_on_games_it_did_not_learn_from():
    assert (SHIPPED / "shanten.npz").stat().st_size < 100_000
    scores = load_manifest("shanten").scores
    for label in ("held out", "hanchan-2020.zip"):
        upper = float(str(scores[f"{label}: ours less greedy: log loss"]).split()[2].rstrip("]"))
        assert upper < 0
        found = float(str(scores[f"{label}: 0 melds: tenpai"]).split()[0])
        assert float(scores[f"{label}: 0 melds: ours: predicted"]) == pytest.approx(found, rel=0.1)


def test_weights_of_another_form_are_one_line(tmp_path):
    arrays = dict(load_weights("shanten")) | {"last": np.zeros((6, 32), np.float16)}
    save_weights("shanten", arrays, Manifest(data="", command="", seed=0, scores={}), tmp_path)
    with pytest.raises(WeightsError, match=r"last is not \(7, 32\); train it again"):
        shanten_weights(tmp_path)
