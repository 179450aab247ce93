"""How far the true costs of different choices scatter: the prior of what a review shows.

    python -m proof cost-spread --games 4100:4120 --out cost-spread.jsonl
    python -m proof cost-spread RUN/records --out cost-spread.jsonl  # adds games of others
    python -m proof cost-spread --simulate                           # are true costs in intervals

One seat of each game is judged as ``mjbot review`` does (seat 0 of the first game, then the seats
in turn), and each choice other than the reviewer's is played on in
:data:`~mjbot.analysis.review.playouts.FIRST_WORLDS` worlds.  With g the mean of a choice, s its
standard error and n the worlds, g is normal around the true cost with s, and true costs are normal
around 0 with a spread of t = f s sqrt(n), f times the standard deviation of one world.  f is that
of the greatest likelihood, with the interval in which twice its logarithm is at most 3.84 below;
next to it are the spread t that is the same for all choices, and two classes of choices with a
share and an f each, and by how much these are more or less likely.  A run resumes after the last
complete game of its file; all games of the file are reported.

``--simulate`` draws worlds of known true costs, as a review deals them (128, then twice as many
until the cost is settled), and counts how often the 95 % interval holds the true one.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.review.decisions import judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import (
    FIRST_WORLDS,
    LOOKS,
    CostEstimator,
    cost_of,
    is_settled,
    verdict_of,
)
from mjbot.game.records.sources import Source, games_of
from mjbot.game.statistics.estimates import Estimate, ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.learning.playouts.override import Gain
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
NARROW: Final = np.arange(0.01, 0.13, 0.002)
WIDE: Final = np.arange(0.13, 1.0, 0.01)
"""Spreads of two classes that are tried, in standard deviations of one world."""
TRUE_COSTS: Final = (0.02, 0.05, 0.1, 0.2, 0.3)
"""Places, of the simulation."""
SCATTER: Final = 0.3
"""Standard deviation of one world in the simulation, places: the median of games is 0.23."""
DROP: Final = 1.92
"""Half of the 95 % quantile of chi-squared with one degree of freedom."""

Floats = NDArray[np.float64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof cost-spread``."""
    add_record_arguments(parser, "strongest", GAMES)
    parser.add_argument("--simulate", action="store_true", help="simulate costs, read no games")
    parser.add_argument("--out", type=Path, default=Path("cost-spread.jsonl"), help="the file")


def run(args: argparse.Namespace) -> int:
    """Play on what the file does not have yet; print the report."""
    if args.simulate:
        for text in simulated():
            print(text)
        return 0
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
    share, narrow, wide, value = two_classes(means / scatter, errors / scatter)
    yield f"two classes: {1 - share:.3f} with spread {narrow:.3f}, {share:.3f} with {wide:.3f}"
    yield f"log likelihood of these above one: {value - one_class(means, errors, scatter):+.1f}"


def one_class(means: Floats, errors: Floats, scatter: Floats) -> float:
    """Return the log likelihood of the best single spread, in the units of :func:`two_classes`."""
    x, error = means / scatter, errors / scatter
    return max(float(np.log(density(x, error, spread)).sum()) for spread in SHARES.tolist())


def two_classes(x: Floats, error: Floats) -> tuple[float, float, float, float]:
    """Return share of the second class, both spreads, and the log likelihood, where it is greatest.

    ``x`` and ``error`` are means and their errors in standard deviations of one world.
    """
    shares = np.arange(0.005, 0.3, 0.005)[:, None]
    densities = {spread: density(x, error, spread) for spread in (*NARROW.tolist(), *WIDE.tolist())}
    best = (0.0, 0.0, 0.0, -np.inf)
    for narrow in NARROW.tolist():
        for wide in WIDE.tolist():
            mixed = (1 - shares) * densities[narrow] + shares * densities[wide]
            values = np.log(mixed).sum(axis=1)
            index = int(values.argmax())
            if values[index] > best[3]:
                best = (float(shares[index, 0]), narrow, wide, float(values[index]))
    return best


def density(x: Floats, error: Floats, spread: float) -> Floats:
    """Return the density of means whose true values are normal around 0, but for a constant."""
    variance = error**2 + spread**2
    return np.asarray(np.exp(-0.5 * x**2 / variance) / np.sqrt(variance))


# --- simulated costs ---------------------------------------------------------------------------


def simulated(runs: int = 300, seed: int = 3) -> Iterator[str]:
    """Yield how often intervals hold true costs, what is stated of them, and the worlds dealt."""
    yield from head(["true cost, places", "stated", "in the interval, %", "shown, %", "worlds"])
    for cost in TRUE_COSTS:
        found = [simulate(cost, SCATTER, np.random.default_rng((seed, n))) for n in range(runs)]
        inside = sum(each.low <= cost <= each.high for each, _ in found)
        shown = sum(verdict_of(each) == "shown" for each, _ in found)
        stated = sum(each.value for each, _ in found) / runs
        worlds = sum(gain.worlds for _, gain in found) / runs
        yield row([
            f"{cost:g}", f"{stated:.3f}", f"{100 * inside / runs:.0f}", f"{100 * shown / runs:.0f}",
            f"{worlds:.0f}",
        ])  # fmt: skip


def simulate(cost: float, scatter: float, random: np.random.Generator) -> tuple[Estimate, Gain]:
    """Return what a review states of a true cost, dealing worlds as it does, and the worlds.

    ``scatter`` is the standard deviation of one world in places.
    """
    worlds, total = 0, 0.0
    for look in range(LOOKS):
        more = (FIRST_WORLDS << look) - worlds
        total += random.normal(cost * more, scatter * more**0.5)
        worlds += more
        gain = Gain(total / worlds, scatter / worlds**0.5, worlds)
        stated = cost_of(gain)
        if is_settled(stated, gain):
            break
    return stated, gain


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
