"""Random hands in tenpai, all hands of a class of waits equally likely.

A hand is put together from blocks, a pair and what waits, each drawn from the unseen tiles.  So a
hand comes the more often, the more ways there are to part its tiles like that; it is kept with
one over that number.  Every set of unseen tiles that makes up a hand of the class is then equally
likely, by construction, and no draw depends on the one before.

The classes (Takada and Sato 2022, section 4.2.1):

* two sides: a hand with a run open at both ends, which waits on two kinds or more;
* one kind: a hand that waits on exactly one kind, with a closed or edge run, or a single tile
  (of four blocks, or of seven pairs).  Thirteen orphans are left out.

Neither waits on a kind of ``barred``, what makes it furiten.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import acceptance
from mjbot.game.rules.shapes import PAIR, RUNS, TRIPLETS, find_shapes
from mjbot.learning.playouts.tenpai_parts import (
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
from mjbot.runtime.compiler.compiled import compiled

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
    fits = _try_class(tenpai, class_, random)
    tenpai.hopeless[class_] = not fits
    return fits


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
    most = 1 / (1 - unit(random))
    return _open_partings(tenpai, most) <= most and _waits_fit(tenpai, TWO_SIDES)


@compiled
def _keep_one_kind(tenpai: Tenpai, random: NDArray[np.uint64]) -> bool:
    """With its one wait the hand is complete: the splits of that are all that it consists of."""
    if not _waits_fit(tenpai, ONE_KIND):
        return False
    hand = tenpai.hand
    wait = 0
    while tenpai.waits >> wait != 1:
        wait += 1
    partings = 0.0
    hand[wait] += 1
    for number in range(find_shapes(hand, tenpai.shapes)):
        partings += _split_partings(tenpai, tenpai.shapes[number], wait)
    hand[wait] -= 1
    if tenpai.n_melds == 0:
        partings += _is_six_pairs(tenpai, wait)
    return unit(random) * partings < 1


@compiled
def _waits_fit(tenpai: Tenpai, class_: int) -> bool:
    """Note the waits of the hand; return whether they are those of the class and not furiten."""
    tenpai.waits = acceptance(tenpai.hand, tenpai.n_melds)
    if tenpai.waits & tenpai.barred:
        return False
    is_one = tenpai.waits & (tenpai.waits - 1) == 0
    return is_one == (class_ == ONE_KIND)


@compiled
def _open_partings(tenpai: Tenpai, most: float) -> float:
    """Return in how many ways the hand parts with an open run, or any number above ``most``.

    Without the open run and the pair a suit holds blocks only: where the number of its tiles is
    a multiple of three, it holds neither.
    """
    hand = tenpai.hand
    partings = 0.0
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
            two = hand[low] * hand[low + 1]
            hand[low] -= 1
            hand[low + 1] -= 1
            for number in range(find_shapes(hand, tenpai.shapes)):
                _copy_rest(tenpai)
                partings += two * _rest_partings(tenpai, tenpai.shapes[number], True)
            hand[low] += 1
            hand[low + 1] += 1
            if partings > most:
                return partings
    return partings


@compiled
def _split_partings(tenpai: Tenpai, row: NDArray[np.int64], wait: int) -> float:
    """Return the partings of the hand that its wait completes to a split; ``hand`` is complete."""
    hand, rest = tenpai.hand, tenpai.rest
    partings = 0.0
    if row[PAIR] == wait:
        _copy_rest(tenpai)
        rest[wait] -= 2
        partings += (hand[wait] - 1) * _rest_partings(tenpai, row, False)
    if wait >= 27:
        return partings
    for index in range(N_GAPS):
        low, step, completes = gap(index)
        run = min(low, wait)
        if completes == wait and (row[RUNS] >> run) & 1:
            _copy_rest(tenpai)
            for kind in range(run, run + 3):
                rest[kind] -= 1
            partings += hand[low] * hand[low + step] * _rest_partings(tenpai, row, True)
    return partings


@compiled
def _copy_rest(tenpai: Tenpai) -> None:
    for kind in range(34):
        tenpai.rest[kind] = tenpai.hand[kind]


@compiled
def _rest_partings(tenpai: Tenpai, row: NDArray[np.int64], with_pair: bool) -> float:
    """Return in how many ways the tiles of ``rest`` part into a split's pair and blocks."""
    rest = tenpai.rest
    partings = 1.0
    if with_pair:
        partings = float(pair_ways(rest[row[PAIR]]))
        rest[row[PAIR]] -= 2
    triplets = row[TRIPLETS]
    kind = 0
    while triplets:
        if triplets & 1:
            partings *= triplet_ways(rest[kind])
            rest[kind] -= 3
        triplets >>= 1
        kind += 1
    for low in range(25):
        # all that is left of the lowest kind are lowest tiles of runs
        for _ in range(rest[low]):
            partings *= rest[low + 1] * rest[low + 2]
            rest[low + 1] -= 1
            rest[low + 2] -= 1
    return partings


@compiled
def _is_six_pairs(tenpai: Tenpai, wait: int) -> int:
    """Return 1 for six pairs and a single tile, else 0."""
    for kind in range(34):
        if tenpai.hand[kind] and tenpai.hand[kind] != (1 if kind == wait else 2):
            return 0
    return int(tenpai.hand[wait])
