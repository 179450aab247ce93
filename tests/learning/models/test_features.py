"""The features of hands against plain ways to count them."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from mjbot.game.rules.acceptance import acceptance, count_tiles
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.shanten import shanten_orphans, shanten_pairs, shanten_regular
from mjbot.learning.models import hand_paper_features as paper_features
from mjbot.learning.models.hand import (
    FEATURE_SETS,
    N_FEATURES,
    new_choices,
    new_position,
    write_choices,
)
from mjbot.learning.models.hand_shapes import MELD, SHAPE, hand_shape, shape_table


@cache
def best_shape(counts):
    """Return (melds, two-tile shapes, two-sided shapes) of a suit by trying everything."""
    if not any(counts):
        return (0, 0, 0)
    rank = next(rank for rank, count in enumerate(counts) if count)
    ways = [((rank,), (0, 0, 0))]
    ways += [((rank,) * 3, (1, 0, 0)), ((rank,) * 2, (0, 1, 0))]
    ways.append(((rank, rank + 1), (0, 1, int(rank > 0 and rank + 1 < 8))))
    ways.append(((rank, rank + 2), (0, 1, 0)))
    ways.append(((rank, rank + 1, rank + 2), (1, 0, 0)))
    found = []
    for tiles, gain in ways:
        left = list(counts)
        for tile in tiles:
            if tile < 9:
                left[tile] -= 1
        if max(tiles) < 9 and min(left) >= 0:
            found.append(tuple(a + b for a, b in zip(best_shape(tuple(left)), gain, strict=True)))
    return max(found)


def shape_of(hand):
    number = int(hand_shape(shape_table(), hand))
    return number // MELD, number % MELD // SHAPE, number % SHAPE


def test_shapes_are_the_best_of_all_ways(random_hand):
    dice = np.random.default_rng(1)
    for _ in range(300):
        hand = random_hand(dice, 13)
        suits = [best_shape(tuple(hand[first : first + 9].tolist())) for first in (0, 9, 18)]
        triplets, pairs = int((hand[27:] >= 3).sum()), int((hand[27:] == 2).sum())
        total = tuple(np.sum([*suits, (triplets, pairs, 0)], axis=0).tolist())
        assert shape_of(hand) == total


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("123m456p789s1122z", (3, 2, 0)),
        ("22334m", (1, 1, 1)),
        ("13579m", (0, 2, 0)),
        ("111z", (1, 0, 0)),
    ],
)
def test_shapes_by_hand(text, expected):
    assert shape_of(hand_counts(text)) == expected


def named_paper_features(hand, n_melds, unseen) -> Iterator[tuple]:
    """Say in words what the paper lists."""
    melds, two_tile, two_sided = shape_of(hand)
    melds = min(melds + n_melds, 4)
    yield "regular", int(shanten_regular(hand, n_melds))
    if not n_melds:
        yield "pairs", int(shanten_pairs(hand, 0))
        yield "orphans", int(shanten_orphans(hand, 0))
    yield from (("melds", melds), ("two-sided", two_sided), ("blocks", melds + two_tile))
    yield "accepting", int(count_tiles(acceptance(hand, n_melds), unseen))
    yield "longest", max(int(hand[first : first + 9].sum()) for first in (0, 9, 18))
    yield "simples", sum(int(hand[kind]) for kind in range(27) if 1 <= kind % 9 <= 7)
    yield from (("present", kind) for kind in range(27) if hand[kind])
    yield from (("honour", kind, int(hand[kind])) for kind in range(27, 34))
    for suit in range(3):
        counts = hand[9 * suit : 9 * suit + 9].tolist()
        for n in range(1, 7):
            for place in range(10 - n):
                yield ("n-gram", suit, place, *counts[place : place + n])


SIMPLE_GROUPS = {
    paper_features.REGULAR: "regular",
    paper_features.PAIRS: "pairs",
    paper_features.ORPHANS: "orphans",
    paper_features.MELDS: "melds",
    paper_features.TWO_SIDEDS: "two-sided",
    paper_features.BLOCKS: "blocks",
    paper_features.ACCEPTING: "accepting",
    paper_features.LONGEST: "longest",
    paper_features.SIMPLES: "simples",
    paper_features.PRESENT: "present",
}


def decoded(index):
    """Say in words what a feature's index means."""
    if index >= paper_features.NGRAMS:
        return decoded_ngram(index - paper_features.NGRAMS)
    if index >= paper_features.HONOURS:
        honour, copies = divmod(index - paper_features.HONOURS, 5)
        return "honour", 27 + honour, copies
    start = max(start for start in SIMPLE_GROUPS if start <= index)
    return SIMPLE_GROUPS[start], index - start


def decoded_ngram(index):
    suit, index = divmod(index, sum(5**n * (10 - n) for n in range(1, 7)))
    n = 1
    while index >= 5**n * (10 - n):
        index -= 5**n * (10 - n)
        n += 1
    place, code = divmod(index, 5**n)
    return ("n-gram", suit, place, *(code // 5**step % 5 for step in range(n)))


def test_the_papers_features_are_those_it_lists_each_with_an_index_of_its_own(random_hand):
    dice = np.random.default_rng(2)
    out = np.zeros(paper_features.N_ACTIVE, np.int32)
    for number in range(500):
        n_melds = int(dice.integers(0, 4)) if number % 3 == 0 else 0
        hand = random_hand(dice, 13 - 3 * n_melds)
        unseen = dice.integers(0, 5, 34).astype(np.int8)
        tiles = count_tiles(acceptance(hand, n_melds), unseen)
        n = paper_features.write_paper_features(shape_table(), hand, n_melds, tiles, out)
        named = list(named_paper_features(hand, n_melds, unseen))
        assert sorted(map(decoded, out[:n].tolist()), key=repr) == sorted(named, key=repr)


def test_the_count_of_features_is_the_documented_one():
    assert paper_features.N_FEATURES == 249_227
    assert f"{3 * paper_features.NGRAMS_OF_SUIT:,}" in paper_features.__doc__


def random_position(dice, random_hand, n_melds=0):
    position = new_position()
    position["hand"] = random_hand(dice, 14 - 3 * n_melds)
    position["n_melds"] = n_melds
    position["unseen"] = np.minimum(dice.integers(0, 5, 34), 4 - position["hand"])
    position["dora"] = dice.random(34) < 0.1
    position["seat_wind"], position["round_wind"] = dice.integers(0, 4, 2)
    position["dragons"] = 1
    position["turn"] = dice.integers(0, 20)
    position["own"] = int(dice.integers(0, 1 << 34)) & int(dice.integers(0, 1 << 34))
    position["safe"] = dice.integers(0, 4, 34)
    return position


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_every_feature_has_a_weight_and_is_there_once(features, random_hand):
    dice = np.random.default_rng(3)
    choices = new_choices()
    for _ in range(300):
        position = random_position(dice, random_hand, int(dice.integers(0, 5)))
        n = write_choices(FEATURE_SETS.index(features), position, choices)
        assert choices.kinds[:n].tolist() == np.flatnonzero(position["hand"]).tolist()
        for choice in range(n):
            found = choices.features[choice, : choices.counts[choice]]
            assert found.min() >= 0
            assert found.max() < N_FEATURES[features]
            if features == "paper":
                assert len(set(found.tolist())) == len(found)


def test_beyond_the_paper_the_suits_are_equals(random_hand):
    dice = np.random.default_rng(4)
    choices = new_choices()
    for _ in range(100):
        position = random_position(dice, random_hand)
        position["own"] = int(position["own"]) & 0x7FFFFFF
        before = _features_by_kind(position, choices)
        order = dice.permutation(3)
        kinds = np.concatenate([np.arange(27).reshape(3, 9)[order].ravel(), np.arange(27, 34)])
        own = int(position["own"])
        for field in ("hand", "unseen", "dora", "safe"):
            position[field] = position[field][kinds].copy()
        position["own"] = sum((own >> int(kind) & 1) << place for place, kind in enumerate(kinds))
        after = _features_by_kind(position, choices)
        assert before == {int(kinds[kind]): found for kind, found in after.items()}


def _features_by_kind(position, choices):
    n = write_choices(FEATURE_SETS.index("plus"), position, choices)
    return {
        int(choices.kinds[choice]): sorted(
            choices.features[choice, : choices.counts[choice]].tolist()
        )
        for choice in range(n)
    }
