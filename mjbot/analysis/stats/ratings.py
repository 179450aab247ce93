"""Ratings of all players by the Plackett-Luce model of OpenSkill, game after game.

A player's strength is believed to be normal, ``mu`` with a spread ``sigma``, 25 and 8.33 before the
first game; each game's order of the four updates both (Weng and Lin, "A Bayesian approximation
method for online ranking", Journal of Machine Learning Research 12, 2011).  A strength is taken as
constant.  Each opponent's rating counts as it was before the game, so the order of the games
matters; two players are compared by :mod:`mjbot.analysis.stats.strength`, where it does not.
"""

from collections.abc import Sequence
from typing import Any, Final

EXTRA: Final = "mjbot[stats]"


class Ratings:
    """Rates players as games are added.  Raises ``ImportError`` without OpenSkill."""

    def __init__(self) -> None:
        from openskill.models import PlackettLuce

        self._model: Final[Any] = PlackettLuce(tau=0.0)
        self._ratings: Final[dict[str, Any]] = {}

    def rating(self, name: str) -> tuple[float, float]:
        """Return mu and sigma of a player."""
        rating = self._of(name)
        return float(rating.mu), float(rating.sigma)

    def _of(self, name: str) -> Any:
        rating = self._ratings.get(name)
        if rating is None:
            rating = self._ratings[name] = self._model.rating()
        return rating

    def add(self, names: Sequence[str], ranks: Sequence[int]) -> None:
        """Take in a finished game.

        Who sits there more than once (copies of a bot) gets the mean of what the seats give.
        """
        if len(set(names)) == 1:
            return
        before = [self._of(name) for name in names]
        teams = [[self._model.rating(mu=old.mu, sigma=old.sigma)] for old in before]
        after = [team[0] for team in self._model.rate(teams, ranks=list(ranks))]
        for name in set(names):
            own = [new for other, new in zip(names, after, strict=True) if other == name]
            rating = self._ratings[name]
            rating.mu = sum(new.mu for new in own) / len(own)
            rating.sigma = sum(new.sigma for new in own) / len(own)


def available() -> bool:
    """Return whether OpenSkill is installed."""
    try:
        import openskill  # noqa: F401
    except ImportError:
        return False
    return True
