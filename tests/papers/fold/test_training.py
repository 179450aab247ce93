"""The machine: scored as scikit-learn scores it, searched by grid, trained from our own games."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.learning.models.fold import FoldRecogniser, arrays_of, margin
from mjbot.learning.models.fold_features import N_FEATURES
from mjbot.learning.models.weights import Manifest, WeightsError, load_manifest, save_weights
from mjbot.runtime.append_log import LogError
from papers.__main__ import main
from papers.mizukami2013.training import fold as fold_train
from papers.mizukami2013.training.fold_grid import (
    HIGHEST,
    LOWEST,
    Cell,
    Examples,
    GridSearch,
    fold_numbers,
    held_out_margins,
    support_vector_machine,
)
from papers.mizukami2013.training.fold_labels import FOLD, PUSH, UNCLEAR
from papers.mizukami2013.training.fold_positions import best_threshold, f1_of, scores_of


def clouds(n: int, seed: int) -> Examples:
    """Two clouds of features that overlap, four rows of each game."""
    random = np.random.default_rng(seed)
    labels = (random.random(n) < 0.3).astype(np.int8)
    features = random.normal(0.3 * labels[:, None], 0.5, (n, N_FEATURES)).astype(np.float32)
    return Examples(features, labels, np.arange(n, dtype=np.int32) // 4)


def test_the_compiled_machine_scores_as_scikit_learn_does():
    examples, others = clouds(200, 1), clouds(50, 2)
    model = fold_train.trained(examples, Cell(3, -5, 0.0), threshold=0.25)
    machine = support_vector_machine(3, -5).fit(examples.features, examples.labels)
    expected = machine.decision_function(others.features) - 0.25
    found = np.array([margin(model, row) for row in others.features])
    np.testing.assert_allclose(found, expected, atol=0.02)  # the vectors are kept as float16
    assert 0.1 < np.mean(found > 0) < 0.9


def test_saved_and_loaded_it_says_the_same(tmp_path: Path):
    examples = clouds(100, 3)
    model = fold_train.trained(examples, Cell(0, -4, 0.0), threshold=0.0)
    manifest = Manifest(data="clouds", command="none", seed=3, scores={})
    save_weights("fold", arrays_of(model), manifest, tmp_path)
    loaded = FoldRecogniser.load(tmp_path).model
    row = examples.features[0]
    assert margin(loaded, row) == pytest.approx(margin(model, row), abs=1e-6)


def test_weights_of_another_shape_are_refused_in_one_line(tmp_path: Path):
    manifest = Manifest(data="", command="", seed=0, scores={})
    short = {"support": np.zeros((3, 2)), "coefficients": np.zeros(2)}
    arrays = {**short, "gamma_and_offset": np.zeros(2)}
    save_weights("fold", arrays, manifest, tmp_path)
    with pytest.raises(WeightsError, match=r"fold\.npz: support is of shape \(3, 2\), not"):
        FoldRecogniser.load(tmp_path)
    save_weights("fold", short, manifest, tmp_path)
    with pytest.raises(WeightsError, match=r"gamma_and_offset is missing, .* train it again"):
        FoldRecogniser.load(tmp_path)


# --- the grid --------------------------------------------------------------------------------


def test_the_rows_of_a_game_are_judged_together():
    games = np.repeat(np.arange(23, dtype=np.int32), 7)
    fifths = fold_numbers(games, 0)
    assert set(fifths.tolist()) == set(range(5))
    assert all(len(set(fifths[games == game].tolist())) == 1 for game in range(23))
    assert fifths.tolist() != fold_numbers(games, 1).tolist()


def test_margins_come_from_machines_that_did_not_see_the_game():
    examples = clouds(60, 4)
    games = np.zeros(60, np.int32)
    games[30:] = np.arange(30)
    found = held_out_margins(Examples(examples.features, examples.labels, games), 10, 0, seed=0)
    seen = support_vector_machine(10, 0).fit(examples.features, examples.labels)
    assert np.array_equal(seen.predict(examples.features), examples.labels)  # learned by heart
    assert not np.array_equal(found > 0, examples.labels == FOLD)


def tried(examples: Examples, file: Path, step: int) -> tuple[Cell, list[tuple[int, int]]]:
    cells: list[tuple[int, int]] = []
    with GridSearch(examples, file, 0) as search:
        best = search.search(step, lambda cell, left: cells.append((cell.cost, cell.gamma)))
    return best, cells


def test_the_grid_is_the_papers_and_is_refined_around_the_best(tmp_path, monkeypatch):
    peak = (7, -5)

    def margins(examples, cost, gamma, seed, jobs):
        # the further from the peak, the more labels are missed
        wrong = abs(cost - peak[0]) + abs(gamma - peak[1])
        found = np.where(examples.labels == FOLD, 1.0, -1.0)
        found[: 2 * wrong] *= -1
        return found

    monkeypatch.setattr("papers.mizukami2013.training.fold_grid.held_out_margins", margins)
    examples = clouds(400, 5)
    best, cells = tried(examples, tmp_path / "fine", step=1)
    axis = range(LOWEST, HIGHEST + 1)
    assert (best.cost, best.gamma) == peak
    assert cells == [(cost, gamma) for cost in axis for gamma in axis]
    best, cells = tried(examples, tmp_path / "coarse", step=4)
    assert (best.cost, best.gamma) == peak
    assert len(set(cells)) < 60
    assert all(cost in axis and gamma in axis for cost, gamma in cells)


def test_cells_that_are_known_are_not_tried_again(tmp_path, monkeypatch):
    file, examples = tmp_path / "cells", clouds(80, 6)
    best, cells = tried(examples, file, step=4)
    kept = file.read_bytes()
    assert kept.count(b"\n") == 1 + len(set(cells))
    with file.open("ab") as unfinished:
        unfinished.write(b'{"cost":1,"ga')
    monkeypatch.setattr("papers.mizukami2013.training.fold_grid.held_out_margins", None)
    assert tried(examples, file, step=4) == (best, cells)
    assert file.read_bytes() == kept
    file.write_bytes(kept.replace(b'"cost":', b'"price":', 1))
    with pytest.raises(LogError, match=r"cells, line 2: .*`cost`; delete .* or use --fresh"):
        GridSearch(examples, file, 0)
    file.write_bytes(kept)
    with pytest.raises(LogError, match=r"holds a run with seed 0; name another --folder"):
        GridSearch(examples, file, 1)


# --- how good it is --------------------------------------------------------------------------


def test_scores_by_hand():
    labels = np.int8([FOLD, FOLD, FOLD, PUSH, PUSH, PUSH, UNCLEAR, UNCLEAR])
    output = np.int8([FOLD, FOLD, PUSH, FOLD, PUSH, PUSH, FOLD, PUSH])
    scores = scores_of(labels, output, np.int32([0, 0, 1, 1, 2, 2, 3, 3]))
    assert scores["fold precision"].value == pytest.approx(2 / 3)
    assert scores["fold recall"].value == pytest.approx(2 / 3)
    assert scores["fold F1"].value == pytest.approx(2 / 3)
    assert scores["push recall"].value == pytest.approx(2 / 3)
    assert scores["fold F1, unclear as push"].value == pytest.approx(4 / 7)
    assert scores["fold F1"].low < 2 / 3 < scores["fold F1"].high


def test_the_best_threshold_is_the_best_of_all():
    random = np.random.default_rng(7)
    for _ in range(20):
        labels = (random.random(40) < 0.2).astype(np.int8)
        margins = random.normal(labels, 1.0)
        best = f1_of(labels, (margins > best_threshold(labels, margins)).astype(np.int8))
        everywhere = [f1_of(labels, (margins > t).astype(np.int8)) for t in np.linspace(-4, 4, 999)]
        assert best >= max(everywhere)
    assert best_threshold(np.zeros(3, np.int8), np.arange(3.0)) == 0.0


# --- the command -----------------------------------------------------------------------------


def train(*arguments: object) -> int:
    return main(["train-fold", *map(str, arguments)])


def test_it_learns_from_games_of_our_own_and_goes_on_after_a_kill(folding_games, tmp_path, capsys):
    folder = tmp_path / "run"
    rest = ["--games", ":9", "--validate", "9:", "--per-game", 60, "--grid", 120, "--jobs", 1]
    rest += ["--folder", folder, "--out", tmp_path]
    assert train(folding_games, *rest) == 0
    assert "held out" in capsys.readouterr().out
    manifest = load_manifest("fold", tmp_path)
    assert manifest.scores["positions, fold"] > 10
    assert "--seed 0 --per-game 60 --step 4 --grid 120" in manifest.command
    (cells,) = folder.glob("cells-*.jsonl")
    lines = cells.read_bytes().splitlines(keepends=True)
    cells.write_bytes(b"".join(lines[:20]) + lines[20][:9])  # killed while writing
    assert train(folding_games, *rest[:-2]) == 0  # the weights go where the run is
    assert load_manifest("fold", folder).digest == manifest.digest
    assert load_manifest("fold", folder).scores == manifest.scores


def test_too_little_to_learn_from_is_said(folding_games, tmp_path, capsys):
    rest = ["--folder", tmp_path, "--out", tmp_path, "--jobs", 1]
    assert train(folding_games, "--games", "500:", *rest) == 2
    assert train(folding_games, "--games", ":2", "--per-game", 1, *rest) == 1
    assert train(folding_games, "--grid", 0, *rest) == 2
    assert capsys.readouterr().err.count("python -m papers train-fold: ") == 3
