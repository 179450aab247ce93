"""Runs under a protocol: what was fixed before the first game, and what deviates from it."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mjbot.arena.protocol import FixedProtocol, deviations_of, digest_of, look_deviations
from mjbot.arena.run_folder import GameLine, encode_game
from mjbot.cli import arena as arena_command
from mjbot.cli.arena_request import read_protocol
from mjbot.cli.main import main

PROTOCOL = """
question = "does a bot that builds hands beat one that does not?"
strategies = ["fast-riichi-a", {name = "tsumogiri"}]
games = 12
seed = 5
length = "tonpu"
uma = "30,10,-10,-30"
looks = [6]
"""

Play = Callable[..., dict[str, Any]]


@pytest.fixture
def play(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    forked_workers: None,
) -> Play:
    """Play by the protocol in ``fixed.toml`` and return the record of the run."""
    monkeypatch.chdir(tmp_path)
    Path("fixed.toml").write_text(PROTOCOL)

    def run(*options: str, protocol: bool = True) -> dict[str, Any]:
        given = ["--protocol", "fixed.toml"] if protocol else []
        main(["arena", *given, "--jobs", "1", "--out", "run", "--json", *options])
        out, err = capfdbinary.readouterr()
        record: dict[str, Any] = json.loads(out.splitlines()[0])
        words = "EXPLORATORY" if record["exploratory"] else "followed"
        assert words in err.decode()
        assert words in Path("run/report.html").read_text()
        return record

    return run


def test_a_run_that_follows_its_protocol(play: Play) -> None:
    at_a_look = play("--games", "6")
    assert (at_a_look["games"], at_a_look["exploratory"]) == (6, [])
    whole = play()
    assert (whole["games"], whole["seed"], whole["exploratory"]) == (12, 5, [])
    assert whole["protocol"] == at_a_look["protocol"]
    assert whole["protocol_fixed"] == at_a_look["protocol_fixed"]


def test_options_that_deviate_are_named(play: Play) -> None:
    more = play("--games", "18", "--margin", "0.1", "--uma", "20,10,-10,-20")
    assert more["exploratory"] == [
        "games 18 (fixed: 12)",
        "uma 20.0 10.0 -10.0 -20.0 (fixed: 30.0 10.0 -10.0 -30.0)",
        "margin 0.1 (fixed: 0.05)",
    ]


def test_a_protocol_that_came_after_games_or_changed_is_named(
    play: Play, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    named = shlex.split("fast-riichi-a tsumogiri --seed 5 --length tonpu")
    main(["arena", *named, "--games", "6", "--jobs", "1", "--out", "run"])
    capfdbinary.readouterr()
    assert play()["exploratory"] == ["6 games had been played before it"]
    with Path("fixed.toml").open("a") as file:
        file.write("# and more\n")
    changed = play()["exploratory"]
    assert changed[0] == "6 games had been played before it"
    assert changed[1].startswith("the file is another one now (")
    assert play(*named, protocol=False)["exploratory"][1] == "resumed without --protocol"


def test_void_walls_beyond_what_is_fixed_are_named(play: Play) -> None:
    assert play()["exploratory"] == []
    path = Path("run/games.jsonl")
    *lines, _ = path.read_bytes().splitlines(keepends=True)
    void = GameLine(wall=1, seating=5, void="process killed by SIGKILL, 6 times")
    path.write_bytes(b"".join([*lines, encode_game(void), b"\n"]))
    assert play()["exploratory"] == ["1 wall void (most_void: 0)"]
    with Path("fixed.toml").open("a") as file:
        file.write("most_void = 1\n")
    assert "void" not in str(play()["exploratory"])


def test_a_look_that_was_not_planned_is_named() -> None:
    assert look_deviations(2000, 4000, (2000,)) == []
    assert look_deviations(4000, 4000, ()) == []
    assert look_deviations(312, 4000, (2000,)) == ["a look after 312 games (planned: 2,000, 4,000)"]


def test_a_single_game_before_a_protocol_deviates() -> None:
    fixed = FixedProtocol(digest=digest_of("x"), fixed="2026-01-01", games_before=1, text="x")
    assert deviations_of(fixed, "x") == ["1 game had been played before it"]
    assert deviations_of(msgspec.structs.replace(fixed, games_before=0), "x") == []


@pytest.mark.parametrize("games", [1, 1999, 2001, 3999, 4001, 6000])
def test_only_planned_looks_follow_a_protocol(games: int) -> None:
    """More games than planned are no planned look either: their folder held them before."""
    deviation = f"a look after {games:,} games (planned: 2,000, 4,000)"
    assert look_deviations(games, 4000, (2000,)) == [deviation]


@pytest.mark.parametrize(
    ("games", "is_complete", "until_sure", "looks"),
    [(3, False, False, 1), (6, False, False, 0), (12, True, False, 0), (3, False, True, 0)],
)
def test_the_command_checks_looks_of_a_run_that_is_not_over(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    games: int,
    is_complete: bool,
    until_sure: bool,
    looks: int,
) -> None:
    path = tmp_path / "fixed.toml"
    path.write_text(PROTOCOL)
    given = read_protocol(path)
    fixed = FixedProtocol(digest=digest_of(given.text), fixed="now", games_before=0, text="")
    monkeypatch.setattr(arena_command, "overridden", lambda *_: [])
    plan = SimpleNamespace(until_sure=until_sure)
    outcome: Any = SimpleNamespace(void={}, is_complete=is_complete, games=games, plan=plan)
    request: Any = None
    check = arena_command._check_protocol(outcome, request, given, fixed)
    assert check is not None
    assert list(check.deviations) == [f"a look after {games} games (planned: 6, 12)"] * looks
