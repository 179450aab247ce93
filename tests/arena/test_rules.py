"""Runs under other rules than the default ones."""

import json
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.records.sources import open_games
from mjbot.game.statistics.figures import uma_points
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules

pytestmark = pytest.mark.usefixtures("forked_workers")

ARENA = ["arena", "tsumogiri", "tsumogiri", "--games", "6", "--jobs", "1"]


def started(folder: Path) -> list[m.StartGame]:
    games = open_games(folder / "records")
    events = (entry.event for game in games for entry in game.entries)
    return [event for event in events if isinstance(event, m.StartGame)]


def test_a_rule_set_is_a_file_whose_length_an_option_overrides(tmp_path: Path, capsys) -> None:
    file, out = tmp_path / "rules.toml", tmp_path / "run"
    file.write_text('length = "hanchan"\nred_fives = false\nstart_points = 30000\n')
    command = [*ARENA, "--rules", str(file), "--length", "tonpu", "--record", "--out", str(out)]
    assert main(command) == 0
    assert "tonpu,red_fives=no,start_points=30000, seed 0" in capsys.readouterr().out
    rules = {"length": "tonpu", "red_fives": False, "start_points": 30000}
    assert [event.mjbot_rules for event in started(out)] == [rules] * 6
    assert "--rules tonpu,red_fives=no,start_points=30000" in (out / "report.html").read_text()
    records = [json.loads(line) for line in (out / "figures.jsonl").read_text().splitlines()]
    assert records[0]["rules"] == {"red_fives": False, "start_points": 30000}
    assert main(["replay", str(out / "records")]) == 0


@pytest.mark.parametrize(("length", "rules"), [("tonpu", {"length": "tonpu"}), ("hanchan", None)])
def test_of_the_default_rules_a_short_length_is_announced(
    tmp_path: Path, length: str, rules: object
) -> None:
    out = tmp_path / "run"
    assert main([*ARENA, "--length", length, "--record", "--out", str(out)]) == 0
    assert [event.mjbot_rules for event in started(out)] == [rules] * 6


def test_the_value_of_a_score_is_that_of_the_rules() -> None:
    rules = Rules(start_points=25_000, target_points=25_000)
    assert uma_points(40_000, 1, (10, 5, -5, -10), rules) == 25
    assert uma_points(40_000, 1, (10, 5, -5, -10)) == 40
