from pathlib import Path

import numpy as np
import pytest

from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.shanten import shanten
from mjbot.learning.models.hand import HandEvaluator
from mjbot.strategy.registry import Spec
from papers.one_player.game import (
    OnePlayerGame,
    deal,
    discard,
    draw,
    draws_left,
    new_game,
)
from papers.one_player.players import GreedyPlayer, RandomPlayer, SoloPlayer, play
from papers.one_player.runs import PlayerError, digest_of, make_player
from papers.one_player.search import UctPlayer
from papers.one_player.strategy_adapter import EvaluatorPlayer, StrategyAdapter

HERE = Path(__file__).parent


def positions(n_games: int) -> list[OnePlayerGame]:
    """The 14-tile hands of some games, copied."""
    found, player = [], RandomPlayer()
    for number in range(n_games):
        game = new_game(11, number)
        player.start(game, number)
        while draw(game):
            found.append(game.copy())
            discard(game, player.choose(game))
    return found


def with_hand(text: str, n_draws: int) -> OnePlayerGame:
    """A game at its n-th draw, in which a hand of 14 is held and nothing else was seen."""
    hand = hand_counts(text)
    tiles = np.repeat(np.arange(34), hand)
    rest = np.repeat(np.arange(34), 4 - hand)
    game = new_game(0, 0)
    deal(game, np.concatenate([tiles, rest])[:40].astype(np.int8))
    assert draw(game)
    game["n_draws"] = n_draws
    return game


def test_greedy_leaves_the_least_shanten_and_the_most_tiles_that_lower_it() -> None:
    for game in positions(3)[::4]:
        hand, unseen = game["hand"], game["unseen"]
        rated = {}
        for kind in np.flatnonzero(hand).tolist():
            rest = hand.copy()
            rest[kind] -= 1
            here, tiles = shanten(rest, 0), 0
            for more in np.flatnonzero(rest < 4).tolist():
                rest[more] += 1
                tiles += int(unseen[more]) * (shanten(rest, 0) < here)
                rest[more] -= 1
            rated[kind] = (-here, tiles, kind)
        assert GreedyPlayer().choose(game) == max(rated, key=lambda kind: rated[kind])


@pytest.mark.parametrize("name", ["random", "uct:30", "greedy", "evaluator:paper"])
def test_a_player_repeats_its_games_and_only_dice_change_them(name: str) -> None:
    player = make_player(name)
    game, again, other = new_game(5, 1), new_game(5, 1), new_game(5, 1)
    assert play(player, game, 9) == play(make_player(name), again, 9)
    assert game["river"].tolist() == again["river"].tolist()
    play(player, other, 10)
    has_dice = name in ("random", "uct:30")
    assert (other["river"].tolist() != game["river"].tolist()) == has_dice


def test_the_random_player_discards_each_of_its_tiles_as_often() -> None:
    game = with_hand("112345678999m1z1s", 1)
    player, n = RandomPlayer(), 7000
    player.start(game, 3)
    counts = np.bincount([player.choose(game) for _ in range(n)], minlength=34)
    expected = game["hand"] * (n / 14)
    held = expected > 0
    assert counts[~held].sum() == 0
    chi_squared = ((counts - expected)[held] ** 2 / expected[held]).sum()
    assert chi_squared < 30  # 10 degrees of freedom: once in 1,000 seeds, and this seed is fixed


def test_a_strategy_sees_the_game_and_may_only_discard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    player = StrategyAdapter(Spec.read("probe:Probe"))
    import probe  # the very module that the registry has loaded

    for number in range(5):
        game = new_game(2, number)
        probe.GAMES.append(game)
        play(player, game, 0)
        assert game["river"][0] == game["wall"][13]


def test_a_strategy_that_does_not_discard_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    with pytest.raises(ValueError, match="chose riichi, not a discard"):
        play(StrategyAdapter(Spec.read("probe:Kan")), new_game(2, 0), 0)


def test_a_known_strategy_wins_about_half_of_its_games() -> None:
    player = StrategyAdapter(Spec.read("fast-riichi-a"))
    assert 15 < sum(play(player, new_game(4, number), 0) > 0 for number in range(60)) < 45


def test_the_evaluator_discards_what_it_scores_highest() -> None:
    player, evaluator = EvaluatorPlayer(), HandEvaluator.load()
    for game in positions(2)[::5]:
        scores = evaluator.scores(game["hand"], 0, game["unseen"])
        assert scores[player.choose(game)] == scores.max()


def test_uct_finds_the_wide_wait_when_one_draw_is_left() -> None:
    game = with_hand("23456m345678p11s1z", 26)  # 147m after 1z, nothing else leaves tenpai
    assert draws_left(game) == 1
    player = UctPlayer(3000)
    player.start(game, 1)
    assert player.choose(game) == 27


@pytest.mark.parametrize("name", ["nobody", "uct:0", "uct:x", "evaluator:none", "strategy:none"])
def test_an_unknown_player_is_one_line(name: str) -> None:
    with pytest.raises(PlayerError) as error:
        make_player(name)
    assert "\n" not in str(error.value)


def test_digests_tell_players_apart() -> None:
    names = ["random", "search", "evaluator:paper", "strategy:fast-riichi-a", "strategy:tsumogiri"]
    assert len({digest_of(name) for name in names}) == len(names)
    assert digest_of("search") == digest_of("search")


def test_players_are_players() -> None:
    players: list[SoloPlayer] = [
        make_player(name) for name in ("random", "greedy", "search", "uct:5")
    ]
    assert all(0 <= play(player, new_game(1, 1), 1) <= 27 for player in players)
