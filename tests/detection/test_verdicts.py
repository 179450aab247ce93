"""From z to p, and what an operator is told."""

import json
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.cli.main import main
from mjbot.detection.detectors import KEYS, N
from mjbot.detection.report import NOT_PROOF
from mjbot.detection.verdicts import holm, shipped_weights
from mjbot.models.weights import load_manifest

LOGS = Path(mjbot.__file__).parents[1] / "logs"


def test_adjusted_p_values_keep_their_order_and_are_never_smaller():
    p = np.random.default_rng(4).random(50) ** 4
    adjusted = holm(p)
    assert (adjusted >= p).all() and adjusted.max() <= 1
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    assert adjusted.min() == pytest.approx(50 * p.min())


def test_the_weights_that_ship_say_what_they_were_learned_from():
    weights = shipped_weights()
    assert weights.sums.shape[1] == weights.points.shape[0] == N
    manifest = load_manifest("detection", Path(mjbot.__file__).parent / "detection" / "weights")
    assert "mjbot train detection" in manifest.command
    rated = np.sort(np.abs(weights.sums), axis=1)
    assert rated[:, -1] == pytest.approx(rated[:, -2])  # none outweighs the second


def test_p_falls_with_the_score_and_is_small_beyond_the_table():
    weights = shipped_weights()
    scores = np.linspace(-2, 12, 60)
    for n in (5, 12, 50, 1000):
        p = weights.p_values(scores, np.full(60, n))
        assert (np.diff(p) <= 1e-12).all()
        assert 0 < p[-1] < 1e-6 and p[0] > 0.5
    at = weights.scores[2][weights.chances == 0.01]
    assert weights.p_values(at, np.array([10])) == pytest.approx(0.01)


@pytest.fixture
def records(tmp_path):
    """One game, played five times by the same four."""
    log = (LOGS / "east-four-winds.mjson").read_bytes()
    folder = tmp_path / "games"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.mjson").write_bytes(log)
    return folder


def test_the_command_lists_pairs_and_says_of_each_that_it_is_no_proof(records, tmp_path, capsys):
    page = tmp_path / "pairs.html"
    kept = ["--folder", str(tmp_path / "run"), "--jobs", "1", "--redraws", "0", "--shown", "2"]
    arguments = ["detect", str(records), *kept]
    assert main([*arguments, "--html", str(page), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["pairs"]) == 6
    assert {pair["note"] for pair in told["pairs"]} == {NOT_PROOF}
    assert set(told["pairs"][0]["detectors"]) == set(KEYS)
    assert all(0 <= pair["p"] <= pair["p_adjusted"] <= 1 for pair in told["pairs"])
    for pair in told["pairs"][:2]:
        assert all("mjbot watch" in position["watch"] for position in pair["positions"])
    assert "not proof" in page.read_text("utf-8")
    assert main(arguments) == 0  # goes on with what was kept
    out = capsys.readouterr().out
    assert "6 pairs met in 5 games or more" in out and "This is not proof" in out


def test_what_was_counted_of_other_records_is_not_taken_up(records, tmp_path, capsys):
    kept = ["--folder", str(tmp_path / "run"), "--jobs", "1", "--redraws", "0"]
    assert main(["detect", str(records), *kept]) == 0
    assert main(["detect", str(LOGS), *kept]) != 0
    assert "another --folder" in capsys.readouterr().err
