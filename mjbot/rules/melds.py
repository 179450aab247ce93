"""What the declared melds of a winning hand contribute to its yaku and fu."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.rules.bits import EDGES

CHI: Final = 0
PON: Final = 1
DAIMINKAN: Final = 2
KAKAN: Final = 3
ANKAN: Final = 4


class Melds(NamedTuple):
    """Melds summed up; masks have bit ``kind`` (a run's lowest kind)."""

    closed: bool  # no melds but closed kans
    kinds: int
    triplets: int  # pons and kans
    runs: int
    n_kans: int
    n_closed_kans: int
    fu: int


@compiled
def read_melds(n_melds: int, types: NDArray[np.int8], kinds: NDArray[np.int8]) -> Melds:
    """Sum up the first ``n_melds`` melds: their types (0 chi .. 4 ankan) and lowest kinds."""
    all_kinds, triplets, runs = 0, 0, 0
    n_kans, n_closed_kans, fu = 0, 0, 0
    for i in range(n_melds):
        bit = 1 << int(kinds[i])
        if types[i] == CHI:
            runs |= bit
            all_kinds |= 7 * bit
            continue
        triplets |= bit
        all_kinds |= bit
        n_kans += types[i] >= DAIMINKAN
        n_closed_kans += types[i] == ANKAN
        fu += triplet_fu(bit, types[i] == ANKAN) * (4 if types[i] >= DAIMINKAN else 1)
    return Melds(n_closed_kans == n_melds, all_kinds, triplets, runs, n_kans, n_closed_kans, fu)


@compiled
def triplet_fu(bit: int, concealed: bool) -> int:
    """Return the fu of a triplet (a kan is worth four times as much)."""
    return (4 if bit & EDGES else 2) * (2 if concealed else 1)
