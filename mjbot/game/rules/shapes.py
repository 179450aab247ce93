"""Every way to split a complete hand into blocks and a pair, and what its melds add to that."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import EDGES, Counts
from mjbot.runtime.compiler.compiled import compiled

MAX_SHAPES: Final = 16
"""More than any hand has (at most 3 pairs times 3 splits)."""

# Columns of a shape:
PAIR: Final = 0  # kind of the pair
TRIPLETS: Final = 1  # mask of the concealed triplets' kinds
RUNS: Final = 2  # mask of the concealed runs' lowest kinds
TWINS: Final = 3  # how many pairs of equal runs

_LOW_BITS = 0o111111111  # of nine counts, three bits each


@compiled
def find_shapes(hand: Counts, shapes: NDArray[np.int64]) -> int:
    """Fill ``shapes[MAX_SHAPES, 4]`` (columns above) and return how many there are.

    ``hand`` has 3n+2 concealed tiles; 0 shapes if it is not four blocks and a pair.
    """
    pair, triplets = _split_honours(hand)
    if pair == _IMPOSSIBLE:
        return 0
    man, pin, sou = _packed(hand, 0), _packed(hand, 9), _packed(hand, 18)
    if pair != _NONE:
        return _add_shapes((man, pin, sou), pair, triplets, shapes, 0)
    n = 0
    for suit in range(3):
        total, weight = 0, 0
        for rank in range(9):
            total += hand[9 * suit + rank]
            weight += rank * hand[9 * suit + rank]
        if total % 3 != 2:
            continue
        # A block's ranks add up to a multiple of three, so the pair's rank is known modulo 3.
        for rank in range(2 * weight % 3, 9, 3):
            if hand[9 * suit + rank] >= 2:
                pair_bits = 2 << (3 * rank)
                rest = (
                    man - pair_bits * (suit == 0),
                    pin - pair_bits * (suit == 1),
                    sou - pair_bits * (suit == 2),
                )
                n = _add_shapes(rest, 9 * suit + rank, triplets, shapes, n)
    return n


_NONE = -1
_IMPOSSIBLE = -2


@compiled
def _split_honours(hand: Counts) -> tuple[int, int]:
    """Return the honour pair's kind (or none, or impossible) and the mask of honour triplets."""
    pair, triplets = _NONE, 0
    for kind in range(27, 34):
        count = hand[kind]
        if count == 3:
            triplets |= 1 << kind
        elif count == 2 and pair == _NONE:
            pair = kind
        elif count:
            return _IMPOSSIBLE, 0
    return pair, triplets


@compiled
def _packed(hand: Counts, first: int) -> int:
    counts = 0
    for rank in range(9):
        counts |= int(hand[first + rank]) << (3 * rank)
    return counts


@compiled
def _add_shapes(
    suits: tuple[int, int, int], pair: int, honours: int, shapes: NDArray[np.int64], n: int
) -> int:
    """Append all splits of the three suits (without the pair) to ``shapes`` from row ``n``."""
    all_man, all_pin, all_sou = _threes(suits[0]), _threes(suits[1]), _threes(suits[2])
    man = all_man
    while man >= 0:
        man_runs, man_twins = _runs(suits[0] - 3 * man)
        pin = all_pin if man_runs >= 0 else -1
        while pin >= 0:
            pin_runs, pin_twins = _runs(suits[1] - 3 * pin)
            sou = all_sou if pin_runs >= 0 else -1
            while sou >= 0:
                sou_runs, sou_twins = _runs(suits[2] - 3 * sou)
                if sou_runs >= 0 and n < MAX_SHAPES:
                    shapes[n, PAIR] = pair
                    shapes[n, TRIPLETS] = (
                        honours | _kinds(man) | (_kinds(pin) << 9) | (_kinds(sou) << 18)
                    )
                    shapes[n, RUNS] = man_runs | (pin_runs << 9) | (sou_runs << 18)
                    shapes[n, TWINS] = man_twins + pin_twins + sou_twins
                    n += 1
                sou = _smaller_set(sou, all_sou)
            pin = _smaller_set(pin, all_pin)
        man = _smaller_set(man, all_man)
    return n


@compiled
def _threes(counts: int) -> int:
    """Return the low bit of each count that is three or more."""
    return ((counts >> 2) | ((counts >> 1) & counts)) & _LOW_BITS


@compiled
def _smaller_set(chosen: int, full: int) -> int:
    """Return the next subset of ``full`` after ``chosen``, -1 after the empty one."""
    return (chosen - 1) & full if chosen else -1


@compiled
def _kinds(low_bits: int) -> int:
    mask = 0
    for rank in range(9):
        mask |= ((low_bits >> (3 * rank)) & 1) << rank
    return mask


@compiled
def _runs(counts: int) -> tuple[int, int]:
    """Split a suit into runs only: the mask of their lowest ranks (-1: no way) and the twins."""
    mask, twins = 0, 0
    for rank in range(7):
        count = counts & 7
        if count:
            if (counts >> 3) & 7 < count or (counts >> 6) & 7 < count:
                return -1, 0
            counts -= count * 0o111
            mask |= 1 << rank
            twins += count >> 1
        counts >>= 3
    return (mask, twins) if counts == 0 else (-1, 0)


CHI: Final = 0
PON: Final = 1
DAIMINKAN: Final = 2
KAKAN: Final = 3
ANKAN: Final = 4


class MeldSummary(NamedTuple):
    """Melds summed up; masks have bit ``kind`` (a run's lowest kind)."""

    closed: bool  # no melds but closed kans
    kinds: int
    triplets: int  # pons and kans
    runs: int
    n_kans: int
    n_closed_kans: int
    fu: int


@compiled
def read_melds(n_melds: int, types: NDArray[np.int8], kinds: NDArray[np.int8]) -> MeldSummary:
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
    return MeldSummary(
        n_closed_kans == n_melds, all_kinds, triplets, runs, n_kans, n_closed_kans, fu
    )


@compiled
def triplet_fu(bit: int, concealed: bool) -> int:
    """Return the fu of a triplet (a kan has four times as much)."""
    return (4 if bit & EDGES else 2) * (2 if concealed else 1)
