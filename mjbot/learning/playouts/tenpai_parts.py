"""What tenpai hands are made of: how often each part can be taken from the unseen tiles.

Blocks (runs and triplets), a pair, and what waits: an open run, a closed or edge run, a single
tile.  Each is drawn from all unseen tiles, whatever the hand holds; if two parts have the same
tile, and not only tiles of a kind, the hand is given up.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shapes import MAX_SHAPES
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s, Int8s, Int64, Int64s, Record
from mjbot.runtime.compiler.splitmix import GOLDEN, mix

PartWeights = NDArray[np.float64]

N_RUNS: Final = 21
N_BLOCKS: Final = N_RUNS + 34
N_OPEN_RUNS: Final = 18
"""Two tiles of a run open at both ends: 23 to 78 of each suit."""
N_GAPS: Final = 21 + 6
"""Two tiles of a run that wait on one kind: 13 to 79, then 12 and 89 of each suit."""


class Tenpai(Record):
    """What sampling hands in tenpai works with."""

    unseen: Annotated[Int8s, 34]
    barred: Int64  # kinds that the hand may not wait on
    n_melds: Int64
    # Running sums of the ways to take each part:
    blocks: Annotated[Float64s, N_BLOCKS]
    pairs: Annotated[Float64s, 34]
    open_runs: Annotated[Float64s, N_OPEN_RUNS]
    gaps: Annotated[Float64s, N_GAPS]
    singles: Annotated[Float64s, 34]
    hopeless: Annotated[Int8s, 2]  # 1 for a class of which no hand was found
    # The last sample:
    hand: Annotated[Int8s, 34]
    waits: Int64
    # What is at work meanwhile:
    rest: Annotated[Int8s, 34]
    shapes: Annotated[Int64s, MAX_SHAPES, 4]


@compiled
def prepare(tenpai: Tenpai) -> None:
    """Count the ways to take each part, once ``unseen``, ``barred`` and ``n_melds`` are set."""
    unseen = tenpai.unseen
    tenpai.hopeless[0] = 0
    tenpai.hopeless[1] = 0
    total = 0.0
    for run in range(N_RUNS):
        low = 9 * (run // 7) + run % 7
        total += unseen[low] * unseen[low + 1] * unseen[low + 2]
        tenpai.blocks[run] = total
    for kind in range(34):
        total += triplet_ways(unseen[kind])
        tenpai.blocks[N_RUNS + kind] = total
    total = 0.0
    for kind in range(34):
        total += pair_ways(unseen[kind])
        tenpai.pairs[kind] = total
    total = 0.0
    for index in range(N_OPEN_RUNS):
        low = open_run(index)
        if not ((tenpai.barred >> (low - 1)) | (tenpai.barred >> (low + 2))) & 1:
            total += unseen[low] * unseen[low + 1]
        tenpai.open_runs[index] = total
    _prepare_one_kind(tenpai)


@compiled
def _prepare_one_kind(tenpai: Tenpai) -> None:
    unseen = tenpai.unseen
    total = 0.0
    for index in range(N_GAPS):
        low, step, wait = gap(index)
        if not (tenpai.barred >> wait) & 1:
            total += unseen[low] * unseen[low + step]
        tenpai.gaps[index] = total
    total = 0.0
    for kind in range(34):
        if not (tenpai.barred >> kind) & 1:
            total += unseen[kind]
        tenpai.singles[kind] = total


@compiled
def open_run(number: int) -> int:
    """Return the lower kind of an open run, 0..17."""
    return 9 * (number // 6) + number % 6 + 1


@compiled
def gap(number: int) -> tuple[int, int, int]:
    """Return the lower kind of two tiles, the step to the other, and the kind they wait on."""
    if number < N_RUNS:
        low = 9 * (number // 7) + number % 7
        return low, 2, low + 1
    suit, high = (number - N_RUNS) // 2, (number - N_RUNS) % 2
    low = 9 * suit + 7 * high
    return low, 1, low - 1 if high else low + 2


@compiled
def triplet_ways(copies: int) -> int:
    """Return the ways to take a triplet from so many copies."""
    return copies * (copies - 1) * (copies - 2) // 6


@compiled
def pair_ways(copies: int) -> int:
    """Return the ways to take a pair from so many copies."""
    return copies * (copies - 1) // 2


@compiled
def unit(random: NDArray[np.uint64]) -> float:
    """Return the next random number in [0, 1)."""
    random[0] += GOLDEN
    return float(np.float64(mix(random[0]) >> np.uint64(11)) * 2.0**-53)


@compiled
def pick(sums: PartWeights, random: NDArray[np.uint64]) -> int:
    """Return a place by its share of the running sums."""
    at = unit(random) * sums[len(sums) - 1]
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > at:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def empty_hand(tenpai: Tenpai) -> None:
    """Put all tiles back."""
    for kind in range(34):  # numba takes a second to compile each `hand[:] = 0`
        tenpai.hand[kind] = 0


@compiled
def draw_two_sides(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Draw an open run, a pair and blocks; False if two of them have the same tile."""
    empty_hand(tenpai)
    low = open_run(pick(tenpai.open_runs, random))
    tenpai.hand[low] = 1
    tenpai.hand[low + 1] = 1
    return _take_pair(tenpai, random) and _take_blocks(tenpai, 3 - tenpai.n_melds, random)


@compiled
def draw_gap(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Draw a closed or edge run, a pair and blocks, in the same way."""
    empty_hand(tenpai)
    low, step, _ = gap(pick(tenpai.gaps, random))
    tenpai.hand[low] = 1
    tenpai.hand[low + step] = 1
    return _take_pair(tenpai, random) and _take_blocks(tenpai, 3 - tenpai.n_melds, random)


@compiled
def draw_single(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Draw blocks and a single tile, in the same way."""
    empty_hand(tenpai)
    tenpai.hand[pick(tenpai.singles, random)] = 1
    return _take_blocks(tenpai, 4 - tenpai.n_melds, random)


@compiled
def draw_seven_pairs(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Draw six pairs and a single tile; False if two of them are of one kind."""
    empty_hand(tenpai)
    tenpai.hand[pick(tenpai.singles, random)] = 1
    for _ in range(6):
        kind = pick(tenpai.pairs, random)
        if tenpai.hand[kind]:
            return False
        tenpai.hand[kind] = 2
    return True


@compiled
def _take(tenpai: Tenpai, kind: int, copies: int, random: NDArray[np.uint64]) -> bool:
    """Add so many copies of a kind, as if drawn from all unseen ones; False if one is held."""
    held, unseen = tenpai.hand[kind], tenpai.unseen[kind]
    tenpai.hand[kind] = held + copies
    if held == 0:
        return True
    others = 1.0
    for number in range(copies):
        others *= (unseen - held - number) / (unseen - number)
    return unit(random) < others


@compiled
def _take_pair(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    return tenpai.pairs[33] > 0 and _take(tenpai, pick(tenpai.pairs, random), 2, random)


@compiled
def _take_blocks(tenpai: Tenpai, n_blocks: int, random: NDArray[np.uint64]) -> bool:
    if n_blocks and tenpai.blocks[N_BLOCKS - 1] == 0:
        return False
    for _ in range(n_blocks):
        block = pick(tenpai.blocks, random)
        if block >= N_RUNS:
            if not _take(tenpai, block - N_RUNS, 3, random):
                return False
        else:
            low = 9 * (block // 7) + block % 7
            for kind in range(low, low + 3):
                if not _take(tenpai, kind, 1, random):
                    return False
    return True
