"""What the verdicts go by, learned from games of known pairs and of honest players.

* Base rates: how often strangers hit, by where they sit; from the honest records.
* One weighted sum per kind of known pair: Fisher's discriminant between groups of :data:`GROUP` of
  the pair's games and groups of honest ones (strangers of the honest records; and at the known
  pairs' own tables whoever is not a pair: they meet strange players, too, and are no pair).
* What a hit is worth to two strangers together: a regression of their final points.
* The tables of the null: strangers' scores after several numbers of games.

All of it is fixed before a game that is tested on is looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.detection.detectors import KEYS, N
from mjbot.detection.games import Games, count_games
from mjbot.detection.pairs import (
    Floats,
    Left,
    base_rates,
    expected,
    left_over,
    left_over_of,
    strangers,
    who_met,
)
from mjbot.detection.verdicts import NAME, Weights
from mjbot.errors import ArgumentError
from mjbot.models.weights import Manifest, save_weights
from mjbot.training.positions import LeftOut, index_games
from mjbot.training.runs import RUNS, GameRange, Learned

GROUP: Final = 10
"""Games of a group that the sums are fitted to."""
GROUPS: Final = 4000
RIDGE: Final = 1.0
"""Added to the variance of each z: fewer games than one would wish tell what goes with what."""
COUNTS: Final = (5, 7, 10, 15, 25, 35, 50, 100)
"""Numbers of games for which there is a table of the null."""
CHANCES: Final = (
    0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.035, 0.025,
    0.015, 0.01, 0.007, 0.005, 0.0035, 0.0025, 0.0015, 0.001, 0.0007, 0.0005,
)  # fmt: skip
OF_THE_NULL: Final = 100_000
"""Groups that a table of the null is made from."""
AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Known:
    """Games of one kind of known pair; ``pair`` are its two players, by number."""

    games: Games
    pair: tuple[int, int]


def groups(sums: Floats, n: int, many: int, random: np.random.Generator) -> Iterator[Left]:
    """Yield what is left over of strangers: any two of ``n`` games each, some groups at a time.

    ``sums`` are those of :func:`~mjbot.detection.pairs.strangers`.
    """
    for start in range(0, many, AT_ONCE):
        size = min(AT_ONCE, many - start)
        there, back = np.zeros((2, size, *sums.shape[3:]))
        for column in _choose(len(sums), n, size, random).T:
            one = random.integers(0, 4, size)
            other = (one + random.integers(1, 4, size)) % 4
            there += sums[column, one, other]
            back += sums[column, other, one]
        yield left_over(there, back)


def groups_of_known(
    known: Known, rates: Floats, n: int, many: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the features of a known pair in groups of its games, and of all others there.

    float64[many, N] and float64[many * others, N].
    """
    paired, others = [], []
    for chosen in _choose(len(known.games), n, many, random):
        games = known.games.take(chosen)
        met = who_met(games, 1)
        found = left_over_of(games, met, rates).features
        is_pair = (met.pairs == sorted(known.pair)).all(axis=1)
        paired.append(found[is_pair])
        others.append(found[~is_pair])
    return np.concatenate(paired), np.concatenate(others)


def _choose(n_games: int, n: int, size: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Return so many rows of ``n`` different games."""
    if n * n > 4 * n_games:
        return random.random((size, n_games)).argpartition(n - 1)[:, :n]
    chosen = random.integers(0, n_games, (size, n))
    again = np.arange(size)
    while len(again):
        twice = (np.diff(np.sort(chosen[again])) == 0).any(axis=1)
        again = again[twice]
        chosen[again] = random.integers(0, n_games, (len(again), n))
    return chosen


def features(sums: Floats, n: int, many: int, random: np.random.Generator) -> Floats:
    """Return the features of groups of strangers: float64[many, N]."""
    return np.concatenate([left.features for left in groups(sums, n, many, random)])


def learn(honest: Games, known: Sequence[Known], seed: int = 0) -> Weights:
    """Return weights from honest games and games of each kind of known pair."""
    random = np.random.default_rng(seed)
    rates = base_rates(honest)
    sums = strangers(honest, rates)
    null = features(sums, GROUP, GROUPS, random)
    kinds = [_discriminant(null, kind, rates, random) for kind in known]
    weights = np.array([kind / (null @ kind).std() for kind in kinds])
    scores = [_null(sums, weights, n, random) for n in COUNTS]
    return Weights(
        rates=rates,
        sums=weights,
        points=worth_of_hits(honest, rates),
        counts=np.array(COUNTS, np.float64),
        chances=np.array(CHANCES),
        scores=np.array(scores),
    )


def _discriminant(null: Floats, kind: Known, rates: Floats, random: np.random.Generator) -> Floats:
    """Return Fisher's discriminant of a kind of pair against strangers and its table's others."""
    paired, others = groups_of_known(kind, rates, GROUP, GROUPS // 10, random)
    within = (np.cov(null.T) + np.cov(others.T)) / 2
    centre = (null.mean(0) + others.mean(0)) / 2
    found: Floats = np.linalg.solve(within + RIDGE * np.eye(N), paired.mean(0) - centre)
    # What honest players hardly ever do would outweigh all else, on a handful of honest hits.
    most = np.sort(np.abs(found))[-2]
    return np.clip(found, -most, most)


def _null(sums: Floats, weights: Floats, n: int, random: np.random.Generator) -> Floats:
    scores = np.concatenate(
        [
            (left.features @ weights.T).max(-1)
            for left in groups(sums, min(n, len(sums)), OF_THE_NULL, random)
        ]
    )
    quantiles: Floats = np.quantile(scores, 1 - np.array(CHANCES))
    return quantiles


def worth_of_hits(games: Games, rates: Floats) -> Floats:
    """Return how many final points of two together go with a hit for each other: float64[N]."""
    left = games.hits - expected(games, rates)
    rows, gained = [], []
    for one in range(4):
        for other in range(one + 1, 4):
            rows.append(left[:, one, other] + left[:, other, one])
            gained.append(games.scores[:, one] + games.scores[:, other])
    x = np.concatenate(rows)
    y = np.concatenate(gained) - np.mean(gained)
    points: Floats = np.linalg.solve(x.T @ x + np.eye(N), x.T @ y)
    return points


@dataclass(frozen=True, kw_only=True)
class DetectionRequest:
    """What ``mjbot train detection`` is told; ``pairs`` has two names and records of each pair."""

    records: Sequence[Path]
    games: GameRange
    pairs: Sequence[tuple[str, str, Path]]
    seed: int
    jobs: int
    out: Path | None
    left_out: LeftOut = field(default_factory=LeftOut)


def train(request: DetectionRequest) -> Learned:
    """Learn the weights and write them.

    Raises as :func:`~mjbot.training.positions.index_games` and
    :class:`~mjbot.errors.ArgumentError` for a pair that is not in its records.
    """
    refs = request.games.take(index_games(request.records, request.left_out))
    honest = count_games(refs, request.jobs, left_out=request.left_out)
    known = [_known(one, other, path, request) for one, other, path in request.pairs]
    weights = learn(honest, known, request.seed)
    told = ", ".join(f"{one} + {other} ({len(each.games)} hanchan)"
        for (one, other, _), each in zip(request.pairs, known, strict=True))  # fmt: skip
    names = ", ".join(sorted(path.name for path in request.records))
    manifest = Manifest(
        data=f"games {request.games} of {names} ({len(honest)} hanchan); pairs: {told}",
        command=f"mjbot train detection {names} --games {request.games} --seed {request.seed}"
        + "".join(f" --pair {one!r} {other!r} {path.name}" for one, other, path in request.pairs),
        seed=request.seed,
        scores={f"points of a hit, {key}": round(float(worth))
            for key, worth in zip(KEYS, weights.points, strict=True)},
    )  # fmt: skip
    folder = request.out or RUNS / NAME
    arrays = {key: getattr(weights, key) for key in Weights.__dataclass_fields__}
    return Learned(NAME, save_weights(NAME, arrays, manifest, folder), folder)


def _known(one: str, other: str, path: Path, request: DetectionRequest) -> Known:
    refs = index_games([path], request.left_out)
    return known_pair(count_games(refs, request.jobs, left_out=request.left_out), one, other)


def known_pair(games: Games, one: str, other: str) -> Known:
    """Return the games in which two players met; ArgumentError if they never did."""
    for name in (one, other):
        if name not in games.players:
            known = ", ".join(repr(player) for player in games.players)
            raise ArgumentError(f"nobody is called {name!r} there; there are {known}")
    numbers = (games.players.index(one), games.players.index(other))
    both = np.flatnonzero(np.all([(games.names == number).any(1) for number in numbers], axis=0))
    if not len(both):
        raise ArgumentError(f"{one!r} and {other!r} never met there")
    return Known(games.take(both), numbers)
