"""How well ``mjbot detect`` finds known pairs, and how often it accuses strangers.

* Of each known pair: the area under the ROC curve of its score after several numbers of games
  against strangers (any two of Phoenix games, put together at random), and against the other pairs
  of its own tables; and the share that is caught at 1 % and 0.1 % false alarms.  The interval comes
  from walls drawn anew: all games of a wall go together.
* Of strangers: the share of p-values below 0.05, 0.01 and 0.001, and the interval in which a
  binomial share with that chance lies.
* Of honest tables: the same for all pairs of groups of their games.

All of it is to be run on games that nothing was learned from.
"""

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from mjbot.detection.games import count_games
from mjbot.detection.learning import Known, features, groups_of_known, known_pair
from mjbot.detection.pairs import Floats, strangers
from mjbot.detection.verdicts import Weights, shipped_weights
from mjbot.training.positions import GameRef, index_games
from mjbot.training.runs import GameRange

SIZES = (5, 10, 20, 50)
LEVELS = (0.05, 0.01, 0.001)
GROUPS = 400
BOOTS = 40
GROUPS_OF_A_BOOT = 60
PSEUDO_PAIRS = 100_000
BINOMIAL = 1.96


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the proof's arguments."""
    parser.add_argument("strangers", type=Path, nargs="+", help="records of honest players")
    parser.add_argument("--games", type=GameRange, default=GameRange(":"), help="of them (all)")
    parser.add_argument(
        "--pair",
        nargs=3,
        action="append",
        default=[],
        metavar=("NAME", "NAME", "RECORDS"),
        help="a known pair, once for each",
    )
    parser.add_argument(
        "--honest", type=Path, action="append", default=[], help="records of honest tables"
    )
    parser.add_argument("--pseudo-pairs", type=int, default=PSEUDO_PAIRS, help="(100000)")
    parser.add_argument("--folder", type=Path, help="keep the counts of the strangers there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")


def run(args: argparse.Namespace) -> int:
    """Count, judge and show."""
    weights, random = shipped_weights(), np.random.default_rng(19)
    refs = args.games.take(index_games(args.strangers))
    games = count_games(refs, args.jobs, args.folder)
    sums = strangers(games, weights.rates)
    console = Console(width=140)
    console.print(f"{len(games)} games of strangers")
    alarms = Table("pairs", "games", *[f"p < {level:g}" for level in LEVELS], "binomial 95 %")
    for n in (5, 10, 25, 50):
        scores = weights.score(features(sums, n, args.pseudo_pairs, random))
        alarms.add_row(*_alarms("strangers", weights, scores, n))
    for path in args.honest:
        for label, honest in _honest_pairs(path, args.jobs, weights, random):
            alarms.add_row(*_alarms(label, weights, *honest))
    console.print(alarms)
    found = Table(
        "pair",
        "games",
        "AUC v strangers",
        "AUC v own table",
        "caught at 1 %",
        "0.1 %",
        "others accused at 1 %",
    )
    for one, other, path in args.pair:
        for row in _pair_rows(one, other, Path(path), args.jobs, sums, weights, random):
            found.add_row(*row)
    console.print(found)
    return 0


def _alarms(label: str, weights: Weights, scores: Floats, n: int) -> list[str]:
    p = weights.p_values(scores, np.full(len(scores), n))
    shares = [f"{np.mean(p < level):.5f}" for level in LEVELS]
    bounds = [BINOMIAL * (level * (1 - level) / len(p)) ** 0.5 for level in LEVELS]
    told = ", ".join(
        f"{level - bound:.5f}-{level + bound:.5f}"
        for level, bound in zip(LEVELS, bounds, strict=True)
    )
    return [label, str(n), *shares, told]


def _honest_pairs(
    path: Path, jobs: int, weights: Weights, random: np.random.Generator
) -> Iterator[tuple[str, tuple[Floats, int]]]:
    """Yield the scores of groups of games of every two who met at honest tables."""
    games = count_games(index_games([path]), jobs)
    for place, one in enumerate(games.players):
        for other in games.players[place + 1 :]:
            known = known_pair(games, one, other)
            for n in (10, 50):
                if len(known.games) >= 2 * n:
                    left, _ = groups_of_known(known, weights.rates, n, GROUPS, random)
                    yield f"{one} + {other}", (weights.score(left), n)


def _walls(path: Path, refs: Sequence[GameRef]) -> list[str]:
    """Return the wall of each game: what stands before the seating's number in its file's name."""
    return [re.sub(r"-\d+\.jsonl(\.gz)?$", "", Path(ref.source.name).name) for ref in refs]


def _pair_rows(
    one: str,
    other: str,
    path: Path,
    jobs: int,
    null_sums: Floats,
    weights: Weights,
    random: np.random.Generator,
) -> Iterator[list[str]]:
    refs = index_games([path])
    games = count_games(refs, jobs)
    known = known_pair(games, one, other)
    walls = np.array(_walls(path, refs))[np.searchsorted(games.numbers, known.games.numbers)]
    for n in SIZES:
        if len(known.games) < 2 * n:
            continue
        null = weights.score(features(null_sums, n, 50 * GROUPS, random))
        rows = [_row(known, weights, null, n, GROUPS, random)]
        for _ in range(BOOTS):
            drawn = Known(known.games.take(_drawn_anew(walls, random)), known.pair)
            rows.append(_row(drawn, weights, null, n, GROUPS_OF_A_BOOT, random))
        low, high = np.quantile(rows[1:], [0.025, 0.975], axis=0)
        told = [f"{rows[0][k]:.3f} [{low[k]:.3f}, {high[k]:.3f}]" for k in range(len(low))]
        yield [f"{one} + {other} ({path.parent.name})", str(n), *told]


def _row(
    known: Known, weights: Weights, null: Floats, n: int, many: int, random: np.random.Generator
) -> list[float]:
    """Return the areas against strangers and the own table, and the shares caught and accused."""
    paired, others = map(weights.score, groups_of_known(known, weights.rates, n, many, random))
    limits = [np.quantile(null, 1 - level) for level in LEVELS[1:]]
    caught = [float(np.mean(paired > limit)) for limit in limits]
    accused = float(np.mean(others > limits[0]))
    return [area(paired, null), area(paired, others), *caught, accused]


def _drawn_anew(walls: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the games of walls drawn with replacement."""
    names = np.unique(walls)
    drawn = random.choice(names, len(names))
    return np.concatenate([np.flatnonzero(walls == name) for name in drawn])


def area(high: Floats, low: Floats) -> float:
    """Return how likely one of the first is above one of the second; ties count half.

    >>> area(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ordered = np.sort(low)
    below = np.searchsorted(ordered, high, "left") + np.searchsorted(ordered, high, "right")
    return float(below.mean() / (2 * len(low)))
