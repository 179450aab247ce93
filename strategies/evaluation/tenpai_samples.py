"""Random hands in tenpai, all hands of a class of waits equally likely.

A hand is put together from blocks, a pair and what waits, each drawn by the number of ways to
take it from the unseen tiles.  Which hand comes so depends on how many ways there are to see it
as such parts; it is kept with the probability that evens this out.  So every set of unseen tiles
that makes up a hand of the class is equally likely, by construction, and no draw depends on the
one before.

The classes (Takada and Sato 2022, section 4.2.1):

* two sides: a hand with a run open at both ends, which waits on two kinds or more;
* one kind: a hand that waits on exactly one kind, with a closed or edge run, or a single tile
  (of four blocks, or of seven pairs).  Thirteen orphans are left out.

Neither waits on a kind of ``barred``, what makes it furiten.
"""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.referee.walls import GOLDEN, mix
from mjbot.rules.acceptance import acceptance
from mjbot.rules.bits import count_bits
from mjbot.rules.shapes import MAX_SHAPES, PAIR, TRIPLETS, find_shapes

Counts = NDArray[np.int8]
Weights = NDArray[np.float64]

TWO_SIDES: Final = 0
ONE_KIND: Final = 1
TWO_SIDES_SHARE: Final = 0.73
"""What the paper took from the statistics of four strong players."""

N_RUNS: Final = 21
N_BLOCKS: Final = N_RUNS + 34
N_OPEN_RUNS: Final = 18
"""Two tiles of a run open at both ends: 23 to 78 of each suit."""
N_GAPS: Final = 21 + 6
"""Two tiles of a run that wait on one kind: 13 to 79, then 12 and 89 of each suit."""
TRIES: Final = 400

TENPAI: Final = np.dtype(
    [
        ("unseen", np.int8, (34,)),
        ("barred", np.int64),  # kinds that the hand may not wait on
        ("n_melds", np.int64),
        # Running sums of the ways to take each part:
        ("blocks", np.float64, (N_BLOCKS,)),
        ("pairs", np.float64, (34,)),
        ("open_runs", np.float64, (N_OPEN_RUNS,)),
        ("gaps", np.float64, (N_GAPS,)),
        ("singles", np.float64, (34,)),
        # The last sample:
        ("hand", np.int8, (34,)),
        ("waits", np.int64),
        # What is at work meanwhile:
        ("runs", np.int8, (29,)),
        ("shapes", np.int64, (MAX_SHAPES, 4)),
    ],
    align=True,
)

if TYPE_CHECKING:

    class Tenpai:
        """One record of :data:`TENPAI`: ``r["field"]`` in Python, ``r.field`` compiled."""

        unseen: Counts
        barred: int
        n_melds: int
        blocks: Weights
        pairs: Weights
        open_runs: Weights
        gaps: Weights
        singles: Weights
        hand: Counts
        waits: int
        runs: Counts
        shapes: NDArray[np.int64]

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    Tenpai = np.void


def new_tenpai() -> Tenpai:
    """Return an empty record to sample with."""
    return cast(Tenpai, np.zeros(1, TENPAI)[0])


@compiled
def prepare(tenpai: Tenpai) -> None:
    """Count the ways to take each part, once ``unseen``, ``barred`` and ``n_melds`` are set."""
    unseen = tenpai.unseen
    total = 0.0
    for run in range(N_RUNS):
        low = 9 * (run // 7) + run % 7
        total += unseen[low] * unseen[low + 1] * unseen[low + 2]
        tenpai.blocks[run] = total
    for kind in range(34):
        total += _triplets(unseen[kind])
        tenpai.blocks[N_RUNS + kind] = total
    total = 0.0
    for kind in range(34):
        total += _pairs(unseen[kind])
        tenpai.pairs[kind] = total
    total = 0.0
    for place in range(N_OPEN_RUNS):
        low = open_run(place)
        if not ((tenpai.barred >> (low - 1)) | (tenpai.barred >> (low + 2))) & 1:
            total += unseen[low] * unseen[low + 1]
        tenpai.open_runs[place] = total
    _prepare_one_kind(tenpai)


@compiled
def _prepare_one_kind(tenpai: Tenpai) -> None:
    unseen = tenpai.unseen
    total = 0.0
    for place in range(N_GAPS):
        low, step, wait = gap(place)
        if not (tenpai.barred >> wait) & 1:
            total += unseen[low] * unseen[low + step]
        tenpai.gaps[place] = total
    total = 0.0
    for kind in range(34):
        if not (tenpai.barred >> kind) & 1:
            total += unseen[kind]
        tenpai.singles[kind] = total


@compiled
def open_run(place: int) -> int:
    """Return the lower kind of an open run, 0..17."""
    return 9 * (place // 6) + place % 6 + 1


@compiled
def gap(place: int) -> tuple[int, int, int]:
    """Return the lower kind of two tiles, the step to the other, and the kind they wait on."""
    if place < N_RUNS:
        low = 9 * (place // 7) + place % 7
        return low, 2, low + 1
    suit, high = (place - N_RUNS) // 2, (place - N_RUNS) % 2
    low = 9 * suit + 7 * high
    return low, 1, low - 1 if high else low + 2


@compiled
def _triplets(copies: int) -> int:
    return copies * (copies - 1) * (copies - 2) // 6


@compiled
def _pairs(copies: int) -> int:
    return copies * (copies - 1) // 2


@compiled
def _unit(random: NDArray[np.uint64]) -> float:
    """Return the next random number in [0, 1)."""
    random[0] += GOLDEN
    return float(np.float64(mix(random[0]) >> np.uint64(11)) * 2.0**-53)


@compiled
def _pick(sums: Weights, random: NDArray[np.uint64]) -> int:
    """Return a place by its share of the running sums."""
    at = _unit(random) * sums[len(sums) - 1]
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > at:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def sample_tenpai(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Draw a hand of either class, two sides with :data:`TWO_SIDES_SHARE`; False if there is none.

    Fills ``hand`` (int8[34], ``13 - 3 * n_melds`` tiles) and ``waits``.  Where no hand of the
    class drawn is found, the other is tried.
    """
    first = TWO_SIDES if _unit(random) < TWO_SIDES_SHARE else ONE_KIND
    return sample_class(tenpai, first, random) or sample_class(tenpai, 1 - first, random)


@compiled
def sample_class(tenpai: Tenpai, class_: int, random: NDArray[np.uint64]) -> bool:
    """Draw a hand of one class (TWO_SIDES, ONE_KIND); False if there is none in 400 tries."""
    n_blocks = 3 - tenpai.n_melds
    if class_ == TWO_SIDES:
        if n_blocks < 0 or tenpai.open_runs[N_OPEN_RUNS - 1] == 0:
            return False
        for _ in range(TRIES):
            if _draw_two_sides(tenpai, random) and _keep_two_sides(tenpai, random):
                return True
        return False
    with_gap, with_single, seven_pairs = _shares(tenpai)
    everything = with_gap + with_single + seven_pairs
    for _ in range(TRIES if everything > 0 else 0):
        at = _unit(random) * everything
        if at < with_gap:
            drawn = _draw_gap(tenpai, random)
        elif at < with_gap + with_single:
            drawn = _draw_single(tenpai, random)
        else:
            drawn = _draw_seven_pairs(tenpai, random)
        if drawn and _keep_one_kind(tenpai, random):
            return True
    return False


@compiled
def _shares(tenpai: Tenpai) -> tuple[float, float, float]:
    """Return in how many ways the three sorts of one-kind hands can be drawn."""
    n_blocks = 3 - tenpai.n_melds
    blocks, pairs = tenpai.blocks[N_BLOCKS - 1], tenpai.pairs[33]
    with_gap = tenpai.gaps[N_GAPS - 1] * pairs if n_blocks >= 0 else 0.0
    with_single = tenpai.singles[33]
    for number in range(n_blocks):
        with_gap *= blocks / (number + 1)
    for number in range(n_blocks + 1):
        with_single *= blocks / (number + 1)
    if tenpai.n_melds:
        return with_gap, with_single, 0.0
    return with_gap, with_single, tenpai.singles[33] * pairs**6 / 720


# --- drawing -----------------------------------------------------------------------------------


@compiled
def _draw_two_sides(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    tenpai.hand[:] = 0
    low = open_run(_pick(tenpai.open_runs, random))
    return (
        _take(tenpai, low, 1)
        and _take(tenpai, low + 1, 1)
        and _take_pair(tenpai, random)
        and _take_blocks(tenpai, 3 - tenpai.n_melds, random)
    )


@compiled
def _draw_gap(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    tenpai.hand[:] = 0
    low, step, _ = gap(_pick(tenpai.gaps, random))
    return (
        _take(tenpai, low, 1)
        and _take(tenpai, low + step, 1)
        and _take_pair(tenpai, random)
        and _take_blocks(tenpai, 3 - tenpai.n_melds, random)
    )


@compiled
def _draw_single(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    tenpai.hand[:] = 0
    kind = _pick(tenpai.singles, random)
    return _take(tenpai, kind, 1) and _take_blocks(tenpai, 4 - tenpai.n_melds, random)


@compiled
def _draw_seven_pairs(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    tenpai.hand[:] = 0
    single = _pick(tenpai.singles, random)
    tenpai.hand[single] = 1
    for _ in range(6):
        kind = _pick(tenpai.pairs, random)
        if tenpai.hand[kind]:
            return False
        tenpai.hand[kind] = 2
    return True


@compiled
def _take(tenpai: Tenpai, kind: int, copies: int) -> bool:
    tenpai.hand[kind] += copies
    return bool(tenpai.hand[kind] <= tenpai.unseen[kind])


@compiled
def _take_pair(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    return tenpai.pairs[33] > 0 and _take(tenpai, _pick(tenpai.pairs, random), 2)


@compiled
def _take_blocks(tenpai: Tenpai, n_blocks: int, random: NDArray[np.uint64]) -> bool:
    if n_blocks and tenpai.blocks[N_BLOCKS - 1] == 0:
        return False
    for _ in range(n_blocks):
        block = _pick(tenpai.blocks, random)
        if block >= N_RUNS:
            if not _take(tenpai, block - N_RUNS, 3):
                return False
        else:
            low = 9 * (block // 7) + block % 7
            for kind in range(low, low + 3):
                if not _take(tenpai, kind, 1):
                    return False
    return True


# --- evening out -------------------------------------------------------------------------------


@compiled
def _keep_two_sides(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Taken away an open run, the rest is a complete hand: its splits are the ways to see it."""
    tenpai.waits = acceptance(tenpai.hand, tenpai.n_melds)
    if tenpai.waits & tenpai.barred or tenpai.waits & (tenpai.waits - 1) == 0:
        return False
    hand, unseen = tenpai.hand, tenpai.unseen
    ways = 0.0
    for place in range(N_OPEN_RUNS):
        low = open_run(place)
        if hand[low] == 0 or hand[low + 1] == 0:
            continue
        if ((tenpai.barred >> (low - 1)) | (tenpai.barred >> (low + 2))) & 1:
            continue
        hand[low] -= 1
        hand[low + 1] -= 1
        here = 0.0
        for number in range(find_shapes(hand, tenpai.shapes)):
            row = tenpai.shapes[number]
            _count_runs(tenpai, row)
            here += _pairs(unseen[row[PAIR]]) * _block_ways(tenpai, row, -1)
        ways += here * unseen[low] * unseen[low + 1]
        hand[low] += 1
        hand[low + 1] += 1
    return _unit(random) * ways < _hand_ways(tenpai)


@compiled
def _keep_one_kind(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """With its one wait the hand is complete: the splits of that are the ways to see it."""
    tenpai.waits = acceptance(tenpai.hand, tenpai.n_melds)
    if tenpai.waits & tenpai.barred or count_bits(tenpai.waits) != 1:
        return False
    hand = tenpai.hand
    wait = 0
    while tenpai.waits >> wait != 1:
        wait += 1
    ways = 0.0
    hand[wait] += 1
    for number in range(find_shapes(hand, tenpai.shapes)):
        _count_runs(tenpai, tenpai.shapes[number])
        ways += _split_ways(tenpai, tenpai.shapes[number], wait)
    hand[wait] -= 1
    if tenpai.n_melds == 0:
        ways += _seven_pairs_ways(tenpai, wait)
    return _unit(random) * ways < _hand_ways(tenpai)


@compiled
def _count_runs(tenpai: Tenpai, row: NDArray[np.int64]) -> None:
    """Write how often each run is in a split of ``hand``: ``runs``, by its lowest kind."""
    runs = tenpai.runs
    for kind in range(27):
        runs[kind] = tenpai.hand[kind] - 3 * ((row[TRIPLETS] >> kind) & 1)
    if row[PAIR] < 27:
        runs[row[PAIR]] -= 2
    for low in range(27):
        if runs[low]:
            runs[low + 1] -= runs[low]
            runs[low + 2] -= runs[low]


@compiled
def _split_ways(tenpai: Tenpai, row: NDArray[np.int64], wait: int) -> float:
    """Return the ways to draw a split of the complete hand with the wait as its last tile."""
    unseen = tenpai.unseen
    ways = 0.0
    if row[PAIR] == wait:
        ways += unseen[wait] * _block_ways(tenpai, row, -1)
    if wait >= 27:
        return ways
    for place in range(N_GAPS):
        low, step, completes = gap(place)
        if completes != wait:
            continue
        run = min(low, wait)
        if tenpai.runs[run] > 0:
            two = unseen[low] * unseen[low + step]
            ways += two * _pairs(unseen[row[PAIR]]) * _block_ways(tenpai, row, run)
    return ways


@compiled
def _block_ways(tenpai: Tenpai, row: NDArray[np.int64], without: int) -> float:
    """Return the ways to take a split's blocks, one copy of the run ``without`` less."""
    unseen = tenpai.unseen
    ways = 1.0
    triplets = row[TRIPLETS]
    kind = 0
    while triplets:
        if triplets & 1:
            ways *= _triplets(unseen[kind])
        triplets >>= 1
        kind += 1
    for low in range(25):
        times = tenpai.runs[low] - (low == without)
        if times > 0:
            one = unseen[low] * unseen[low + 1] * unseen[low + 2]
            for number in range(times):
                ways *= one / (number + 1)
    return ways


@compiled
def _seven_pairs_ways(tenpai: Tenpai, wait: int) -> float:
    if tenpai.hand[wait] != 1:
        return 0.0
    ways = float(tenpai.unseen[wait])
    for kind in range(34):
        if kind != wait and tenpai.hand[kind]:
            if tenpai.hand[kind] != 2:
                return 0.0
            ways *= _pairs(tenpai.unseen[kind])
    return ways


@compiled
def _hand_ways(tenpai: Tenpai) -> float:
    """Return in how many ways the hand can be taken from the unseen tiles."""
    ways = 1.0
    for kind in range(34):
        held = tenpai.hand[kind]
        if held:
            unseen = tenpai.unseen[kind]
            for number in range(held):
                ways *= (unseen - number) / (number + 1)
    return ways
