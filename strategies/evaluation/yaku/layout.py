"""A hand laid out suit by suit: the blocks that each suit offers to each yaku.

Source: Hamabe, "A study of an AI that plays mahjong in a pair", Tokyo University of Technology
2017, section 3.3.  The best blocks of a hand are one head and at most K further blocks out of
triplets, runs, pairs and taatsu (two tiles that lack one to a run), each tile used once.  They
are the sum of the suits' best, given how many blocks each suit puts in and which has the head.

In the yaku with K = 4 a head, triplet or run is 20 points, a pair or taatsu 2 per unseen tile
that completes it; in those with K = 1 all of that is halved, so that one layout serves both.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled

Blocks = NDArray[np.int16]

BLOCK_POINTS: Final = 20
LACKING_ONE_POINTS: Final = 2
SINGLE_POINTS: Final = 2
VALUE_TRIPLET_POINTS: Final = 80
VALUE_PAIR_POINTS: Final = 5

# Rows of a suit: which of its tiles may be used, and how.
ALL: Final = 0
SIMPLES: Final = 1  # ranks 2..8
OUTER: Final = 2  # ranks 1..3 and 7..9
TRIPLETS: Final = 3  # all, but no runs and no taatsu
BESIDE_RUN: Final = 4  # + n: what is left without the run n, n+1, n+2
BESIDE_STRAIGHT: Final = 11  # what is left without 123, 456, 789
BESIDE_TRIPLET: Final = 12  # + n: what is left without the triplet of n
N_ROWS: Final = 21
NOTHING: Final = -1  # no tile of the suit
VALUED: Final = SIMPLES  # of the honours: value honours at the prices of yakuhai

RUNS: Final = 0
SETS: Final = 1


class Layout(NamedTuple):
    """A hand of 3n+1 concealed tiles and what its suits offer.

    ``hand`` is int8[34], ``melds`` int8[2, 34]: runs by their lowest kind, triplets and quads.
    ``blocks`` is int16[4, 21, 2, 5]: the points of each suit and row with or without the head
    and with at most 0..4 blocks, -1 where there is no pair for the head.  ``parts`` is
    int16[4, 21]: the points of the run, straight or triplet that a row goes with.
    """

    hand: Counts
    melds: Counts
    n_melds: int
    blocks: Blocks
    parts: Blocks


@compiled
def new_layout(hand: Counts, unseen: Counts, melds: Counts, value_kinds: int) -> Layout:
    """Lay out a hand; ``unseen`` is int8[34], ``value_kinds`` the mask of value honours.

    ``hand`` is kept, not copied: call :func:`lay_out_suit` for the suit in which it changes.
    """
    blocks = np.full((4, N_ROWS, 2, 5), -1, np.int16)
    layout = Layout(hand, melds, int(melds.sum()), blocks, np.zeros((4, N_ROWS), np.int16))
    for suit in range(4):
        lay_out_suit(layout, unseen, suit, value_kinds)
    return layout


@compiled
def lay_out_suit(layout: Layout, unseen: Counts, suit: int, value_kinds: int) -> None:
    """Fill in all rows of one suit (3 are the honours) from the hand as it is now."""
    blocks = layout.blocks[suit]
    count = np.zeros(11, np.int8)
    lacking = np.zeros(11, np.int8)
    for kind in range(9 * suit, min(9 * suit + 9, N_KINDS)):
        count[kind - 9 * suit] = layout.hand[kind]
        lacking[kind - 9 * suit] = unseen[kind]
    if suit == 3:
        suit_blocks(count, lacking, False, 0, 4, blocks[ALL])
        suit_blocks(count, lacking, False, value_kinds >> 27, 4, blocks[VALUED])
        return
    suit_blocks(count, lacking, True, 0, 4, blocks[ALL])
    suit_blocks(count, lacking, False, 0, 4, blocks[TRIPLETS])
    kept = count.copy()
    kept[0] = kept[8] = 0
    suit_blocks(kept, lacking, True, 0, 4, blocks[SIMPLES])
    kept = count.copy()
    kept[3] = kept[4] = kept[5] = 0
    suit_blocks(kept, lacking, True, 0, 4, blocks[OUTER])
    _lay_out_runs(layout, count, lacking, suit)
    _lay_out_triplets(layout, count, lacking, suit)


@compiled
def _lay_out_runs(layout: Layout, count: Counts, lacking: Counts, suit: int) -> None:
    """Fill in the rows without each run and without the straight; melds are finished parts."""
    straight = count.copy()
    layout.parts[suit, BESIDE_STRAIGHT] = 0
    for low in range(7):
        rest = count.copy()
        points = BLOCK_POINTS
        if not layout.melds[RUNS, 9 * suit + low]:
            points = _take_run(rest, lacking, low)
            if low % 3 == 0:
                _take_run(straight, lacking, low)
        if low % 3 == 0:
            layout.parts[suit, BESIDE_STRAIGHT] += points
        layout.parts[suit, BESIDE_RUN + low] = points
        _lay_out_rest(layout, rest, count, lacking, suit, BESIDE_RUN + low)
    _lay_out_rest(layout, straight, count, lacking, suit, BESIDE_STRAIGHT)


@compiled
def _lay_out_triplets(layout: Layout, count: Counts, lacking: Counts, suit: int) -> None:
    for rank in range(9):
        rest = count.copy()
        points = BLOCK_POINTS
        if not layout.melds[SETS, 9 * suit + rank]:
            held = min(rest[rank], 3)
            rest[rank] -= held
            points = part_points(held, lacking[rank])
        layout.parts[suit, BESIDE_TRIPLET + rank] = points
        _lay_out_rest(layout, rest, count, lacking, suit, BESIDE_TRIPLET + rank)


@compiled
def _lay_out_rest(
    layout: Layout, rest: Counts, count: Counts, lacking: Counts, suit: int, row: int
) -> None:
    if rest.sum() < count.sum():
        one_block(rest, lacking, layout.blocks[suit, row])
        return
    for head in range(2):
        for blocks in range(5):
            layout.blocks[suit, row, head, blocks] = layout.blocks[suit, ALL, head, blocks]


@compiled
def _take_run(rest: Counts, lacking: Counts, low: int) -> int:
    """Take what there is of a run out of ``rest`` and return its points."""
    held = missing = 0
    for rank in range(low, low + 3):
        if rest[rank]:
            rest[rank] -= 1
            held += 1
        else:
            missing = rank
    return part_points(held, lacking[missing])


@compiled
def part_points(held: int, lacking: int) -> int:
    """Return the points of a part of which ``held`` tiles are there (3.3.4, 3.3.5, 3.3.7).

    ``lacking`` are the unseen copies of the third tile if two are held.
    """
    if held == 3:
        return BLOCK_POINTS
    if held == 2:
        return LACKING_ONE_POINTS * lacking
    return SINGLE_POINTS * held


# --- one suit --------------------------------------------------------------------------------


@compiled
def suit_blocks(
    count: Counts, lacking: Counts, runs: bool, valued: int, most: int, points: Blocks
) -> None:
    """Write the best points of one suit into ``points`` int16[2, 5]: head or none, blocks.

    ``count`` and ``lacking`` (unseen copies) are int8[11], ranks from 0 and two empty places;
    ``valued`` is a mask of ranks at yakuhai's prices, ``most`` the most blocks wanted.  Rank by
    rank, a state is what is left at the rank and at the next one; a way takes only from what
    is left, so visiting the states downwards meets each after all that lead to it.
    """
    ways = np.empty((5, 5, 5, 2, 5), np.int16)
    left = np.full((5, 5, 2, 5), -1, np.int16)
    left[count[0], count[1], 0, 0] = 0
    for rank in range(9):
        first, second, third = int(count[rank]), int(count[rank + 1]), int(count[rank + 2])
        _begin_rank(left, ways, first, second, third)
        for here in range(first, 0, -1):
            for after in range(second, -1, -1):
                for last in range(third, -1, -1):
                    at = (here, after, last)
                    _take_same(ways, at, int(lacking[rank]), valued >> rank & 1, most)
                    if runs:
                        _take_neighbours(ways, at, lacking, rank, most)
        _end_rank(left, ways, first, second, third)
    for head in range(2):
        for blocks in range(5):
            points[head, blocks] = left[0, 0, head, blocks]
            if blocks:
                points[head, blocks] = max(points[head, blocks], points[head, blocks - 1])


@compiled
def one_block(count: Counts, lacking: Counts, points: Blocks) -> None:
    """Write what :func:`suit_blocks` writes where at most one block besides the head is wanted."""
    block = best_block(count, lacking)
    head = headed = -1
    for rank in range(9):
        if count[rank] >= 2:
            count[rank] -= 2
            head = BLOCK_POINTS
            headed = max(headed, head + best_block(count, lacking))
            count[rank] += 2
    points[0, 0], points[1, 0] = 0, head
    for blocks in range(1, 5):
        points[0, blocks], points[1, blocks] = block, headed


@compiled
def best_block(count: Counts, lacking: Counts) -> int:
    """Return the points of the best triplet, run, pair or taatsu of a suit, 0 if it has none."""
    best = 0
    for rank in range(9):
        if not count[rank]:
            continue
        if count[rank] >= 3 or (count[rank + 1] and count[rank + 2]):
            return BLOCK_POINTS
        completing = 0
        if count[rank] == 2:
            completing = int(lacking[rank])
        if count[rank + 1]:
            nearby = int(lacking[rank - 1]) if rank else 0
            nearby += int(lacking[rank + 2]) if rank < 7 else 0
            completing = max(completing, nearby)
        if count[rank + 2]:
            completing = max(completing, int(lacking[rank + 1]))
        best = max(best, LACKING_ONE_POINTS * completing)
    return best


@compiled
def _begin_rank(left: Blocks, ways: Blocks, first: int, second: int, third: int) -> None:
    """Start the ways of a rank with what is left from the one before."""
    for here in range(first + 1):
        for after in range(second + 1):
            for last in range(third + 1):
                for head in range(2):
                    for blocks in range(5):
                        before = left[here, after, head, blocks] if last == third else -1
                        ways[here, after, last, head, blocks] = before


@compiled
def _end_rank(left: Blocks, ways: Blocks, first: int, second: int, third: int) -> None:
    """Drop what is left at a rank and keep the best for what is left at the next two."""
    for after in range(second + 1):
        for last in range(third + 1):
            for head in range(2):
                for blocks in range(5):
                    best = -1
                    for here in range(first + 1):
                        best = max(best, ways[here, after, last, head, blocks])
                    left[after, last, head, blocks] = best


@compiled
def _take_same(
    ways: Blocks, at: tuple[int, int, int], lacking: int, valued: int, most: int
) -> None:
    """Take a head, a pair and a triplet where there are tiles enough."""
    here, after, last = at
    if here < 2:
        return
    to = (here - 2, after, last)
    for blocks in range(most + 1):
        points = ways[here, after, last, 0, blocks]
        if points >= 0:
            headed = max(ways[here - 2, after, last, 1, blocks], points + BLOCK_POINTS)
            ways[here - 2, after, last, 1, blocks] = headed
    _take(ways, at, to, (VALUE_PAIR_POINTS if valued else LACKING_ONE_POINTS) * lacking, most)
    if here >= 3:
        to = (here - 3, after, last)
        _take(ways, at, to, VALUE_TRIPLET_POINTS if valued else BLOCK_POINTS, most)


@compiled
def _take_neighbours(
    ways: Blocks, at: tuple[int, int, int], lacking: Counts, rank: int, most: int
) -> None:
    """Take a run and both taatsu where there are tiles enough."""
    here, after, last = at
    if after:
        completing = int(lacking[rank - 1]) if rank else 0
        if rank < 7:
            completing += lacking[rank + 2]
        _take(ways, at, (here - 1, after - 1, last), LACKING_ONE_POINTS * completing, most)
    if last:
        completing = int(lacking[rank + 1])
        _take(ways, at, (here - 1, after, last - 1), LACKING_ONE_POINTS * completing, most)
    if after and last:
        _take(ways, at, (here - 1, after - 1, last - 1), BLOCK_POINTS, most)


@compiled
def _take(
    ways: Blocks,
    at: tuple[int, int, int],
    to: tuple[int, int, int],
    points: int,
    most: int,
) -> None:
    """Let each way that stands at one state take one block more and continue from the other."""
    for head in range(2):
        for blocks in range(most):
            before = ways[at[0], at[1], at[2], head, blocks]
            if before >= 0 and before + points > ways[to[0], to[1], to[2], head, blocks + 1]:
                ways[to[0], to[1], to[2], head, blocks + 1] = before + points
