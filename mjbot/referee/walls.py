"""Walls from seeds: the same (seed, round, honba) always gives the same 136 tiles."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled

N_WALL: Final = 136
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@compiled
def mix(bits: np.uint64) -> np.uint64:
    """Return the splitmix64 finaliser of a 64-bit value (Steele, Lea and Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))


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
