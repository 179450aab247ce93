"""Games whose first kyoku is scripted."""

import pytest

from tests.game.referee.scripted import Game


@pytest.fixture(scope="session")
def scripted() -> type[Game]:
    """The class of scripted games."""
    return Game
