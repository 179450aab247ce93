"""Games of our own to learn from, and hands at random."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mjbot.arena.clock import PULSE_SIZE, Clock
from mjbot.arena.playing import Games
from mjbot.arena.recording import save_record
from mjbot.arena.setup import Setup, Unit

N_GAMES = 24


@pytest.fixture(scope="session")
def own_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play some tonpu games as ``mjbot arena --record`` does; return the folder of records."""
    folder = tmp_path_factory.mktemp("own-games")
    setup = Setup(strategies=("fast-riichi-a", "fast-riichi-b"), format="2v2", length="tonpu")
    games = Games(setup, Clock(0, [0] * PULSE_SIZE), recording=True)
    for number in range(N_GAMES):
        unit = Unit(number, number % 6)
        save_record(folder, unit, games.play(unit, {}).record)
    return folder / "records"


@pytest.fixture
def random_hand() -> Callable[[np.random.Generator, int], NDArray[np.int8]]:
    """Return a function that deals a hand of so many tiles, half of the time of few kinds."""

    def deal(dice: np.random.Generator, size: int) -> NDArray[np.int8]:
        kinds = dice.permutation(34)[: 34 if dice.random() < 0.5 else 8]
        wall = dice.permutation(np.repeat(kinds, 4))
        return np.bincount(wall[:size], minlength=34).astype(np.int8)

    return deal
