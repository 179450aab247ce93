"""From the residuals of a pair to p-values, e-values, and an effect in points.

Only actions that depend on hidden hands are evidence (:mod:`mjbot.analysis.collusion.hidden`).  The
*score* of a pair is the largest of a few weighted sums over what a discard may do, each fitted to
one kind of known pair (:mod:`mjbot.analysis.collusion.learning`) with the signs of that kind.  A
sum is

    t = sum over kyoku of x / sqrt(sum over kyoku of x^2),

and what counts is the smallest t of three contrasts (:mod:`mjbot.analysis.collusion.residuals`).
Of symmetric x, however heavy their tails, P(t > z) <= exp(-z^2 / 2), and nearly that of a normal
deviate (Efron 1969, "Student's t-test under symmetry conditions").  The *p-value* is that of a
normal deviate times the number of sums.

*Adjusted* p-values are Holm's, for all tested pairs: accusing all below 0.05 accuses a pair wrongly
in at most one such list in twenty, under any dependence.

The *effect* is how much beyond chance the two served each other times the value of that to two
unrelated players together in Phoenix games (a regression of their final points).
"""

from dataclasses import dataclass
from functools import cache
from math import erfc, sqrt
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.collusion import hidden
from mjbot.analysis.collusion.games import GameCounts, Met, who_met
from mjbot.analysis.collusion.hidden import Floats
from mjbot.analysis.collusion.residuals import SPREAD_OF, SPREADS, contrasts, places_of
from mjbot.game.statistics.estimates import Estimate, around
from mjbot.learning.models.weights import Shape, load_weights, shaped

NAME: Final = "detection"
SHIPPED: Final = Path(__file__).parent / "weights"
"""Not among the players' weights: no game depends on these."""
OF_PLAYERS: Final = {4: SHIPPED, 3: SHIPPED / "three-players"}
"""Where the weights are that were learned at tables of so many players."""
LEAST_GAMES: Final = 5
"""Games together below which a pair is not judged."""
PRIOR: Final = 10.0
"""Needs as expected that a player's hands are believed to have had before anything is seen."""
STAKES: Final = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
"""What e-values stake on every kyoku, in standard deviations of unrelated players."""
MOST_LOG: Final = 600.0
TINY: Final = 1e-9


@dataclass(frozen=True)
class DetectionWeights:
    """What was learned.

    ``chosen``, ``needed`` and ``held`` belong to a
    :class:`~mjbot.analysis.collusion.hidden.HiddenHandModel`.  ``sums`` float64[kinds, N_SCORES]
    are the weighted sums, each with a standard deviation of 1 per kyoku among unrelated players;
    ``points`` float64[N_SCORES] is the value of a unit of the first contrast in a game to a pair,
    in points.
    """

    chosen: Floats
    needed: Floats
    held: Floats
    sums: Floats
    points: Floats

    @property
    def model(self) -> hidden.HiddenHandModel:
        """The expectations for unrelated players."""
        return hidden.HiddenHandModel(self.chosen, self.needed, self.held)

    def deviates(self, residuals: Floats, products: Floats) -> Floats:
        """Return t of each weighted sum: float64[..., kinds], the smallest of all contrasts.

        ``residuals`` float64[..., CONTRASTS, N_SCORES] and ``products``
        float64[..., SPREADS, N_SCORES, N_SCORES] are sums over games.
        """
        above, below = self._weighed(residuals, products)
        t = above / np.sqrt(np.maximum(below, TINY))
        smaller: Floats = t.min(axis=-2)
        return smaller

    def _weighed(self, residuals: Floats, products: Floats) -> tuple[Floats, Floats]:
        """Return the weighted sums and those of their squares: float64[..., CONTRASTS, kinds]."""
        above: Floats = np.einsum("...i,ki->...k", residuals, self.sums)
        below: Floats = np.einsum("...ij,ki,kj->...k", products, self.sums, self.sums)
        return above, below[..., SPREAD_OF, :]

    def p_values(self, deviates: Floats) -> Floats:
        """Return the p-value of such a largest t for unrelated players: float64[...]."""
        p: Floats = np.minimum(len(self.sums) * _above(deviates.max(axis=-1)), 1.0)
        return p

    def e_values(self, residuals: Floats, products: Floats) -> Floats:
        """Return e-values of the same sums, which may be tested after every game: float64[...].

        Of independent symmetric x, exp(l sum(x) - l^2 sum(x^2) / 2) is no more than 1 on average
        for any l, whenever one stops (de la Pena 1999, "A general class of exponential inequalities
        for martingales and ratios").  It is averaged over :data:`STAKES` and the sums; of the
        contrasts the smallest one counts.
        """
        above, below = self._weighed(residuals, products)
        logs = STAKES * above[..., None] - STAKES**2 * below[..., None] / 2
        e: Floats = np.exp(np.minimum(logs, MOST_LOG)).mean(axis=(-1, -2)).min(axis=-1)
        return e


_above = np.vectorize(lambda t: erfc(t / sqrt(2)) / 2, otypes=[float])


@cache
def shipped_weights(folder: Path = SHIPPED) -> DetectionWeights:
    """Return the weights of a folder; raises ``WeightsError``."""
    shapes: dict[str, Shape] = {
        "chosen": (hidden.CHOSEN_CELLS,),
        "needed": (hidden.NEEDED_CELLS,),
        "held": (hidden.HELD_CELLS,),
        "sums": (None, hidden.N_SCORES),
        "points": (hidden.N_SCORES,),
    }
    arrays = shaped(load_weights(NAME, folder), shapes, folder / f"{NAME}.npz")
    return DetectionWeights(
        **{key: arrays[key].astype(np.float64) for key in DetectionWeights.__dataclass_fields__}
    )


@dataclass(frozen=True)
class PairVerdict:
    """The result for one pair.

    ``residuals`` float64[N_SCORES] is what each score is beyond the table's, the first contrast
    summed over kyoku, and ``z`` its t by itself.  ``weights`` float64[N_SCORES] are those of the
    largest sum.  ``games`` and ``seats`` are where the two met, by places in the games.
    """

    names: tuple[str, str]
    players: tuple[int, int]
    games: NDArray[np.intp]
    seats: NDArray[np.int8]
    score: float
    p: float
    adjusted: float
    effect: Estimate
    residuals: Floats
    z: Floats
    weights: Floats


def judge(
    games: GameCounts, weights: DetectionWeights, least: int = LEAST_GAMES
) -> list[PairVerdict]:
    """Return the verdicts on all pairs that met in ``least`` games or more, the surest first.

    Raises ``ValueError`` if ``least`` is below :data:`LEAST_GAMES`: the p-values of fewer games are
    unknown.
    """
    if least < LEAST_GAMES:
        raise ValueError(f"least is {least}; pairs are judged by {LEAST_GAMES} games or more")
    met = who_met(games, least)
    if not len(met.pairs):
        return []
    sums, products, effects = _sums(games, met, weights)
    deviates = weights.deviates(sums, products)
    p = weights.p_values(deviates)
    adjusted = holm(p)
    alone = sums[:, :SPREADS] / np.sqrt(np.maximum(np.einsum("...ii->...i", products), TINY))
    verdicts = [
        PairVerdict(
            names=(games.players[one], games.players[other]),
            players=(int(one), int(other)),
            games=met.games[k],
            seats=met.seats[k],
            score=float(deviates[k].max()),
            p=float(p[k]),
            adjusted=float(adjusted[k]),
            effect=effects[k],
            residuals=sums[k, 0],
            z=alone[k, 0],
            weights=weights.sums[deviates[k].argmax()],
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


def levelled(games: GameCounts) -> Floats:
    """Return the contrasts of each game, with the level of each player's hands made up for.

    float64[games, pairs, CONTRASTS, N_SCORES].  A player's excess of needs over those expected of
    unrelated players is removed with all of its games, for the discards of any player.
    """
    n = len(games.players)
    whole = np.zeros((n, *games.level.shape[2:]))
    np.add.at(whole, games.names, games.level)
    return contrasts(games.t - made_up_for(games.base.astype(np.float64), whole[games.names]))


def made_up_for(base: Floats, levels: Floats) -> Floats:
    """Return how far T is off for the levels of hands: float64[..., seats, seats, N_SCORES].

    ``base`` float64[..., seats, seats, N_SCORES, CLASSES], ``levels`` [..., seats, N_SCORES,
    CLASSES, 2].
    """
    excess = (levels[..., 0] + PRIOR) / (levels[..., 1] + PRIOR) - 1
    off: Floats = np.einsum("...ijsc,...jsc->...ijs", base, excess)
    return off


def _sums(
    games: GameCounts, met: Met, weights: DetectionWeights
) -> tuple[Floats, Floats, list[Estimate]]:
    """Return residuals and products of each pair, and its points per hanchan."""
    sums, products, effects = [], [], []
    left = levelled(games)
    for chosen, seats in zip(met.games, met.seats, strict=True):
        places = places_of(seats, games.seats)
        each = left[chosen, places]
        sums.append(each.sum(axis=0))
        products.append(games.products[chosen, places].sum(axis=0, dtype=np.float64))
        points = each[:, 0] @ weights.points
        effects.append(around(float(points.mean()), points - points.mean()))
    return np.array(sums), np.array(products), effects
