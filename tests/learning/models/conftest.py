"""Hands at random, and positions for seat 0."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.strategies.conftest import position_builder

__all__ = ["position_builder", "random_hand"]


@pytest.fixture
def random_hand() -> Callable[[np.random.Generator, int], NDArray[np.int8]]:
    """Return a function that deals a hand of so many tiles, half of the time of few kinds."""

    def deal(dice: np.random.Generator, size: int) -> NDArray[np.int8]:
        kinds = dice.permutation(34)[: 34 if dice.random() < 0.5 else 8]
        wall = dice.permutation(np.repeat(kinds, 4))
        return np.bincount(wall[:size], minlength=34).astype(np.int8)

    return deal
