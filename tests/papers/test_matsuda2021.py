"""``python -m papers matsuda2021``: the paper's figures beside those of manifests."""

import msgspec
import numpy as np
import pytest

from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.runtime.errors import ExitCode
from papers.__main__ import main
from papers.matsuda2021 import experiment
from papers.matsuda2021.reinforcement import CurvePoint

FIGURE = "0.6300 [0.6200, 0.6400]"


def manifest(**scores):
    return Manifest(data="some games", command="", seed=0, scores=scores)


def cells(lines, label):
    line = next(line for line in lines if line.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.split("|")[1:-1]]


def test_an_agreement_stands_beside_the_papers_and_the_majority():
    scores = {"2024: rows": 12, "2024: accuracy": FIGURE, "2024: majority": FIGURE}
    scores |= {"2024: first chance: rows": 5, "2024: first chance: accuracy": FIGURE}
    lines = list(experiment.network_table("riichi", manifest(**scores)))
    assert cells(lines, "2024") == ["2024", "12", "63.0 ± 1.0", "74.4", "63.0 ± 1.0"]
    assert cells(lines, "2024, first chance")[1:4] == ["5", "63.0 ± 1.0", ""]


def test_our_own_network_stands_below_the_papers():
    scores = {"2024: rows": 12, "2024: accuracy": FIGURE}
    ours = {"2024, pon: rows": 34, "2024, pon: accuracy": "0.9 [0.88, 0.92]"}
    lines = list(experiment.network_table("pon", manifest(**scores), manifest(**ours)))
    assert cells(lines, "ours, 2024") == ["ours, 2024", "34", "90.0 ± 2.0", ""]


def test_the_rank_model_stands_beside_the_papers():
    scores = {"2024: rows": 12, "2024: as it stands: squared error": "1.2 [1.1, 1.3]"}
    scores |= {"2024: the paper's form: share of as it stands": "0.64 [0.62, 0.66]"}
    lines = list(experiment.rank_table(manifest(**scores)))
    assert cells(lines, "as it stands: squared error")[1:] == ["1.119", "1.2 [1.1, 1.3]"]
    assert cells(lines, "the paper's form: share of as it stands")[1] == "0.682"


def test_the_curve_is_of_the_runs_that_there_are(tmp_path, capsys):
    command = ["matsuda2021", "--part", "curve", "--out", str(tmp_path)]
    assert main(command) == ExitCode.FAILED
    assert "has no runs curve-GAMES" in capsys.readouterr().err
    for games in (500, 100):
        text = manifest(**{"2024: rows": 9, "2024: accuracy": FIGURE, "rows shown": games})
        arrays = {"version": np.array([1])}
        save_weights("paper-discard", arrays, text, tmp_path / f"curve-{games}")
    assert main(command) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[1] for line in lines[2:]] == ["100", "500"]


def test_reinforcement_is_shown_beside_the_paper_that_had_no_result(tmp_path, capsys):
    command = ["matsuda2021", "--part", "reinforcement", "--out", str(tmp_path)]
    assert main(command) == ExitCode.FAILED
    assert "has no runs reinforce-NAME" in capsys.readouterr().err
    point = dict.fromkeys(CurvePoint.__struct_fields__, 0.0) | {"games": 8, "batches": 3}
    looks = [
        CurvePoint(**(point | {"episode": 0, "mean_rank": 2.5, "low": 2.5, "high": 2.5})),
        CurvePoint(**(point | {"episode": 600, "mean_rank": 2.7, "low": 2.6, "high": 2.8}
                | {"epsilon": 0.5, "reward": -0.2, "processor_s": 60.0})),
    ]  # fmt: skip
    (tmp_path / "reinforce-one").mkdir()
    (tmp_path / "reinforce-one" / "curve.json").write_bytes(msgspec.json.encode(looks))
    assert main(command) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert cells(lines, "paper")[1:] == ["150000 planned", "1 to 0.01", "", "", "no result", ""]
    assert cells(lines[4:], "ours, one")[1:] == [
        "600",
        "0.50",
        "-0.200",
        "+0.000",
        "2.700 ± 0.100",
        "8",
    ]
    assert "10.0 episodes/s" in lines[-1]


def test_the_environment_is_timed(capsys):
    command = ["matsuda2021", "--part", "environment", "--games", "3"]
    assert main(command) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert cells(lines, "ours, players at random")[1] == "3"
    assert float(cells(lines, "ours, players at random")[-1]) > 200
    assert cells(lines, "ours, four supervised-paper, each queried alone")[1] == "1"


@pytest.mark.parametrize("part", ["networks", "rank"])
def test_what_ships_can_be_shown(part, capsys):
    assert main(["matsuda2021", "--part", part]) == ExitCode.OK
    assert "2024" in capsys.readouterr().out
