"""``python -m papers`` on a few walls: the tables are there, and say what the games say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mjbot.arena.run_folder import read_games
from mjbot.arena.runs import Run
from mjbot.arena.setup import Setup
from mjbot.game.table.settle import ranks_of
from mjbot.runtime.errors import ExitCode
from papers import arena_checks, nakano2021
from papers.__main__ import main
from papers.experiments import ExperimentContext

BOTS = Path(__file__).parents[1] / "arena" / "bots.py"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both runs of the checks, of which one is that of nakano2021."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena_checks, "RUNS", 20)
        command = ["arena-checks", "--games", "24", "--jobs", "1"]
        assert main([*command, "--out", str(folder)]) == 0
    return folder


def test_nakano2021_prints_the_paper_s_table_beside_ours(
    played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["nakano2021", "--games", "24", "--jobs", "1", "--out", str(played)]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| 24 games each | A | A, paper | B | B, paper |")
    rank = next(line for line in lines if line.startswith("| average rank |")).split(" | ")
    assert rank[1].startswith("2.500 ± ?")  # A against three of itself
    assert rank[2] == "2.36 ± 0.13"
    assert float(rank[3].split()[0]) == pytest.approx(mean_rank_of_b(played), abs=5e-4)
    assert any("D less that of B, on the same 6 walls" in line for line in lines)


def mean_rank_of_b(played: Path) -> float:
    setup = nakano2021.make_setup(2021, pinned=False)
    folder = played / f"arena-{setup.identity}"
    ranks = [ranks_of(game.scores)[game.seating] for game in read_games(folder) if game.seating < 4]
    return sum(ranks) / len(ranks)


def test_the_checks_report_variances_and_coverage(
    played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena_checks, "RUNS", 20)
    command = ["arena-checks", "--games", "24", "--jobs", "1", "--out", str(played)]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    folds = next(line for line in lines if line.startswith("| folds only (C) |")).split(" | ")
    assert folds[1] == folds[2].rstrip(" |")  # without calls pinning changes nothing
    assert 0 < float(folds[1]) < 0.7
    assert sum("covers 0" in line for line in lines) == 16


def test_bad_numbers_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nakano2021", "--seed", "-1"]) == 2
    assert (
        capsys.readouterr().err == "python -m papers nakano2021: --seed -1: from 0 to 2147483647\n"
    )
    with pytest.raises(SystemExit):
        main(["nakano2021", "--games", "0"])
    assert "--games: '0': expected a whole number above 0" in capsys.readouterr().err


def test_decisions_that_had_to_be_replaced_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    setup = Setup(
        strategies=(f"{BOTS}:Crashing", "fast-riichi-a"), format="1v3", length="tonpu", seed=1
    )

    def play(request: ExperimentContext) -> Iterator[str]:
        list(request.arenas([Run("crashing", setup, 1)]))
        yield "the report"

    monkeypatch.setattr("papers.nakano2021.play", play)
    command = ["nakano2021", "--jobs", "1", "--out", str(tmp_path)]
    assert main(command) == ExitCode.FAILED
    text = capsys.readouterr()
    assert text.out == "the report\n"
    progress, at_once, at_the_end = text.err.strip().splitlines()
    assert progress == "crashing ..."
    assert "Crashing: crash (wall 0, seat " in at_once
    assert "Crashing were replaced (crash: " in at_the_end
