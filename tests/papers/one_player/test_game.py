import numpy as np
import pytest

from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.kinds import hand_counts
from mjbot.protocol.tiles import tile_kind
from papers.one_player.game import (
    N_DRAWS,
    N_HIDDEN,
    N_USED,
    OnePlayerGame,
    deal,
    discard,
    draw,
    draws_left,
    new_game,
)
from papers.one_player.players import GreedyPlayer, RandomPlayer, play

EDGES = (0, 8, 9, 17, 18, 26, *range(27, 34))


def is_complete(hand: list[int]) -> bool:
    """Four blocks and a pair, seven pairs or thirteen orphans, by trying everything."""
    if sorted(hand)[-7:] == [2] * 7:
        return True
    if all(hand[kind] for kind in EDGES) and sum(hand) == 14 == sum(hand[k] for k in EDGES):
        return True
    pairs = [kind for kind in range(34) if hand[kind] >= 2]
    return any(only_blocks([n - 2 * (k == pair) for k, n in enumerate(hand)]) for pair in pairs)


def only_blocks(hand: list[int]) -> bool:
    kind = next((kind for kind in range(34) if hand[kind]), None)
    if kind is None:
        return True
    without_triplet = [n - 3 * (k == kind) for k, n in enumerate(hand)]
    if hand[kind] >= 3 and only_blocks(without_triplet):
        return True
    if kind >= 27 or kind % 9 > 6:
        return False
    without_run = [n - (k in (kind, kind + 1, kind + 2)) for k, n in enumerate(hand)]
    return min(without_run) >= 0 and only_blocks(without_run)


def tiles_are_all_there(game: OnePlayerGame) -> bool:
    river = np.bincount(game["river"][game["river"] >= 0], minlength=34)
    return bool(np.all(game["hand"] + game["unseen"] + river == 4))


def test_a_wall_is_the_beginning_of_the_arena_s() -> None:
    tiles = np.empty(136, np.int8)
    shuffle_wall((7 << 32) + 5, 0, 0, tiles, 4)
    game = new_game(7, 5)
    assert game["wall"].tolist() == [tile_kind(tile) for tile in tiles[:N_USED].tolist()]


def test_a_game_goes_on_until_a_complete_hand_or_the_last_draw() -> None:
    player, wins = GreedyPlayer(), 0
    for number in range(60):
        game = new_game(1, number)
        while True:
            due = draw(game)
            assert tiles_are_all_there(game)
            assert game["unseen"].sum() == N_HIDDEN + draws_left(game)
            assert bool(game["is_won"]) == is_complete(game["hand"].tolist())
            assert due == (not game["is_won"] and game["n_draws"] < N_DRAWS)
            if not due:
                break
            discard(game, player.choose(game))
            assert tiles_are_all_there(game)
        wins += int(game["is_won"])
    assert 15 < wins < 45


@pytest.mark.parametrize("text", ["1122m3344p5566s77z", "19m19p19s12345677z", "111222333m444p55z"])
def test_every_form_of_a_complete_hand_wins(text: str) -> None:
    tiles = [kind for kind, n in enumerate(hand_counts(text).tolist()) for _ in range(n)]
    rest = [kind for kind in range(34) for _ in range(4 - tiles.count(kind))]
    game = new_game(0, 0)
    deal(game, np.array(tiles + rest[: N_USED - 14], np.int8))
    assert not draw(game)
    assert game["is_won"]
    assert is_complete(game["hand"].tolist())


def test_play_returns_the_winning_draw() -> None:
    for number in range(20):
        game = new_game(3, number)
        won = play(GreedyPlayer(), game, 0)
        assert won == (game["n_draws"] if is_complete(game["hand"].tolist()) else 0)


def test_a_player_cannot_discard_what_it_does_not_hold() -> None:
    class Cheat(RandomPlayer):
        def choose(self, game: OnePlayerGame) -> int:
            return next(kind for kind in range(34) if not game["hand"][kind])

    with pytest.raises(ValueError, match=r"draw 1: kind .* is not in the hand"):
        play(Cheat(), new_game(0, 0), 0)
