"""What the arena costs: games beside the bare referee's, and two worker processes beside one.

In the first two contests the arena plays as a run of one worker does, without the way between
processes: players that are supervised under a deadline, sealed views, checks of every choice, a
line with a checksum for each game, sums for each wall.  The peer is
:meth:`mjbot.game.referee.Referee.play` with the bare strategies, in processor time.  ``tsumogiri
asked`` chooses at once, so that its ratio shows what a decision costs in the arena; with
``fast-riichi-d`` it is what a run takes.  The last contest needs two cores, one for each worker.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Contest
from mjbot.arena.run import Arena, ArenaPlan
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner, PlayedGame, make_players, new_referee
from mjbot.arena.workers.pool import WorkerPool
from mjbot.game.statistics.sequential import ErrorRates

WALLS = 4
POOL_GAMES = 60
ASKED = "bench.referee:Asked"
CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
"""Taken before the measurement keeps to one of them."""


def contests() -> list[Contest]:
    """Return the contests with the ratios that they must reach."""
    contests = [
        _beside_referee("tsumogiri asked", ASKED, 0.15),
        _beside_referee("four fast-riichi-d", "fast-riichi-d", 0.8),
    ]
    if len(CORES) >= 2:
        two, one = partial(_pool_games, 2), partial(_pool_games, 1)
        contests.append(Contest("two workers beside one", "hanchan", two, "mjbot", one, 1.8))
    return contests


def _beside_referee(name: str, strategy: str, required: float) -> Contest:
    setup = _setup(strategy)
    arena, referee = partial(_arena_games, setup), partial(_referee_games, setup)
    return Contest(name, "hanchan", arena, "mjbot", referee, required, clock=time.process_time)


def _setup(strategy: str) -> Setup:
    return Setup(strategies=(strategy, strategy), format="2v2")


class _ThisProcess:
    """Plays the games of a run here, one after the other."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def play(
        self, game_ids: Iterable[GameId], look: Callable[[], None] = lambda: None
    ) -> Iterator[PlayedGame]:
        with Clock(self._setup.deadline_s, [0] * HEARTBEAT_SIZE) as clock:
            games = GameRunner(self._setup, clock)
            for game_id in game_ids:
                yield games.play(game_id, {})


def _arena_games(setup: Setup) -> int:
    with TemporaryDirectory() as folder:
        plan = ArenaPlan(setup=setup, n_walls=WALLS, folder=Path(folder), rates=ErrorRates())
        with Arena(plan) as arena:
            arena.play(_ThisProcess(setup), _refuse_faults)
            return arena.outcome().games


def _refuse_faults(played: PlayedGame) -> None:
    assert not played.faults, played.faults[0].problem


def _referee_games(setup: Setup) -> int:
    seatings = range(len(setup.seating.tables))
    game_ids = [GameId(wall, seating) for wall in range(WALLS) for seating in seatings]
    with Clock(setup.deadline_s, [0] * HEARTBEAT_SIZE) as clock:
        for game_id in game_ids:
            players = make_players(setup, game_id, clock, {})
            new_referee(setup, game_id).play([players[seat].strategy for seat in range(4)])
    return len(game_ids)


def _pool_games(jobs: int) -> int:
    game_ids = [GameId(wall, 0) for wall in range(POOL_GAMES)]
    return sum(1 for _ in _pool(jobs).play(game_ids))


@cache
def _pool(jobs: int) -> WorkerPool:
    """Return workers that live as long as we do; started, and warm."""
    here = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES)
    pool = WorkerPool(_setup("fast-riichi-d"), jobs)
    for _ in pool.play([GameId(wall, 0) for wall in range(3 * jobs)]):
        pass
    os.sched_setaffinity(0, here)
    return pool
