"""A Ray cluster of two workers on this machine plays what two processes play."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mjbot.arena.code_digest import code_digest
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers import on_ray
from mjbot.arena.workers.on_ray import LOCAL, RayPool
from mjbot.arena.workers.pool import WorkerError, WorkerPool
from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode
from papers.mizukami2013.training import fold_grid

MakeSetup = Callable[..., Setup]
ROOT = Path(__file__).parents[2]
GAME_IDS = [GameId(wall, seating) for wall in range(2) for seating in range(3)]


@pytest.fixture
def known(setup_of: MakeSetup) -> Setup:
    setup = setup_of("fast-riichi-b", "Dice")
    return msgspec.structs.replace(setup, code=code_digest(setup.specs))


def test_a_cluster_plays_the_same_games(known: Setup) -> None:
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    with RayPool(known, LOCAL, 2) as cluster:
        over_ray = {played.line.game_id: played for played in cluster.play(GAME_IDS)}
    with WorkerPool(known, 2) as pool:
        here = {played.line.game_id: played for played in pool.play(GAME_IDS)}
    assert over_ray == here
    assert set(here) == set(GAME_IDS)


def test_a_machine_with_other_code_is_refused(known: Setup) -> None:
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    other = msgspec.structs.replace(known, code="other")
    with RayPool(other, LOCAL, 1) as cluster, pytest.raises(WorkerError, match="has other code"):
        next(cluster.play(GAME_IDS))


def test_without_ray_the_cure_is_named_and_nothing_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path)
    assert main(["arena", "fast-riichi-a", "fast-riichi-b", "--on", "ray"]) == ExitCode.FAILED
    report = capsys.readouterr()
    assert report.err == "mjbot arena: --on ray needs Ray: pip install 'ray[client]>=2.9,<3'\n"
    assert report.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("extra", "report"), [("ray", on_ray.REQUIREMENT), ("learn", fold_grid.REQUIREMENT)]
)
def test_the_cure_is_what_the_extra_would_install(extra: str, report: str) -> None:
    """An extra can be named only where there is a checkout; this works with a wheel, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["optional-dependencies"][extra] == [report]
