"""Runs at tables of three players."""

import json
from pathlib import Path
from typing import Any

import pytest

from mjbot.arena.workers.fault_files import FAULT_FOLDER
from mjbot.cli.main import main
from mjbot.game.statistics.figures import RANKS

pytestmark = pytest.mark.usefixtures("forked_workers")

BOTS = Path(__file__).with_name("bots.py")
DICE = f"{BOTS}:Dice"
THREE = ["--rules", "tonpu,players=3"]


def play(out: Path, *arguments: str) -> list[dict[str, Any]]:
    """Play, and return the records of the figures."""
    assert main(["arena", *arguments, *THREE, "--out", str(out)]) == 0
    return [json.loads(line) for line in (out / "figures.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("format_", "strategies", "games"),
    [
        ("1v2", ["fast-riichi-a", "tsumogiri"], 8),
        ("each", ["fast-riichi-a", "fast-riichi-b", "tsumogiri"], 6),
        ("pair", ["combo-partner", "tsumogiri"], 6),
    ],
)
def test_a_resumed_run_gives_the_same_bytes(
    tmp_path: Path, format_: str, strategies: list[str], games: int
) -> None:
    """With ranks from 1 to 3, by two processes or one, and records that replay."""
    command = [*strategies, "--format", format_, "--games", str(games), "--walls", "pinned"]
    command.append("--record")
    run, *figures = play(tmp_path / "whole", *command, "--jobs", "2")
    assert (run["format"], run["rules"], run["faults"]) == (format_, {"players": 3}, 0)
    lines = (tmp_path / "whole" / "games.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "games.jsonl").write_bytes(b"".join(lines[:4]))
    assert play(tmp_path / "parts", *command, "--jobs", "1") == [run, *figures]
    for name in ("games.jsonl", *[f"records/{path.name}" for path in
                                  (tmp_path / "whole" / "records").iterdir()]):  # fmt: skip
        whole, parts = [(tmp_path / folder / name).read_bytes() for folder in ("whole", "parts")]
        assert sorted(whole.splitlines()) == sorted(parts.splitlines())
    assert main(["replay", str(tmp_path / "parts" / "records")]) == 0
    players = [figure for figure in figures if figure["record"] == "strategy"]
    assert all(not figure.keys() & {"fourth"} for figure in figures)
    for figure in players:
        assert sum(figure[rank][0] for rank in RANKS[:3]) == pytest.approx(1)
    pairs = [figure for figure in figures if figure["record"] == "pair"]
    if format_ == "pair":
        assert [pair["rank_sum"][0] + players[1]["rank"][0] for pair in pairs] == [6]
    elif format_ == "1v2":  # the last one's row is that of games against itself
        assert players[-1]["rank"][0] == 2.0
        assert players[-1]["uma"][0] == pytest.approx(0)
    else:
        assert sum(figure["rank"][0] for figure in players) == pytest.approx(6)
    assert players[0]["rank"][0] < players[-1]["rank"][0]


def test_a_protocol_may_fix_three_players(tmp_path: Path) -> None:
    file = tmp_path / "fixed.toml"
    file.write_text(
        'strategies = ["fast-riichi-a", "tsumogiri"]\ngames = 4\nseed = 5\n'
        'rules = "tonpu,players=3"\numa = "30,0,-30"\n'
    )
    out = tmp_path / "run"
    assert main(["arena", "--protocol", str(file), "--jobs", "1", "--out", str(out)]) == 0
    run = json.loads((out / "figures.jsonl").read_text().splitlines()[0])
    assert (run["format"], run["games"], run["exploratory"]) == ("1v2", 4, [])


def test_a_fault_is_noted_and_repeated(tmp_path: Path, capsys) -> None:
    command = [f"{BOTS}:Crashing", "tsumogiri", "--games", "4", "--jobs", "1"]
    assert main(["arena", *command, *THREE, "--out", str(tmp_path)]) == 1
    assert "decisions of" in capsys.readouterr().out
    file = next((tmp_path / FAULT_FOLDER).iterdir())
    assert main(["arena", "--repro", str(file)]) == 1
    assert "KeyError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "report"),
    [
        ("tsumogiri tsumogiri --format 2v2 --rules players=3", "2v2 is not for 3 players"),
        ("tsumogiri tsumogiri --format 1v2", "1v2 is not for 4 players; theirs are 1v3, 2v2, pair"),
        ("supervised tsumogiri --rules players=3", "'supervised' plays no table of 3 players"),
        ("combo-partner,base=supervised tsumogiri --rules players=3", "'supervised' plays no"),
        ("external:majiang tsumogiri --rules players=3", "tables of four players only"),
        (f"{DICE}ForThree tsumogiri", "'DiceForThree' plays no table of 4 players"),
        ("tsumogiri tsumogiri --rules players=3 --uma 2,1,-1,-2", "there are 3 ranks"),
    ],
)
def test_what_three_players_cannot_play_is_one_line(arguments: str, report: str, capsys) -> None:
    assert main(["arena", *arguments.split()]) == 2
    assert report in (error := capsys.readouterr().err)
    assert len(error.splitlines()) == 1
