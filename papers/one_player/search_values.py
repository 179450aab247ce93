"""The probability to win with the draws left, by expectimax over the draws that matter.

A *node* is a hand of 13 tiles and how many *exchanges* it may still make.  Its row holds the
probability to win within t = 0, 1, 2 ... draws, of ``N_HIDDEN + t`` unseen tiles each as likely
to come next.  Draws that matter lower the shanten or, while exchanges are left, let some discard
leave the same shanten and a wider (or hardly narrower) acceptance.  After each the best discard
is taken, for every t apart, or the drawn tile goes back.  Every other draw passes by.

So a row is the value of a feasible plan that leaves out some ways to win.  In one
respect it is too high: of a kind that was drawn while it did not matter, the copy is still
counted when the kind matters later.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import shanten_and_acceptance
from mjbot.game.rules.shanten import count_kinds_held, is_edge
from mjbot.game.rules.tables import honour_row_of, join, missing, suit_row_of
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Int8s, Int64, Int64s, Record, UInt64s
from papers.one_player.game import N_DRAWS, N_HIDDEN, N_KINDS

N_TIMES: Final = N_DRAWS
"""Columns of a row: 0 .. 26 draws left."""
N_READY: Final = 64
"""The first rows: tenpai that waits for so many tiles and is not changed any more."""
MAX_DEPTH: Final = 16
MAX_WIDTH: Final = 14


class Search(Record):
    """What the search works with: its hands, its limits and their values."""

    hashes: Annotated[UInt64s, N_KINDS + 1]
    root: Annotated[Int8s, N_KINDS]  # the hand of 14 tiles where it starts
    unseen: Annotated[Int8s, N_KINDS]  # there
    n_times: Int64  # columns in use: one more than the draws left
    n_rows: Int64  # rows in use
    is_full: Int64  # 1: more rows were needed than there are
    widths: Annotated[Int64s, 8]  # how many discards are tried, by the shanten they leave
    swap_shanten: Int64  # the highest shanten at which exchanges are made
    margin: Int64  # eighths by which an exchange has to widen the acceptance
    # one level per draw ahead:
    left: Annotated[Int8s, MAX_DEPTH, N_KINDS]
    kinds: Annotated[Int8s, MAX_DEPTH, MAX_WIDTH]
    counts: Annotated[Int64s, MAX_DEPTH, MAX_WIDTH]
    best: Annotated[Float32s, MAX_DEPTH, N_KINDS, N_TIMES]


SEARCH: Final = Search.dtype


Hand = NDArray[np.int8]
Rows = NDArray[np.float32]


@compiled
def clear(search: Search, keys: NDArray[np.uint64], rows: Rows) -> None:
    """Forget all nodes; fill the rows of a finished tenpai."""
    keys[:] = 0
    search.n_rows = N_READY
    for waits in range(N_READY):
        rows[waits, 0] = 0
        for t in range(1, search.n_times):
            stay = rows[waits, t - 1]
            rows[waits, t] = stay + (1 - stay) * waits / (N_HIDDEN + t)


@compiled
def left_of(search: Search, hand: Hand, kind: int) -> int:
    """Return how many copies of a kind can still be drawn once the root has become ``hand``."""
    return int(search.unseen[kind] - max(0, hand[kind] - search.root[kind]))


@compiled
def left_of_mask(search: Search, hand: Hand, mask: int) -> int:
    """Return the same for a set of kinds."""
    total, kind = 0, 0
    while mask:
        if mask & 1:
            total += max(0, left_of(search, hand, kind))
        mask >>= 1
        kind += 1
    return total


@compiled
def rank_discards(
    search: Search, hand: Hand, depth: int, drawn: int, wanted: int, floor: int, width: int
) -> int:
    """Write the discards that leave the shanten ``wanted``, widest acceptance first.

    All but ``drawn``, into ``search.kinds[depth]`` and ``counts``: at most ``width`` of those that
    accept more than ``floor`` tiles; returns how many.  A discard changes one suit only, so the
    others are joined once.
    """
    kinds, counts = search.kinds[depth], search.counts[depth]
    man, pin = suit_row_of(hand, 0), suit_row_of(hand, 9)
    sou, honours = suit_row_of(hand, 18), honour_row_of(hand)
    man_pin, sou_honours = join(man, pin), join(sou, honours)
    others = (join(pin, sou_honours), join(man, sou_honours), join(man_pin, honours))
    held = count_kinds_held(hand)
    edge_pairs = 0
    for kind in range(N_KINDS):
        edge_pairs += is_edge(kind) and hand[kind] >= 2
    n = 0
    for kind in range(N_KINDS):
        if hand[kind] == 0 or kind == drawn:
            continue
        hand[kind] -= 1
        if kind < 27:
            row = join(suit_row_of(hand, kind // 9 * 9), others[kind // 9])
        else:
            row = join(honour_row_of(hand), join(man_pin, sou))
        here = min(missing(row, 0) - 1, special_shanten(hand, kind, held, edge_pairs))
        if here == wanted:
            count = left_of_mask(search, hand, shanten_and_acceptance(hand, 0)[1])
            place = n
            while place > 0 and counts[place - 1] < count:
                place -= 1
            if count > floor and place < width:
                n = min(n + 1, width)
                for later in range(n - 1, place, -1):
                    kinds[later], counts[later] = kinds[later - 1], counts[later - 1]
                kinds[place], counts[place] = kind, count
        hand[kind] += 1
    return n


@compiled
def special_shanten(hand: Hand, gone: int, held: tuple[int, int, int, int], edge_pairs: int) -> int:
    """Return the lower shanten of seven pairs and orphans once a tile of ``gone`` is away.

    ``held`` is :func:`~mjbot.game.rules.shanten.count_kinds_held` with that tile, and
    ``edge_pairs`` counts pairs of terminals and honours with it.
    """
    n_kinds = held[0] - (hand[gone] == 0)
    n_pairs = held[1] - (hand[gone] == 1)
    n_edges = held[2] - (is_edge(gone) and hand[gone] == 0)
    edge_pair = edge_pairs - (is_edge(gone) and hand[gone] == 1) > 0
    return int(min(6 - n_pairs + max(0, 7 - n_kinds), 13 - n_edges - edge_pair))


@compiled
def value_row(
    search: Search,
    keys: NDArray[np.uint64],
    numbers: NDArray[np.int32],
    rows: Rows,
    hand: Hand,
    swaps: int,
    depth: int,
) -> int:
    """Return the number of the row of a hand of 13 tiles with ``swaps`` exchanges to make."""
    slot = slot_of(search, keys, hand, swaps)
    if keys[slot]:
        return int(numbers[slot])
    here, mask = shanten_and_acceptance(hand, 0)
    own = left_of_mask(search, hand, mask)
    if here == 0 and swaps == 0:
        return own
    if search.n_rows == len(rows) or depth == MAX_DEPTH:
        search.is_full = 1
        return 0
    number = search.n_rows
    search.n_rows += 1
    keys[slot] = key_of(search, hand, swaps)
    numbers[slot] = number
    winning, live = 0, 0
    best = search.best[depth]
    for kind in range(N_KINDS):
        left = left_of(search, hand, kind)
        nearer = mask >> kind & 1
        if left <= 0 or (not nearer and (swaps == 0 or here > search.swap_shanten)):
            continue
        if nearer and here == 0:
            winning += left
            continue
        wanted = here - 1 if nearer else here
        swaps_then = swaps if nearer else swaps - 1
        width = 1 if wanted == 0 and swaps_then == 0 else search.widths[min(wanted, 7)]
        hand[kind] += 1
        floor = -1 if nearer else own + own * search.margin // 8
        n = rank_discards(search, hand, depth, kind, wanted, floor, width)
        for place in range(n):
            gone = search.kinds[depth, place]
            hand[gone] -= 1
            row = value_row(search, keys, numbers, rows, hand, swaps_then, depth + 1)
            hand[gone] += 1
            for t in range(search.n_times):
                if place == 0 or rows[row, t] > best[kind, t]:
                    best[kind, t] = rows[row, t]
        hand[kind] -= 1
        if n:
            live |= 1 << kind
            search.left[depth, kind] = left
    fill_row(search, rows[number], depth, winning, live)
    return number


@compiled
def fill_row(search: Search, row: NDArray[np.float32], depth: int, winning: int, live: int) -> None:
    """Fill a row from what each draw that matters leads to; ``winning`` tiles win at once."""
    best, left = search.best[depth], search.left[depth]
    row[0] = 0
    for t in range(1, search.n_times):
        stay = row[t - 1]
        gain = winning * (np.float32(1) - stay)
        for kind in range(N_KINDS):
            if live >> kind & 1 and best[kind, t - 1] > stay:
                gain += left[kind] * (best[kind, t - 1] - stay)
        row[t] = stay + gain / np.float32(N_HIDDEN + t)


@compiled
def key_of(search: Search, hand: Hand, swaps: int) -> np.uint64:
    """Return a hash of 64 bits of a hand and its exchanges, never 0."""
    key = np.uint64(swaps) * search.hashes[N_KINDS]
    for kind in range(N_KINDS):
        key += np.uint64(hand[kind]) * search.hashes[kind]
    return np.uint64(key | np.uint64(1))


@compiled
def slot_of(search: Search, keys: NDArray[np.uint64], hand: Hand, swaps: int) -> int:
    """Return where the node is or would be; ``keys`` is longer than there are rows."""
    key = key_of(search, hand, swaps)
    slot = np.int64(key >> np.uint64(1)) % len(keys)
    while keys[slot] and keys[slot] != key:
        slot = (slot + 1) % len(keys)
    return int(slot)
