"""When games were played: as each format has it, and what the statistics make of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mjbot.analysis.stats.counted_games import played_at
from mjbot.cli.main import main
from mjbot.game.records.dates import moment_of_clock, moment_of_text
from mjbot.game.records.sources import open_games
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import random_game
from tests.game.records.soul_form import record

PLAYED = random_game(1)
EXPORT = json.loads(write_tenhou6(PLAYED))
RECORD = record(PLAYED)
SOUL_ID = "261120-0f3c6d2e-1111-4a5b-9c3d-abcdefabcdef"
TENHOU_ID = "2026112021gm-00a9-0000-d7935c6d"
NOON = 1_795_176_000
"""Seconds since 1970 of 2026-11-20, 12:00 in London."""


def with_head(**fields: Any) -> Any:
    return {**RECORD, "head": {**RECORD["head"], **fields}}


DATED = {
    "an export's title": ({**EXPORT, "title": ["x", "2026/11/20 21:03:12"]}, "2026-11-20T21:03:12"),
    "an American title": ({**EXPORT, "title": ["x", "11/20/2026, 9:03:12 PM"]}, "2026-11-20T21:03"),
    "a Chinese title": ({**EXPORT, "title": ["x", "2026/11/20 下午9:03:12"]}, "2026-11-20T21:03"),
    "a German title": ({**EXPORT, "title": ["x", "20.11.2026, 21:03:12"]}, "2026-11-20T21:03"),
    "an ISO title": ({**EXPORT, "title": ["x", "2026-11-20T21:03:12.000Z"]}, "2026-11-20T21:03"),
    "a title and an id": (
        {**EXPORT, "title": ["x", "2026/11/21 00:03:12"], "ref": SOUL_ID}, "2026-11-21T00:03:12",
    ),
    "an id": ({**EXPORT, "title": ["x", ""], "ref": SOUL_ID}, "2026-11-20"),
    "an id and an unclear title": (
        {**EXPORT, "title": ["x", "11/12/2026, 21:03:12"], "ref": SOUL_ID}, "2026-11-20",
    ),
    "an id of Tenhou": (
        {**EXPORT, "title": ["x", "2026/12/24"], "ref": TENHOU_ID}, "2026-11-20T21",
    ),
    "a head's clock": (with_head(start_time=NOON), moment_of_clock(NOON)),
    "a head's clock as a text": (with_head(start_time=str(NOON)), moment_of_clock(NOON)),
    "a head's end alone": (with_head(end_time=NOON), moment_of_clock(NOON)),
    "a head's id": (with_head(uuid=SOUL_ID), "2026-11-20"),
    "nothing": (RECORD, ""),
    "no number": (with_head(start_time=[1], uuid=7), ""),
    "no title": ({**EXPORT, "title": 5, "ref": 7}, ""),
}  # fmt: skip


def saved(value: Any, folder: Path, name: str = "g.json") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(value), "utf-8")
    return folder / name


@pytest.mark.parametrize("case", DATED)
def test_a_record_says_when_it_was_played(case: str, tmp_path: Path) -> None:
    value, moment = DATED[case]
    for one in (value, [value]):
        (game,) = open_games(saved(one, tmp_path / "games"))
        assert played_at(game).startswith(moment) and bool(played_at(game)) == bool(moment)


def test_a_name_dates_what_its_record_does_not(tmp_path: Path) -> None:
    (game,) = open_games(saved(RECORD, tmp_path, f"{SOUL_ID}.json"))
    assert played_at(game) == "2026-11-20"


@pytest.mark.parametrize("text", ["", "99/99/2026", "2026/13/40", "hanchan", "x" * 5000, None, 7])
def test_what_is_no_date_is_none(text: Any) -> None:
    assert moment_of_text(text) == ""


def test_statistics_go_by_week_and_period(tmp_path: Path, capsys) -> None:
    games = tmp_path / "games"
    saved(with_head(start_time=NOON), games, "a.json")
    saved({**EXPORT, "title": ["x", "2026/11/27 21:03:12"], "name": list("abcd")}, games, "b.json")
    assert main(["stats", str(games), "--by", "week", "--json"]) == ExitCode.OK
    weeks = json.dumps(json.loads(capsys.readouterr().out)["tables"]["week"])
    assert {*re.findall(r"2026-W\d\d|unknown", weeks)} == {"2026-W47", "2026-W48"}
    assert main(["stats", str(games), "--period", "2026-11-27", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["games"] == 1


def test_games_are_rated_in_the_order_in_which_they_were_played(tmp_path: Path, capsys) -> None:
    """Whatever their files are called: the ratings are those of files in order."""
    pytest.importorskip("openskill")
    names = [["a", "b", "c", "d"], ["c", "a", "d", "b"], ["b", "d", "a", "c"]]
    reports = []
    for folder, files in ((tmp_path / "one", "abc"), (tmp_path / "two", "cab")):
        for day, (seats, file) in enumerate(zip(names, files, strict=True), 1):
            title = ["x", f"2026/11/0{day} 10:00"]
            saved({**EXPORT, "title": title, "name": seats}, folder, f"{file}.json")
        assert main(["stats", str(folder), "--by", "opponent-strength", "--json"]) == ExitCode.OK
        reports.append(json.loads(capsys.readouterr().out)["tables"])
    assert reports[0] == reports[1]
