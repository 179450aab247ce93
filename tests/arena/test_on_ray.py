"""A Ray cluster of two workers on this machine plays what two processes play."""

import itertools
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from mjbot.arena.code_digest import code_digest, code_parts
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers import on_ray
from mjbot.arena.workers.on_ray import LOCAL, MachineProblem, RayPool
from mjbot.arena.workers.pool import WorkerError, WorkerPool
from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode
from papers.mizukami2013.training import fold_grid
from tests.arena.ray_stand_in import Ray

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


class Machine:
    """A machine of the stand-in cluster; ``found`` is what it reports, ``played`` its games."""

    found: MachineProblem | None = None

    def __init__(self, setup: Setup, recording: bool, folder: str) -> None:
        self.setup = setup

    def problem(self) -> MachineProblem | None:
        return self.found

    def play(self, game_id: GameId) -> GameId:
        return game_id


def cluster(monkeypatch: pytest.MonkeyPatch, machine: type[Machine], idle: int = 0) -> None:
    monkeypatch.setattr(on_ray, "import_ray", lambda: Ray(machine, idle))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"my_data.json": "other"}, "my_data.json"),
        ({"my_data.json": None}, r"my_data.json \(missing there\)"),
        ({"more.py": "new"}, r"more.py \(only there\)"),
        (
            {
                "mjbot/api.py": "1",
                "mjbot/strategies/tsumogiri.py": "1",
                "my_data.json": "1",
                "x": "1",
            },
            r"mjbot/api.py, mjbot/strategies/tsumogiri.py, my_data.json and 1 more",
        ),
        ({}, "another version of Python packages"),
    ],
)
def test_the_files_that_differ_on_a_machine_are_named(
    known: Setup, monkeypatch: pytest.MonkeyPatch, change: dict[str, str | None], named: str
) -> None:
    def parts(specs: object, players: int) -> dict[str, str]:
        return {"my_data.json": "same", **ours}

    ours = {"mjbot/api.py": "same", "mjbot/strategies/tsumogiri.py": "same"}
    there = {name: digest for name, digest in (parts((), 4) | change).items() if digest}
    monkeypatch.setattr(on_ray, "code_parts", parts)
    found = MachineProblem("node-2", "", tuple(there.items()))
    cluster(monkeypatch, type("Other", (Machine,), {"found": found}))
    with RayPool(known, LOCAL, 1) as pool, pytest.raises(WorkerError, match=named) as refused:
        next(pool.play(GAME_IDS))
    assert "a machine of the cluster cannot play: node-2: it has other code" in str(refused.value)
    assert str(refused.value).endswith("; install the same there")


def test_what_a_machine_cannot_make_is_reported_as_it_says(
    known: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = MachineProblem("node-2", "strategy 'my_bot:MyBot': no file my_bot.py here")
    cluster(monkeypatch, type("Other", (Machine,), {"found": found}))
    with RayPool(known, LOCAL, 1) as pool, pytest.raises(WorkerError, match="node-2: strategy"):
        next(pool.play(GAME_IDS))


def test_the_parts_of_the_code_are_files_of_mjbot_and_of_the_strategies(known: Setup) -> None:
    parts = code_parts(known.specs)
    ours = {"mjbot/api.py", "mjbot/protocol/tiles.py", "mjbot/strategies/tsumogiri.py"}
    assert {*ours, "bots.py"} <= {*parts}
    assert any(name.endswith(".npz") for name in parts)
    assert not any("__pycache__" in name for name in parts)
    assert parts == code_parts(known.specs)


def test_as_long_as_no_game_is_over_the_cluster_is_reported(
    known: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = itertools.count()
    monkeypatch.setattr(on_ray, "time", SimpleNamespace(monotonic=lambda: float(next(now))))
    cluster(monkeypatch, Machine, idle=60)
    lines: list[str] = []
    with RayPool(known, LOCAL, 2, report=lines.append) as pool:
        played = list(pool.play(GAME_IDS))
    assert set(map(repr, played)) == set(map(repr, GAME_IDS))  # the stand-in's games are ids
    assert 2 <= len(lines) <= 10
    assert all("0 of 2 workers have begun" in line and "compiles" in line for line in lines)
    assert lines[0].startswith("no game is over after 1")
    again: list[str] = []
    cluster(monkeypatch, Machine)
    with RayPool(known, LOCAL, 2, report=again.append) as pool:
        list(pool.play([GameId(wall, 0) for wall in range(200)]))
    assert again == []  # games come
