"""Schedules of the simulation, chosen for what they reach, and faults that it must find."""

import pytest

from proof.simulation import SCENARIOS, drawn, played, problems_of, shrunk
from proof.simulation.planted import PLANTED
from proof.simulation.schedule import Fault, Schedule

CHOSEN = {
    "tcp": (0, 1, 2, 3, 4, 5, 6, 7),
    "tables": (0, 1, 2),
    "tenhou": (1,),
    "services": (1, 2),
    "pair": (0, 1, 2),
    "statistics": (0, 1, 2, 3, 4, 5),
}
"""Seeds that reach the most different places, by ``python -m proof simulation --choose``."""


@pytest.mark.parametrize("scenario", CHOSEN)
def test_nothing_is_found_in_the_chosen_schedules(scenario):
    for seed in CHOSEN[scenario]:
        schedule = drawn(scenario, seed, SCENARIOS[scenario].kinds)
        assert not list(problems_of(played(schedule))), schedule


@pytest.mark.parametrize("at", [9, 40])
def test_a_record_on_a_full_disk_ends_with_a_whole_line(at):
    outcome = played(Schedule("tcp", 1, (Fault("full", "", at, 1.0),), is_calm=True))
    assert {kind for kind, _ in outcome.places} == {"full"}
    assert not outcome.problems


def test_a_schedule_is_the_same_each_time():
    schedule = drawn("tcp", 4, SCENARIOS["tcp"].kinds)
    assert played(schedule).trace == played(schedule).trace


@pytest.mark.parametrize(
    "name", ["a file written in place", "a short write taken for a whole one", "a lost await"]
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
