"""``mjbot ladder`` on a few walls: the ladder says what the games say."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mjbot.arena.decision_times import DecisionCost
from mjbot.arena.ladder import ladder as ladder_module
from mjbot.arena.ladder.ladder import LineStanding
from mjbot.arena.ladder.table import strength_table
from mjbot.arena.run_folder import GAMES_FILE, read_games
from mjbot.arena.workers.files_read import FILES_COPY, FILES_FILE
from mjbot.cli.main import main
from mjbot.game.records.game import Game
from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.records.writers import FORMATS
from mjbot.game.statistics.figures import ROW
from mjbot.game.table.settle import ranks_of
from mjbot.protocol.messages import Event, Hora, StartKyoku
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import Spec
from tests.damage import damages
from tests.game.records.formats import report
from tests.game.referee.scripted import random_game

pytestmark = pytest.mark.usefixtures("forked_workers")

LOGS = Path(__file__).parents[3] / "logs"
LINES = ("--lines", "tsumogiri", "fast-riichi-b", "fast-riichi-a")
AGAINST = ("--against", "fast-riichi-a", "tsumogiri")
FEWER = ("--games-of", "tsumogiri=4")


def ladder(folder: Path, *more: str, games: int = 8) -> int:
    usual = ("--length", "tonpu", "--strongest", "1", "--jobs", "1", "--games", str(games))
    command = ("ladder", *LINES, *AGAINST, *FEWER, *usual)
    return main([*command, "--out", str(folder), *more])


def wins_per_kyoku(events: Iterable[Event]) -> float:
    counts = Counter(map(type, events))
    return counts[Hora] / counts[StartKyoku]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, fork_workers: Any) -> Path:
    folder = tmp_path_factory.mktemp("ladder")
    with pytest.MonkeyPatch.context() as patch:
        fork_workers(patch)
        assert ladder(folder, "--report", str(folder / "new" / "ladder.md")) == 0
    return folder


@pytest.fixture
def shown(played: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert ladder(played, "--show") == 0
    return capsys.readouterr().out.splitlines()


def cells_of(lines: list[str], name: str) -> Iterator[list[str]]:
    """The cells of each table's row of that name, in order."""
    for line in lines:
        if line.startswith(f"| {name} |"):
            yield [cell.strip() for cell in line.split("|")[1:-1]]


def mean_rank(folder: Path, seats: int = 4) -> float:
    games = [game for game in read_games(folder) if game.seating < seats]
    ranks = [ranks_of(game.scores)[game.seating] for game in games]
    return sum(ranks) / len(ranks)


def test_lines_stand_in_order_with_what_their_games_and_decisions_say(
    played: Path, shown: list[str]
) -> None:
    against_a = played / "strength" / "fast-riichi-a"
    rows = [next(cells_of(shown, f"`{name}`")) for name in ("fast-riichi-b", "tsumogiri")]
    for row, name in zip(rows, ("fast-riichi-b", "tsumogiri"), strict=True):
        assert float(row[1].split()[0]) == pytest.approx(mean_rank(against_a / name), abs=5e-4)
    itself = next(cells_of(shown, "`fast-riichi-a`, all four"))
    assert itself[1].startswith("2.500")
    table = [line.split(" | ")[1] for line in shown[5:8]]
    ranks = [float(cell.split()[0]) for cell in table]
    assert ranks == sorted(ranks)
    assert [row[5] for row in (*rows, itself)] == ["8", "4", "8"]
    assert all(cell.endswith(" ms") for cell in (*rows[0][6:8], *itself[6:8]))
    assert rows[0][8].endswith(" s")
    assert rows[1][6:] == ["-", "-", "-"]  # it is never asked


def test_only_the_strongest_meets_the_other_opponent(played: Path, shown: list[str]) -> None:
    best = next(line for line in shown if line.startswith("| `")).split("`")[1]
    (folder,) = (played / "strength" / "tsumogiri").iterdir()
    assert folder.name == best
    against_tsumogiri = shown.index(next(row for row in shown if "three of `tsumogiri`" in row))
    row = next(cells_of(shown[against_tsumogiri:], f"`{best}`"))
    assert float(row[1].split()[0]) == pytest.approx(mean_rank(folder), abs=5e-4)


def test_the_same_command_plays_nothing_again_and_tells_the_same(
    played: Path, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    logs = {path: path.read_bytes() for path in played.rglob("games.jsonl")}
    assert ladder(played) == 0
    assert capsys.readouterr().out.splitlines() == shown
    assert {path: path.read_bytes() for path in played.rglob("games.jsonl")} == logs
    written = (played / "new" / "ladder.md").read_text(encoding="utf-8")
    assert written.splitlines() == shown


def test_what_is_not_finished_says_so(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--show", "--also", "fast-riichi-c,lookahead=text")
    assert ladder(played, *more, games=12) == 0
    lines = capsys.readouterr().out.splitlines()
    assert next(cells_of(lines, "`fast-riichi-b`"))[5] == "8 of 12: not finished"
    assert next(cells_of(lines, "`tsumogiri`"))[5] == "4"
    unplayed = next(cells_of(lines, "`fast-riichi-c,lookahead=text`"))
    assert unplayed[1] == "-"
    assert unplayed[5] == "0 of 12: not finished"
    assert "--games 12" in lines[1]
    assert "fast-riichi-c,lookahead=text" in lines[1]


def test_a_named_line_that_cannot_be_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {
        "--lines supervised": "'supervised' plays no table of 3 players",
        "--also external:no-such-program": "no-such-program",
        "--also external:majiang": "majiang",
    }
    for option, reason in named.items():
        assert main(["ladder", "--players", "3", *option.split(), "--out", str(tmp_path)]) != 0
        (line,) = capsys.readouterr().err.splitlines()
        assert reason in line
    assert not any(tmp_path.iterdir())


def test_without_lines_all_are_measured_that_play_so_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ladder", "--players", "3", "--show", "--out", str(tmp_path)]) == 0
    table = capsys.readouterr().out
    assert "| `fast-riichi-d` | - |" in table
    assert "supervised" not in table


def test_runs_of_other_code_are_refused_and_erased_if_asked(
    played: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(played, tmp_path / "copy")
    changed = "fast-riichi-b"
    digest = ladder_module.code_digest
    monkeypatch.setattr(
        ladder_module,
        "code_digest",
        lambda specs, players: (
            "other" if changed in map(str, specs := [*specs]) else digest(specs, players)
        ),
    )
    assert ladder(tmp_path / "copy", "--show") == ExitCode.UNREACHABLE
    report = capsys.readouterr().err
    assert "fast-riichi-b/games.jsonl holds a run with other code of the strategies" in report
    assert "use --fresh" in report
    assert ladder(tmp_path / "copy", "--show", "--fresh") == 0
    lines = capsys.readouterr().out.splitlines()
    assert next(cells_of(lines, "`fast-riichi-b`"))[5] == "0 of 8: not finished"
    assert next(cells_of(lines, "`tsumogiri`"))[5] == "4"


def test_people_s_rates_stand_beside(
    played: Path, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert any("Phoenix room" in line and "12.48 ± 0.11 %" in line for line in shown)
    record = LOGS / "hanchan-thirteen-kyoku.mjson"
    assert ladder(played, "--show", "--records", str(record)) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(cells_of(lines, "*people, 1 recorded game*"))
    events = [
        entry.event
        for source in list_sources(record)
        for game in games_of(source)
        for entry in game.entries
    ]
    assert row[1].startswith(f"{100 * wins_per_kyoku(events) / 4:.2f} ")
    assert any(line.endswith("--records hanchan-thirteen-kyoku.mjson`") for line in lines)


def test_lines_are_compared_on_the_walls_that_both_have() -> None:
    def line(walls: tuple[int, ...], ranks: tuple[float, ...], games: int) -> LineStanding:
        rows = np.zeros(len(walls), ROW)
        rows["games"], rows["rank"] = 4, 4 * np.array(ranks)
        spec = Spec.read(f"my_bot.py:Bot{games}")
        return LineStanding(spec, 4, games, walls, rows, DecisionCost({}, 0))

    above, below = line((0, 1, 2, 3), (1, 2, 3, 2), 16), line((1, 3), (2.25, 2.75), 20)
    *_, row = strength_table([above, below], Spec.read("tsumogiri"), 4)
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[2] == "+0.500 ± 3.177"  # 0.25 and 0.75 on walls 1 and 3
    assert cells[5] == "8 of 20: not finished"


def test_three_players_have_a_ladder_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = report(random_game(1, Rules(players=3, length="tonpu")))
    record = tmp_path / "game.mjson"
    record.write_bytes(FORMATS["mjai"].encode(Game("own", "line", game.entries)))
    lines = ("--lines", "tsumogiri", "fast-riichi-b", "--strongest", "1")
    usual = ("--players", "3", "--length", "tonpu", "--jobs", "1", "--games", "5")
    more = ("--against", "fast-riichi-a", "tsumogiri", "--records", str(record))
    assert main(["ladder", *lines, *usual, *more, "--out", str(tmp_path)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert not (tmp_path / "strength").exists()  # where lines of four players lie
    for name in ("fast-riichi-b", "tsumogiri"):
        folder = tmp_path / "strength-three-players" / "fast-riichi-a" / name
        row = next(cells_of(table, f"`{name}`"))
        assert float(row[1].split()[0]) == pytest.approx(mean_rank(folder, 3), abs=5e-4)
        assert row[5] == "6"
    assert next(cells_of(table, "`fast-riichi-a`, all three"))[1].startswith("2.000")
    assert "| 3rd |" in next(line for line in table if "against two of `tsumogiri`" in line)
    row = next(cells_of(table, "*people, 1 recorded game*"))
    assert row[1].startswith(
        f"{100 * wins_per_kyoku(entry.event for entry in game.entries) / 3:.2f} "
    )


def test_a_damaged_line_of_a_ladder_is_named_or_its_games_count(played, tmp_path, capsys):
    folder = tmp_path / "ladder"
    shutil.copytree(played, folder)
    assert ladder(folder, "--show") == ExitCode.OK
    whole = capsys.readouterr().out
    line = next(path.parent for path in sorted(folder.rglob(GAMES_FILE)))
    for name in (GAMES_FILE, FILES_FILE, FILES_COPY):
        for form in damages(line / name, 2):
            code = ladder(folder, "--show")
            shown = capsys.readouterr()
            assert "Traceback" not in shown.err
            if code != ExitCode.OK:
                assert name == GAMES_FILE and str(line) in shown.err.splitlines()[-1]
            elif name != GAMES_FILE:
                assert shown.out == whole, form
