"""A Ray cluster of two workers on this machine plays what two processes play."""

import sys
from collections.abc import Callable

import msgspec
import pytest

from mjbot.arena.dependencies import code_digest
from mjbot.arena.on_ray import LOCAL, RayCrew
from mjbot.arena.setup import Setup, Unit
from mjbot.arena.workers import Crew, WorkerError

MakeSetup = Callable[..., Setup]
UNITS = [Unit(wall, seating) for wall in range(2) for seating in range(3)]


@pytest.fixture
def known(setup_of: MakeSetup) -> Setup:
    setup = setup_of("fast-riichi-b", "Dice")
    return msgspec.structs.replace(setup, code=code_digest(setup.strategies))


def test_a_cluster_plays_the_same_games(known: Setup) -> None:
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    with RayCrew(known, LOCAL, 2) as cluster:
        over_ray = {played.line.unit: played for played in cluster.play(UNITS)}
    with Crew(known, 2) as crew:
        here = {played.line.unit: played for played in crew.play(UNITS)}
    assert over_ray == here
    assert set(here) == set(UNITS)


def test_a_machine_with_other_code_is_refused(known: Setup) -> None:
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    other = msgspec.structs.replace(known, code="other")
    with RayCrew(other, LOCAL, 1) as cluster, pytest.raises(WorkerError, match="has other code"):
        next(cluster.play(UNITS))


def test_without_ray_the_cure_is_named(known: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(WorkerError, match=r"--on ray needs the extra: pip install -e '\.\[ray\]'"):
        RayCrew(known, LOCAL, 2)
