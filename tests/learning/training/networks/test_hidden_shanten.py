"""Training of the model of hidden hands, on our own logs and on rows made by hand."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.cli.main import main
from mjbot.game.records.game import Entry, Game
from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.tile_sets import shanten_of
from mjbot.game.table.state import NO_RIICHI
from mjbot.learning.models.networks.hidden_shanten import N_FEATURES, N_SHANTEN, shanten_weights
from mjbot.learning.models.tenpai import greedy_table
from mjbot.learning.models.weights import load_manifest
from mjbot.learning.training.networks.hidden_shanten import (
    ShantenRow,
    calibration,
    compare,
    fill_row,
    fit,
    predictions,
    rows_of,
)
from mjbot.learning.training.positions import index_games, replay_trusted, steps
from mjbot.protocol.messages import Dahai
from mjbot.protocol.rules import Rules
from tests.game.referee.scripted import random_game

LOGS = sorted((Path(__file__).parents[4] / "logs").glob("*.mjson"))


@pytest.fixture(autouse=True)
def torch():
    """Load torch where these tests run, not wherever they are collected."""
    pytest.importorskip("torch")


def made_rows(n, seed=0):
    """Rows with one telling feature: tenpai nine times of ten with it, one of ten without."""
    dice = np.random.default_rng(seed)
    rows = np.zeros(n, ShantenRow.dtype)
    rows["game"], rows["highest"] = np.arange(n) // 20, 2
    text = dice.random(n) < 0.5
    tenpai = dice.random(n) < np.where(text, 0.9, 0.1)
    rows["shanten"] = np.where(tenpai, 0, dice.integers(1, 3, n))
    rows["active"] = np.arange(rows["active"].shape[1])
    rows["active"][:, 0] = np.where(text, 300, 0)
    rows["greedy"] = np.eye(N_SHANTEN)[:1] * 0.25 + np.eye(N_SHANTEN)[1:2] * 0.75
    return rows, text


def test_a_row_holds_what_the_seat_has():
    table, row, n = greedy_table(), np.zeros(1, ShantenRow.dtype)[0], 0
    for game in steps(index_games(LOGS[:1])):
        for step in game:
            if isinstance(step.event, Dahai):
                seat = (step.event.actor + 1) % 4
                melds = int(step.state["n_melds"][seat])
                fill_row(step.state, seat, table, row)
                far = min(6, shanten(step.state["hand"][seat].copy(), melds))
                assert (int(row["shanten"]), int(row["melds"])) == (max(0, far), melds)
                assert row["greedy"].sum() == pytest.approx(1)
                n += 1
    assert n > 20


def test_of_each_discard_one_of_the_others_is_looked_at_unless_it_is_in_riichi():
    for game in steps(index_games(LOGS[:1])):
        kept = list(game)
    rows = rows_of(iter(next(steps(index_games(LOGS[:1])))))
    discards = sum(isinstance(step.event, Dahai) for step in kept)
    assert discards / 2 < len(rows) <= discards
    assert (rows["shanten"] <= rows["highest"]).all()
    riichi = any((step.state["riichi"] != NO_RIICHI).any() for step in kept)
    assert riichi or len(rows) == discards


def test_what_made_the_rows_is_found_and_fits_what_was_not_learned_from():
    rows, _ = made_rows(20_000)
    weights = fit(rows, 8, 1)
    others, text = made_rows(8_000, 2)
    models = predictions(weights, rows, others)
    assert models["ours"][text, 0].mean() == pytest.approx(0.9, abs=0.03)
    assert models["ours"][~text, 0].mean() == pytest.approx(0.1, abs=0.03)
    assert models["prior"][:, 0] == pytest.approx(0.5, abs=0.02)
    for chances in models.values():
        assert chances.sum(axis=1) == pytest.approx(np.ones(len(others)))
        assert not chances[:, 3:].any()
    told_figures = compare(models, others)
    assert float(str(told_figures["ours less greedy: log loss"]).split()[2].rstrip("]")) < 0
    assert float(str(told_figures["ours: tenpai: AUC"]).split()[0]) == pytest.approx(0.9, abs=0.02)
    assert float(str(told_figures["greedy: tenpai: AUC"]).split()[0]) == 0.5
    lines = calibration(models["ours"], others)
    assert lines[0] == "tenpai of all: predicted and found by tenths, %"
    predicted, found = (float(part) for part in lines[1].split()[:2])
    assert predicted == pytest.approx(found, abs=4)


def test_the_log_loss_of_tenpai_is_of_tenpai_or_not():
    rows, text = made_rows(400)
    models = predictions(fit(rows, 0, 1), rows, rows)
    models["ours"] = np.zeros((len(rows), N_SHANTEN))
    models["ours"][:, 0] = np.where(text, 0.8, 0.3)
    models["ours"][:, 1] = 1 - models["ours"][:, 0]
    tenpai = rows["shanten"] == 0
    loss = -np.log(np.where(tenpai, models["ours"][:, 0], models["ours"][:, 1])).mean()
    figures = compare(models, rows)
    for figure in ("ours: tenpai: log loss", "0 melds: ours: tenpai: log loss"):
        assert float(str(figures[figure]).split()[0]) == pytest.approx(loss, abs=1e-4)
    assert figures["0 melds: ours: predicted"] == f"{models['ours'][:, 0].mean():.4f}"


def test_the_same_seed_fits_the_very_same_weights():
    rows, _ = made_rows(2_000)
    one, again, other = (fit(rows, 1, seed) for seed in (3, 3, 4))
    assert all((a == b).all() for a, b in zip(one, again, strict=True))
    assert (one.first != other.first).any()


def steps_of_adam(rows, weights, n):
    """Take ``n`` steps of Adam against all rows at once, by the formulas, in double precision.

    Kingma and Ba 2015, algorithm 1; the rate falls along half a cosine to a hundredth.
    """
    mean = {name: np.zeros_like(array) for name, array in weights.items()}
    spread = {name: np.zeros_like(array) for name, array in weights.items()}
    inputs = np.zeros((len(rows), N_FEATURES))
    np.add.at(inputs, (np.arange(len(rows))[:, None], rows["active"]), 1)
    possible = np.arange(N_SHANTEN) <= rows["highest"][:, None]
    for step in range(n):
        before = inputs @ weights["first"] + weights["first_bias"]
        hidden = np.maximum(before, 0)
        odds = np.exp(hidden @ weights["last"].T + weights["last_bias"]) * possible
        error = odds / odds.sum(axis=1, keepdims=True) - np.eye(N_SHANTEN)[rows["shanten"]]
        back = error @ weights["last"] * (before > 0)
        gradient = {
            "first": inputs.T @ back, "first_bias": back.sum(axis=0),
            "last": error.T @ hidden, "last_bias": error.sum(axis=0),
        }  # fmt: skip
        rate = 3e-3 * (0.01 + 0.99 * (1 + np.cos(np.pi * step / n)) / 2)
        for name in weights:
            slope = gradient[name] / len(rows)
            mean[name] = 0.9 * mean[name] + 0.1 * slope
            spread[name] = 0.999 * spread[name] + 0.001 * slope**2
            corrected = mean[name] / (1 - 0.9 ** (step + 1))
            root = np.sqrt(spread[name] / (1 - 0.999 ** (step + 1)))
            weights[name] = weights[name] - rate * corrected / (root + 1e-8)
    return weights


@pytest.mark.parametrize("n", [1, 4])
def test_steps_are_those_of_adam(n):
    rows, _ = made_rows(200)
    start = fit(rows, 0, 5)
    expected = steps_of_adam(rows, {k: v.astype(float) for k, v in start._asdict().items()}, n)
    found = fit(rows, n, 5)
    for name, array in found._asdict().items():
        off = 2e-5 if name.endswith("bias") else 6e-4  # what float16 rounds, of 0.01 and of 1
        assert array == pytest.approx(expected[name], abs=off, rel=0)
    moved = np.abs(found.last_bias[:3] - start.last_bias[:3])
    assert (moved > 0.5 * n * 1e-3).all() and not found.last_bias[3:].any()


def test_rows_of_three_players_are_of_the_players_at_the_table():
    events = random_game(2, Rules(players=3))

    def game():
        return Game("own", "line", (Entry(number, event) for number, event in enumerate(events)))

    dice, held = np.random.default_rng(0), []
    for step in replay_trusted(game()):
        if isinstance(step.event, Dahai):
            seat = (step.event.actor + int(dice.integers(1, 3))) % 3
            melds = int(step.state["n_melds"][seat])
            if step.state["riichi"][seat] == NO_RIICHI and melds < 4:
                held.append(int(shanten_of(step.state["hand"][seat].copy(), melds, 3)))
    rows = rows_of(replay_trusted(game()))
    assert rows["shanten"].tolist() == np.clip(held, 0, rows["highest"]).tolist()
    assert len(held) > 50


def test_training_at_small_size_gives_weights_that_say_where_they_come_from(tmp_path, capsys):
    learned = [str(log) for log in LOGS if log != LOGS[1]]
    command = ["train", "shanten", *learned, "--validate", "0:1", "--check", str(LOGS[1])]
    assert main([*command, "--passes", "2", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "tenpai of closed: predicted and found" in capsys.readouterr().out
    assert shanten_weights(tmp_path).first.shape[0] == N_FEATURES
    manifest = load_manifest("shanten", tmp_path)
    assert (
        f"--validate 0:1 --seed 0 --players 4 --check {LOGS[1].name} --passes 2" in manifest.command
    )
    for label in ("held out", LOGS[1].name):
        assert "0 melds" in " ".join(manifest.scores)
        assert f"{label}: ours: tenpai: AUC" in manifest.scores
