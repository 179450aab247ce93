"""Schedules of the simulation, chosen for what they reach, and faults that it must find."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from proof.simulation import SCENARIOS, drawn, played, problems_of, shrunk
from proof.simulation.cover import Tried, chosen
from proof.simulation.planted import PLANTED
from proof.simulation.schedule import Fault, Schedule

CHOSEN = json.loads(Path(__file__).with_name("schedules.json").read_text())
"""``python -m proof simulation --schedules 60 --choose tests/proof/schedules.json`` renews them."""


@pytest.mark.parametrize("scenario", CHOSEN)
def test_nothing_is_found_in_the_chosen_schedules(scenario):
    for seed in CHOSEN[scenario]:
        schedule = drawn(scenario, seed, SCENARIOS[scenario].kinds)
        assert not list(problems_of(played(schedule))), schedule


def test_a_server_notices_that_players_leave_who_wait():
    """All four return at the same moment: a game with one that has gone would be void."""
    outcome = played(Schedule("tcp", 72, (Fault("silent", "2 client", 10),), is_calm=True))
    assert outcome.places and not outcome.problems


def test_a_tenhou_client_whose_server_is_lost_reports_a_lost_connection():
    """The system ends the connection by ETIMEDOUT, where the client itself has no limit of time."""
    outcome = played(Schedule("tenhou", 69, (Fault("silent", "3 client", 16),)))
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


def test_schedules_are_chosen_for_what_they_reach_a_second():
    places = [frozenset({(place,) for place in text}) for text in ("ab", "abc", "cd", "d", "a")]
    tried = [Tried("tcp", seed, one, 1.0 + seed) for seed, one in enumerate(places)]
    assert [one.seed for one in chosen(tried, 3, most_s=60.0)] == [0, 2, 1]
    assert [one.seed for one in chosen(tried, 3, most_s=5.0)] == [0, 2]


def test_a_schedule_is_the_same_each_time():
    schedule = drawn("tcp", 4, SCENARIOS["tcp"].kinds)
    assert played(schedule).trace == played(schedule).trace


@pytest.mark.parametrize(
    "name", ["a file written in place", "a record that is not closed", "a lost await"]
)
def test_a_planted_fault_is_found(name):
    planted = PLANTED[name]
    kinds = SCENARIOS[planted.scenario].kinds
    with planted.in_place():
        assert any(played(drawn(planted.scenario, seed, kinds)).problems for seed in range(40))


def test_a_schedule_that_fails_is_shrunk_to_the_fault_that_matters():
    faults = (Fault("full", "", 8, 10.0), Fault("broken", "", 3, 1.0), Fault("full", "", 4, 2.0))
    schedule = Schedule("statistics", 1, faults)
    with PLANTED["a file written in place"].in_place():
        shortest = shrunk(schedule, lambda smaller: bool(played(smaller).problems))
    assert len(shortest.faults) == 1 and shortest.is_calm
    assert "at file operation" in str(shortest)
