"""What a match tells of itself where there is no terminal."""

import asyncio
import csv
import io
import shlex
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from mjbot.cli import main, match
from mjbot.play.client.faults import Faults
from mjbot.play.match.match_report import MatchReport, final_table, save_results
from mjbot.play.match.player_processes import RunningFaults, fault_lines
from mjbot.play.match.players import read_players
from mjbot.play.server.core import TableFault
from mjbot.play.server.server import GameResult
from mjbot.protocol.messages import StartKyoku
from mjbot.strategy.faults import Fault

HIDDEN = ("?",) * 13
EAST_3 = StartKyoku(
    bakaze="E", kyoku=3, honba=1, kyotaku=0, oya=2, dora_marker="9p", tehais=(HIDDEN,) * 4
)


class Paper(io.StringIO):
    """A file of which each new line is waited for."""

    def __init__(self):
        super().__init__()
        self.written = asyncio.Event()

    def write(self, text):
        self.written.set()
        return super().write(text)

    async def next_line(self):
        known = self.getvalue().count("\n")
        while self.getvalue().count("\n") == known:
            self.written.clear()
            await self.written.wait()
        return self.getvalue().splitlines()[known]


def test_a_match_says_now_and_then_where_it_is(monkeypatch):
    monkeypatch.setattr(MatchReport, "interval_s", 0.0)

    async def watched():
        paper = Paper()
        with MatchReport(Console(file=paper), 2, "hanchan") as report:
            before = await paper.next_line()
            report.on_event(0, EAST_3)
            after = await paper.next_line()
        assert len(asyncio.all_tasks()) == 1
        return before, after

    before, after = asyncio.run(watched())
    assert before.endswith(" s")
    assert "game 1/2" not in before
    assert after.startswith("game 1/2  E3-1, ")


def result(game, log=None, names=("x", "y", "z", "w"), places=(0, 1, 2, 3), faults=()):
    scores = (30000, 20000, 25000, 25000)
    return GameResult(
        game=game, names=names, places=places, scores=scores, void=False, faults=faults, log=log
    )


def ended(console_file, folder, *results):
    """Conclude a match of an outside bot, ours and a person; return what it was blamed for."""
    players = read_players(
        [f"external-lines:{sys.executable} bot.py", "tsumogiri", "human", "tsumogiri"]
    )
    report = MatchReport(Console(file=console_file, width=200), len(results), "tonpu")
    for result in results:
        report.on_result(result)
    return match._conclude(report, players, folder, Console(file=console_file, width=200))


@pytest.mark.parametrize("where", ["on PATH", "below", "elsewhere"])
def test_printed_commands_work_as_they_are_printed(where, tmp_path, monkeypatch):
    """Where the shell does not find mjbot, its path is printed, also with blanks."""
    program = tmp_path / "a folder" / "bin" / "mjbot"
    program.parent.mkdir(parents=True)
    (tmp_path / "run").mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.setenv("PATH", str(program.parent) if where == "on PATH" else str(tmp_path))
    monkeypatch.chdir(tmp_path if where == "below" else tmp_path / "run")
    shown = {"on PATH": "mjbot", "below": "a folder/bin/mjbot", "elsewhere": str(program)}[where]
    last = result(0, log=tmp_path / "run" / "1.mjson")
    players = read_players(["tsumogiri"] * 4)
    for line in match.next_commands(tmp_path / "run", players, [last])[:2]:
        assert shlex.split(line.partition(": ")[2])[0] == shown


def test_a_match_ends_with_the_commands_that_show_and_review_it(tmp_path, monkeypatch):
    """Of the last game, and of the person's seat there."""
    monkeypatch.setattr(match, "program", lambda: "mjbot")
    paper, folder = io.StringIO(), tmp_path / "a run"
    folder.mkdir()
    logs = [folder / f"{game}.mjson" for game in (1, 2)]
    first = result(0, log=logs[0])
    last = result(1, log=logs[1], names=("you", "x", "y", "z"), places=(2, 0, 1, 3))
    assert ended(paper, folder, first, last) == []
    *_, where, watch, review, page = paper.getvalue().splitlines()
    assert page == f"your first bot: {match.FIRST_BOT.parents[2]}/docs/start/first-bot.md"
    assert where == f"logs in {folder}"
    assert watch == f"watch: mjbot watch '{folder}'"
    assert review == f"review (you): mjbot review '{logs[1]}' --seat 0"
    for line in (watch, review):
        main._read(shlex.split(line.partition(": ")[2])[1:])  # is a command line


def test_a_match_names_the_players_whose_answers_the_table_replaced(tmp_path):
    paper = io.StringIO()
    faults = TableFault(1, "Error in player 1's response: P is not in the hand"), TableFault(1, "x")
    results = [result(game, places=(1, 0, 2, 3), faults=faults) for game in range(2)]
    (line,) = ended(paper, tmp_path, *results)
    assert line == (
        f"player 1, external-lines:{sys.executable} bot.py: 4 bad or missing answers,"
        " first in game 1, seat 1: P is not in the hand"
    )
    assert line in paper.getvalue().splitlines()


def test_who_leaves_the_page_is_told_as_absent(tmp_path):
    players = read_players(["human", "tsumogiri", "tsumogiri", "tsumogiri"])
    Faults(tmp_path / "player-1-faults.csv").add(Fault("absent", 2, 7, "nobody is at the page"))
    ((place, reported),) = RunningFaults(tmp_path, players, print).news()
    assert (place, reported) == (0, "decision replaced, absent: nobody is at the page")
    (line,) = fault_lines(tmp_path, players)
    assert line.startswith("player 1, human: 1 decision replaced (1 absent), first: nobody is at")


def test_the_line_of_a_game_names_each_player_at_fault_and_the_first_fault():
    names, places = ("a", "b", "c", "d"), (2, 0, 1, 3)
    faults = (
        TableFault(2, "Error in player 2's response: dahai: not allowed"),
        TableFault(0, "Timeout. No response in 5 sec."),
        TableFault(2, "Error in player 2's response: no JSON"),
    )
    result = GameResult(
        game=0,
        names=names,
        places=places,
        scores=(25_000, 30_000, 20_000, 25_000),
        void=False,
        faults=faults,
        log=None,
    )
    paper = io.StringIO()
    report = MatchReport(Console(file=paper, width=300), 1, "tonpu")
    report.on_result(result)
    report.on_result(replace(result, game=1, faults=()))
    first, second = paper.getvalue().splitlines()
    assert first.endswith(
        "  (player 2, c: 2 faults, first: dahai: not allowed;"
        " player 3, a: 1 fault, first: Timeout. No response in 5 sec.)"
    )
    assert second.endswith("c 20000")


@pytest.mark.parametrize("seats", [3, 4])
def test_saved_results_count_the_faults_of_each_player(seats, tmp_path):
    places = (2, 0, 1, 3) if seats == 4 else (2, 0, 1)
    faults = [TableFault(seat, "Timeout") for seat in (2, 0, 2)]
    scores = (25_000, 30_000, 20_000, 25_000)[:seats]
    result = GameResult(
        game=0, names=tuple("abcd"[:seats]), places=places, scores=scores, void=False,
        faults=tuple(faults), log=None,
    )  # fmt: skip
    players = read_players(["tsumogiri"] * seats)
    save_results(tmp_path, players, [result, replace(result, game=1, faults=())])
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    by_seat = {(row["game"], int(row["seat"])): int(row["faults"]) for row in rows}
    expected = {("1", seat): (1, 0, 2, 0)[seat] for seat in range(seats)}
    assert by_seat == expected | {("2", seat): 0 for seat in range(seats)}


@pytest.mark.parametrize("seats", [3, 4])
def test_the_table_at_the_end_has_a_column_for_each_rank_there_is(seats):
    places, scores = tuple(range(seats)), tuple(range(40_000, 40_000 - seats, -1))
    result = GameResult(
        game=0, names=tuple("abcd"[:seats]), places=places, scores=scores, void=False,
        faults=(), log=None,
    )  # fmt: skip
    paper = io.StringIO()
    Console(file=paper, width=200).print(final_table(read_players(["tsumogiri"] * seats), [result]))
    text = paper.getvalue()
    assert ("4th" in text) == (seats == 4)
    last = text.rstrip().splitlines()[-2].split("│")
    assert last[-3].strip() == "1"  # the last player is last, in the last column of ranks
