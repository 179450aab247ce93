"""The compiled evaluation against plain enumeration, straight from the text of the paper."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mjbot.protocol.tiles import parse_tiles, tile_kind
from mjbot.strategies.evaluation.fast_riichi.draws import discard_values, hand_value

BLOCK_POINTS = 50
KINDS = range(34)
RUN_STARTS = [kind for kind in range(27) if kind % 9 < 7]


def decompositions(
    hand: list[int], start: int = 0, has_head: bool = False, blocks: int = 0
) -> Iterator[tuple[int, bool, list[int]]]:
    """Every way to take melds and at most one head out: blocks, head taken?, leftover tiles."""
    yield blocks, has_head, hand
    for kind in range(start, 34):
        if not hand[kind]:
            continue
        takes = [({kind: 3}, False)]
        if not has_head:
            takes.append(({kind: 2}, True))
        if kind in RUN_STARTS:
            takes.append(({kind: 1, kind + 1: 1, kind + 2: 1}, False))
        for take, is_head in takes:
            if all(hand[k] >= n for k, n in take.items()):
                rest = [hand[k] - take.get(k, 0) for k in KINDS]
                yield from decompositions(rest, kind, has_head or is_head, blocks + 1)


def waits_beside(leftover: list[int], has_head: bool) -> set[int]:
    waits = set()
    for kind in KINDS:
        if leftover[kind] >= 2 or (leftover[kind] and not has_head):
            waits.add(kind)
    for start in RUN_STARTS:
        run = (start, start + 1, start + 2)
        for missing in run:
            if all(leftover[kind] for kind in run if kind != missing):
                waits.add(missing)
    return waits


def best_blocks_and_waits(hand: list[int]) -> tuple[int, set[int]]:
    ways = list(decompositions(hand))
    most = max(blocks for blocks, _, _ in ways)
    union = [waits_beside(rest, head) for blocks, head, rest in ways if blocks == most]
    return most, set().union(*union)


def value_by_enumeration(
    hand: list[int], unseen: list[int], own_discards: set[int], best_draw: bool
) -> int:
    melds = (14 - sum(hand)) // 3
    total, best = 0, (0, 0)
    for drawn in KINDS:
        if unseen[drawn]:
            after = [n + (kind == drawn) for kind, n in enumerate(hand)]
            blocks, waits = best_blocks_and_waits(after)
            tiles = sum(unseen[kind] - (kind == drawn) for kind in waits - own_discards)
            best = max(best, (melds + blocks, tiles))
            total += unseen[drawn] * (BLOCK_POINTS * (melds + blocks) + tiles)
    return BLOCK_POINTS * best[0] + best[1] if best_draw else total


@st.composite
def tables(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[list[int], list[int], set[int]]:
    """A hand, the unseen copies beside it and other visible tiles, and own discards.

    From few kinds as well as from all, since many ways to decompose need full suits.
    """
    low, width = draw(st.sampled_from([(0, 34), (0, 9), (9, 9), (18, 16), (27, 7), (5, 13)]))
    pool = [kind for kind in range(low, low + width) for _ in range(4)]
    order = draw(st.permutations(pool))
    size = draw(st.sampled_from(sizes))
    hand = Counter(order[:size])
    seen = Counter(draw(st.lists(st.sampled_from(KINDS), max_size=40)))
    unseen = [max(0, 4 - hand[kind] - seen[kind]) for kind in KINDS]
    own = draw(st.sets(st.sampled_from(KINDS), max_size=8))
    return [hand[kind] for kind in KINDS], unseen, own


def counts(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, np.int8)


def mask(kinds: set[int]) -> int:
    return sum(1 << kind for kind in kinds)


@settings(max_examples=60)
@given(tables(sizes=(14, 11, 8, 5, 2)), st.booleans())
def test_every_discard_has_the_value_of_the_hand_without_it(table, best_draw):
    hand, unseen, own = table
    how = BLOCK_POINTS, best_draw
    values = discard_values(counts(hand), counts(unseen), mask(own), *how)
    for kind in KINDS:
        rest = counts([n - (other == kind) for other, n in enumerate(hand)])
        expected = hand_value(rest, counts(unseen), mask(own | {kind}), *how) if hand[kind] else -1
        assert values[kind] == expected


@settings(max_examples=60)
@given(tables(sizes=(13, 10, 7, 4, 1)), st.booleans())
def test_a_hand_without_a_discard_has_the_value_found_by_enumeration(table, best_draw):
    hand, unseen, own = table
    value = hand_value(counts(hand), counts(unseen), mask(own), BLOCK_POINTS, best_draw)
    assert value == value_by_enumeration(hand, unseen, own, best_draw)


def values_of(text: str, own_discards: str = "", best_draw: bool = True) -> dict[str, int]:
    hand = np.bincount([tile_kind(t) for t in parse_tiles(text)], minlength=34).astype(np.int8)
    own = mask({tile_kind(t) for t in parse_tiles(own_discards)})
    values = discard_values(hand, 4 - hand, own, BLOCK_POINTS, best_draw)
    return {f"{kind % 9 + 1}{'mpsz'[kind // 9]}": int(values[kind]) for kind in KINDS if hand[kind]}


def test_a_complete_hand_is_five_blocks_without_waits():
    # After 1z any of 1p, 4p completes 4 melds and the head.
    assert values_of("123m456m789m23p55s1z")["1z"] == 5 * BLOCK_POINTS


def test_single_tiles_are_waits_only_while_there_is_no_head():
    # The best draw after 5p is 4z.  With 44z as head nothing is left to wait for; with 444z as
    # a triplet there is no head yet, and the single 1m and 9s count with three tiles each.
    assert values_of("1m9s44z5p")["5p"] == (3 + 1) * BLOCK_POINTS + 3 + 3


def test_own_discards_are_no_waits():
    hand = "123m456m789m45p1z1s9s"
    open_ended = values_of(hand)["9s"]
    assert values_of(hand, own_discards="3p")["9s"] < open_ended
