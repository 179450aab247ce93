"""What ``mjbot stats`` reports is what another program counts in the raw records."""

import datetime
import json
import math
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("polars")

from mjbot.analysis.stats.breakdown import week_of
from mjbot.cli.main import main
from proof.records import shared_folder
from tests.analysis.stats import counted_apart

LOGS = sorted((Path(__file__).parents[3] / "logs").glob("*.mjson"))
GAMES = 300
FIGURES = (
    "rank", "first", "fourth", "score", "win", "deal_in", "riichi", "call", "tsumo", "win_points",
    "deal_in_points",
)  # fmt: skip


def stats(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["stats", *words, "--json", "--jobs", "1"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def assert_equal(
    rows: list[dict[str, Any]], counted: dict[tuple[Any, ...], Any], key: bool
) -> None:
    assert len(rows) == len(counted)
    for row in rows:
        name = row["player"] + (f"-{row['version']}" if row["version"] else "")
        apart = counted[(name, row["key"]) if key else (name,)]
        assert row["games"] == apart["games"]
        for figure in FIGURES:
            found = row["figures"][figure]
            value = None if found is None else found["value"]
            expected = apart[figure]
            if expected is None or math.isnan(expected):
                assert value is None
            else:
                assert value == pytest.approx(expected, rel=1e-9), (name, row["key"], figure)


def test_the_sample_games(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        row
        for number, path in enumerate(LOGS)
        for row in counted_apart.kyoku_of_lines(path.read_text(), number)
    ]
    for row in rows:
        row["rules"] = "tonpu" if LOGS[row["game"]].name.startswith("east-") else "hanchan"
        row["seat"] = f"{row['seat']}, {row['rules']}"
    report = stats(capsys, *map(str, LOGS), "--by", "seat")
    assert report["games"] == len(LOGS) == 4
    for row in report["tables"]["player"]:
        row["key"] = row["rules"]
    for row in report["tables"]["seat"]:
        row["key"] = f"{row['key']}, {row['rules']}"
    counted = counted_apart.figures(rows, "name", "rules")
    assert_equal(report["tables"]["player"], counted, key=True)
    assert_equal(report["tables"]["seat"], counted_apart.figures(rows, "name", "seat"), key=True)


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real games, under made-up names and dates: those of the records are masked."""
    source = shared_folder() / "data/phoenix/hanchan-2024.zip"
    if not source.exists():
        pytest.skip(f"{source.name} is not in the shared data folder (set MJBOT_SHARED)")
    draws, path = random.Random(36), tmp_path_factory.mktemp("games") / "renamed.zip"
    pool = [f"bot{number}-{number % 3}.{number}" for number in range(40)]
    with zipfile.ZipFile(source) as games, zipfile.ZipFile(path, "w") as out:
        for number, member in enumerate(sorted(games.namelist())[:GAMES]):
            text = games.read(member).decode()
            for seat, name in enumerate(draws.sample(pool, 4)):
                text = text.replace(f'n{seat}="p{seat}"', f'n{seat}="{name}"')
            day = datetime.date(2026, 9, 1) + datetime.timedelta(days=number // 12)
            out.writestr(f"{day:%Y%m%d}20gm-00a9-0000-{number:08x}.mjlog", text)
    return path


def test_real_games(renamed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, Any]] = []
    with zipfile.ZipFile(renamed) as games:
        for number, member in enumerate(games.namelist()):
            day = datetime.datetime.strptime(member[:8], "%Y%m%d").date().isoformat()
            found = list(counted_apart.kyoku_of_mjlog(games.read(member).decode(), number))
            table = {row["name"] for row in found}
            for row in found:
                row["week"], row["opponents"] = week_of(day), sorted(table - {row["name"]})
            rows += found
    report = stats(capsys, str(renamed), "--by", "week", "opponent")
    assert report["games"] == GAMES
    assert_equal(report["tables"]["player"], counted_apart.figures(rows, "name"), key=False)
    assert_equal(report["tables"]["week"], counted_apart.figures(rows, "name", "week"), key=True)
    against = [row | {"opponent": name} for row in rows for name in row["opponents"]]
    counted = counted_apart.figures(against, "name", "opponent")
    assert_equal(report["tables"]["opponent"], counted, key=True)
