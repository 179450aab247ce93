"""Random numbers in compiled code: splitmix64 (Steele, Lea and Flood 2014)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.runtime.compiler.compiled import compiled

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)


@compiled
def mix(bits: np.uint64) -> np.uint64:
    """Return the finaliser of a 64-bit value: equal bits give equal ones, near bits far ones."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))


@compiled
def next_below(random: NDArray[np.uint64], limit: int) -> int:
    """Return the next random number in 0..limit-1 and advance ``random`` uint64[1]."""
    random[0] += GOLDEN
    return int(((mix(random[0]) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))
