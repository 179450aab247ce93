"""How near to a win each discard of a hand leaves it, beside the best."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.learning.hand_positions import HandPosition
from mjbot.rules.acceptance import acceptance_by_discard


class Nearness(NamedTuple):
    """By kind given up: ``shantens`` int8[34], ``masks`` int64[34] of accepting kinds, ``tiles``
    int16[34] unseen of them; as :func:`mjbot.rules.acceptance.acceptance_by_discard` has them.

    ``best`` int64[2] is the least shanten, and the most tiles that a discard leaves with it.
    """

    shantens: NDArray[np.int8]
    masks: NDArray[np.int64]
    tiles: NDArray[np.int16]
    best: NDArray[np.int64]


def new_nearness() -> Nearness:
    """Return room, to be used again and again."""
    return Nearness(
        np.zeros(34, np.int8), np.zeros(34, np.int64), np.zeros(34, np.int16), np.zeros(2, np.int64)
    )


@compiled
def measure(position: HandPosition, near: Nearness) -> None:
    """Fill ``near`` for the hand of a position."""
    acceptance_by_discard(
        position.hand, position.n_melds, position.unseen, near.shantens, near.masks, near.tiles
    )
    near.best[0] = 99
    for kind in range(34):
        if near.shantens[kind] < near.best[0]:
            near.best[0] = near.shantens[kind]
            near.best[1] = 0
        if near.shantens[kind] == near.best[0]:
            near.best[1] = max(near.best[1], near.tiles[kind])
