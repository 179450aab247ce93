"""How safe each discard is against the three opponents: the fold scores of fast-riichi-c and -d.

Source: Nakano 2021, section 3.2.3 and ``eval_sutehai`` of the listing.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mjbot.compiled import compiled
from mjbot.table.state import State
from mjbot.table.view import View
from protocol.tiles import N_KINDS, N_TILES
from strategies.evaluation.draws import Counts
from strategies.evaluation.fast_riichi import Points

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
        late = view.wall_left < self.late_tiles
        return late or any(view.riichi(seat) for seat in range(4) if seat != view.seat)

    def safety(self, view: View) -> Points:
        """Return the points of each tile (int64[37]) for its safety."""
        late = self.late_factor if view.wall_left < self.late_tiles else 1
        danger = dangers(view.state, view.seat, view.unseen, late, late * self.riichi_factor)
        return self.safest - danger


@compiled
def dangers(state: State, seat: int, unseen: Counts, dama: int, riichi: int) -> Points:
    """Return the danger of each tile, int64[37], summed over the opponents of ``seat``.

    One opponent is a danger of 0 if it cannot ron the kind (genbutsu), else of 1; of 2 if the
    kind is a number tile that is not suji or an honour of which the table shows none.  Times
    ``riichi`` if the opponent is in riichi, else ``dama``.
    """
    danger = np.zeros(N_TILES, np.int64)
    for step in range(1, 4):
        opponent = (seat + step) & 3
        safe = state.discarded[opponent] | state.passed[opponent]
        weight = riichi if state.riichi[opponent] else dama
        for kind in range(N_KINDS):
            if kind < FIRST_HONOUR:
                guarded = is_suji(safe, kind)
            else:
                guarded = unseen[kind] + state.hand[seat, kind] < 4
            if not safe >> kind & 1:
                danger[kind] += weight if guarded else 2 * weight
    for suit in range(3):
        danger[N_KINDS + suit] = danger[9 * suit + 4]
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
