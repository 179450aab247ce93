"""Ratings of all players by the Plackett-Luce model of OpenSkill, game after game.

A player's strength is believed to be normal, ``mu`` with a spread ``sigma``, 25 and 8.33 before the
first game; each game's order of the four updates both (Weng and Lin, "A Bayesian approximation
method for online ranking", Journal of Machine Learning Research 12, 2011).  A strength is taken as
constant: versions and periods that are compared are rated as players of their own.

What a rating predicts of a rank is scaled to what it was worth in these records: before each game
the four expected ranks are compared with those that come out, and :attr:`Ratings.slope` is the
regression of the one on the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np

from mjbot.statistics.estimates import Estimate, difference

EXTRA: Final = "mjbot[stats]"
NORMAL_95: Final = 1.959964
MEAN_RANK: Final = 2.5


class Ratings:
    """Rates players as games are added.  Raises ``ImportError`` without OpenSkill."""

    def __init__(self) -> None:
        from openskill.models import PlackettLuce

        self._model: Final[Any] = PlackettLuce(tau=0.0)
        self._ratings: Final[dict[str, Any]] = {}
        self._square = self._product = 0.0

    @property
    def slope(self) -> float:
        """Ranks that a predicted rank was worth: 1 where predictions fit, 0 where they fail."""
        return max(self._product / self._square, 0.0) if self._square else 0.0

    def rating(self, name: str) -> tuple[float, float]:
        """Return mu and sigma of a player."""
        found = self._of(name)
        return float(found.mu), float(found.sigma)

    def _of(self, name: str) -> Any:
        found = self._ratings.get(name)
        if found is None:
            found = self._ratings[name] = self._model.rating()
        return found

    def add(self, names: Sequence[str], ranks: Sequence[int]) -> None:
        """Take in a finished game.

        Who sits there more than once (copies of a bot) gets the mean of what the seats give.
        """
        if len(set(names)) == 1:
            return
        before = [self._of(name) for name in names]
        self._calibrate(before, ranks)
        teams = [[self._model.rating(mu=each.mu, sigma=each.sigma)] for each in before]
        after = [team[0] for team in self._model.rate(teams, ranks=list(ranks))]
        for name in set(names):
            own = [found for other, found in zip(names, after, strict=True) if other == name]
            rating = self._ratings[name]
            rating.mu = sum(found.mu for found in own) / len(own)
            rating.sigma = sum(found.sigma for found in own) / len(own)

    def _calibrate(self, before: Sequence[Any], ranks: Sequence[int]) -> None:
        expected = [1.0] * 4
        for one, other in combinations(range(4), 2):
            wins = self._beats(before[one], before[other])
            expected[other] += wins
            expected[one] += 1 - wins
        for foreseen, rank in zip(expected, ranks, strict=True):
            self._square += (foreseen - MEAN_RANK) ** 2
            self._product += (foreseen - MEAN_RANK) * (rank - MEAN_RANK)

    def _beats(self, one: Any, other: Any) -> float:
        return float(self._model.predict_win([[one], [other]])[0])

    def win_probability(self, one: str, other: str) -> float:
        """Return how likely one finishes ahead of the other, as the model predicts it."""
        return self._beats(self._of(one), self._of(other))

    def expected_rank(self, mu: float, sigma: float, opponents: Sequence[str]) -> float:
        """Return the rank of a player of that strength among opponents, scaled by the slope."""
        own = self._model.rating(mu=mu, sigma=sigma)
        ahead = sum(self._beats(self._of(name), own) for name in opponents)
        return MEAN_RANK + self.slope * (1 + ahead - MEAN_RANK)


def available() -> bool:
    """Return whether OpenSkill is installed."""
    try:
        import openskill  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class Adjusted:
    """A comparison with the opponents' strength taken out.

    ``rank`` is the difference of average ranks after each rank is compared with what a player
    between the two would reach against the same opponents; ``mu`` that of the ratings; ``ahead``
    how likely the first finishes ahead of the second.
    """

    rank: Estimate
    mu: Estimate
    ratings: tuple[tuple[float, float], tuple[float, float]]
    opponents: tuple[float, float]
    ahead: float
    slope: float


@dataclass
class SideGames:
    """The finished games of two sides: cluster, side, rank and opponents (by number) of each."""

    labels: tuple[str, str]

    def __post_init__(self) -> None:
        self._rows: list[tuple[int, int, int]] = []
        self._opponents: list[tuple[str, ...]] = []

    def add(self, cluster: int, side: int, rank: int, opponents: tuple[str, ...]) -> None:
        """Take in one finished game of a side."""
        self._rows.append((cluster, side, rank))
        self._opponents.append(opponents)

    def adjusted(self, ratings: Ratings) -> Adjusted | None:
        """Return the adjusted comparison; ``None`` if a side has no finished game."""
        if not self._rows:
            return None
        cluster, side, rank = np.array(self._rows, np.int64).T
        if len(set(side.tolist())) < 2:
            return None
        (mu_a, sigma_a), (mu_b, sigma_b) = found = tuple(map(ratings.rating, self.labels))
        between, spread = (mu_a + mu_b) / 2, (sigma_a + sigma_b) / 2
        expected = {
            names: ratings.expected_rank(between, spread, names) for names in set(self._opponents)
        }
        left = rank - np.array([expected[names] for names in self._opponents])
        strength = np.array(
            [np.mean([ratings.rating(name)[0] for name in names]) for names in self._opponents]
        )
        reach = NORMAL_95 * (sigma_a**2 + sigma_b**2) ** 0.5
        return Adjusted(
            rank=_clustered(left, side, cluster),
            mu=Estimate(mu_a - mu_b, mu_a - mu_b - reach, mu_a - mu_b + reach),
            ratings=(found[0], found[1]),
            opponents=(float(strength[side == 0].mean()), float(strength[side == 1].mean())),
            ahead=ratings.win_probability(*self.labels),
            slope=ratings.slope,
        )


def _clustered(values: Any, side: Any, cluster: Any) -> Estimate:
    """Return the difference of the sides' means, clustered."""
    _, place = np.unique(cluster, return_inverse=True)
    sums = np.zeros((2, 2, int(place.max()) + 1))
    np.add.at(sums[:, 0], (side, place), values)
    np.add.at(sums[:, 1], (side, place), 1.0)
    return difference((sums[0, 0], sums[0, 1]), (sums[1, 0], sums[1, 1]))
