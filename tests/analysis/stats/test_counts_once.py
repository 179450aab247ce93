"""A game counts once, whatever the file, and only with games of its rules; no hand is lost."""

import gzip
import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from mjbot.analysis.stats.breakdown import Breakdown, BreakdownPlan
from mjbot.analysis.stats.counted_games import (
    LONGEST_NAME,
    ScoreKeeper,
    Work,
    count_game,
    count_games,
)
from mjbot.analysis.stats.outputs import StatsReport, columns
from mjbot.arena.ladder.table import rates_of_records
from mjbot.arena.run_folder import GAMES_FILE
from mjbot.cli.main import main
from mjbot.game.records.sources import Source, open_games
from mjbot.protocol import messages as m
from tests.analysis.stats.test_breakdown import counted, made_game

pytestmark = pytest.mark.usefixtures("forked_workers")

LOGS = sorted((Path(__file__).parents[3] / "logs").glob("*.mjson"))
HANCHAN = next(path for path in LOGS if path.name == "hanchan-thirteen-kyoku.mjson")


def stats(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    capsys.readouterr()
    assert main(["stats", *map(str, words), "--json", "--jobs", "1"]) == 0
    return json.loads(capsys.readouterr().out)


def same(one: dict, other: dict) -> bool:
    return one["games"] == other["games"] and one["tables"] == other["tables"]


# --- copies ---------------------------------------------------------------------------------------


def cut(folder: Path, name: str, of: Path = HANCHAN, lines: int | None = None) -> Path:
    """Write the first lines of a record; by default all but ``end_game``."""
    folder.mkdir(exist_ok=True)
    text = of.read_text("utf-8").splitlines(keepends=True)
    kept = text[: lines if lines is not None else len(text) - 1]
    assert lines is not None or "end_game" in text[-1]
    (folder / name).write_text("".join(kept), "utf-8")
    return folder / name


def ends_of_kyoku(path: Path) -> list[int]:
    lines = path.read_text("utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if '"end_kyoku"' in line]


def test_copies_without_an_end_or_cut_anywhere_count_nothing_in_any_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = stats(capsys, HANCHAN)
    ends = ends_of_kyoku(HANCHAN)
    copies = [
        cut(tmp_path, "no-end.mjson"),
        cut(tmp_path, "no-end-again.mjson"),
        cut(tmp_path, "ten-kyoku.mjson", lines=ends[9]),
        cut(tmp_path, "in-the-third.mjson", lines=ends[2] + 40),
        cut(tmp_path, "behind-a-win.mjson", lines=ends[5] - 1),
    ]
    for order in ([*copies, HANCHAN], [HANCHAN, *copies], [*copies[::-1], HANCHAN]):
        found = stats(capsys, *order)
        assert same(found, alone)
        assert (found["unfinished"], found["duplicates"]) == (0, len(copies))


def test_of_cut_copies_alone_the_longest_counts_in_any_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = ends_of_kyoku(HANCHAN)
    copies = [cut(tmp_path, f"{n}.mjson", lines=ends[n - 1]) for n in (3, 12, 7)]
    assert main(["stats", str(copies[0]), "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "4 rows of players with fewer than 1 finished games left out" in printed
    for order in (copies, copies[::-1]):
        found = stats(capsys, *order)
        assert (found["games"], found["unfinished"], found["duplicates"]) == (1, 1, 2)
        breakdown = Breakdown(BreakdownPlan())
        for batch in count_games(Work((), tuple(map(Source, order)))):
            breakdown.add(batch)
        breakdown.finish()
        assert breakdown.tables["player"].sums.count(0, "kyoku") == 12


def test_a_copy_in_which_a_player_has_another_name_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two bots may play alike: what has other names counts, and the summary has their number."""
    copy = tmp_path / "renamed.mjson"
    copy.write_text(HANCHAN.read_text("utf-8").replace('"fast-riichi-b"', '"somebody"'), "utf-8")
    found = stats(capsys, HANCHAN, copy)
    assert (found["games"], found["duplicates"], found["renamed"]) == (2, 0, 1)
    assert main(["stats", str(HANCHAN), str(copy), "--jobs", "1"]) == 0
    assert "1 have the events of another under other names" in capsys.readouterr().out


def test_a_run_its_copy_and_its_own_records_are_the_same_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    words = ["tsumogiri", "fast-riichi-b", "--games", "6", "--length", "tonpu", "--jobs", "1"]
    assert main(["arena", *words, "--record", "--out", str(run)]) == 0
    shutil.copytree(run, tmp_path / "copy")
    shutil.copytree(run / "records", tmp_path / "elsewhere" / "games")
    for path in sorted((tmp_path / "elsewhere" / "games").iterdir())[:2]:
        text = gzip.decompress(path.read_bytes())
        (tmp_path / "elsewhere" / f"{path.stem}.copy.jsonl").write_bytes(text)
    alone = stats(capsys, run)
    twice = stats(capsys, run, tmp_path / "copy")
    assert same(twice, alone) and twice["duplicates"] == 6
    for order in ([run, tmp_path / "elsewhere"], [tmp_path / "elsewhere", run]):
        records = stats(capsys, *order)
        assert same(records, alone) and records["duplicates"] == 6 + 2


def test_rates_of_people_count_no_cut_copy(tmp_path: Path) -> None:
    shutil.copy(HANCHAN, tmp_path)
    cut(tmp_path, "a-cut.mjson", lines=ends_of_kyoku(HANCHAN)[4])
    assert len(rates_of_records(tmp_path, 4)) == 1


# --- other rules ----------------------------------------------------------------------------------


def under(folder: Path, name: str, rules: dict | None, of: Path = HANCHAN) -> Path:
    """Write a copy by other players, with these rules announced."""
    first, _, rest = of.read_text("utf-8").partition("\n")
    start = json.loads(first) | {"names": ["w", "x", "y", "z"]}
    start |= {"mjbot_rules": rules} if rules else {}
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"{json.dumps(start)}\n{rest}", "utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("rules", "label"),
    [
        ({"uma": [90000, 30000, -30000, -90000]}, "hanchan,uma=90000/30000/-30000/-90000"),
        ({"red_fives": False}, "hanchan,red_fives=no"),
        ({"start_points": 29000, "target_points": 30000}, "hanchan,start_points=29000"),
        ({"length": "tonpu", "bust": False}, "tonpu,bust=no"),
        ({"from": "a newer version"}, "unknown length,rules of another program"),
    ],
)
def test_games_under_other_rules_have_rows_of_their_own(
    rules: dict, label: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = under(tmp_path, "b.mjson", rules)
    cut(tmp_path, "a-cut.mjson", of=other)
    found = stats(capsys, tmp_path, HANCHAN)
    assert found["rules"] == {"hanchan": 1, label: 1}
    rows = [row for row in found["tables"]["player"] if row["rules"] == "hanchan"]
    assert rows == stats(capsys, HANCHAN)["tables"]["player"]
    assert len(found["tables"]["player"]) == 8
    assert main(["stats", str(tmp_path), str(HANCHAN), "--jobs", "1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    named = ", ".join(sorted(["hanchan (1)", f"{label} (1)"]))
    assert f"rows of their own for each set of rules: {named}" in printed


def test_the_length_is_what_only_that_length_can_be(tmp_path: Path) -> None:
    """An East-only game may go on into South; a hanchan ends early by a score below 0 only."""
    lengths = {path.name: count_game(next(iter(open_games(path)))).length for path in LOGS}
    assert lengths == {
        path.name: "tonpu" if path.name.startswith("east-") else "hanchan" for path in LOGS
    }


def test_a_game_that_a_bust_ended_in_east_counts_with_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = ends_of_kyoku(HANCHAN)
    bust = cut(tmp_path, "bust.mjson", under(tmp_path, "of.mjson", None), lines=ends[1])
    bust.write_text(
        bust.read_text("utf-8") + '{"type":"end_game","scores":[60000,-100,20000,20100]}\n'
    )
    (tmp_path / "of.mjson").unlink()
    assert stats(capsys, bust)["rules"] == {"unknown length": 1}
    assert stats(capsys, bust, HANCHAN)["rules"] == {"hanchan": 2}


def arena_run(folder: Path, rival: str) -> Path:
    words = ["tsumogiri", rival, "--games", "2", "--length", "tonpu", "--jobs", "1"]
    assert main(["arena", *words, "--out", str(folder)]) == 0
    return folder


def copy_by_code(run: Path, folder: Path, code: str) -> Path:
    """Copy a run; ``code`` is what its header then has of the digests of its two strategies."""
    header, _, lines = (run / GAMES_FILE).read_bytes().partition(b"\n")
    played = msgspec.json.decode(header)["setup"]["code"]
    header = header.replace(played.encode(), code.format(*played.split(",")).encode())
    folder.mkdir()
    (folder / GAMES_FILE).write_bytes(header + b"\n" + lines)
    return folder


def test_runs_are_counted_together_if_the_strategies_in_common_have_the_same_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = [arena_run(tmp_path / name, f"fast-riichi-{name}") for name in "ab"]
    assert stats(capsys, first, second)["games"] == 12
    other = "0123456789abcdef"
    for number, (run, code, changed) in enumerate(
        [
            (second, f"{other},{{1}}", "tsumogiri"),
            (first, f"{{0}},{other}", "fast-riichi-a"),
            (second, other, "tsumogiri"),  # an older run has one digest of both
        ]
    ):
        copy = copy_by_code(run, tmp_path / f"copy {number}", code)
        capsys.readouterr()
        assert main(["stats", str(first), str(copy), "--jobs", "1", "--player", "tsumogiri"]) == 2
        line = capsys.readouterr().err.splitlines()[-1]
        assert f"{first} and {copy} do not have the same code of {changed}; count each" in line


def test_a_comparison_is_of_games_under_the_same_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    under(tmp_path, "a.mjson", {"red_fives": False})
    command = ["stats", str(tmp_path), str(HANCHAN), "--jobs", "1", "--compare"]
    assert main([*command, "w", "majiang"]) == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith("--compare: w and majiang have no games under the same rules")
    )
    assert main([*command, "w", "x"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "compared: games of hanchan,red_fives=no, those under other rules are left out" in printed
    )


# --- hands that do not count ----------------------------------------------------------------------


def without_results(path: Path, out: Path, *kyoku: int) -> Path:
    """Write a record of which some kyoku (from 1) have no result."""
    kept, number = [], 0
    for line in path.read_text("utf-8").splitlines(keepends=True):
        number += '"start_kyoku"' in line
        if number in kyoku and re.search(r'"type": ?"(hora|ryukyoku)"', line):
            continue
        kept.append(line)
    out.write_text("".join(kept), "utf-8")
    return out


def test_kyoku_without_a_result_are_counted_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = without_results(HANCHAN, tmp_path / "lost.mjson", 2, 5, 13)
    found = stats(capsys, path)
    assert found["kyoku_without_result"] == 3
    assert found["tables"]["player"][0]["kyoku"] == 10
    assert main(["stats", str(path), "--jobs", "1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "3 kyoku without a result, which do not count" in printed


def test_a_game_without_any_kyoku_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = without_results(HANCHAN, tmp_path / "lost.mjson", *range(1, 14))
    found = stats(capsys, path, LOGS[0])
    assert (found["games"], found["games_without_kyoku"]) == (1, 1)
    assert found["kyoku_without_result"] == 13


def test_sticks_that_are_left_at_the_end_go_to_first_place() -> None:
    keeper = ScoreKeeper()
    for event in (
        m.StartKyoku(
            bakaze="S", kyoku=4, honba=0, kyotaku=1, oya=3, dora_marker="1m",
            tehais=((),) * 4, scores=(30000, 25000, 24000, 20000),
        ),
        m.ReachAccepted(actor=2),
        m.Ryukyoku(reason="fanpai", deltas=(-1000, 3000, -1000, -1000)),
        m.EndKyoku(),
        m.EndGame(),
    ):  # fmt: skip
        keeper.add(event)
    assert keeper.final == (31000, 28000, 22000, 19000)
    assert sum(keeper.final) == 100_000


# --- names ----------------------------------------------------------------------------------------


def named(path: Path, *names: str) -> Path:
    first, _, rest = HANCHAN.read_text("utf-8").partition("\n")
    start = json.loads(first) | {"names": names}
    path.write_text(f"{json.dumps(start)}\n{rest}", "utf-8")
    return path


def test_long_names_and_letters_that_a_viewer_obeys_reach_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = ("x" * 1_000_000, "a\u202eb\0c\x1b[2J", "\uff1d1+1", "x" + "-1.2" * 8000 + "@")
    record = named(tmp_path / "names.mjson", *evil)
    page, table = tmp_path / "page.html", tmp_path / "rows.csv"
    words = ["--html", str(page), "--csv", str(table), "--by", "seat", "opponent"]
    assert main(["stats", str(record), *words, "--jobs", "1", "--player", evil[1]]) == 0
    assert main(["stats", str(record), *words, "--jobs", "1"]) == 0
    for path in (page, table):
        text = path.read_text("utf-8")
        assert len(text) < 200_000
        assert not {"\u202e", "\0", "\x1b"} & set(text)
        assert "x" * LONGEST_NAME in text or path == page
        assert "x" * (LONGEST_NAME + 1) not in text
    cells = [line.split(",")[1] for line in table.read_text("utf-8").splitlines()]
    assert "'\uff1d1+1" in cells and not any(cell.startswith("\uff1d") for cell in cells)


def test_the_rows_of_many_players_take_one_pass() -> None:
    """Names are compared no more than a few times each."""
    compared = 0

    class Name(str):
        __slots__ = ()

        def __hash__(self) -> int:
            nonlocal compared
            compared += 1
            return super().__hash__()

    counts = []
    for n in (200, 400):
        names = [Name(f"p{number}") for number in range(n)]
        games = [made_game(tuple(names[at : at + 4]), (1, 2, 3, 4), number=at)
                 for at in range(0, n, 4)]  # fmt: skip
        compared = 0
        report = StatsReport("", counted(BreakdownPlan(by=("seat",)), games))
        assert len(columns(report)["player"]) == 2 * n
        counts.append(compared)
    assert counts[1] < 2.5 * counts[0]
