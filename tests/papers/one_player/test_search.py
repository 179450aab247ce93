"""The search against plain expectimax over everything that can happen."""

import numpy as np
import pytest

from mjbot.game.rules.shanten import shanten
from papers.one_player.game import (
    N_HIDDEN,
    OnePlayerGame,
    discard,
    draw,
    draws_left,
    new_game,
)
from papers.one_player.players import GreedyPlayer
from papers.one_player.search import EFFORTS, Effort, SearchPlayer

WIDE = (Effort(2, 6, (14,), 14, margin=-8),) * 7
"""Leaves nothing out within two draws."""


def hands_near_the_end(left: int, at_most: int, n: int) -> list[OnePlayerGame]:
    """Positions with ``left`` draws to come and 14 tiles of a low shanten."""
    found: list[OnePlayerGame] = []
    number = 0
    while len(found) < n:
        game, player = new_game(21, number), GreedyPlayer()
        number += 1
        while draw(game):
            if draws_left(game) == left:
                if shanten(game["hand"], 0) <= at_most:
                    found.append(game)
                break
            discard(game, player.choose(game))
    return found


def exact(hand: list[int], unseen: list[int], left: int) -> float:
    """The probability to win with 13 tiles, by the rules of probability alone."""
    counts = np.array(hand, np.int8)
    if left == 0 or shanten(counts, 0) >= left:
        return 0.0
    total = 0.0
    for kind in range(34):
        if unseen[kind] == 0:
            continue
        counts[kind] += 1
        unseen[kind] -= 1
        share = (unseen[kind] + 1) / (N_HIDDEN + left)
        if shanten(counts, 0) < 0:
            total += share
        elif left > 1:
            total += share * max(
                exact([n - (k == gone) for k, n in enumerate(counts.tolist())], unseen, left - 1)
                for gone in np.flatnonzero(counts).tolist()
            )
        counts[kind] -= 1
        unseen[kind] += 1
    return total


def exact_values(game: OnePlayerGame, kinds: list[int]) -> dict[int, float]:
    hand, unseen = game["hand"].tolist(), game["unseen"].tolist()
    return {
        gone: exact([n - (k == gone) for k, n in enumerate(hand)], unseen, draws_left(game))
        for gone in kinds
    }


@pytest.mark.parametrize("left", [1, 2])
def test_values_near_the_end_are_exact(left: int) -> None:
    searcher = SearchPlayer(WIDE)
    seen = set()
    for game in hands_near_the_end(left, 1, 8):
        values = searcher.values(game)
        for kind, value in exact_values(game, list(values)).items():
            assert values[kind] == pytest.approx(value, abs=1e-6)
            seen.add(value > 0)
    assert True in seen


def test_three_draws_ahead_nothing_is_promised_that_cannot_be_had() -> None:
    wide, usual = SearchPlayer(WIDE), SearchPlayer()
    for game in hands_near_the_end(3, 0, 1):
        values, cheaper = wide.values(game), usual.values(game)
        kind = max(values, key=lambda kind: values[kind])
        (value,) = exact_values(game, [kind]).values()
        assert value > 0
        assert values[kind] == pytest.approx(value, abs=2e-3)
        assert cheaper[kind] <= values[kind] + 1e-6


def test_more_draws_and_more_effort_never_make_a_hand_worse() -> None:
    less = SearchPlayer((Effort(0, -1, (1,), 14),) * 6)
    more = SearchPlayer((Effort(1, 1, (2, 2), 14),) * 6)
    for left in (6, 12):
        for game in hands_near_the_end(left, 2, 4):
            low, high = less.values(game), more.values(game)
            assert set(low) == set(high)
            assert all(high[kind] >= value - 1e-6 for kind, value in low.items())
            game["n_draws"] -= 3  # as if three more were to come
            later = less.values(game)
            assert all(low[kind] - 1e-2 <= value < 1 for kind, value in later.items())


def test_a_small_memory_grows_and_changes_nothing() -> None:
    (game,) = hands_near_the_end(15, 2, 1)
    roomy, tight = SearchPlayer(), SearchPlayer()
    tight._grow(80)
    assert tight.values(game) == roomy.values(game)
    assert len(tight._rows) > 80


def test_hands_that_cannot_be_won_any_more_are_played_greedily() -> None:
    far = [game for game in hands_near_the_end(1, 6, 30) if shanten(game["hand"], 0) > 0]
    assert far
    for game in far:
        assert SearchPlayer(EFFORTS).choose(game) == GreedyPlayer().choose(game)
