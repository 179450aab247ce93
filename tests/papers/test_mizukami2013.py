"""``python -m papers mizukami2013``: the tables say what the games say."""

from pathlib import Path

import msgspec
import pytest

from mjbot.arena.run_folder import read_games
from mjbot.learning.models import weights
from papers.__main__ import main
from papers.mizukami2013 import folding, one_player
from papers.mizukami2013.one_player import Entrant

HERE = Path(__file__).parent
QUICK = (
    Entrant("random", "random"),
    Entrant("plain UCT", "uct:5", 7, is_slow=True),
    Entrant("greedy", "greedy"),
    Entrant("trained evaluator", "evaluator:paper", 48),
)


def cells(lines: list[str], label: str) -> list[str]:
    line = next(line for line in lines if line.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.split("|")[1:-1]]


def experiment(*arguments: str) -> int:
    return main(["mizukami2013", "--jobs", "1", *arguments])


def test_the_first_part_plays_everybody_on_the_same_walls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(one_player, "ENTRANTS", QUICK)
    assert experiment("--games", "120", "--seed", "6", "--out", str(tmp_path)) == 0
    lines = capsys.readouterr().out.splitlines()
    won: dict[str, list[int]] = {}
    for path in (tmp_path / "one-player").glob("*.jsonl"):
        head, *rest = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
        assert head["seed"] == 6
        won[head["player"]] = [draw > 0 for _, draws in sorted(rest) for draw in draws]
    assert {player: len(of) for player, of in won.items()} == {
        "random": 120, "uct:5": 100, "greedy": 120, "evaluator:paper": 120
    }  # fmt: skip
    greedy, trained = won["greedy"], won["evaluator:paper"]
    row = cells(lines, "greedy")
    assert row[1].startswith(f"{sum(greedy[:100]):.2f} ±")
    assert row[2].startswith(f"{100 * sum(greedy) / 120:.2f} ±")
    assert row[4].startswith(f"{100 * (sum(greedy) - sum(trained)) / 120:+.2f} ±")
    assert cells(lines, "trained evaluator")[4] == ""
    assert cells(lines, "trained evaluator")[6] == "48 ± 9.8 %"
    assert cells(lines, "plain UCT")[3] == "100"
    assert cells(lines, "the paper's expert")[6] == "51 ± 9.8 %"
    assert cells(lines, "with knowledge of the wall")[2].startswith("100.00 ")


def test_slow_players_play_a_twentieth_but_never_less_than_the_paper() -> None:
    assert [one_player.fewer(n) for n in (30, 100, 500, 10_000)] == [30, 100, 100, 500]


def test_missing_weights_are_one_line_that_tells_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(one_player, "ENTRANTS", (Entrant("lost", "evaluator:lost"),))
    assert experiment("--games", "10", "--out", str(tmp_path)) == 1
    *_, error = capsys.readouterr().err.splitlines()
    assert error.startswith("python -m papers mizukami2013: lost: ")


def test_folding_is_compared_with_not_folding_wall_by_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    players = ("fast-riichi-c", "fast-riichi-b", "fast-riichi-a")  # C folds, B does not
    monkeypatch.setattr(folding, "FOLDING", players)
    assert experiment("--part", "folding", "--games", "8", "--out", str(tmp_path)) == 0
    lines = capsys.readouterr().out.splitlines()
    (folder,) = tmp_path.glob("arena-*")
    firsts = [0, 0]
    for game in read_games(folder):
        strategy, seat = divmod(game.seating, 4)
        if strategy < 2:
            firsts[strategy] += game.scores[seat] == max(game.scores)
    row = cells(lines, "1st")
    assert row[1].startswith(f"{100 * firsts[0] / 8:.2f} ")
    assert row[2].startswith(f"{100 * firsts[1] / 8:.2f} ")
    assert row[3].startswith(f"{100 * (firsts[0] - firsts[1]) / 8:+.2f} ")
    assert cells(lines, "average rank")[4:] == ["2.54 ± 0.08", "2.77 ± 0.10", "-0.23 ± 0.12"]
    assert cells(lines, "deal-ins")[6] == "-4.6 %"
    assert lines[-1].startswith("Deal-ins with folding less three quarters")


def test_every_switch_has_a_row_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    name = "switchable:Switchable"
    monkeypatch.setattr(folding, "PLUS", name)
    monkeypatch.setattr(folding, "CONTEST", (name, "fast-riichi-a", "tsumogiri"))
    monkeypatch.setattr(folding, "OPPONENT", "tsumogiri")
    assert folding.switches() == ["win"]
    command = ("--games", "8", "--out", str(tmp_path))
    assert experiment("--part", "plus", *command) == 0
    assert experiment("--part", "switches", *command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert cells(lines, name)[5] == "+0.000 ± ?"
    assert float(cells(lines, "fast-riichi-a")[5].split()[0]) < -0.5
    assert cells(lines, f"{name},win=off")[2].startswith("0.00")


def test_a_run_with_other_weights_is_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = folding.make_setup(("tsumogiri", "fast-riichi-a"), 1).identity
    assert folding.make_setup(("tsumogiri", "fast-riichi-a"), 1).identity == before
    for path in weights.SHIPPED.glob("*.npz"):
        (tmp_path / path.name).write_bytes(path.read_bytes() + b"x")
    monkeypatch.setattr(weights, "SHIPPED", tmp_path)
    assert folding.make_setup(("tsumogiri", "fast-riichi-a"), 1).identity != before
