"""``mjbot arena`` as a user meets it: real processes, signals and files."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mjbot.arena.run_folder import GameLine, encode_game
from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode

BOTS = Path(__file__).with_name("bots.py")
ASSASSIN = f"{BOTS}:Assassin"
TROUBLED = f"{BOTS}:Crashing"


@dataclass
class Ended:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Arena = Callable[..., Ended]


@pytest.fixture
def arena(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    forked_workers: None,
) -> Arena:
    """Run the command in this process (its workers are forks of it)."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments: str) -> Ended:
        try:
            code = main(["arena", *arguments])
        except SystemExit as refused:
            code = refused.code
        finally:
            signal.signal(signal.SIGTERM, before)
        out, err = capfdbinary.readouterr()
        return Ended(code, out.decode(), err.decode())

    return run


@pytest.fixture
def arena_process(tmp_path: Path) -> Arena:
    """Run the command in a process of its own, which may be killed."""

    def run(*arguments: str) -> Ended:
        command = [sys.executable, "-m", "mjbot", "arena", *arguments]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


def few_games(*strategies: str, games: int = 6) -> list[str]:
    return [*strategies, "--games", str(games), "--length", "tonpu", "--jobs", "1"]


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_killed_twice_a_run_ends_with_exactly_the_same_figures(
    arena: Arena, arena_process: Arena, tmp_path: Path
) -> None:
    command = few_games(ASSASSIN, "fast-riichi-b", games=12)
    whole = arena(*command, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    for number, lines in ((signal.SIGKILL, 4), (signal.SIGTERM, 9)):
        (tmp_path / f"send-{number.value}").write_text(f"parts/games.jsonl {lines}")
    codes = []
    kept = []
    while not codes or codes[-1] != 0:
        ended = arena_process(*command, "--out", "parts")
        codes.append(ended.returncode)
        found = re.search(r"(\d+) of them kept", ended.stdout)
        kept.append(int(found[1]) if found else 0)
        assert len(codes) <= 3
    assert codes == [-signal.SIGKILL, 130, 0]
    # the header is a line too, and a second game may have ended while the signal was on its way
    assert kept[0] == 0
    assert 3 <= kept[1] < 8 <= kept[2] < 12
    for name in ("figures.jsonl", "report.html"):
        texts = [(tmp_path / run / name).read_text() for run in ("parts", "whole")]
        parts, at_once = [re.sub("<p class=origin.*", "", text) for text in texts]
        assert parts == at_once  # but for the date


def test_ctrl_c_saves_and_says_how_to_go_on(arena_process: Arena, tmp_path: Path) -> None:
    (tmp_path / f"send-{signal.SIGINT.value}").write_text("run/games.jsonl 2")
    ended = arena_process(*few_games(ASSASSIN, "tsumogiri", games=600), "--out", "run")
    assert ended.returncode == 130
    assert "Traceback" not in ended.stderr
    assert re.search(r"interrupted; kept: \d+ games?; run the same command to resume", ended.stdout)
    assert (tmp_path / "run" / "games.jsonl").read_bytes().endswith(b"\n")


def test_identical_strategies_are_exactly_alike(arena: Arena) -> None:
    ended = arena(*few_games("fast-riichi-a", "fast-riichi-a", games=42), "--json")
    run, one, other, difference = records(ended.stdout)
    assert run["verdict"] == "open"
    assert (one["name"], other["name"]) == ("fast-riichi-a", "fast-riichi-a (2)")
    assert difference["rank"] == [0, 0, 0]
    assert difference["win"] == [0, 0, 0]


def test_what_a_strategy_prints_is_kept_out_of_the_figures(arena_process: Arena) -> None:
    ended = arena_process(*few_games(f"{BOTS}:Chatty", "tsumogiri"), "--json")
    assert records(ended.stdout)[0]["record"] == "run"
    assert "I discard what I drew" in ended.stderr


def test_a_long_run_stops_when_it_is_sure(arena: Arena) -> None:
    command = few_games("fast-riichi-b", "tsumogiri", games=6000)
    run = records(arena(*command, "--until", "sure", "--json").stdout)[0]
    assert run["verdict"] == "better"
    assert run["complete_walls"] == run["verdict_walls"]
    assert run["games"] < 300
    assert run["rank_difference_always"][1] < 0


def test_games_that_are_rounded_up_to_whole_walls_are_reported(arena: Arena) -> None:
    ended = arena(*few_games("tsumogiri", "tsumogiri", games=2))
    assert "6 games (--games 2, rounded up to whole walls): 1 wall x 6 seatings" in ended.stdout


def test_more_games_of_the_same_run_keep_the_old_ones(arena: Arena) -> None:
    first = arena(*few_games("tsumogiri", "tsumogiri", games=6))
    assert "6 games: 1 wall x 6 seatings" in first.stdout
    assert "open hands: none" in first.stdout
    more = arena(*few_games("tsumogiri", "tsumogiri", games=12))
    assert "12 games, 6 of them kept from before: 2 walls" in more.stdout
    fewer = arena(*few_games("tsumogiri", "tsumogiri", games=6))
    assert "6 games, 6 of them kept from before: 1 wall" in fewer.stdout
    other = arena(*few_games("tsumogiri", "tsumogiri"), "--seed", "1")
    assert "kept from before" not in other.stdout


def test_a_crash_is_kept_and_can_be_made_again(arena: Arena, tmp_path: Path) -> None:
    silent = f"{BOTS}:Silent,at=3"
    ended = arena(*few_games(TROUBLED, silent), "--out", "run")
    assert ended.returncode == 1
    crash, illegal = [line for line in ended.stdout.splitlines() if "replaced" in line]
    assert crash == (
        f"12 decisions of {TROUBLED} were replaced (crash: KeyError: 'no such plan' (bots.py,"
        " line 58)); see one: mjbot arena --repro run/faults/crash-0-0-0-5.json"
    )
    assert illegal == (
        f"12 decisions of {silent} were replaced (illegal: it may not choose None);"
        " see one: mjbot arena --repro run/faults/illegal-0-0-2-3.json"
    )
    files = sorted((tmp_path / "run" / "faults").glob("crash-*"))
    assert len(files) == 12  # two seats in each of six games
    again = arena("--repro", "run/faults/crash-0-0-0-5.json")
    assert again.returncode == 1
    assert "crash, KeyError: 'no such plan'" in again.stdout
    assert re.search(r"E1-0, \d+ tiles left; hand: \w+ ", again.stdout)
    assert "in go_wrong" in again.stdout
    assert "another way" not in again.stdout


def test_a_decision_of_another_world_is_still_made_on_its_table(
    arena: Arena, tmp_path: Path
) -> None:
    arena(*few_games(TROUBLED, "tsumogiri"), "--out", "run")
    file = sorted((tmp_path / "run" / "faults").iterdir())[0]
    kept = json.loads(file.read_text().replace('"seed": 0', '"seed": 5'))
    del kept["check"]  # files of an earlier version have none
    file.write_text(json.dumps(kept))
    again = arena("--repro", str(file))
    assert "the game went another way" in again.stdout
    assert again.returncode == 0  # a new player of the strategy has no trouble yet
    assert re.search(r"chose .* after \d+\.\d+ s", again.stdout)


class Page(HTMLParser):
    """Notes what a page is made of."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_needs_nothing_but_itself(arena: Arena, tmp_path: Path) -> None:
    strategies = ("fast-riichi-b", "fast-riichi-a,lookahead=text", "tsumogiri")
    ended = arena(*few_games(*strategies, games=18), "--out", "run")
    assert ended.returncode == 0, ended.stderr
    text = (tmp_path / "run" / "report.html").read_text()
    page = Page()
    page.feed(text)
    assert page.tags.count("svg") == 4
    assert not page.addresses
    assert "script" not in page.tags
    assert "://" not in text
    assert "nan" not in text
    assert "average rank, row less column" in text
    command = "mjbot arena fast-riichi-b fast-riichi-a,lookahead=text tsumogiri --format 1v3"
    assert re.search(rf"<p class=soft>{command} .*--games 18 .*: \d{{4}}-\d\d-\d\d", text)


def test_two_answers_never_stand_on_one_screen(arena: Arena) -> None:
    """A newcomer with a clear result is told so; the sequential test speaks when asked for."""
    command = few_games("fast-riichi-b", "tsumogiri", games=60)
    plain = arena(*command)
    assert "sure" not in plain.stdout
    report = r"average rank -\d\.\d+ ± \d\.\d+, which leaves out 0"
    assert re.search(f"fast-riichi-b is better than tsumogiri: {report}", plain.stdout)
    asked = arena(*command, "--until", "sure")
    assert re.search(r"(not )?sure after \d+ walls", asked.stdout)


def test_two_walls_that_came_in_alike_have_no_interval(arena: Arena) -> None:
    ended = arena(*few_games("fast-riichi-a", "fast-riichi-a", games=12))
    ranks = next(line for line in ended.stdout.splitlines() if "average rank" in line)
    assert ranks.count("± ?") == 3
    assert "too few walls to compare fast-riichi-a with fast-riichi-a (2)" in ended.stdout


def test_a_pair_has_figures_of_its_own(arena: Arena) -> None:
    ended = arena(
        *few_games("fast-riichi-b", "fast-riichi-a", games=6), "--format", "pair", "--json"
    )
    found = records(ended.stdout)
    assert [record["record"] for record in found] == [
        "run", "strategy", "strategy", "difference", "pair", "pair", "difference",
    ]  # fmt: skip
    rank_sums = [record["rank_sum"][0] for record in found[4:6]]
    assert sum(rank_sums) == pytest.approx(10)
    assert "open hands: allies" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "report"),
    [
        (["tsumogiri"], "name two strategies or more"),
        (["tsumogiri", "nobody"], "unknown strategy 'nobody'"),
        (["tsumogiri", "fast-riichi-a,speed=9"], "option 'speed'"),
        (["tsumogiri", "fast-riichi-a,lookahead"], "expected KEY=VALUE"),
        (["tsumogiri", "tsumogiri", "tsumogiri", "--format", "2v2"], "takes two strategies, not 3"),
        (
            ["tsumogiri", "tsumogiri", "--games", "0"],
            "--games: '0': expected a whole number above 0",
        ),
        (
            ["tsumogiri", "tsumogiri", "--deadline-s", "nan"],
            "--deadline-s: 'nan': expected 0 (none) or 0.01",
        ),
        (
            ["tsumogiri", "tsumogiri", "--deadline-s", "inf"],
            "--deadline-s: 'inf': expected 0 (none) or 0.01",
        ),
        (
            ["tsumogiri", "tsumogiri", "--deadline-s=-1"],
            "--deadline-s: '-1': expected 0 (none) or 0.01",
        ),
        (["tsumogiri", "tsumogiri", "--uma", "1,2"], "expected four numbers"),
        (["tsumogiri", "tsumogiri", "--seed", "-1"], "--seed -1: from 0"),
    ],
)
def test_what_makes_no_run_is_one_line(arena: Arena, arguments: list[str], report: str) -> None:
    ended = arena(*arguments)
    assert ended.returncode == 2
    assert report in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not ended.stdout


def test_no_fault_file_is_one_line(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    for name, report, status in (
        ("missing.json", "No such file", ExitCode.UNREACHABLE),
        ("other.json", "is not a fault", ExitCode.FAILED),
    ):
        ended = arena("--repro", name)
        assert ended.returncode == status
        assert report in ended.stderr
        assert len(ended.stderr.splitlines()) == 1


def test_fresh_erases_no_folder_that_is_not_a_run(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main")
    (tmp_path / "thesis.txt").write_text("years of work")
    ended = arena("tsumogiri", "tsumogiri", "--out", ".", "--fresh")
    assert ended.returncode == 3
    assert ended.stderr == (
        "mjbot arena: . holds no run of ours, so nothing there is erased; name another --out\n"
    )
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / ".git" / "HEAD").read_text() == "ref: refs/heads/main"


def test_fresh_begins_a_run_anew_and_leaves_what_else_is_there(
    arena: Arena, tmp_path: Path
) -> None:
    command = [*few_games("tsumogiri", "tsumogiri"), "--out", str(tmp_path / "run")]
    assert arena(*command).returncode == 0
    (tmp_path / "run" / "notes.txt").write_text("mine")
    ended = arena(*command, "--uma", "wrong", "--fresh")
    assert ended.returncode == 2  # and nothing is erased for it
    assert "6 of them kept" in arena(*command).stdout
    ended = arena(*command, "--fresh")
    assert ended.returncode == 0
    assert "kept from before" not in ended.stdout
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_a_file_as_the_folder_of_a_run_is_one_line(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "my.jsonl").touch()
    ended = arena("tsumogiri", "tsumogiri", "--out", "my.jsonl")
    assert ended.returncode == 3
    assert ended.stderr == "mjbot arena: my.jsonl is a file, no folder; name another --out\n"


def test_a_strategy_that_cannot_be_made_is_named_with_the_reason(arena: Arena) -> None:
    ended = arena(*few_games(f"{BOTS}:Needy", "tsumogiri"))
    assert ended.returncode == 1
    report = ended.stdout + ended.stderr
    assert "Needy' cannot be made: TypeError: " in report
    assert "missing 1 required positional argument: 'depth'" in report
    again = arena(*few_games(f"{BOTS}:Needy", "tsumogiri"))
    assert again.returncode == 1
    assert "missing 1 required positional argument: 'depth'" in again.stdout + again.stderr


def test_a_strategy_that_hangs_is_named_while_its_first_game_is_played(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mjbot", "arena"]
    command += [*few_games(f"{BOTS}:Hanging", "tsumogiri"), "--deadline-s", "1", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        report = next(line for line in process.stdout if "late" in line)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert f"{BOTS}:Hanging: late (wall 0, seat " in report
    assert "no decision after 1 s" in report
    assert (tmp_path / "run" / "games.jsonl").read_bytes().count(b"\n") == 1  # but the head


def test_void_games_are_told_and_are_no_success(arena: Arena, tmp_path: Path) -> None:
    command = [*few_games("tsumogiri", "tsumogiri", games=12), "--out", "run"]
    assert arena(*command).returncode == 0
    path = tmp_path / "run" / "games.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    void = GameLine(wall=1, seating=5, void="process killed by SIGKILL, 6 times")
    path.write_bytes(b"".join([*lines[:-1], encode_game(void), b"\n"]))
    ended = arena(*command)
    assert ended.returncode == 1
    assert "wall 1 does not count: process killed by SIGKILL, 6 times" in ended.stdout
