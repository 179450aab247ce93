"""A tournament from Python: what ``mjbot arena`` plays, and its statistics as numbers.

::

    outcome = play_arena(["my_bot.py:MyBot", "fast-riichi-a"], games=400, format="1v3")
    rank = statistics_of(outcome)["MyBot"]["rank"]   # an Estimate: value, low, high

Games are played in processes of their own, which import the caller's main module: call it from
inside ``if __name__ == "__main__":``.  A game that was played is in the run's folder and is not
played again by the same call.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

from mjbot.arena.code_digest import code_digest
from mjbot.arena.run import Arena, ArenaPlan, RunOutcome
from mjbot.arena.setup import LARGEST_SEED, Setup, labels, usual_format
from mjbot.arena.workers.pool import WorkerPool
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.seating import SeatingFormat
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.protocol.rules import RANKED, Rules
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.processors import worker_count
from mjbot.strategy.registry import Spec

logger = logging.getLogger(__name__)


def play_arena(
    strategies: Sequence[str],
    *,
    games: int = 400,
    format: SeatingFormat | None = None,
    rules: Rules = RANKED,
    seed: int = 0,
    folder: Path | None = None,
    jobs: int | None = None,
) -> RunOutcome:
    """Play at least ``games`` games, whole walls, and return the outcome.

    ``strategies`` are two to four, as commands name them; ``format`` is "2v2", "1v3", "pair" or
    "each", of three players "1v2" or "each" (default: by their number); ``jobs`` is the number of
    processes (default: one per processor); ``folder`` is the run's (default: the one that ``mjbot
    arena`` uses).  Raises :class:`~mjbot.runtime.errors.MjbotError` for what cannot be played.
    """
    specs = [Spec.read(text) for text in strategies]
    if len(specs) < 2 or games < 1 or not 0 <= seed <= LARGEST_SEED:
        expected = f"two strategies or more, games from 1, seed from 0 to {LARGEST_SEED}"
        raise ArgumentError(f"{len(specs)} strategies, {games} games, seed {seed}: {expected}")
    setup = Setup(
        strategies=tuple(map(str, specs)),
        format=format or usual_format(len(specs), rules.players),
        length=rules.length,
        rules=rules.differences,
        seed=seed,
        code=code_digest(specs, rules.players),
    )
    n_walls = -(-games // len(setup.seating.tables))
    folder = folder or setup.usual_folder
    with Arena(ArenaPlan(setup=setup, n_walls=n_walls, folder=folder, rates=ErrorRates())) as arena:
        if arena.set_aside:
            logger.warning("%s", arena.set_aside)
        if not arena.is_over:
            with WorkerPool(setup, jobs or worker_count()) as pool:
                arena.play(pool, lambda played: None)
        return arena.outcome()


def statistics_of(outcome: RunOutcome) -> dict[str, dict[str, Estimate]]:
    """Return every statistic of every strategy, with its 95 % interval clustered by wall.

    By the strategy's label, then by key: rank, first .. fourth, score, win, deal_in, riichi, call,
    ... (:data:`mjbot.game.statistics.figures.FIGURES`); ranks are 1 to 4, rates 0 to 1, points
    points.  Three players have no fourth.
    """
    names = labels(outcome.plan.setup.specs)
    return {
        name: {figure.key: figure.estimate(outcome.rows[:, k]) for figure in outcome.figures}
        for k, name in enumerate(names)
    }
