"""Whole hanchan in process, against ``riichienv`` with the same idle strategy.

Both deal their own walls under Tenhou's rules; four that discard what they draw make the same
moves in the same number of kyoku.  The peer runs without its event log, and gets its actions
made beforehand.  The last contest is between two of our own worker processes and one, each with
a core of its own.
"""

import os
from functools import cache, partial

from bench.measure import Contest
from bench.peer import idle_games
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner
from mjbot.arena.workers.pool import WorkerPool

GAMES = 10

CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
"""Taken before the measurement keeps to one of them."""


def contests() -> list[Contest]:
    """Return the contests of issue 4."""
    peer = partial(idle_games, GAMES)
    found = [
        Contest("four tsumogiri", "hanchan", _ours("tsumogiri", 10 * GAMES), "riichienv", peer, 10),
        Contest("four fast-riichi-d", "hanchan", _ours("fast-riichi-d", GAMES), "riichienv", peer,
                0, required_rate=10),
    ]  # fmt: skip
    if len(CORES) >= 2:
        two, one = partial(_pool_games, 2), partial(_pool_games, 1)
        found.append(Contest("two workers against one", "hanchan", two, "mjbot", one, 1.8))
    return found


def _ours(strategy: str, games: int) -> partial[int]:
    setup = Setup(strategies=(strategy, strategy), format="2v2")
    return partial(_our_games, GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE)), games)


def _our_games(player: GameRunner, games: int) -> int:
    for wall in range(games):
        assert not player.play(GameId(wall, 0), {}).line.faults
    return games


def _pool_games(jobs: int) -> int:
    game_ids = [GameId(wall, 0) for wall in range(6 * GAMES)]
    return sum(1 for _ in _pool(jobs).play(game_ids))


@cache
def _pool(jobs: int) -> WorkerPool:
    """Return workers that live as long as we do; started, and warm."""
    here = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES)
    pool = WorkerPool(Setup(strategies=("fast-riichi-d", "fast-riichi-d"), format="2v2"), jobs)
    for _ in pool.play([GameId(wall, 0) for wall in range(3 * jobs)]):
        pass
    os.sched_setaffinity(0, here)
    return pool
