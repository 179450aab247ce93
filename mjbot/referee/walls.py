"""Walls from seeds: the same (seed, round, honba) always gives the same 136 tiles."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.splitmix import GOLDEN, mix

N_WALL: Final = 136


@compiled
def shuffle_wall(seed: int, round_: int, honba: int, wall: NDArray[np.int8]) -> None:
    """Fill int8[136] with a fair shuffle of the tiles, one red five per suit."""
    for place in range(N_WALL):
        wall[place] = place // 4
    for suit in range(3):
        wall[4 * (9 * suit + 4)] = 34 + suit
    key = mix(np.uint64(seed) + GOLDEN)
    key = mix(key ^ (np.uint64(round_) << np.uint64(32)) ^ np.uint64(honba))
    for place in range(N_WALL - 1, 0, -1):
        key += GOLDEN
        # 32 random bits scaled to 0..place: the bias is below 136 / 2**32
        other = np.int64(((mix(key) >> np.uint64(32)) * np.uint64(place + 1)) >> np.uint64(32))
        kept = wall[place]
        wall[place] = wall[other]
        wall[other] = kept
