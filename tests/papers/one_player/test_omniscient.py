from itertools import combinations

import numpy as np
from mahjong.agari import Agari

from papers.one_player.game import N_DEALT, N_USED, new_game
from papers.one_player.players import GreedyPlayer, first_possible, holds_complete, play


def counts_of(tiles: list[int]) -> list[int]:
    return np.bincount(tiles, minlength=34).tolist()


def some_fourteen_win(tiles: list[int]) -> bool:
    """Try all ways to leave some tiles out."""
    agari = Agari()
    chosen = {tuple(counts_of(list(some))) for some in combinations(tiles, 14)}
    return any(agari.is_agari(list(counts)) for counts in chosen)


def test_it_finds_a_complete_hand_among_more_tiles_if_there_is_one() -> None:
    dice = np.random.default_rng(5)
    found = []
    few_kinds = np.repeat(np.arange(11), 4)  # man and two of pin: wins are frequent
    for _ in range(40):
        tiles = sorted(dice.permutation(few_kinds)[:16].tolist())
        counts = np.array([*counts_of(tiles), 0, 0])
        found.append(some_fourteen_win(tiles))
        assert holds_complete(counts) == found[-1]
        assert counts.tolist() == [*counts_of(tiles), 0, 0]
    assert 5 < sum(found) < 35


def test_seven_pairs_and_orphans_count() -> None:
    pairs = [2 if kind % 5 == 0 else 0 for kind in range(34)]
    orphans = [int(kind >= 27 or kind % 9 in (0, 8)) for kind in range(34)]
    assert sum(pairs) == 14
    assert sum(orphans) == 13
    assert holds_complete(np.array([*pairs, 0, 0]))
    assert not holds_complete(np.array([*orphans, 0, 0]))
    orphans[27] = 2
    assert holds_complete(np.array([*orphans, 0, 0]))


def test_nobody_wins_before_it_is_possible() -> None:
    for number in range(200):
        game = new_game(9, number)
        possible = first_possible(game["wall"])
        won = play(GreedyPlayer(), game, 0)
        assert won == 0 or 0 < possible <= won
        if possible:
            tiles = game["wall"][: N_DEALT + possible - 1]
            assert not holds_complete(np.bincount(tiles, minlength=36))
        assert len(game["wall"]) == N_USED
