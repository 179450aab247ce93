"""What shared walls and pinned draws are good for, measured on real games with fixed seeds."""

from functools import cache

import numpy as np

from mjbot.arena.setup import Draws, GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner
from mjbot.game.statistics.figures import FinishedGame, WallSummary, from_rows, pairing_ratio
from mjbot.game.table.settle import ranks_of

WALLS = 24
FOLD_ONLY = "fast-riichi-c"  # A, and it folds
CALLS = "fast-riichi-b"  # A, and it calls


@cache
def games_of(challenger: str, walls: Draws) -> list[list[FinishedGame]]:
    """The challenger against three of A in each seat, and A in its place: by wall."""
    names = (challenger, "fast-riichi-a")
    setup = Setup(strategies=names, format="1v3", length="tonpu", walls=walls)
    games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE))
    played = [
        [games.play(GameId(wall, seating), {}).line for seating in range(5)]
        for wall in range(WALLS)
    ]
    return [[FinishedGame(line.scores, from_rows(line.counts)) for line in wall] for wall in played]


def variance_left(challenger: str, walls: Draws) -> float:
    """Variance of the rank difference, same wall and seat, against that of strangers."""
    games = games_of(challenger, walls)
    one = np.array([[ranks_of(played[s].scores)[s] for s in range(4)] for played in games])
    other = np.array([ranks_of(played[4].scores) for played in games])
    return float((one - other).var() / (one.var() + other.var()))


def test_shared_walls_halve_the_variance_of_a_fold_only_change() -> None:
    """Published for such a change: 0.34."""
    assert variance_left(FOLD_ONLY, "order") <= 0.5


def test_pinned_draws_leave_less_of_a_calling_change_than_walls_in_order() -> None:
    """Published for a calling change on walls in order: 0.68."""
    pinned = variance_left(CALLS, "pinned")
    assert pinned < variance_left(CALLS, "order")
    assert pinned < 0.68


def test_without_calls_pinned_games_are_the_same_games() -> None:
    for pinned, ordered in zip(
        games_of(FOLD_ONLY, "pinned")[:6], games_of(FOLD_ONLY, "order")[:6], strict=True
    ):
        assert [game.scores for game in pinned] == [game.scores for game in ordered]


def test_the_reported_ratio_is_that_of_whole_walls() -> None:
    games = games_of(FOLD_ONLY, "order")
    setup = Setup(strategies=(FOLD_ONLY, "fast-riichi-a"), format="1v3")
    rows = np.stack([WallSummary(setup.seating).rows(played) for played in games])
    one = np.array([[ranks_of(played[s].scores)[s] for s in range(4)] for played in games])
    other = np.array([ranks_of(played[4].scores) for played in games])
    paired = (one - other).mean(1).var(ddof=1)
    assert np.isclose(pairing_ratio(rows, 0, 1), paired / ((one.var() + other.var()) / 4))
