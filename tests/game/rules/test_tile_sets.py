"""Hands of three players, without 2m to 8m: shanten and acceptance against three packages."""

from collections.abc import Iterator
from random import Random

import numpy as np
import riichienv
import xiangting
from mahjong.shanten import Shanten

from mjbot.game.rules.kinds import Counts, hand_counts
from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.tile_sets import acceptance_of, shanten_of, waits_of

KINDS = (0, 8, *range(9, 34))
THREE = xiangting.PlayerCount.THREE
HANDS = 3000


def made_hands(random: Random) -> Iterator[tuple[Counts, int]]:
    """Hands of 3n+1 tiles with their melds, every second one near tenpai with four 1m or 9m."""
    for number in range(HANDS):
        hand, n_melds = np.zeros(34, np.int8), random.choice([0, 0, 1, 2])
        size = 13 - 3 * n_melds
        if number % 2:
            hand[random.choice([0, 8])] = 4
            while hand.sum() + 3 <= size:
                kind = random.choice(KINDS)
                block = range(kind, kind + 3) if 9 <= kind < 27 and kind % 9 < 7 else [kind] * 3
                for tile in block if hand[min(block)] == hand[max(block)] == 0 else ():
                    hand[tile] += 1
        while hand.sum() < size:
            kind = random.choice(KINDS)
            hand[kind] += hand[kind] < 4
        yield hand, n_melds


def test_shanten_and_acceptance_agree_with_three_packages() -> None:
    for hand, n_melds in made_hands(Random(3)):
        away, mask = acceptance_of(hand, n_melds, 3)
        replacements, kinds = xiangting.calculate_necessary_tiles(hand.tolist(), THREE)
        assert (away, mask) == (replacements - 1, kinds), hand.tolist()
        assert away == shanten_of(hand, n_melds, 3)
        assert away == Shanten.calculate_shanten(hand.tolist(), is_three_player=True)
        tiles = [4 * kind + copy for kind in range(34) for copy in range(hand[kind])]
        assert away == riichienv.calculate_shanten_3p(tiles)
        assert waits_of(hand, n_melds, 3) == (mask if away == 0 else 0)


def test_a_fourth_tile_of_man_begins_no_run() -> None:
    hand = hand_counts("1111m9999m555p66p")
    assert (shanten_of(hand, 0, 4), shanten_of(hand, 0, 3)) == (shanten(hand, 0), 2) == (1, 2)
