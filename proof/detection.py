"""How well ``mjbot detect`` finds known pairs, and how often it accuses strangers.

* Of each known pair: the area under the ROC curve of its score after several numbers of games
  against strangers (any two of Phoenix games, put together at random), and against the other pairs
  of its own tables; and the share that is caught at p < 1 % and 0.1 %.  The interval comes from
  walls drawn anew: all games of a wall go together.
* Of strangers: the share of p-values below 0.05, 0.01 and 0.001, and the interval in which a
  binomial share with that chance lies.
* Of honest tables: the same for all pairs of groups of their games.
* Of all tables: after how many games a pair is told of while it plays, and how often others are.

All of it is to be run on games that nothing was learned from.
"""

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from mjbot.detection.games import Games, count_games
from mjbot.detection.hidden import Floats
from mjbot.detection.learning import known_pair
from mjbot.detection.live import ALPHA
from mjbot.detection.residuals import N_PAIRS
from mjbot.detection.verdicts import Weights, levelled, shipped_weights
from mjbot.training.positions import GameRef, index_games
from mjbot.training.runs import GameRange

SIZES = (5, 10, 20, 50)
OF_STRANGERS = (5, 10, 25, 50)
LEVELS = (0.05, 0.01, 0.001)
GROUPS = 400
BOOTS = 30
GROUPS_OF_A_BOOT = 40
PSEUDO_PAIRS = 100_000
AT_ONCE = 2000
ORDERS = 200
BINOMIAL = 1.96

Places = NDArray[np.intp]
Size = tuple[int, int]
"""Games of a group, and groups."""


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
    parser.add_argument("--folder", type=Path, help="keep what is counted there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")


@dataclass(frozen=True)
class Four:
    """Games of the same four players, and which two seats every two of them had in each.

    ``pairs`` are two names each, ``places`` int64[games, N_PAIRS] their places in each game.
    """

    games: Games
    pairs: Sequence[frozenset[str]]
    places: Places

    @classmethod
    def of(cls, games: Games) -> "Four":
        """Return the four of an arena's games."""
        names = list(combinations(games.players, 2))
        places = [known_pair(games, *two).places for two in names]
        return cls(games, [frozenset(two) for two in names], np.stack(places, axis=1))

    def take(self, chosen: Places) -> "Four":
        """Return some games."""
        return Four(self.games.take(chosen), self.pairs, self.places[chosen])

    def deviates(self, weights: Weights, size: Size, random: np.random.Generator) -> Floats:
        """Return those of all pairs in groups of games, each judged by itself.

        float64[groups, N_PAIRS, kinds].
        """
        found = []
        for chosen in _choose(len(self.games), *size, random):
            games, places = self.games.take(chosen), self.places[chosen]
            rows = np.arange(len(chosen))[:, None]
            sums = levelled(games)[rows, places].sum(axis=0)
            products = games.products[rows, places].sum(axis=0, dtype=np.float64)
            found.append(weights.deviates(sums, products))
        return np.array(found)

    def told_live(self, weights: Weights, random: np.random.Generator) -> Floats:
        """Return after how many games each pair is told of, inf for never: float64[orders, pairs].

        In random orders of the games; the limit is that of the last pair that met.
        """
        rows, limit = np.arange(len(self.games))[:, None], N_PAIRS * (N_PAIRS + 1) / ALPHA
        left = levelled(self.games)[rows, self.places]
        products = self.games.products[rows, self.places].astype(np.float64)
        after = []
        for _ in range(ORDERS):
            order = random.permutation(len(left))
            e = weights.e_values(left[order].cumsum(axis=0), products[order].cumsum(axis=0))
            after.append(np.where((e >= limit).any(0), 1 + (e >= limit).argmax(0), np.inf))
        return np.array(after)


def _choose(n_games: int, n: int, many: int, random: np.random.Generator) -> Places:
    """Return so many groups of different games: int64[many, n]."""
    chosen = random.integers(0, n_games, (many, n))
    for _ in range(100):
        ordered = np.sort(chosen, axis=1)
        twice = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
        if not len(twice):
            return chosen
        if n * n > 4 * n_games:
            break
        chosen[twice] = random.integers(0, n_games, (len(twice), n))
    return random.random((many, n_games)).argpartition(n - 1, axis=1)[:, :n]


def run(args: argparse.Namespace) -> int:
    """Count, judge and show."""
    weights, random = shipped_weights(), np.random.default_rng(19)
    refs = args.games.take(index_games(args.strangers))
    games = count_games(refs, weights.model, args.jobs, args.folder and args.folder / "strangers")
    console, null = Console(width=160), {}
    console.print(f"{len(games)} games of strangers")
    alarms = Table("pairs", "games", *[f"p < {level:g}" for level in LEVELS], "binomial 95 %")
    for n in sorted({*OF_STRANGERS, *SIZES}):
        deviates = _strangers(games, weights, (n, args.pseudo_pairs), random)
        null[n] = deviates.max(axis=1)
        if n in OF_STRANGERS:
            alarms.add_row(*_alarms("strangers", weights.p_values(deviates), n))
    for path in args.honest:
        for row in _honest_rows(path, args, weights, random):
            alarms.add_row(*row)
    console.print(alarms)
    found = Table(
        "pair", "games", "AUC v strangers", "AUC v own table", "p < 0.01", "p < 0.001",
        "others at p < 0.01",
    )  # fmt: skip
    for one, other, path in args.pair:
        for row in _pair_rows((one, other), Path(path), args, null, weights, random):
            found.add_row(*row)
    console.print(found)
    live = Table("told of while they play", "median", "90 %", "others ever")
    for path in [*args.honest, *[Path(path) for _, _, path in args.pair]]:
        names = [{one, other} for one, other, of in args.pair if Path(of) == path]
        live.add_row(*_live_row(names, path, args, weights, random))
    console.print(live)
    return 0


def _live_row(
    names: Sequence[set[str]],
    path: Path,
    args: argparse.Namespace,
    weights: Weights,
    random: np.random.Generator,
) -> list[str]:
    four = Four.of(_counted(path, args, weights))
    after = four.told_live(weights, random)
    is_pair = np.array([set(pair) in names for pair in four.pairs])
    others = f"{np.isfinite(after[:, ~is_pair]).mean():.4f} of {len(four.games)} games"
    if not names:
        return [f"nobody ({' + '.join(four.games.players)})", "-", "-", others]
    told = [f"{np.quantile(after[:, is_pair], q, method='higher'):.0f}" for q in (0.5, 0.9)]
    return [" + ".join(sorted(names[0])), *told, others]


def _strangers(games: Games, weights: Weights, size: Size, random: np.random.Generator) -> Floats:
    """Return the deviates of groups of any two seats of any games: float64[groups, kinds]."""
    left, products = levelled(games), games.products.astype(np.float64)
    found, (n, many) = [], size
    for start in range(0, many, AT_ONCE):
        chosen = _choose(len(games), n, min(AT_ONCE, many - start), random)
        places = random.integers(0, N_PAIRS, chosen.shape)
        sums = sum(left[chosen[:, k], places[:, k]] for k in range(n))
        squares = sum(products[chosen[:, k], places[:, k]] for k in range(n))
        found.append(weights.deviates(np.asarray(sums), np.asarray(squares)))
    return np.concatenate(found)


def _alarms(label: str, p: Floats, n: int) -> list[str]:
    shares = [f"{np.mean(p < level):.5f}" for level in LEVELS]
    bounds = [BINOMIAL * (level * (1 - level) / len(p)) ** 0.5 for level in LEVELS]
    told = ", ".join(
        f"{level - bound:.5f}-{level + bound:.5f}"
        for level, bound in zip(LEVELS, bounds, strict=True)
    )
    return [label, str(n), *shares, told]


def _counted(path: Path, args: argparse.Namespace, weights: Weights) -> Games:
    folder = args.folder and args.folder / re.sub(r"\W+", "-", str(path)).strip("-")
    return count_games(index_games([path]), weights.model, args.jobs, folder)


def _honest_rows(
    path: Path, args: argparse.Namespace, weights: Weights, random: np.random.Generator
) -> Iterator[list[str]]:
    """Yield what groups of games of every two who met at honest tables are taken for."""
    four = Four.of(_counted(path, args, weights))
    for n in OF_STRANGERS[1:]:
        if len(four.games) >= 2 * n:
            p = weights.p_values(four.deviates(weights, (n, GROUPS), random))
            for place, pair in enumerate(four.pairs):
                yield _alarms(" + ".join(sorted(pair)), p[:, place], n)


def _walls(path: Path, games: Games) -> NDArray[np.str_]:
    """Return the wall of each game: what stands before the seating's number in its file's name."""
    refs: Sequence[GameRef] = index_games([path])
    names = [re.sub(r"-\d+\.jsonl(\.gz)?$", "", Path(ref.source.name).name) for ref in refs]
    return np.array(names)[games.numbers]


def _pair_rows(
    names: tuple[str, str],
    path: Path,
    args: argparse.Namespace,
    null: Mapping[int, Floats],
    weights: Weights,
    random: np.random.Generator,
) -> Iterator[list[str]]:
    four = Four.of(_counted(path, args, weights))
    walls, pair = _walls(path, four.games), four.pairs.index(frozenset(names))
    for n in SIZES:
        if len(four.games) < 2 * n:
            continue
        rows = [_row(four.deviates(weights, (n, GROUPS), random), pair, null[n], weights)]
        for _ in range(BOOTS):
            drawn = four.take(_drawn_anew(walls, random))
            deviates = drawn.deviates(weights, (n, GROUPS_OF_A_BOOT), random)
            rows.append(_row(deviates, pair, null[n], weights))
        low, high = np.quantile(rows[1:], [0.025, 0.975], axis=0)
        told = [f"{rows[0][k]:.3f} [{low[k]:.3f}, {high[k]:.3f}]" for k in range(len(low))]
        yield [" + ".join(names), str(n), *told]


def _row(deviates: Floats, pair: int, strange: Floats, weights: Weights) -> list[float]:
    """Return the areas against strangers and the own table, and the shares caught and accused."""
    scores, p = deviates.max(axis=-1), weights.p_values(deviates)
    others = np.delete(np.arange(N_PAIRS), pair)
    caught = [float(np.mean(p[:, pair] < level)) for level in LEVELS[1:]]
    accused = float(np.mean(p[:, others] < LEVELS[1]))
    own = scores[:, others].ravel()
    return [area(scores[:, pair], strange), area(scores[:, pair], own), *caught, accused]


def _drawn_anew(walls: NDArray[np.str_], random: np.random.Generator) -> Places:
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
