"""Training of the rank model and of the paper's networks, on columns made by hand."""

import msgspec
import numpy as np
import pytest

from mjbot.game.table.settle import ranks_of
from mjbot.game.table.state import STATE
from mjbot.learning.models.networks.rank import KyokuStart, RankModel
from mjbot.learning.training import runs
from mjbot.learning.training.networks import rank
from mjbot.learning.training.networks.decisions import (
    DECISION,
    KINDS,
    KYOKU,
    DataError,
    DataInfo,
    DecisionKind,
    layout,
)
from mjbot.learning.training.requests import RankRequest
from mjbot.learning.training.runs import GameRange, TrainingError
from mjbot.runtime.errors import ArgumentError
from papers.matsuda2021 import training as paper_training
from papers.matsuda2021.networks import PaperNetwork
from papers.matsuda2021.rank_controls import controls, paper_bins
from papers.matsuda2021.requests import PaperRequest
from tests.papers.conftest import small_networks

__all__ = ["small_networks"]

N_GAMES = 40


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="training needs torch: pip install 'mjbot[train]'")


def kyoku_rows(n_games, seed=0):
    """Games of eight kyoku, each of which moves points at random."""
    dice = np.random.default_rng(seed)
    rows = np.zeros(8 * n_games, KYOKU)
    for game in range(n_games):
        scores = np.full(4, 25_000)
        some = rows[8 * game : 8 * game + 8]
        for number, row in enumerate(some):
            row["game"], row["kyoku"], row["round"] = game, number, number
            row["dealer"], row["scores"] = number % 4, scores
            winner, loser = dice.permutation(4)[:2]
            change = np.zeros(4, int)
            change[winner], change[loser] = 4000, -4000
            row["change"] = change
            scores = scores + change
        some["ranks"] = ranks_of(scores)
    return rows


def decision_rows(kind, n_games):
    """Whoever holds the first kind says yes, or discards it."""
    n = 12 * n_games
    states, rows = np.zeros(n, STATE), np.zeros(n, DECISION)
    rows["game"], rows["kind"], rows["legal"] = np.arange(n) // 12, KINDS.index(kind), 3
    rows["choice"] = np.random.default_rng(1).integers(0, 2, n)
    states["hand"][np.arange(n), 0, rows["choice"]] = 3
    states["last_tile"] = -1
    return states, rows


@pytest.fixture
def columns(tmp_path):
    """Return a function that makes a folder of columns."""

    def make(name, n_games=N_GAMES, seed=0, digests=()):
        folder = tmp_path / name
        folder.mkdir()
        for kind in KINDS:
            states, rows = decision_rows(kind, n_games)
            np.save(folder / f"{kind}-states.npy", states)
            np.save(folder / f"{kind}-rows.npy", rows)
        np.save(folder / "kyoku-rows.npy", kyoku_rows(n_games, seed))
        info = DataInfo(
            data="by hand", command="", games=n_games, rows={}, layout=layout(), digests=digests
        )
        (folder / "decisions.json").write_bytes(msgspec.json.encode(info))
        return folder

    return make


def rank_request(data, out, **changed):
    asked = {"games": GameRange("0:30"), "nets": 1, "passes": 6, "seed": 0}
    return RankRequest(data=data, out=out, **(asked | changed))


def paper_request(data, folder, **changed):
    asked = {
        "games": GameRange("0:30"), "kinds": [DecisionKind.PON], "rows": 1024, "check_rows": 50,
        "seed": 0, "fresh": False, "out": None,
    }  # fmt: skip
    return PaperRequest(data=data, folder=folder, **(asked | changed))


def test_the_rank_model_learns_who_leads_and_is_weighed_against_the_controls(
    torch, columns, tmp_path
):
    data = [columns("one"), columns("other", seed=1)]
    learned = rank.train(rank_request(data, tmp_path / "weights"), controls)
    scores = learned.manifest.scores
    for label in ("one", "other"):
        for model in ("ours", "softmax regression", "the paper's form"):
            assert f"{label}: {model}: squared error" in scores
        assert f"{label}: ours less softmax regression: cross-entropy" in scores
    assert scores["one: rows"] == 8 * 10
    assert scores["other: rows"] == 8 * N_GAMES
    model = RankModel.load(tmp_path / "weights")
    scores = np.array([37_000, 21_000, 21_000, 21_000], np.int32)
    assert model.expected_ranks(KyokuStart(scores, 7, 7, 0, 0, 3)).argmin() == 0


def test_the_same_seed_gives_the_same_rank_model(torch, columns, tmp_path):
    data = [columns("one")]
    request = rank_request(data, tmp_path / "a", passes=4)
    again = rank_request(data, tmp_path / "b", passes=4)
    assert rank.train(request).manifest.digest == rank.train(again).manifest.digest


def test_the_papers_bins_have_the_own_score_first():
    rows = np.zeros(1, KYOKU)
    rows["scores"], rows["round"], rows["honba"] = [0, 500, 60_000, 99_000], 5, 2
    bins = paper_bins(rows)[0] - 120 * np.arange(7)
    assert bins[0].tolist() == [0, 0, 119, 119, 5, 2, 0]
    assert bins[2].tolist() == [119, 119, 0, 0, 5, 2, 0]


def test_a_network_of_the_paper_learns_and_says_how_well(
    torch, small_networks, columns, tmp_path, monkeypatch
):
    monkeypatch.setattr(paper_training, "EVALUATE_EVERY", 512)
    data = [columns("one"), columns("other")]
    (learned,) = paper_training.train(paper_request(data, tmp_path / "run", rows=2048))
    scores = learned.manifest.scores
    assert float(str(scores["one: accuracy"]).split()[0]) > 0.9
    assert scores["other: rows"] == 50
    assert "one: rounding changes accuracy by" in scores
    assert PaperNetwork.load("pon", tmp_path / "run").layers[-1].bias.shape == (2,)


def test_an_interrupted_network_goes_on_to_the_same_weights(
    torch, small_networks, columns, tmp_path, monkeypatch
):
    monkeypatch.setattr(paper_training, "EVALUATE_EVERY", 256)
    data = [columns("one")]
    (whole,) = paper_training.train(paper_request(data, tmp_path / "whole"))
    look, looks = paper_training.PaperNetworkFit._evaluate, []

    def killed(lesson):
        looks.append(lesson)
        if len(looks) == 3:
            raise KeyboardInterrupt
        return look(lesson)

    monkeypatch.setattr(paper_training.PaperNetworkFit, "_evaluate", killed)
    with pytest.raises(KeyboardInterrupt):
        paper_training.train(paper_request(data, tmp_path / "run"))
    monkeypatch.setattr(paper_training.PaperNetworkFit, "_evaluate", look)
    (resumed,) = paper_training.train(paper_request(data, tmp_path / "run"))
    assert resumed.manifest.digest == whole.manifest.digest


def test_columns_that_cannot_be_used_are_told_in_one_line(torch, columns, tmp_path):
    with pytest.raises(DataError, match="is missing"):
        rank.train(rank_request([tmp_path / "nowhere"], None))
    with pytest.raises(ArgumentError, match="--games"):
        paper_training.train(
            paper_request([columns("one")], tmp_path / "run", games=GameRange("0:3"))
        )


def test_a_network_that_learned_from_other_games_is_not_resumed(
    torch, small_networks, columns, tmp_path
):
    """It may have learned from the games that are now held out."""
    data = [columns("one")]
    folders = [("run", "0:20"), ("run", "10:30"), ("other", "10:30")]
    _, later, fresh = [
        paper_training.train(paper_request(data, tmp_path / run, games=GameRange(games)))[0]
        for run, games in folders
    ]
    assert later.manifest.digest == fresh.manifest.digest


def test_no_model_is_checked_with_a_game_that_it_learns_from(torch, columns, tmp_path):
    data = [columns("one", digests=("aa", "bb")), columns("other", digests=("bb", "cc"))]
    requests = [
        (rank.train, rank_request(data, None)),
        (paper_training.train, paper_request(data, tmp_path / "run")),
    ]
    for train, request in requests:
        with pytest.raises(DataError, match="other: 1 game of it is in a folder before it, too"):
            train(request)


def test_without_torch_one_line_says_what_to_install(monkeypatch, tmp_path):
    runs.torch.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(
        TrainingError, match=r"torch is not installed; pip install 'mjbot\[train\]'"
    ):
        rank.train(rank_request([tmp_path], None))
    runs.torch.cache_clear()
