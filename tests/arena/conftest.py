"""Runs of the arena with the strategies of bots.py, in this process or in others."""

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.setup import Setup
from mjbot.arena.workers import pool
from mjbot.game.statistics.seating import SeatingFormat

BOTS = Path(__file__).with_name("bots.py")


def bot(name: str) -> str:
    return f"{BOTS}:{name}" if name[0].isupper() else name


def fork_workers(patch: pytest.MonkeyPatch) -> None:
    """Fork the workers of runs in this process: they need not import what it has imported."""
    if "fork" in multiprocessing.get_all_start_methods():
        patch.setattr(pool._ArenaWorker, "start_method", "fork")


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the workers of runs in this test."""
    fork_workers(monkeypatch)


@pytest.fixture
def setup_of() -> Callable[..., Setup]:
    """Make a setup of tonpu games; names with capitals are classes of bots.py."""

    def make(*names: str, format_: SeatingFormat = "2v2", **fields: object) -> Setup:
        strategies = tuple([bot(name) for name in names])
        return Setup(strategies=strategies, format=format_, length="tonpu", **fields)  # type: ignore[arg-type]

    return make
