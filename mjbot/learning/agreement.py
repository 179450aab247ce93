"""How often an evaluator's first, second or third choice is the discard that was made."""

import numpy as np
from numpy.typing import NDArray

from mjbot.statistics import Estimate, rate

RANKS = (1, 2, 3)


def agreement(ranks: NDArray[np.int8], games: NDArray[np.int32]) -> dict[str, Estimate]:
    """Return the shares of positions where the discard made ranked 1, 1..2 and 1..3.

    ``ranks`` int8[n] as :func:`mjbot.learning.perceptron.ranks_of_made` writes them; ``games``
    int32[n] are the positions' games: one game is one observation of the 95 % intervals.

    >>> shares = agreement(np.int8([1, 1, 3, 2]), np.int32([0, 1, 2, 3]))
    >>> [share.value for share in shares.values()]
    [0.5, 0.75, 1.0]
    >>> print(shares["rank 3"])
    1 [0.3976, 1]
    """
    _, game = np.unique(games, return_inverse=True)
    chances = np.bincount(game).astype(np.float64)
    return {
        f"rank {rank}": rate(np.bincount(game, ranks <= rank).astype(np.float64), chances)
        for rank in RANKS
    }
