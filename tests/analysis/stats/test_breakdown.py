"""Tables, intervals, comparisons and files of ``mjbot stats``."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mjbot.analysis.stats.breakdown import Breakdown, BreakdownPlan
from mjbot.analysis.stats.counted_games import (
    FIELDS,
    BreakdownRows,
    GameBatch,
    UnreadableRecord,
    list_work,
)
from mjbot.analysis.stats.outputs import StatsReport, columns, write_csv
from mjbot.analysis.stats.page import page
from mjbot.analysis.stats.periods import ComparedSide
from mjbot.analysis.stats.sums import COLUMN, PLAYER_FIGURES, GroupSums, SideSums
from mjbot.cli.main import main
from mjbot.game.records.game import GameIdentity
from mjbot.game.statistics import estimates
from mjbot.game.statistics.origin import Origin
from mjbot.runtime.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("forked_workers")

LOGS = Path(__file__).parents[3] / "logs"
RANK = COLUMN["rank"]


def made_game(
    names: tuple[str, ...],
    ranks: tuple[int, ...],
    day: str = "",
    number: int = 0,
    wall: str = "",
    rules: str = "",
) -> BreakdownRows:
    """A game of four kyoku in which every seat won once."""
    rows = []
    for rank in ranks:
        row = dict.fromkeys(FIELDS, 0) | {"games": 1, "rank": rank, "kyoku": 4, "wins": 1}
        row[("first", "second", "third", "fourth")[rank - 1]] = 1
        rows.append(tuple(row.values()))
    whole = f"{wall} {names} {ranks} {number}".encode()
    identity = GameIdentity(whole, (), ended=True)
    return BreakdownRows(names, tuple(rows), day, "tonpu", rules, 4, ranks, identity, wall)


def counted(plan: BreakdownPlan, games: list[BreakdownRows]) -> Breakdown:
    found = Breakdown(plan)
    found.add(GameBatch(games, []))
    found.finish()
    return found


whole_rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 4), st.integers(0, 20)),
    min_size=1,
    max_size=60,
)


@given(whole_rows)
def test_the_intervals_are_those_of_the_clusters_themselves(drawn) -> None:
    """Group, cluster, games and rank of each row; the sums keep no cluster."""
    rows = np.zeros((len(drawn), len(FIELDS)))
    groups, clusters, games, wins = (np.array(part) for part in zip(*drawn, strict=True))
    rows[:, COLUMN["games"]], rows[:, RANK] = games, games * 2 + wins % 3
    rows[:, COLUMN["kyoku"]] = games * 3
    rows[:, COLUMN["wins"]] = np.minimum(wins, games * 3)
    sums = GroupSums()
    sums.add(rows, groups.tolist(), clusters.tolist())
    for group in set(groups.tolist()):
        mine = rows[groups == group]
        of = clusters[groups == group]
        whole = np.array([mine[of == cluster].sum(axis=0) for cluster in sorted(set(of.tolist()))])
        for figure in PLAYER_FIGURES:
            fraction = estimates.rate if figure.kind == "rate" else estimates.ratio
            expected = fraction(whole[:, COLUMN[figure.of]], whole[:, COLUMN[figure.per]])
            found = sums.estimate(group, figure)
            ends = [expected.value, expected.low, expected.high]
            assert [found.value, found.low, found.high] == pytest.approx(
                ends, abs=1e-6, nan_ok=True
            )


@example([(0, 3, 2, 0), (0, 3, 2, 2), (0, 3, 3, 0), (1, 0, 2, 1), (1, 3, 4, 20)])  # they cancel
@given(whole_rows)
def test_so_are_those_of_a_difference(drawn) -> None:
    rows = np.zeros((len(drawn), len(FIELDS)))
    sides, clusters, games, wins = (np.array(part) for part in zip(*drawn, strict=True))
    sides = sides % 2
    rows[:, COLUMN["games"]], rows[:, RANK] = games, games * 2 + wins % 3
    sums = SideSums()
    sums.add(rows, sides.tolist(), clusters.tolist())
    places = np.unique(clusters, return_inverse=True)[1]
    whole = np.zeros((2, places.max() + 1, len(FIELDS)))
    np.add.at(whole, (sides, places), rows)
    pairs = [(side[:, RANK], side[:, COLUMN["games"]]) for side in whole]
    expected = estimates.difference(pairs[0], pairs[1])
    found = sums.difference(PLAYER_FIGURES[0])
    ends = [expected.value, expected.low, expected.high]
    assert [found.value, found.low, found.high] == pytest.approx(ends, abs=1e-6, nan_ok=True)


def test_batches_and_their_order_change_nothing() -> None:
    rng = np.random.default_rng(1)
    games = [
        made_game(("a", "b", "c", "d"), tuple(rng.permutation(4) + 1), number=number)
        for number in range(50)
    ]
    one = counted(BreakdownPlan(), games)
    many = Breakdown(BreakdownPlan())
    for game in reversed(games):
        many.add(GameBatch([game], []))
    assert columns(StatsReport("", one)) == columns(StatsReport("", many))


def test_a_copy_of_a_game_counts_once_and_what_is_unreadable_is_counted() -> None:
    game = made_game(("a", "b", "c", "d"), (1, 2, 3, 4), number=7)
    found = Breakdown(BreakdownPlan())
    errors = found.add(
        GameBatch([game, game], [UnreadableRecord(("x.mjlog", "tag 3", "damaged"), True)])
    )
    assert (found.games, found.duplicates, found.unreadable_games) == (1, 1, 1)
    assert [str(error) for error in errors] == ["x.mjlog: tag 3: damaged"]


def test_a_player_with_two_seats_is_one_cluster_a_game() -> None:
    games = [made_game(("a", "a", "b", "b"), (1, 4, 2, 3), number=number) for number in range(9)]
    report = StatsReport("", counted(BreakdownPlan(), games))
    rank = report.estimate(report.rows("player")[0], PLAYER_FIGURES[0])
    assert rank.value == 2.5 and rank.is_alike


def test_the_games_of_a_wall_are_one_cluster() -> None:
    ranks = [(1, 2, 3, 4), (4, 1, 2, 3), (3, 4, 1, 2), (2, 3, 4, 1)]
    games = [
        made_game(("a", "b", "c", "d"), each, wall=str(wall)) for wall in range(8) for each in ranks
    ]
    report = StatsReport("", counted(BreakdownPlan(), games))
    assert report.estimate(report.rows("player")[0], PLAYER_FIGURES[0]).is_alike


def test_keys_of_opponents_classes_weeks_and_versions() -> None:
    plan = BreakdownPlan(
        by=("opponent", "opponent-class", "week"),
        classes=(("strong", re.compile("^c")),),
        merge_versions=True,
    )
    games = [
        made_game(("bot-1.0", "b", "c", "d"), (1, 2, 3, 4), "2026-11-22", 1),
        made_game(("bot-1.1", "b", "b", "d"), (4, 3, 2, 1), "2026-11-23", 2),
    ]
    report = StatsReport("", counted(plan, games))
    of_bot = {
        name: {
            row.key: report.count(row, "games") for row in report.rows(name) if row.name == "bot"
        }
        for name in plan.by
    }
    assert of_bot["opponent"] == {"b": 2, "c": 1, "d": 2}
    assert of_bot["opponent-class"] == {"other": 1, "strong": 1}
    assert of_bot["week"] == {"2026-W47": 1, "2026-W48": 1}


def test_a_comparison_of_periods_has_only_their_games() -> None:
    sides = ComparedSide.read("a@..2026-10"), ComparedSide.read("a@2026-11")
    games = [
        made_game(("a", "b", "c", "d"), (1, 2, 3, 4), f"2026-10-{day:02}", day)
        for day in range(1, 20)
    ]
    games += [
        made_game(("a", "b", "c", "d"), (3, 1, 2, 4), f"2026-11-{day:02}", 100 + day)
        for day in range(1, 10)
    ]
    games.append(made_game(("a", "b", "c", "d"), (4, 1, 2, 3), "", 999))
    found = counted(BreakdownPlan(sides=sides), games)
    assert [found.sides.count(side, "games") for side in (0, 1)] == [19, 9]
    assert found.sides.difference(PLAYER_FIGURES[0]).value == -2


def test_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mjbot.analysis.stats.breakdown.MOST_ROWS", 10)
    names = [tuple(f"p{4 * game + seat}" for seat in range(4)) for game in range(4)]
    games = [made_game(each, (1, 2, 3, 4), number=k) for k, each in enumerate(names)]
    with pytest.raises(ArgumentError, match="--player"):
        counted(BreakdownPlan(), games)


def test_names_are_escaped_on_the_page_and_no_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    names = ("=HYPERLINK(1)", "<script>", "c", "d")
    report = StatsReport(
        "x", counted(BreakdownPlan(by=("seat",)), [made_game(names, (1, 2, 3, 4))])
    )
    written = page(report, 20, Origin("mjbot stats x", "2026-11-25"))
    assert "<script" not in written and "&lt;script&gt;" in written
    write_csv(tmp_path / "rows.csv", report)
    with (tmp_path / "rows.csv").open(newline="") as file:
        players = {row["player"] for row in csv.DictReader(file)}
    assert players == {"'=HYPERLINK(1)", "<script>", "c", "d"}


# --- the command ------------------------------------------------------------------------------


def test_an_arena_run_gives_what_its_records_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    words = ["tsumogiri", "fast-riichi-b", "--games", "6", "--length", "tonpu", "--jobs", "1"]
    assert main(["arena", *words, "--format", "2v2", "--record", "--out", str(run)]) == 0
    found = []
    for path in (run, run / "records"):
        capsys.readouterr()
        assert main(["stats", str(path), "--json", "--jobs", "1", "--by", "seat", "length"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["games"] == found[1]["games"] == 6
    for name, rows in found[0]["tables"].items():
        for one, other in zip(rows, found[1]["tables"][name], strict=True):
            assert (one["player"], one["key"], one["games"]) == (
                other["player"], other["key"], other["games"],
            )  # fmt: skip
            for key, figure in one["figures"].items():
                assert (figure or {}).get("value") == (other["figures"][key] or {}).get("value")
    work = list_work([tmp_path])
    assert work.runs == (run,) and not work.sources


def test_every_output_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    polars = pytest.importorskip("polars")
    files = {kind: tmp_path / f"stats.{kind}" for kind in ("html", "csv", "parquet")}
    words = [word for kind, path in files.items() for word in (f"--{kind}", str(path))]
    compare = ["--compare", "majiang", "fast-riichi-b"]
    assert main(["stats", str(LOGS), "--jobs", "2", "--by", "seat", *compare, *words]) == 0
    printed = capsys.readouterr().out
    assert "adjusted for the opponents' strength" in printed and "4 games of 4 players" in printed
    assert "<svg" in files["html"].read_text()
    table = polars.read_parquet(files["parquet"])
    with files["csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert table.height == len(rows) == 4 * 2 + 14
    assert table["rank"].to_list() == pytest.approx([float(row["rank"]) for row in rows])


def test_stats_of_a_log_shared_among_processes_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "all.jsonl"
    log.write_bytes(b"".join(path.read_bytes() for path in sorted(LOGS.glob("*.mjson"))))
    found = []
    for jobs in ("1", "2"):
        capsys.readouterr()
        assert main(["stats", str(log), "--json", "--jobs", jobs]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
