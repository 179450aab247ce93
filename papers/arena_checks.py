"""The arena's own figures, checked on real games with a known truth.

* What shared walls and pinned draws leave of the variance of a rank difference, for a change
  that only folds (fast-riichi-c) and one that only calls (-b), both against fast-riichi-a.
* How often the 95 % interval covers the zero between two samples of the *same* strategy's walls,
  and how often the sequential test separates them.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.arena.run import RunOutcome
from mjbot.arena.run_folder import read_games
from mjbot.arena.runs import Run
from mjbot.arena.setup import labels
from mjbot.game.statistics.figures import FIGURES, Figure, WallSums
from mjbot.game.statistics.markdown import head, row
from mjbot.game.statistics.sequential import ErrorRates, SequentialTest
from mjbot.game.table.settle import ranks_of
from mjbot.runtime.progress import progress
from mjbot.strategy.registry import Spec
from papers import nakano2021
from papers.experiments import ExperimentContext

SUMMARY: Final = "what pairing gains, and whether the intervals hold, on the games of nakano2021"
GAMES: Final = 3000
PARTS: Final = ("all",)
RUNS: Final = 1000
WALLS_OF_A_RUN: Final = 40
WALLS_OF_A_LONG_RUN: Final = 500
CHANGES: Final = {"folds only (C)": 1, "calls only (B)": 0, "calls and folds (D)": 2}
"""What a strategy adds to A -> its row."""

Ranks = NDArray[np.float64]


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables as lines of Markdown."""
    n_walls = nakano2021.walls_for(request.games)
    runs = [
        Run(name, nakano2021.make_setup(request.seed, pinned=name == "pinned"), n_walls)
        for name in ("in order", "pinned")
    ]
    played = zip(runs, request.arenas(runs), strict=True)
    outcomes = {run.label: outcome for run, outcome in played}
    yield from _variances(outcomes)
    yield ""
    yield from _coverage(outcomes["in order"].rows)


def _variances(outcomes: Mapping[str, RunOutcome]) -> Iterator[str]:
    yield from head(["change", *[f"variance left, {walls}" for walls in outcomes]])
    by_walls = {walls: seat_ranks(outcome) for walls, outcome in outcomes.items()}
    for change, column in CHANGES.items():
        cells = [f"{variance_left(ranks[column], ranks[-1]):.3f}" for ranks in by_walls.values()]
        yield row([change, *cells])


def seat_ranks(outcome: RunOutcome) -> Ranks:
    """Return the rank of each strategy in each seat of each wall: [strategies, walls, seats]."""
    seating = outcome.plan.setup.seating
    scores = {(game.wall, game.seating): game.scores for game in read_games(outcome.plan.folder)}
    ranks = [
        [
            [ranks_of(scores[wall, place.seating])[place.seat] for place in places]
            for wall in range(outcome.n_walls)
        ]
        for places in seating.rows
    ]
    return np.array(ranks, np.float64)


def variance_left(one: Ranks, other: Ranks) -> float:
    """Return the variance of a rank difference on the same wall and seat, relative to others."""
    return float((one - other).var() / (one.var() + other.var()))


def _coverage(rows: WallSums) -> Iterator[str]:
    names = labels(map(Spec.read, nakano2021.STRATEGIES))[:-1]
    with progress(Console(stderr=True), "drawing samples of the walls", unit="rows") as step:
        lines = []
        for line in _coverage_rows(rows, len(names)):
            lines.append(line)
            step()
    yield from head([f"{RUNS} runs of 2 x {WALLS_OF_A_RUN} walls", *names])
    yield from lines


def _coverage_rows(rows: WallSums, n: int) -> Iterator[str]:
    for figure in FIGURES:
        cells = [f"{100 * _covered(rows[:, k], figure):.1f} %" for k in range(n)]
        yield row([f"{figure.label}, 95 % interval covers 0", *cells])
    rates = ErrorRates()
    cells = [f"{100 * _power(rows[:, k], rates):.1f} %" for k in range(n)]
    size = min(WALLS_OF_A_LONG_RUN, len(rows) // 2)
    title = f"separated within {size} walls, {RUNS} runs (at most {100 * rates.error:g} %)"
    yield row([title, *cells])


def _samples(
    n_walls: int, size: int, runs: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return pairs of samples of so many walls that have none in common."""
    dice = np.random.default_rng(2021)
    size = min(size, n_walls // 2)
    for _ in range(runs):
        chosen = dice.permutation(n_walls)[: 2 * size]
        yield chosen[:size], chosen[size:]


def _covered(sums: WallSums, figure: Figure) -> float:
    samples = _samples(len(sums), WALLS_OF_A_RUN, RUNS)
    estimates = [figure.difference(sums[one], sums[other]) for one, other in samples]
    return sum(estimate.low <= 0 <= estimate.high for estimate in estimates) / RUNS


def _power(sums: WallSums, rates: ErrorRates) -> float:
    means = sums["rank"] / sums["games"]
    wrong = 0
    for one, other in _samples(len(sums), WALLS_OF_A_LONG_RUN, RUNS):
        test = SequentialTest(3.0, rates)
        verdicts = {test.add(float(value)) for value in means[one] - means[other]}
        wrong += not verdicts.isdisjoint({"better", "worse"})
    return wrong / RUNS
