"""Shanten, waits and acceptance against three other packages, on hypothesis-made hands.

All agree everywhere, hands with four copies and with melds included.
"""

import numpy as np
import pytest
import riichienv
import xiangting
from hypothesis import given, settings
from hypothesis import strategies as st
from mahjong.shanten import Shanten
from riichienv._riichienv import HandEvaluator

from mjbot.game.rules.acceptance import (
    acceptance,
    acceptance_by_discard,
    acceptance_many,
    waits,
)
from mjbot.game.rules.kinds import hand_counts, kinds_of
from mjbot.game.rules.shanten import (
    NEVER,
    shanten,
    shanten_many,
    shanten_orphans,
    shanten_pairs,
    shanten_regular,
)
from proof.made_hands import MadeHand, made_hands

FOUR = xiangting.PlayerCount.FOUR

many = settings(max_examples=400, database=None)


@many
@given(st.one_of(made_hands(1), made_hands(2)))
def test_shanten_agrees_with_three_packages(made: MadeHand) -> None:
    hand = made.counts()
    ours = shanten(hand, made.n_melds)
    assert ours == Shanten.calculate_shanten(hand.tolist())
    assert ours == riichienv.calculate_shanten(list(made.ids))
    assert ours == xiangting.calculate_replacement_number(hand.tolist(), FOUR) - 1


@many
@given(st.one_of(made_hands(1), made_hands(2)))
def test_shanten_is_the_least_of_three_forms(made: MadeHand) -> None:
    hand, n_melds = made.counts(), made.n_melds
    regular = shanten_regular(hand, n_melds)
    pairs, orphans = shanten_pairs(hand, n_melds), shanten_orphans(hand, n_melds)
    assert shanten(hand, n_melds) == min(regular, pairs, orphans)
    if n_melds:
        assert pairs == orphans == NEVER
    else:
        assert pairs == Shanten.calculate_shanten_for_chiitoitsu_hand(hand.tolist())
        assert orphans == Shanten.calculate_shanten_for_kokushi_hand(hand.tolist())


@many
@given(made_hands(1))
def test_acceptance_agrees_with_xiangting(made: MadeHand) -> None:
    hand = made.counts()
    _, theirs = xiangting.calculate_necessary_tiles(hand.tolist(), FOUR)
    assert acceptance(hand, made.n_melds) == theirs
    is_tenpai = shanten(hand, made.n_melds) == 0
    assert waits(hand, made.n_melds) == (theirs if is_tenpai else 0)


@many
@given(made_hands(1).filter(lambda made: made.n_melds == 0))
def test_waits_agree_with_riichienv(made: MadeHand) -> None:
    theirs = HandEvaluator(list(made.ids), []).get_waits()
    assert kinds_of(waits(made.counts(), 0)) == sorted(theirs)


@many
@given(made_hands(2))
def test_acceptance_by_discard_is_that_of_each_hand_left(made: MadeHand) -> None:
    hand, unseen = made.counts(), 4 - made.counts()
    shantens, masks, counts = np.empty(34, np.int8), np.empty(34, np.int64), np.empty(34, np.int16)
    acceptance_by_discard(hand, made.n_melds, unseen, shantens, masks, counts)
    assert (hand == made.counts()).all()
    for kind in range(34):
        if hand[kind] == 0:
            assert (shantens[kind], masks[kind], counts[kind]) == (NEVER, 0, 0)
            continue
        hand[kind] -= 1
        replacements, mask = xiangting.calculate_necessary_tiles(hand.tolist(), FOUR)
        assert (shantens[kind], masks[kind]) == (replacements - 1, mask)
        assert counts[kind] == sum(int(unseen[wanted]) for wanted in kinds_of(mask))
        hand[kind] += 1


@settings(max_examples=20, database=None)
@given(st.lists(made_hands(2), max_size=5))
def test_many_hands_at_once_give_what_each_gives(made: list[MadeHand]) -> None:
    hands = np.array([each.counts() for each in made], np.int8).reshape(-1, 34)
    n_melds = np.array([each.n_melds for each in made], np.int8)
    unseen = 4 - hands
    assert shanten_many(hands, n_melds).tolist() == [
        shanten(each.counts(), each.n_melds) for each in made
    ]
    shantens, masks, counts = acceptance_many(hands, n_melds, unseen)
    for place, each in enumerate(made):
        one = np.empty(34, np.int8), np.empty(34, np.int64), np.empty(34, np.int16)
        acceptance_by_discard(each.counts(), each.n_melds, unseen[place], *one)
        assert (shantens[place] == one[0]).all()
        assert (masks[place] == one[1]).all()
        assert (counts[place] == one[2]).all()


@pytest.mark.parametrize(
    ("text", "n_melds", "expected"),
    [
        ("1111m222p333444s", 0, 1),  # tenpai only for a fifth 1m
        ("1111m", 3, 1),
        ("111m", 3, 1),
        ("1112m", 3, 0),  # for 2m or 3m
        ("1111222233334m", 0, 0),
        ("1111222233334z", 0, 3),  # three triplets, and one tile for both block and pair
        ("1122335566778m", 0, 0),
        ("19m19p19s1234567z", 0, 0),
        ("5m", 4, 0),
        ("55m", 4, -1),
        ("123456789m11122z", 0, -1),
    ],
)
def test_corner_cases(text: str, n_melds: int, expected: int) -> None:
    assert shanten(hand_counts(text), n_melds) == expected


def test_four_copies_are_one_pair() -> None:
    assert shanten_pairs(hand_counts("1122335566778m"), 0) == 0
    assert shanten_pairs(hand_counts("1111335566778m"), 0) == 2


def test_a_hand_that_cannot_exist_does_no_harm() -> None:
    for count in (-128, -1, 5, 127):
        hand = np.full(34, count, np.int8)
        for n_melds in range(5):
            assert -1 <= shanten_regular(hand, n_melds) <= 13
            acceptance(hand, n_melds)
