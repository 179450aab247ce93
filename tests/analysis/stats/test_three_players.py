"""Statistics of three-player games: rows of their own, from every format, each game once."""

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from mjbot.cli.main import main
from mjbot.game.records.game import Game
from mjbot.game.records.writers import FORMATS
from mjbot.game.table.settle import ranks_of
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from tests.game.records.formats import report
from tests.game.referee.scripted import random_game

THREE = Rules(players=3, length="tonpu")
FOUR = Path(__file__).parents[3] / "logs" / "east-extra-round.mjson"


NAMES = ("a", "b", "c")


def test_games_of_three_count_once_by_their_own_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wins, ranks = Counter[str](), {name: list[int]() for name in NAMES}
    for number in range(6):
        names = NAMES[number % 3 :] + NAMES[: number % 3]
        start, *events = random_game(number, THREE)
        game = report([replace(start, names=names), *events])
        for form in FORMATS:
            path = tmp_path / f"{number}{FORMATS[form].ending}"
            path.write_bytes(FORMATS[form].encode(Game("own", "line", game.entries)))
        wins.update(names[event.actor] for event in events if isinstance(event, m.Hora))
        for name, rank in zip(names, ranks_of(events[-1].scores[:3]), strict=True):
            ranks[name].append(rank)
    table = tmp_path / "rows.csv"
    records = [str(tmp_path), str(FOUR)]
    command = ["stats", *records, "--jobs", "1", "--by", "seat", "--csv", str(table), "--json"]
    assert main([*command, "--compare", "a", "b"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["games"], found["duplicates"]) == (7, 12)
    assert found["rules"]["tonpu,players=3"] == 6
    rows = {row["player"]: row for row in found["tables"]["player"] if "=3" in row["rules"]}
    assert rows.keys() == set(NAMES)
    assert wins.total() > 0
    for name, row in rows.items():
        figures = row["figures"]
        assert figures["rank"]["value"] == pytest.approx(sum(ranks[name]) / 6)
        assert figures["third"]["value"] == pytest.approx(ranks[name].count(3) / 6)
        assert "fourth" not in figures
        assert figures["win"]["value"] == pytest.approx(wins[name] / row["kyoku"])
    assert sum(row["figures"]["uma"]["value"] for row in rows.values()) == pytest.approx(0)
    assert found["comparison"]["adjusted"] is not None
    assert "fourth" not in found["comparison"]["differences"]
    with table.open(newline="") as file:
        is_given = {"=3" in row["rules"]: bool(row["fourth"]) for row in csv.DictReader(file)}
    assert is_given == {True: False, False: True}
    (tmp_path / "alone").mkdir()
    shutil.copy(tmp_path / "0.mjson", tmp_path / "alone")
    shown = {}
    for name, given in (("mixed", records), ("alone", [str(tmp_path / "alone")])):
        assert main(["stats", *given, "--jobs", "1"]) == 0
        shown[name] = capsys.readouterr().out
    assert "4th %" in shown["mixed"]
    assert "1st %" in shown["alone"]
    assert "4th %" not in shown["alone"]
