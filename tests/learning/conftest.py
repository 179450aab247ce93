"""Games of our own to learn from, and hands at random."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mjbot.arena.results import save_record
from mjbot.arena.setup import Setup, Unit
from mjbot.arena.workers.clock import PULSE_SIZE, Clock
from mjbot.arena.workers.playing import Games

N_GAMES = 24


@pytest.fixture(scope="session")
def record_games(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[tuple[str, ...], int], Path]:
    """Return a function that plays tonpu games as ``mjbot arena --record`` does.

    It takes the two strategies and the number of games and returns the folder of records.
    """

    def play(strategies: tuple[str, ...], n_games: int) -> Path:
        folder = tmp_path_factory.mktemp("recorded-games")
        setup = Setup(strategies=strategies, format="2v2", length="tonpu")
        games = Games(setup, Clock(0, [0] * PULSE_SIZE), recording=True)
        for number in range(n_games):
            unit = Unit(number, number % 6)
            save_record(folder, unit, games.play(unit, {}).record)
        return folder / "records"

    return play


@pytest.fixture(scope="session")
def own_games(record_games: Callable[[tuple[str, ...], int], Path]) -> Path:
    """Return the folder of some recorded games of our own."""
    return record_games(("fast-riichi-a", "fast-riichi-b"), N_GAMES)


@pytest.fixture
def random_hand() -> Callable[[np.random.Generator, int], NDArray[np.int8]]:
    """Return a function that deals a hand of so many tiles, half of the time of few kinds."""

    def deal(dice: np.random.Generator, size: int) -> NDArray[np.int8]:
        kinds = dice.permutation(34)[: 34 if dice.random() < 0.5 else 8]
        wall = dice.permutation(np.repeat(kinds, 4))
        return np.bincount(wall[:size], minlength=34).astype(np.int8)

    return deal
