"""Positions for seat 0, games of our own to learn from, and networks of a tenth of the width."""

from collections.abc import Callable, Iterator

import pytest

from papers.matsuda2021 import networks
from tests.learning.training.conftest import other_games, own_games, record_games
from tests.strategies.conftest import position_builder

__all__ = ["other_games", "own_games", "position_builder", "record_games", "small_networks"]


@pytest.fixture(scope="module", autouse=True)
def forked_experiments(fork_workers: Callable[[pytest.MonkeyPatch], None]) -> Iterator[None]:
    """Fork the workers of experiments and trainings: each takes two seconds to import itself."""
    with pytest.MonkeyPatch.context() as patch:
        fork_workers(patch)
        yield


@pytest.fixture
def small_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the networks of Matsuda and Ito 2021 learn in milliseconds a step instead of a second."""
    monkeypatch.setattr(networks, "CHANNELS", 10)
    monkeypatch.setattr(networks, "DENSE", 30)
