"""Schedules of the simulation, chosen for what they reach, and faults that it must find."""

import argparse
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import loguru
import pytest

from proof import simulation
from proof.simulation import (
    SCENARIOS,
    add_arguments,
    disk,
    drawn,
    find_planted,
    planted,
    played,
    problems_of,
    run,
    shrunk,
)
from proof.simulation.cover import Tried, chosen
from proof.simulation.planted import PLANTED, Planted
from proof.simulation.schedule import Fault, Schedule

CHOSEN = json.loads(Path(__file__).with_name("schedules.json").read_text())
"""Made by ``python -m proof simulation --schedules 5000 --choose tests/proof/schedules.json``."""


@pytest.mark.parametrize("scenario", CHOSEN)
def test_nothing_is_found_in_the_chosen_schedules(scenario):
    for seed in CHOSEN[scenario]:
        schedule = drawn(scenario, seed, SCENARIOS[scenario].kinds)
        assert not list(problems_of(played(schedule))), schedule


FOUND = {
    # All four return at the same moment: a game with one that has gone would be void.
    "a player who waits and leaves": ("tcp", 72, [Fault("silent", "2 client", 10)], True),
    # The system ends the connection by ETIMEDOUT, where the client itself has no limit of time.
    "a lost Tenhou server": ("tenhou", 69, [Fault("silent", "3 client", 16)], False),
    "a signal while a game begins": ("tcp", 1909, [Fault("SIGINT", "serve", 93)], False),
    "a signal while the server closes": ("tenhou", 203, [Fault("drop", "2 server", 3)], False),
    "a signal before the tables play": ("tables", 3443, [Fault("SIGINT", "serve", 12)], True),
    "a second signal": (
        "tenhou", 577, [Fault("SIGHUP", "serve", 406), Fault("slow", "", 19, 8.0)], True,
    ),
    "a signal after the work": ("services", 2003, [Fault("SIGHUP", "ann", 1700)], False),
    "a player who leaves as its game begins": (
        "tcp", 5418, [Fault("drop", "3 server", 371), Fault("late", "2 server", 691, 400.0)], False,
    ),
    "a torn line that cannot be cut away": (
        "tcp", 1392, [Fault("full", "", 20, 2.0), Fault("read-only", "", 21, 10.0)], True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("found", FOUND)
def test_what_was_found_once_is_mended(found):
    scenario, seed, faults, is_calm = FOUND[found]
    outcome = played(Schedule(scenario, seed, tuple(faults), is_calm))
    assert outcome.places and not outcome.problems


@pytest.mark.parametrize("at", [30, 40])
def test_a_record_on_a_full_disk_ends_with_a_whole_line(at):
    outcome = played(Schedule("tcp", 1, (Fault("full", "", at, 1.0),), is_calm=True))
    assert {kind for kind, _ in outcome.places} == {"full"}
    assert not outcome.problems


OBJECTS = """
from proof.simulation import SCENARIOS, drawn, objects, played

schedules = [drawn("tcp", seed, SCENARIOS["tcp"].kinds) for seed in (6, 7)]
for _ in range(4):
    print(objects())
    for schedule in schedules:
        played(schedule)
"""


def test_a_schedule_leaves_nothing_in_memory():
    """In a process of its own: pytest and what other tests have loaded keep objects, too."""
    command = [sys.executable, "-c", OBJECTS]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counts = [int(line) for line in printed.splitlines()]
    assert len(counts) == 4
    assert min(after - before for before, after in pairwise(counts)) < 20


def test_schedules_are_chosen_for_what_they_reach_of_both_budgets():
    places = [frozenset({(place,) for place in text}) for text in ("ab", "abc", "cd", "d", "a")]
    tried = [Tried("tcp", seed, one, 1.0 + seed) for seed, one in enumerate(places)]
    assert [one.seed for one in chosen(tried, 3, most_s=60.0)] == [1, 2, 0]
    assert [one.seed for one in chosen(tried, 3, most_s=5.0)] == [1, 2]
    assert [one.seed for one in chosen(tried, 9, most_s=3.0)] == [0, 1]


def test_a_schedule_is_the_same_each_time():
    schedule = drawn("tcp", 4, SCENARIOS["tcp"].kinds)
    assert played(schedule).trace == played(schedule).trace


QUICK = (
    "a file written in place", "a record that is not closed", "a lost await",
    "tasks of connections left", "two connections of an account", "a proof that is not compared",
    "a word of an earlier game", "a seat kept by a player who has left", "a torn last line",
    "a torn last line kept in a ledger", "the newest game pruned", "a bot's newest game pruned",
    "the oldest game never pruned",
)  # fmt: skip
"""One or two faults for each judge; ``python -m proof simulation --planted`` plants all."""


@pytest.mark.parametrize("name", QUICK)
def test_a_planted_fault_is_found_where_it_is_planted_and_nowhere_else(name, monkeypatch, capsys):
    monkeypatch.setattr(planted, "MOST_SEEDS", 40)
    assert find_planted(name)
    assert f"{name}: found" in capsys.readouterr().out


def test_logged_lines_are_judged_though_something_else_has_removed_the_outputs():
    for _ in range(2):
        loguru.logger.remove()
        assert find_planted("a seat kept by a player who has left")


def test_the_command_fails_where_a_planted_fault_is_not_found(monkeypatch, capsys):
    harmless = Planted("statistics", disk.Disk, "has", lambda has: has, "no such problem", 0)
    faults = {name: PLANTED[name] for name in QUICK[:1]}
    monkeypatch.setattr(planted, "MOST_SEEDS", 2)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for more, status in (({}, 0), ({"a harmless change": harmless}, 1)):
        monkeypatch.setattr(simulation, "PLANTED", faults | more)
        assert run(parser.parse_args(["--planted"])) == status
    assert "a harmless change: NOT FOUND in 2 schedules" in capsys.readouterr().out


def test_a_fault_that_shows_without_being_planted_is_not_found(monkeypatch, capsys):
    always = Planted("statistics", disk.Disk, "has", lambda has: has, "", 0)
    monkeypatch.setattr(Planted, "shows_in", lambda self, problems: True)
    monkeypatch.setitem(PLANTED, "what always shows", always)
    assert not find_planted("what always shows")
    assert "also without the fault" in capsys.readouterr().out


def test_a_schedule_that_fails_is_shrunk_to_the_fault_that_matters():
    faults = (Fault("full", "", 8, 10.0), Fault("broken", "", 3, 1.0), Fault("full", "", 4, 2.0))
    schedule = Schedule("statistics", 1, faults)
    with PLANTED["a file written in place"].in_place():
        shortest = shrunk(schedule, lambda smaller: bool(played(smaller).problems))
    assert len(shortest.faults) == 1 and shortest.is_calm
    assert "at file operation" in str(shortest)
