"""The rank model: what holds for any weights, and what the ones that ship say."""

import itertools

import numpy as np
import pytest

from mjbot.game.table.settle import ranks_of
from mjbot.game.table.state import GAME_OVER as GAME_OVER_PHASE
from mjbot.game.table.state import TURN, WON, new_state
from mjbot.learning.models.networks.rank import (
    GAME_OVER,
    N_FEATURES,
    KyokuStart,
    RankModel,
    RankWeights,
    rank_chances_of,
    rank_model,
)
from mjbot.learning.models.weights import Manifest, WeightsError, save_weights

EVEN = (25_000,) * 4


def situation(scores=EVEN, round_=0, last_round=7, honba=0, sticks=0, dealer=None):
    dealer = round_ % 4 if dealer is None else dealer
    return KyokuStart(np.array(scores, np.int32), round_, last_round, honba, sticks, dealer)


def random_model(seed=0, units=8, nets=2):
    dice = np.random.default_rng(seed)
    shapes = (
        (nets, N_FEATURES, units), (nets, units), (nets, units, units), (nets, units),
        (nets, units, 4), (nets, N_FEATURES, 4), (nets, 4),
    )  # fmt: skip
    return RankModel(RankWeights(*[dice.normal(0, 0.2, shape).astype("f4") for shape in shapes]))


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_each_rank_is_given_once(seed, players):
    dice = np.random.default_rng(seed)
    scores = 100 * (dice.multinomial(1000, [1 / players] * players))
    chances = random_model(seed).chances(situation(scores, 5, honba=2, sticks=1))
    ones = np.where(np.arange(4) < players, 1.0, 0.0)
    assert chances.sum(axis=1) == pytest.approx(ones)
    assert chances.sum(axis=0) == pytest.approx(ones, abs=1e-5)


@pytest.mark.parametrize(
    ("scores", "round_", "last_round"),
    [
        ((30_000, 20_000, 25_000, 25_000), GAME_OVER, 7),
        ((50_100, -100, 25_000, 25_000), 2, 7),
        ((30_000, 20_000, 25_000, 25_000), 8, 7),
        ((30_000, 20_000, 25_000, 25_000), 4, 3),
        ((29_000, 21_000, 25_000, 25_000), 12, 7),
        ((39_900, 35_000, 30_100), GAME_OVER, 6),
        ((60_000, 46_000, -1_000), 2, 6),
        ((41_000, 30_000, 34_000), 8, 6),
    ],
)
def test_a_finished_game_has_its_ranks(scores, round_, last_round):
    chances = random_model().chances(situation(scores, round_, last_round, dealer=0))
    assert (chances[: len(scores)] == np.eye(4)[np.array(ranks_of(scores)) - 1]).all()
    assert (chances[len(scores) :] == 0).all()


def test_past_the_last_kyoku_without_the_points_the_game_goes_on():
    chances = random_model().chances(situation((29_000, 21_000, 25_000, 25_000), 8))
    assert 0 < chances[0, 0] < 1


def test_past_the_last_kyoku_a_dealer_that_stays_plays_on_whoever_leads():
    chances = random_model().chances(situation((36_000, 21_000, 22_000, 21_000), 9, honba=1))
    assert 0 < chances[0, 0] < 1


def test_kyoku_left_count_and_not_the_wind():
    scores = (31_000, 19_000, 27_000, 23_000)
    model = random_model()
    short = model.chances(situation(scores, 2, 3, dealer=2))
    assert (short == model.chances(situation(scores, 6, 7, dealer=2))).all()


def test_a_paid_kyoku_is_asked_as_the_start_of_the_next():
    state = new_state()
    state["scores"], state["rules"]["last_round"], state["round"], state["dealer"] = EVEN, 7, 3, 3
    state["scores"][:2] = 33_000, 17_000
    state["phase"] = TURN
    model, out = random_model(), np.empty((4, 4))
    rank_chances_of(model.weights, state, out)
    assert (out == model.chances(situation(state["scores"], 3))).all()
    state["phase"], state["wins"], state["dealer_stays"], state["honba"] = WON, 1, 0, 2
    rank_chances_of(model.weights, state, out)
    assert (out == model.chances(situation(state["scores"], 4, dealer=0))).all()
    state["dealer_stays"] = 1
    rank_chances_of(model.weights, state, out)
    assert (out == model.chances(situation(state["scores"], 3, honba=3))).all()
    state["round"] = 7
    state["dealer_stays"] = 0
    rank_chances_of(model.weights, state, out)
    assert out[0, 0] == out[1, 3] == 1
    state["round"], state["phase"] = 2, GAME_OVER_PHASE
    rank_chances_of(model.weights, state, out)
    assert out[0, 0] == 1


def test_who_leads_is_expected_to_rank_better_the_more_so_the_later_it_is():
    model, scores = rank_model(), (37_000, 29_000, 21_000, 13_000)
    for round_, last in itertools.chain(((r, 7) for r in range(8)), ((r, 3) for r in range(4))):
        ranks = model.expected_ranks(situation(scores, round_, last))
        assert (np.diff(ranks) > 0).all()
        assert ranks.sum() == pytest.approx(10, abs=1e-4)
    late, early = (model.expected_ranks(situation(scores, round_))[0] for round_ in (7, 1))
    assert late < early


def test_west_rounds_and_odd_scores_give_something_sensible():
    model = rank_model()
    west = model.expected_ranks(situation((29_900, 28_000, 22_100, 20_000), 8))
    assert west[0] < 2 and west[3] > 2.8
    rich = model.chances(situation((99_000, 500, 300, 200), 6, honba=20, sticks=9))
    assert rich[0, 0] > 0.97
    assert np.isfinite(rich).all()


def test_weights_of_another_shape_or_version_are_refused_in_one_line(tmp_path):
    def save(**changed):
        arrays = random_model().weights._asdict() | {"version": np.array([1])} | changed
        save_weights("rank", arrays, Manifest(data="", command="", seed=0, scores={}), tmp_path)

    save(version=np.array([2]))
    with pytest.raises(WeightsError, match=r"rank.npz: is not of version 1; train it again"):
        RankModel.load(tmp_path)
    save(second=np.zeros((2, 8, 9), np.float32))
    with pytest.raises(WeightsError, match=r"second is of shape \(2, 8, 9\), not \(2, 8, 8\)"):
        RankModel.load(tmp_path)
    save(skip=np.zeros((2, 4), np.int8))
    with pytest.raises(WeightsError, match=r"skip is of shape \(2, 4\), .* train it again"):
        RankModel.load(tmp_path)
