"""Tenpai samples are tenpai, not furiten, of the class wished, and all hands equally likely."""

from collections import Counter

import numpy as np
import pytest

from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.kinds import hand_counts, kinds_of
from mjbot.learning.playouts.tenpai_parts import Tenpai, draw_two_sides, prepare
from mjbot.learning.playouts.tenpai_samples import (
    ONE_KIND,
    TWO_SIDES,
    sample_class,
    sample_tenpai,
)
from mjbot.runtime.compiler.compiled import compiled
from tests.strategies.frequencies import deviation, hands_from

SAMPLES = 4_000


def sampler(unseen, n_melds, barred=""):
    tenpai = Tenpai.new()
    tenpai["unseen"] = unseen
    tenpai["n_melds"] = n_melds
    tenpai["barred"] = sum(1 << int(kind) for kind in np.flatnonzero(hand_counts(barred)))
    prepare(tenpai)
    return tenpai


@compiled
def many(tenpai, class_, random, out):
    """Sample into ``out`` int8[n, 34], with patience where hands are hard to find."""
    for row in out:
        for _ in range(1000):
            if sample_class(tenpai, class_, random):
                break
            tenpai.hopeless[class_] = 0
        for kind in range(34):
            row[kind] = tenpai.hand[kind]


@compiled
def many_drawn(tenpai, random, out):
    for row in out:
        while not draw_two_sides(tenpai, random):
            pass
        for kind in range(34):
            row[kind] = tenpai.hand[kind]


def plural(hands):
    return Counter(map(tuple, hands.tolist()))


def is_blocks(hand):
    """Tell whether the tiles are runs and triplets, by taking them away one after the other."""
    kinds = np.flatnonzero(hand)
    if not len(kinds):
        return True
    first = int(kinds[0])
    takes = [[first] * 3] if hand[first] >= 3 else []
    if first < 27 and first % 9 < 7 and hand[first + 1] and hand[first + 2]:
        takes.append([first, first + 1, first + 2])
    return any(is_blocks(without(hand, take)) for take in takes)


def without(hand, kinds):
    rest = hand.copy()
    for kind in kinds:
        rest[kind] -= 1
    return rest


def is_complete(hand):
    return any(is_blocks(without(hand, [kind] * 2)) for kind in np.flatnonzero(hand >= 2))


def pairs_off(hand, ends):
    """Tell whether two tiles that wait on ``ends`` can be taken away from a complete rest."""
    for low in range(26):
        for high in (low + 1, low + 2):
            if high > 26 or low // 9 != high // 9 or not (hand[low] and hand[high]):
                continue
            middle = [low + 1] if high == low + 2 else []
            outer = [k for k in (low - 1, high + 1) if k // 9 == low // 9] if not middle else []
            if set(middle + outer) in ends and is_complete(without(hand, [low, high])):
                return True
    return False


def class_of(hand, n_melds, barred):
    """Return the class of a hand as the module defines it, or None, by plain enumeration."""
    kinds = kinds_of(waits(hand, n_melds))
    barred = set(np.flatnonzero(hand_counts(barred)).tolist())
    if not kinds or barred & set(kinds):
        return None
    if len(kinds) == 1:
        single = is_blocks(without(hand, kinds)) if hand[kinds[0]] else False
        pairs = n_melds == 0 and sorted(hand[hand > 0].tolist()) == [1] + [2] * 6
        return ONE_KIND if single or pairs or pairs_off(hand, [set(kinds)]) else None
    ends = [{low, low + 3} for low in range(24) if not barred & {low, low + 3}]
    return TWO_SIDES if pairs_off(hand, ends) else None


def weights_of(class_, n_melds, unseen, barred):
    """Return every hand of the class, with the number of ways to deal it."""
    return {
        tuple(hand.tolist()): ways
        for hand, ways in hands_from(unseen, 13 - 3 * n_melds)
        if waits(hand, n_melds) and class_of(hand, n_melds, barred) == class_
    }


CASES = {
    "four tiles": (3, "11233445667799m1133p77z", ""),
    "four tiles, furiten": (3, "11233445667789m11223344p55z", "47m2p"),
    "seven tiles": (2, "1234556m12344p777z", ""),
    "thirteen tiles": (0, "123345m4567p678s55z99p7z", ""),
    "thirteen tiles in pairs": (0, "22334455m2244p3355s7z", ""),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("class_", [TWO_SIDES, ONE_KIND])
def test_every_hand_of_a_class_is_as_likely_as_any_other(name, class_):
    n_melds, text, barred = CASES[name]
    weights = weights_of(class_, n_melds, hand_counts(text), barred)
    tenpai = sampler(hand_counts(text), n_melds, barred)
    if not weights:
        assert not sample_class(tenpai, class_, np.array([1], np.uint64))
        return
    hands = np.zeros((SAMPLES, 34), np.int8)
    many(tenpai, class_, np.array([2022], np.uint64), hands)
    assert deviation(plural(hands), weights) < 4


def test_the_test_would_see_hands_that_are_not_evened_out():
    n_melds, text, _ = CASES["seven tiles"]
    unseen = hand_counts(text)
    weights = weights_of(TWO_SIDES, n_melds, unseen, "")
    hands = np.zeros((SAMPLES, 34), np.int8)
    many_drawn(sampler(unseen, n_melds), np.array([1], np.uint64), hands)
    ours = {hand: n for hand, n in plural(hands).items() if hand in weights}
    assert deviation(ours, weights) > 8


def test_73_in_100_have_two_sides():
    tenpai = sampler(np.full(34, 3, np.int8), 1)
    random = np.array([73], np.uint64)
    n = 0
    for _ in range(4000):
        assert sample_tenpai(tenpai, random)
        n += len(kinds_of(tenpai["waits"])) > 1
    assert abs(n - 0.73 * 4000) < 4 * (4000 * 0.73 * 0.27) ** 0.5


def test_the_other_class_is_taken_where_one_is_impossible():
    tenpai = sampler(np.full(34, 4, np.int8), 4)  # one tile is left: it waits on itself
    random = np.array([4], np.uint64)
    for _ in range(100):
        assert sample_tenpai(tenpai, random)
        assert tenpai["waits"] == 1 << int(tenpai["hand"].argmax())


@pytest.mark.parametrize("unseen", ["", "1m", "19m19p19s1234567z"])
def test_there_may_be_no_hand(unseen):
    tenpai = sampler(hand_counts(unseen), 0)
    assert not sample_tenpai(tenpai, np.array([1], np.uint64))
