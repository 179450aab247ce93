"""The batch environment against the compiled loop that plays whole games without asking.

Random play on one core.  Ours hands out every decision as a row with its mask and takes an action
of it; the peer, :func:`mjbot.referee.bulk.play_games`, chooses inside its loop.  ``decisions``
counts rows, with what :mod:`mjbot.models.encoding` sees of each in the second contest.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bench.measure import Contest
from mjbot.env import BatchEnv, random_actions, random_source
from mjbot.models.encoding import N_PLANES, N_SCALARS
from mjbot.referee import bulk

TABLES = 256
STEPS = 100
HANCHAN = 7
GAMES = 100
WARM_UP_STEPS = 1500
"""Until the tables stand at all stages of a game."""


def contests() -> list[Contest]:
    """Return the contests of issue 14, with its required rate."""
    return [
        Contest(
            "random play, masks and rewards", "hanchan", played(TABLES, observes=False), "mjbot",
            random_games, 0.45, required_rate=1000,
        ),
        Contest(
            "the same with observations", "decisions", decided(TABLES, observes=True), "mjbot",
            decided(TABLES, observes=False), 0.005,
        ),
    ]  # fmt: skip


def played(n_tables: int, observes: bool) -> Callable[[], float]:
    """Return a contender that plays on and returns how many games the kyoku are worth."""
    decide = decided(n_tables, observes)
    per_hanchan = _decisions_per_hanchan()
    return lambda: decide() / per_hanchan


def decided(n_tables: int, observes: bool) -> Callable[[], int]:
    """Return a contender that steps all tables and returns how many decisions they took."""
    batch = BatchEnv(n_tables, seed=1, reward="rank-model")
    random, actions = random_source(1), np.empty(3 * n_tables, np.int64)
    planes = np.empty((3 * n_tables, 34, N_PLANES), np.float32)
    scalars = np.empty((3 * n_tables, N_SCALARS), np.float32)

    def play(steps: int, looks: bool) -> int:
        decisions, rows = 0, batch.rows
        for _ in range(steps):
            chosen = actions[: len(rows.tables)]
            if looks:
                batch.observe(planes, scalars)
            random_actions(rows.masks, random, chosen)
            rows = batch.step(chosen)
            decisions += len(chosen)
        return decisions

    batch.reset()
    play(WARM_UP_STEPS, False)
    return lambda: play(STEPS if not observes else 1, observes)


def random_games() -> int:
    """Play games in one compiled loop; return how many."""
    policies: NDArray[np.int8] = np.full(4, bulk.RANDOM, np.int8)
    return len(bulk.play_games(policies, np.arange(GAMES, dtype=np.int64), HANCHAN))


def _decisions_per_hanchan() -> float:
    """Count the decisions of whole games: in a short run the ends of games come in waves."""
    batch, random = BatchEnv(TABLES, seed=1), random_source(2)
    rows = batch.reset()
    is_first = np.ones(TABLES, np.bool_)
    decisions = 0
    while is_first.any():
        actions = np.empty(len(rows.tables), np.int64)
        random_actions(rows.masks, random, actions)
        decisions += int(is_first[rows.tables].sum())
        rows = batch.step(actions)
        is_first &= ~batch.dones
    return decisions / TABLES
