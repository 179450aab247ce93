"""From what is left over of a pair to how sure one can be, and what it was worth.

The *score* of a pair is the largest of a few weighted sums over the detectors of what both columns
say.  Each sum was fitted to one kind of known pair (:mod:`mjbot.detection.learning`), with
whatever signs that kind has: one sum is blind to a kind whose signs differ.

The *p-value* is the share of pairs of strangers, put together at random from Phoenix games, whose
score after as many games is at least as high: tables for some numbers of games ship with the
weights.  Beyond the last entry of a table log p is continued as that of a normal tail.

*Adjusted* p-values are Holm's, for all pairs that were tested: whoever accuses all below 0.05
accuses anybody wrongly in at most one such list in twenty, whatever depends on what.

The *effect* are hits beyond expectation times what such a hit was worth to two strangers together
in Phoenix games (a regression of their final points on what they did for each other).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.detection.games import Games
from mjbot.detection.pairs import (
    Effects,
    Floats,
    Left,
    Met,
    effects,
    expected,
    left_over_of,
    who_met,
)
from mjbot.models.weights import load_weights
from mjbot.statistics.estimates import Estimate, around

NAME: Final = "detection"
SHIPPED: Final = Path(__file__).parent / "weights"
"""Not among the players' weights: no game depends on these."""
LEAST_GAMES: Final = 5
"""Games together below which a pair is not judged: the tables begin there."""
TAIL: Final = 8.0
"""z beyond which a normal tail is not worth reckoning with: p below 1e-15."""


@dataclass(frozen=True)
class Weights:
    """What was learned.

    ``rates`` float64[4, N] are the base rates, ``sums`` float64[kinds, N] the weighted sums,
    each with a spread of 1 among strangers, ``points`` float64[N] what a hit is worth to a pair.
    The null: ``scores`` float64[counts, chances] are exceeded with ``chances`` by strangers after
    ``counts`` games.
    """

    rates: Floats
    sums: Floats
    points: Floats
    counts: Floats
    chances: Floats
    scores: Floats

    def score(self, features: Floats) -> Floats:
        """Return the score of each row of features."""
        best: Floats = (features @ self.sums.T).max(axis=-1)
        return best

    def p_values(self, scores: Floats, n_games: NDArray[np.intp]) -> Floats:
        """Return how likely strangers have such a score after so many games."""
        logs = np.array([self._log_p(row, scores) for row in self.scores])
        at = np.clip(np.log(n_games), np.log(self.counts[0]), np.log(self.counts[-1]))
        place = np.interp(at, np.log(self.counts), np.arange(len(self.counts)))
        low = np.minimum(place.astype(np.intp), len(self.counts) - 2)
        share, every = place - low, np.arange(len(scores))
        log_p = (1 - share) * logs[low, every] + share * logs[low + 1, every]
        p: Floats = np.exp(np.minimum(log_p, 0.0))
        return p

    def _log_p(self, row: Floats, scores: Floats) -> Floats:
        """Return log p by one table: between entries log-linear, beyond the last as a normal."""
        log_chances = np.log(self.chances)
        inside = np.interp(scores, row, log_chances)
        # log p of a normal tail is about linear in the square of what is exceeded.
        half = len(row) - 5
        slope = (log_chances[-1] - log_chances[half]) / (row[-1] ** 2 - row[half] ** 2)
        beyond = log_chances[-1] + slope * (np.maximum(scores, row[-1]) ** 2 - row[-1] ** 2)
        log_p: Floats = np.where(scores > row[-1], beyond, inside)
        return log_p


@cache
def shipped_weights(folder: Path = SHIPPED) -> Weights:
    """Return the weights of a folder; raises :class:`~mjbot.models.weights.WeightsError`."""
    arrays = load_weights(NAME, folder)
    return Weights(**{key: arrays[key].astype(np.float64) for key in Weights.__dataclass_fields__})


@dataclass(frozen=True)
class Verdict:
    """What is said of one pair.

    ``z`` and ``parts`` float64[2, N] are by column and detector: how far from expectation, and
    what that would add to the score by itself.  ``per_hit`` float64[N] is what one more hit would
    add.  ``games`` and ``seats`` say where the two met, by places in the games.
    """

    names: tuple[str, str]
    players: tuple[int, int]
    games: NDArray[np.intp]
    seats: NDArray[np.int8]
    score: float
    p: float
    adjusted: float
    effect: Estimate
    z: Floats
    excess: Floats
    parts: Floats
    per_hit: Floats


def judge(games: Games, weights: Weights, least: int = LEAST_GAMES) -> list[Verdict]:
    """Return the verdicts on all pairs that met often enough, the surest first."""
    met = who_met(games, max(least, LEAST_GAMES))
    if not len(met.pairs):
        return []
    left = left_over_of(games, met, weights.rates)
    scores = weights.score(left.features)
    n_games = np.array([len(places) for places in met.games])
    p = weights.p_values(scores, n_games)
    adjusted = holm(p)
    worth = _effects(games, met, weights)
    best = weights.sums[(left.features @ weights.sums.T).argmax(axis=-1)]
    verdicts = [
        Verdict(
            names=(games.players[one], games.players[other]),
            players=(int(one), int(other)),
            games=met.games[k],
            seats=met.seats[k],
            score=float(scores[k]),
            p=float(p[k]),
            adjusted=float(adjusted[k]),
            effect=worth[k],
            z=_columns(left, k),
            excess=left.excess[k],
            parts=best[k] * _columns(left, k),
            per_hit=best[k] / left.errors[k].max(axis=0),
        )
        for k, (one, other) in enumerate(met.pairs.tolist())
    ]
    return sorted(verdicts, key=lambda verdict: (verdict.p, -verdict.score, verdict.names))


def holm(p: Floats) -> Floats:
    """Return p-values adjusted for all of them by Holm's method.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted


def _columns(left: Left, k: int) -> Floats:
    return np.stack([left.everywhere[k], left.here[k]])


def _effects(games: Games, met: Met, weights: Weights) -> list[Estimate]:
    """Return the points per hanchan of each pair, with the spread of its games."""
    fitted, plain = effects(games, weights.rates), expected(games, weights.rates)
    return [
        _effect(games, plain, fitted, pair, places, seats, weights.points)
        for pair, places, seats in zip(met.pairs.tolist(), met.games, met.seats, strict=True)
    ]


def _effect(
    games: Games,
    plain: Floats,
    fitted: Effects,
    pair: Sequence[int],
    places: NDArray[np.intp],
    seats: NDArray[np.int8],
    points: Floats,
) -> Estimate:
    gained = np.zeros(len(places))
    for way, (actor, other) in enumerate((pair, pair[::-1])):
        i, j = seats[:, way], seats[:, 1 - way]
        mean = plain[places, i, j] * fitted.acts[actor] * fitted.served[other]
        gained += (games.hits[places, i, j] - mean) @ points
    value = float(gained.mean())
    return around(value, gained - value)
