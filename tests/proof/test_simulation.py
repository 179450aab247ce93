"""Schedules of the simulation, chosen for what they reach, and faults that it must find."""

import pytest

from proof.simulation import SCENARIOS, drawn, played, problems_of, shrunk
from proof.simulation.planted import PLANTED
from proof.simulation.schedule import Fault, Schedule

CHOSEN = {
    "tcp": (1, 2, 7, 10, 16, 20, 22, 24, 29, 30, 32, 33, 35, 37, 38),
    "tables": (0, 2, 4, 7, 11),
    "tenhou": (5, 6),
    "services": (3, 16, 21),
    "pair": (3, 10, 13, 15, 17),
    "statistics": (1, 4, 5, 18, 27),
}
"""Of the first 142 schedules those with the most kinds of faults at the most places a second."""


@pytest.mark.parametrize("scenario", CHOSEN)
def test_nothing_is_found_in_the_chosen_schedules(scenario):
    for seed in CHOSEN[scenario]:
        schedule = drawn(scenario, seed, SCENARIOS[scenario].kinds)
        assert not list(problems_of(played(schedule))), schedule


@pytest.mark.parametrize("at", [30, 40])
def test_a_record_on_a_full_disk_ends_with_a_whole_line(at):
    outcome = played(Schedule("tcp", 1, (Fault("full", "", at, 1.0),), is_calm=True))
    assert {kind for kind, _ in outcome.places} == {"full"}
    assert not outcome.problems


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
