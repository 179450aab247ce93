from pathlib import Path

import numpy as np
import pytest

from mjbot.cli.main import main
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.table.actions import RON
from mjbot.game.table.apply import apply_discard
from mjbot.game.table.legal import legal_codes
from mjbot.game.table.state import ACCEPTED, copy_state
from mjbot.learning.models.danger_features import MAX_ACTIVE, N_FEATURES, N_GRADES, N_LOSS
from mjbot.learning.models.weights import load_manifest, load_weights
from mjbot.learning.training import regression as fit
from mjbot.learning.training.danger import (
    FIRST_FEATURE,
    KEEP_CLOSED,
    MAX_ROWS,
    ROW_SIZE,
    DangerSamples,
    check_danger,
    discard_rows,
    grade,
    rows_of,
)
from mjbot.learning.training.positions import index_games, steps
from mjbot.protocol.messages import Dahai

LOGS = Path(__file__).parents[3] / "logs"
PATHS = sorted(LOGS.glob("*.mjson"))
GAMES = index_games(PATHS)


def could_ron(state, seat, opponent, kind):
    """Ask the rules: discard the kind and see whether the opponent may win on it."""
    after = copy_state(state)
    apply_discard(after, seat, kind, 0)
    codes = np.empty(156, np.uint8)
    return RON in codes[: legal_codes(after, opponent, codes)]


def test_a_row_says_of_each_kind_whether_the_opponent_could_win_on_it():
    """In riichi every kind is a row; the labels are those of the legal actions."""
    random, rows = np.ones(1, np.uint64), np.empty((MAX_ROWS, ROW_SIZE), np.int16)
    hits = seen = 0
    for game in steps(GAMES):
        for step in game:
            if not isinstance(step.event, Dahai) or not step.state["riichi"].any():
                continue
            state, seat = step.state, step.event.actor
            n = discard_rows(state, seat, random, rows)
            labels = rows[:n, 0][rows[:n, 2] == 1].tolist()
            expected = []
            for opponent in [(seat + i) % 4 for i in (1, 2, 3)]:
                if not state["riichi"][opponent] or state["riichi"][seat] == ACCEPTED:
                    continue
                safe = int(state["discarded"][opponent] | state["passed"][opponent])
                expected += [
                    int(could_ron(state, seat, opponent, kind))
                    for kind in range(34)
                    if state["hand"][seat][kind] and not safe >> kind & 1
                ]
            assert labels == expected
            seen += len(labels)
            hits += sum(labels)
    assert seen > 300
    assert hits > 5


def test_features_are_of_different_groups_and_inside_the_table():
    found = [rows_of(game) for game in steps(GAMES)]
    tiles = np.concatenate([part.tiles for part in found])
    assert len(tiles) > 500
    for row in tiles:
        active = row[FIRST_FEATURE:][row[FIRST_FEATURE:] >= 0]
        assert 6 <= len(active) <= MAX_ACTIVE
        assert len(set(active.tolist())) == len(active)
        assert active.max() < N_FEATURES
    losses = np.concatenate([part.losses for part in found])
    assert (losses[:, 1:] >= 0).all()
    assert (losses[:, 1:] < N_LOSS).all()
    assert (losses[:, 0] >= 10).all()
    pace = sum(part.pace for part in found)
    discards = sum(isinstance(step.event, Dahai) for game in steps(GAMES) for step in game)
    assert pace.sum() == discards
    assert KEEP_CLOSED > 1


@pytest.mark.parametrize(
    ("tile", "safe", "wall", "expected"),
    [
        ("5m", "2m8m", "", 1),  # suji
        ("5m", "2m", "", 2),  # half of it
        ("1m", "4m", "", 0),
        ("2m", "", "3333m", 0),  # behind a wall
        ("1z", "", "1z", 0),
        ("1z", "", "", 1),
    ],
)
def test_the_grades_of_the_paper(tile, safe, wall, expected):
    kind = int(hand_counts(tile).argmax())
    mask = sum(1 << int(k) for k in hand_counts(safe).nonzero()[0])
    unseen = (4 - hand_counts(tile) - hand_counts(wall)).astype(np.int8)
    assert grade(kind, mask, unseen) == expected


def test_logistic_regression_finds_the_odds_of_disjoint_groups():
    """With one feature per row the best weight is the log-odds of its rows."""
    active = np.repeat(np.array([[0], [1]], np.int16), 4000, axis=0)
    labels = np.zeros(8000)
    labels[:1000] = 1
    labels[4000:4400] = 1
    weights = fit.fit_logistic(active, labels, 2)
    assert fit.chances(np.array([[0], [1]], np.int16), weights) == pytest.approx(
        [0.25, 0.1], abs=2e-3
    )


def test_logistic_regression_recovers_weights_that_made_the_data():
    random = np.random.default_rng(1)
    true = np.array([-1.0, 0.7, 0.0, 1.5])
    active = np.stack([np.zeros(60000, int), random.integers(1, 4, 60000)], 1).astype(np.int16)
    labels = (random.random(60000) < fit.chances(active, true)).astype(float)
    found = fit.chances(active, fit.fit_logistic(active, labels, 4))
    assert np.abs(found - fit.chances(active, true)).max() < 0.02
    assert fit.log_loss(labels, found) < fit.log_loss(labels, np.full(60000, labels.mean()))
    for predicted, observed, rows in fit.deciles(labels, found):
        assert abs(predicted - observed) < 5 * np.sqrt(predicted * (1 - predicted) / rows)


def test_what_one_row_says_of_a_feature_is_weighed_against_one_row_s_pull_to_nothing():
    """Unpulled, the weight of a feature that was seen once, with a 1, has no end."""
    active = np.array([[0]], np.int16)
    weights = fit.fit_logistic(active, np.ones(1), 1)
    unexplained = 1 - fit.chances(active, weights)[0]
    assert fit.RIDGE * weights[0] == pytest.approx(unexplained, abs=1e-6)


def test_calls_short_enough_to_be_interrupted_fit_the_very_same_weights(monkeypatch):
    dice = np.random.default_rng(2)
    active = dice.integers(-1, 4, (100, 3)).astype(np.int16)
    labels = (dice.random(100) < 0.3).astype(float)
    whole = fit.fit_logistic(active, labels, 4), fit.fit_poisson(active, labels, 4)
    monkeypatch.setattr(fit, "SLICE", 7)
    parts = fit.fit_logistic(active, labels, 4), fit.fit_poisson(active, labels, 4)
    assert [weights.tobytes() for weights in parts] == [weights.tobytes() for weights in whole]


def test_poisson_regression_gives_the_means_of_its_groups():
    active = np.array([[0, 2], [0, 2], [1, 2], [1, 2]] * 50, np.int16)
    values = np.array([1000.0, 3000.0, 8000.0, 8000.0] * 50)
    means = np.exp(fit.linear(active[[0, 2]], fit.fit_poisson(active, values, 3)))
    assert means == pytest.approx([2000, 8000], rel=1e-3)


def test_training_at_small_size_gives_weights_that_say_where_they_come_from(tmp_path, capsys):
    arguments = ["train", "danger", *map(str, PATHS), "--validate", "0:1", "--jobs", "1"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    arrays = load_weights("danger", tmp_path)
    assert arrays["riichi"].shape == arrays["other"].shape == (N_FEATURES,)
    assert arrays["loss"].shape == (N_LOSS,)
    manifest = load_manifest("danger", tmp_path)
    assert manifest.scores["games held out"] == 1
    assert "riichi: log loss" in manifest.scores
    assert "percent" in capsys.readouterr().out


def test_a_model_is_compared_with_the_grades_of_its_own_rows():
    tiles = np.concatenate([rows_of(game).tiles for game in steps(GAMES)])
    losses = np.zeros((2, 3), np.int16)
    losses[:, 0] = 10, 80
    grades = np.random.default_rng(1).uniform(0.01, 0.3, (2, N_GRADES))
    arrays = {"riichi": np.zeros(N_FEATURES), "other": np.zeros(N_FEATURES)}
    arrays |= {"loss": np.zeros(N_LOSS), "grades": grades}
    scores = check_danger(arrays, DangerSamples(tiles, losses, np.zeros(0)))
    for model, name in enumerate(("other", "riichi")):
        rows = tiles[tiles[:, 2] == model]
        assert scores[f"{name}: rows"] == len(rows) > 100
        chance = np.array([grades[model, row[1]] for row in rows])
        made = np.where(rows[:, 0] == 1, chance, 1 - chance)
        report = scores[f"{name}: log loss of the paper's grades"]
        assert report == pytest.approx(-np.log(made).mean(), abs=1e-5)
        assert scores[f"{name}: log loss"] == pytest.approx(np.log(2), abs=1e-5)


def test_the_shipped_weights_fit_this_version_and_beat_the_papers_grades():
    arrays = load_weights("danger")
    assert arrays["riichi"].shape == (N_FEATURES,)
    scores = load_manifest("danger").scores
    for model in ("riichi", "other"):
        better, paper = (
            scores[f"{model}: log loss"],
            scores[f"{model}: log loss of the paper's grades"],
        )
        assert better < paper
