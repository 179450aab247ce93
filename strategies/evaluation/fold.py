"""How safe each discard is against the three opponents: the fold scores of fast-riichi-c and -d.

Source: Nakano 2021, section 3.2.3 and ``eval_sutehai`` of the listing.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.table.view import View
from protocol.tiles import N_KINDS

FIRST_HONOUR: Final = 27


@dataclass
class Folding:
    """The weights of folding, mixed into the strategies that fold."""

    safest: int = field(default=20, metadata={"unit": "points of a tile without danger"})
    riichi_factor: int = field(default=500, metadata={"unit": "x danger, opponent in riichi"})
    late_factor: int = field(default=500, metadata={"unit": "x danger, wall running out"})
    late_tiles: int = field(default=16, metadata={"unit": "running out: fewer tiles to draw"})

    def threatened(self, view: View) -> bool:
        """Whether an opponent is in riichi or the wall is running out."""
        return view.wall_left < self.late_tiles or any(map(view.riichi, opponents(view.seat)))

    def safety(self, view: View) -> list[int]:
        """Return the points of each kind (34 of them) for its safety."""
        late = self.late_factor if view.wall_left < self.late_tiles else 1
        genbutsu, weights = np.empty(3, np.int64), np.empty(3, np.int64)
        for place, seat in enumerate(opponents(view.seat)):
            genbutsu[place] = view.genbutsu(seat)
            weights[place] = late * (self.riichi_factor if view.riichi(seat) else 1)
        on_table = 4 - view.unseen - view.hand
        points: list[int] = (self.safest - dangers(genbutsu, weights, on_table)).tolist()
        return points


def opponents(seat: int) -> tuple[int, int, int]:
    """Return the other three seats, from the right."""
    return (seat + 1) % 4, (seat + 2) % 4, (seat + 3) % 4


@compiled
def dangers(
    genbutsu: NDArray[np.int64], weights: NDArray[np.int64], on_table: NDArray[np.int8]
) -> NDArray[np.int64]:
    """Return the danger of each kind, int64[34], summed over the opponents by their weights.

    One opponent is a danger of 0 if it cannot ron the kind (``genbutsu``, masks), else of 1; of
    2 if the kind is a number tile that is not suji or an honour of which the table shows none
    (``on_table``, int8[34] counts without the own hand).
    """
    danger = np.zeros(N_KINDS, np.int64)
    for opponent in range(len(genbutsu)):
        safe = genbutsu[opponent]
        for kind in range(N_KINDS):
            if not safe >> kind & 1:
                guarded = is_suji(safe, kind) if kind < FIRST_HONOUR else on_table[kind] > 0
                danger[kind] += weights[opponent] * (1 if guarded else 2)
    return danger


@compiled
def is_suji(genbutsu: int, kind: int) -> bool:
    """Whether any two-sided wait on the number kind would be furiten.

    So it is if the kinds three ranks off, both where there are two, are in the mask.

    >>> four, six = 1 << 3, 1 << 5
    >>> [rank + 1 for rank in range(9) if is_suji(four | six, rank)]
    [1, 3, 7, 9]
    """
    low = kind % 9 < 3 or genbutsu >> (kind - 3) & 1 == 1
    high = kind % 9 > 5 or genbutsu >> (kind + 3) & 1 == 1
    return low and high
