"""Which tile is safest when folding, by the four grades of Mizukami et al. 2013 (section 8).

The grades themselves are in :mod:`mjbot.learning.fold_safety`, where the recogniser learns them.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.learning.fold_safety import safety_grades
from mjbot.table.state import State
from protocol.tiles import N_KINDS

WORST_STEP: Final = 16
"""More than three opponents' grades can add up to."""


@compiled
def seats_to_fold_to(state: State, seat: int) -> int:
    """Return a mask of the opponents whose grades count when ``seat`` folds.

    All in riichi; without any, those with the most melds, so that with no meld on the table it
    is all three.
    """
    riichi, called, most = 0, 0, -1
    for step in range(1, 4):
        other = (seat + step) & 3
        if state.riichi[other]:
            riichi |= 1 << other
        if state.n_melds[other] > most:
            called, most = 0, int(state.n_melds[other])
        if state.n_melds[other] == most:
            called |= 1 << other
    return riichi if riichi else called


@compiled
def joint_danger(state: State, seat: int, others: int) -> NDArray[np.int64]:
    """Return the danger of each kind to ``seat`` from the seats in a mask: int64[34].

    16 times the worst grade, plus the sum of the grades: what is safe against all comes first,
    and of two as bad against one the safer against the rest.
    """
    danger = np.zeros(N_KINDS, np.int64)
    worst = np.zeros(N_KINDS, np.int64)
    for other in range(4):
        if others >> other & 1:
            grades = safety_grades(state, seat, other)
            for kind in range(N_KINDS):
                worst[kind] = max(worst[kind], grades[kind])
                danger[kind] += grades[kind]
    return WORST_STEP * worst + danger
