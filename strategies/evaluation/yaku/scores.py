"""How near a hand is to each of eight yaku that can be had with calls: one function a yaku.

Source: Hamabe 2017, sections 3.3.1 to 3.3.8.  Scores are points of that paper's own measure.

An open meld counts as a finished block, or as the yaku's own part, and rules a yaku out that it
breaks: the score is then 0.  So it is if fewer than two tiles are left of those that the yaku
allows (melds included); the paper states it for the yaku that drop tiles.

A *completing tile* is one that makes a pair a triplet or a taatsu a run, be it fit for the yaku
or not (23m wait on 1m in tanyao too): the paper counts all that is not in sight.
"""

from typing import Final

import numpy as np

from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.languages import marked
from mjbot.strategies.evaluation.yaku.layout import (
    ALL,
    BESIDE_RUN,
    BESIDE_STRAIGHT,
    BESIDE_TRIPLET,
    BLOCK_POINTS,
    NOTHING,
    OUTER,
    RUNS,
    SETS,
    SIMPLES,
    TRIPLETS,
    VALUE_TRIPLET_POINTS,
    VALUED,
    Blocks,
    Layout,
)

YAKU_NAMES: Final = (
    marked("tanyao"),
    marked("yakuhai"),
    marked("chanta"),
    marked("sanshoku doujun"),
    marked("ittsuu"),
    marked("toitoi"),
    marked("sanshoku doukou"),
    marked("honitsu"),
)
N_YAKU: Final = len(YAKU_NAMES)

SUIT: Final = (1 << 9) - 1
HONOURS: Final = SUIT >> 2 << 27
EVERYTHING: Final = (1 << 34) - 1
SIMPLE_RANKS: Final = 0b011111110
SIMPLE_KINDS: Final = SIMPLE_RANKS | SIMPLE_RANKS << 9 | SIMPLE_RANKS << 18
MIDDLE_RANKS: Final = 0b000111000
OUTER_KINDS: Final = EVERYTHING & ~(MIDDLE_RANKS | MIDDLE_RANKS << 9 | MIDDLE_RANKS << 18)
EDGES: Final = EVERYTHING & ~SIMPLE_KINDS


@compiled
def tanyao(layout: Layout) -> int:
    """Section 3.3.1: the best blocks of the tiles 2..8."""
    if not _all_within(layout, SIMPLE_KINDS) or _tiles_kept(layout, SIMPLE_KINDS) < 2:
        return 0
    return _four_blocks(layout, (SIMPLES, SIMPLES, SIMPLES, NOTHING))


@compiled
def yakuhai(layout: Layout, value_kinds: int) -> int:
    """Section 3.3.2: the best blocks, value honours at four times and 2.5 times the price."""
    extra = 0
    for kind in range(27, 34):
        if value_kinds >> kind & 1:
            extra += layout.melds[SETS, kind] * (VALUE_TRIPLET_POINTS - BLOCK_POINTS)
    return extra + _four_blocks(layout, (ALL, ALL, ALL, VALUED))


@compiled
def chanta(layout: Layout) -> int:
    """Section 3.3.3: the best blocks of the tiles that are not 4, 5 or 6."""
    if not _all_touch(layout, EDGES) or _tiles_kept(layout, OUTER_KINDS) < 2:
        return 0
    return _four_blocks(layout, (OUTER, OUTER, OUTER, ALL))


@compiled
def sanshoku_doujun(layout: Layout) -> int:
    """Section 3.3.4: the same run in the three suits, and one block and the head."""
    best = 0
    for low in range(7):
        melded = points = 0
        for suit in range(3):
            melded += layout.melds[RUNS, 9 * suit + low] > 0
            points += layout.parts[suit, BESIDE_RUN + low]
        row = BESIDE_RUN + low
        best = max(best, _with_one_block(layout, points, melded, (row, row, row, ALL)))
    return best


@compiled
def ittsuu(layout: Layout) -> int:
    """Section 3.3.5: 123, 456 and 789 of a suit, and one block and the head."""
    best = 0
    for suit in range(3):
        melded = 0
        for low in range(9 * suit, 9 * suit + 9, 3):
            melded += layout.melds[RUNS, low] > 0
        rows = (
            BESIDE_STRAIGHT if suit == 0 else ALL,
            BESIDE_STRAIGHT if suit == 1 else ALL,
            BESIDE_STRAIGHT if suit == 2 else ALL,
            ALL,
        )
        points = int(layout.parts[suit, BESIDE_STRAIGHT])
        best = max(best, _with_one_block(layout, points, melded, rows))
    return best


@compiled
def toitoi(layout: Layout) -> int:
    """Section 3.3.6: the best blocks out of triplets and pairs."""
    if layout.melds[RUNS].any():
        return 0
    return _four_blocks(layout, (TRIPLETS, TRIPLETS, TRIPLETS, ALL))


@compiled
def sanshoku_doukou(layout: Layout) -> int:
    """Section 3.3.7: the same triplet in the three suits, and one block and the head."""
    best = 0
    for rank in range(9):
        melded = points = 0
        for suit in range(3):
            melded += layout.melds[SETS, 9 * suit + rank] > 0
            points += layout.parts[suit, BESIDE_TRIPLET + rank]
        row = BESIDE_TRIPLET + rank
        best = max(best, _with_one_block(layout, points, melded, (row, row, row, ALL)))
    return best


@compiled
def honitsu(layout: Layout) -> int:
    """Section 3.3.8: the best blocks of one suit and the honours."""
    best = 0
    for suit in range(3):
        kinds = SUIT << 9 * suit | HONOURS
        if not _all_within(layout, kinds) or _tiles_kept(layout, kinds) < 2:
            continue
        rows = (
            ALL if suit == 0 else NOTHING,
            ALL if suit == 1 else NOTHING,
            ALL if suit == 2 else NOTHING,
            ALL,
        )
        best = max(best, _four_blocks(layout, rows))
    return best


@compiled
def write_scores(layout: Layout, value_kinds: int, scores: Blocks) -> None:
    """Write the scores of the eight yaku, in the order of :data:`YAKU_NAMES`: int16[8]."""
    scores[0] = tanyao(layout)
    scores[1] = yakuhai(layout, value_kinds)
    scores[2] = chanta(layout)
    scores[3] = sanshoku_doujun(layout)
    scores[4] = ittsuu(layout)
    scores[5] = toitoi(layout)
    scores[6] = sanshoku_doukou(layout)
    scores[7] = honitsu(layout)


# --- the pieces ------------------------------------------------------------------------------


@compiled
def _four_blocks(layout: Layout, rows: tuple[int, int, int, int]) -> int:
    """Return the points of the melds and of the best blocks that fill up to four."""
    return BLOCK_POINTS * layout.n_melds + joined(layout, rows, 4 - layout.n_melds)


@compiled
def _with_one_block(
    layout: Layout, parts: int, melded: int, rows: tuple[int, int, int, int]
) -> int:
    """Return the points of a yaku of three parts (``melded`` of them melds) and the rest.

    A meld that is no part is the one other block; with two of those there is no yaku.
    """
    others = layout.n_melds - melded
    if others > 1:
        return 0
    return parts + (BLOCK_POINTS * others + _joined_once(layout, rows, 1 - others)) // 2


@compiled
def joined(layout: Layout, rows: tuple[int, int, int, int], most: int) -> int:
    """Return the best points of one row per suit: at most ``most`` blocks and one head."""
    total = np.full((2, 5), -1, np.int16)
    total[0] = 0
    for suit in range(4):
        if rows[suit] != NOTHING:
            _join(total, layout.blocks[suit, rows[suit]], most)
    return int(max(total[0, most], total[1, most]))


@compiled
def _joined_once(layout: Layout, rows: tuple[int, int, int, int], most: int) -> int:
    """Return what :func:`joined` does for ``most`` of 0 or 1."""
    block, head, headed = 0, -1, -1
    for suit in range(4):
        own = layout.blocks[suit, rows[suit]]
        own_block, own_head, own_headed = int(own[0, 1]), int(own[1, 0]), int(own[1, 1])
        headed = max(headed, own_headed)
        if head >= 0:
            headed = max(headed, head + own_block)
        if own_head >= 0:
            headed = max(headed, block + own_head)
        head = max(head, own_head)
        block = max(block, own_block)
    return max(block, headed) if most else max(0, head)


@compiled
def _join(total: Blocks, blocks: Blocks, most: int) -> None:
    """Add the blocks of one more suit to the total: int16[2, 5] both."""
    for count in range(most, -1, -1):  # downwards: a total is needed only for its own and above
        bare = headed = -1
        for own in range(count + 1):
            rest = count - own
            bare = max(bare, total[0, rest] + blocks[0, own])
            if blocks[1, own] >= 0:
                headed = max(headed, total[0, rest] + blocks[1, own])
            if total[1, rest] >= 0:
                headed = max(headed, total[1, rest] + blocks[0, own])
        total[0, count], total[1, count] = bare, headed


@compiled
def _all_within(layout: Layout, kinds: int) -> bool:
    """Whether the melds hold nothing but these kinds."""
    for kind in range(34):
        if layout.melds[SETS, kind] and not kinds >> kind & 1:
            return False
        if layout.melds[RUNS, kind] and kinds >> kind & 7 != 7:
            return False
    return True


@compiled
def _all_touch(layout: Layout, kinds: int) -> bool:
    """Whether every meld holds one of these kinds."""
    for kind in range(34):
        if layout.melds[SETS, kind] and not kinds >> kind & 1:
            return False
        if layout.melds[RUNS, kind] and not kinds >> kind & 7:
            return False
    return True


@compiled
def _tiles_kept(layout: Layout, kinds: int) -> int:
    """Return how many tiles are of these kinds, three for each meld."""
    kept = 3 * layout.n_melds
    for kind in range(34):
        if kinds >> kind & 1:
            kept += layout.hand[kind]
    return kept
