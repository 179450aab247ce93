"""Games of our own to learn from, and positions for seat 0."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.run_folder import save_record
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner
from mjbot.cli.main import main
from tests.strategies.conftest import position_builder

__all__ = ["position_builder"]

N_GAMES = 24
GAMES = sorted((Path(__file__).parents[3] / "logs").glob("*.mjson"))


@pytest.fixture(scope="session")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of columns of the games that ship."""
    folder = tmp_path_factory.mktemp("columns") / "all"
    assert main(["train", "data", *map(str, GAMES), "--folder", str(folder)]) == 0
    return folder


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
        games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE), recording=True)
        for number in range(n_games):
            game_id = GameId(number, number % 6)
            save_record(folder, game_id, games.play(game_id, {}).record)
        return folder / "records"

    return play


@pytest.fixture(scope="session")
def other_games(record_games: Callable[[tuple[str, ...], int], Path]) -> Path:
    """Return the folder of some other games."""
    return record_games(("fast-riichi-c", "fast-riichi-a"), 4)


@pytest.fixture(scope="session")
def own_games(record_games: Callable[[tuple[str, ...], int], Path]) -> Path:
    """Return the folder of some recorded games of our own."""
    return record_games(("fast-riichi-a", "fast-riichi-b"), N_GAMES)
