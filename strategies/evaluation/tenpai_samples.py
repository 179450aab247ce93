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

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.rules.acceptance import acceptance
from mjbot.rules.shapes import PAIR, TRIPLETS, find_shapes
from strategies.evaluation.tenpai_parts import (
    N_BLOCKS,
    N_GAPS,
    N_OPEN_RUNS,
    Tenpai,
    draw_gap,
    draw_seven_pairs,
    draw_single,
    draw_two_sides,
    gap,
    pair_ways,
    triplet_ways,
    unit,
)

TWO_SIDES: Final = 0
ONE_KIND: Final = 1
TWO_SIDES_SHARE: Final = 0.73
"""What the paper took from the statistics of four strong players."""

TRIES: Final = 2000
"""A class of which none is found in so many counts as impossible until the next ``prepare``."""


@compiled
def sample_tenpai(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Draw a hand of either class, two sides with :data:`TWO_SIDES_SHARE`; False if there is none.

    Fills ``hand`` (int8[34], ``13 - 3 * n_melds`` tiles) and ``waits``.  Where no hand of the
    class drawn is found, the other is tried.
    """
    first = TWO_SIDES if unit(random) < TWO_SIDES_SHARE else ONE_KIND
    return sample_class(tenpai, first, random) or sample_class(tenpai, 1 - first, random)


@compiled
def sample_class(tenpai: Tenpai, class_: int, random: NDArray[np.uint64]) -> bool:
    """Draw a hand of one class (TWO_SIDES, ONE_KIND); False if there is none, or hardly one."""
    if tenpai.hopeless[class_]:
        return False
    found = _try_class(tenpai, class_, random)
    tenpai.hopeless[class_] = not found
    return found


@compiled
def _try_class(tenpai: Tenpai, class_: int, random: NDArray[np.uint64]) -> bool:
    n_blocks = 3 - tenpai.n_melds
    if class_ == TWO_SIDES:
        if n_blocks < 0 or tenpai.open_runs[N_OPEN_RUNS - 1] == 0:
            return False
        for _ in range(TRIES):
            if draw_two_sides(tenpai, random) and _keep_two_sides(tenpai, random):
                return True
        return False
    with_gap, with_single, seven_pairs = _shares(tenpai)
    everything = with_gap + with_single + seven_pairs
    for _ in range(TRIES if everything > 0 else 0):
        at = unit(random) * everything
        if at < with_gap:
            drawn = draw_gap(tenpai, random)
        elif at < with_gap + with_single:
            drawn = draw_single(tenpai, random)
        else:
            drawn = draw_seven_pairs(tenpai, random)
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


@compiled
def _keep_two_sides(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """Taken away an open run, the rest is a complete hand: its splits are the ways to see it."""
    most_ways = _hand_ways(tenpai) / (1 - unit(random))
    return _open_ways(tenpai, most_ways) <= most_ways and _waits_fit(tenpai, TWO_SIDES)


@compiled
def _keep_one_kind(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """With its one wait the hand is complete: the splits of that are the ways to see it."""
    most_ways = _hand_ways(tenpai) / (1 - unit(random))
    if not _waits_fit(tenpai, ONE_KIND):
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
    return ways <= most_ways


@compiled
def _waits_fit(tenpai: Tenpai, class_: int) -> bool:
    """Note the waits of the hand; return whether they are those of the class and not furiten."""
    tenpai.waits = acceptance(tenpai.hand, tenpai.n_melds)
    if tenpai.waits & tenpai.barred:
        return False
    is_one = tenpai.waits & (tenpai.waits - 1) == 0
    return is_one == (class_ == ONE_KIND)


@compiled
def _open_ways(tenpai: Tenpai, most: float) -> float:
    """Return the ways to draw the hand with an open run, or more than ``most`` if that is less.

    Without the open run and the pair a suit holds blocks only: where the number of its tiles is
    a multiple of three, it holds neither.
    """
    hand, unseen = tenpai.hand, tenpai.unseen
    ways = 0.0
    for suit in range(3):
        n_tiles = 0
        for kind in range(9 * suit, 9 * suit + 9):
            n_tiles += hand[kind]
        if n_tiles % 3 == 0:
            continue
        for low in range(9 * suit + 1, 9 * suit + 7):
            if hand[low] == 0 or hand[low + 1] == 0:
                continue
            if ((tenpai.barred >> (low - 1)) | (tenpai.barred >> (low + 2))) & 1:
                continue
            hand[low] -= 1
            hand[low + 1] -= 1
            two = unseen[low] * unseen[low + 1]
            for number in range(find_shapes(hand, tenpai.shapes)):
                row = tenpai.shapes[number]
                _count_runs(tenpai, row)
                ways += two * pair_ways(unseen[row[PAIR]]) * _block_ways(tenpai, row, -1)
            hand[low] += 1
            hand[low + 1] += 1
            if ways > most:
                return ways
    return ways


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
            ways += two * pair_ways(unseen[row[PAIR]]) * _block_ways(tenpai, row, run)
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
            ways *= triplet_ways(unseen[kind])
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
            ways *= pair_ways(tenpai.unseen[kind])
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
