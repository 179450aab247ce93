"""How far the true costs of different choices scatter: the prior of what a review shows.

    python -m proof cost-spread --games 4100:4120 --out cost-spread.jsonl

One seat of each game is judged as ``mjbot review`` does (seat 0 of the first game, then the seats
in turn), and each choice other than the reviewer's is played on in
:data:`~mjbot.review.playouts.FIRST_WORLDS` worlds.  With g the mean of a choice, s its standard
error and n the worlds, g is normal around the true cost with s, and true costs are normal around 0
with a spread of t = f s sqrt(n), f times the standard deviation of one world.  f is that of the
greatest likelihood, with the interval in which twice its logarithm is at most 3.84 below; next to
it is the spread t that is the same for all choices, and by how much that is less likely.  A run
resumes after the last complete game of its file.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.records.sources import Source, games_of
from mjbot.review.decisions import judge
from mjbot.review.players import SeatedPlayers
from mjbot.review.playouts import CostEstimator
from mjbot.statistics.estimates import Estimate, ratio
from mjbot.strategy.registry import Spec
from proof.game_lines import (
    Line,
    add_record_arguments,
    complete_lines,
    recorded_games,
    with_seats_in_turn,
)

GAMES: Final = "4100:4120"
SHARES: Final = np.arange(0.0, 0.3, 0.001)
"""Spreads that are tried, in standard deviations of one world."""
SPREADS: Final = np.arange(0.0, 0.1, 0.0002)
"""Spreads that are tried, in places."""
DROP: Final = 1.92
"""Half of the 95 % quantile of chi-squared with one degree of freedom."""

Floats = NDArray[np.float64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof cost-spread``."""
    add_record_arguments(parser, "strongest", GAMES)
    parser.add_argument("--out", type=Path, default=Path("cost-spread.jsonl"), help="the file")


def run(args: argparse.Namespace) -> int:
    """Play on what the file does not have yet; print the report."""
    sources = recorded_games(args, GAMES)
    if sources is None:
        return 3
    work = partial(_lines_of, Spec.read(args.by), CostEstimator(0.0))
    for text in report(complete_lines(args.out, with_seats_in_turn(sources), work)):
        print(text)
    return 0


def _lines_of(
    by: Spec, costs: CostEstimator, _name: str, game: tuple[int, Source]
) -> Iterator[Line]:
    seat, source = game
    for read in games_of(source):
        judged = judge((entry.event for entry in read.entries), SeatedPlayers(by, 0), [seat], ())
        yield {"gains": [shown.gain for shown in costs.estimate(judged.decisions).values()]}


def report(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the mean of the costs and their spread, relative and absolute."""
    found = [gain for line in lines for gain in line["gains"]]
    means, errors, worlds = np.array([gain for gain in found if gain[1]], float).reshape(-1, 3).T
    alike = len(found) - len(means)
    yield f"{len(found)} different choices of {len(lines)} games, {alike} alike in all worlds"
    if not len(means):
        return
    scatter = errors * np.sqrt(worlds)
    relative = greatest(SHARES, lambda share: likelihood(means, errors, share * scatter))
    absolute = greatest(SPREADS, lambda spread: likelihood(means, errors, spread))
    yield f"standard deviation of one world: median {np.median(scatter):.3f} places"
    yield f"mean cost: {ratio(means, np.ones(len(means))).text('+.4f')} places"
    yield f"spread, in standard deviations of one world: {relative[0].text('.3f')}"
    yield f"spread, in places: {absolute[0].text('.4f')}"
    yield f"log likelihood of the first above the second: {relative[1] - absolute[1]:+.1f}"


def likelihood(means: Floats, errors: Floats, spread: Floats | float) -> float:
    """Return the log likelihood of means whose true values are normal around 0, but for 2 pi."""
    variance = errors**2 + np.square(spread)
    return float(-0.5 * (np.log(variance) + means**2 / variance).sum())


def greatest(tried: Floats, function: Callable[[float], float]) -> tuple[Estimate, float]:
    """Return where a likelihood is greatest, with its 95 % interval, and its value there."""
    values = np.array([function(each) for each in tried.tolist()])
    within = tried[values >= values.max() - DROP]
    best = Estimate(float(tried[values.argmax()]), float(within[0]), float(within[-1]))
    return best, float(values.max())
