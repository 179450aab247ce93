"""fold-recognition and its baseline: hands by hand, and whole games under the referee."""

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.protocol.tiles import TILE_BY_NAME, TILE_NAMES, tile_kind
from mjbot.strategies.evaluation.push_fold.one_player import best_discard
from mjbot.strategies.evaluation.push_fold.push import joint_danger, seats_to_fold_to
from mjbot.strategy.registry import make_strategy
from tests.strategies.test_fast_riichi import choice

BOTH = ("fold-recognition", "fold-recognition-off")
TENPAI = "123m456m789m23p55s"
FAR = "1479m258p2469s125z"
"""Far from a win: three suits of lone tiles."""


# --- with or without the recogniser ----------------------------------------------------------


@pytest.mark.parametrize("name", BOTH)
def test_wins_are_taken(position, name):
    assert choice(name, position(TENPAI, drawn="4p", riichi=[1])) == "tsumo"
    assert choice(name, position("234m456m789m23p55s", offered="4p", riichi=[0])) == "ron"


@pytest.mark.parametrize("name", BOTH)
def test_nothing_is_called(position, name):
    assert choice(name, position("2388m345p46s19p77z", offered="7z")) == "pass"
    assert choice(name, position("2388m345p46s19p77z", offered="8m")) == "pass"


@pytest.mark.parametrize("name", BOTH)
def test_riichi_on_tenpai_and_then_the_tile_that_the_hand_wants(position, name):
    assert choice(name, position(TENPAI, drawn="2z")) == "riichi"
    assert choice(name, position(TENPAI, drawn="2z", declared=True)) == "discard S (drawn)"


@pytest.mark.parametrize("name", BOTH)
def test_no_riichi_short_of_tenpai(position, name):
    assert choice(name, position("123m456m79m135p55s", drawn="2z")).startswith("discard")


@pytest.mark.parametrize("name", BOTH)
def test_in_riichi_the_drawn_tile_goes_even_if_a_kan_is_legal(position, name):
    view = position("111z456m789m23p55s", drawn="1z", riichi=[0, 1])
    assert "ankan E" in map(str, view.legal)
    assert choice(name, view) == "discard E (drawn)"


def test_of_a_kind_the_plain_five_goes_and_of_equals_the_drawn_tile(position):
    view = position("055m123p456p11s234s", drawn="5m")
    points = np.zeros(34)
    points[TILE_BY_NAME["5m"]] = 1.0
    assert str(best_discard(view.discards, points)) == "discard 5m (drawn)"
    view = position("555m123p456p11s234s", drawn="0m")
    assert str(best_discard(view.discards, points)) == "discard 5m"


# --- folding ---------------------------------------------------------------------------------


def test_a_hopeless_hand_folds_late_against_a_riichi(position):
    view = position(FAR, drawn="5p", rivers={1: "9m6p2s5z"}, riichi=[1], wall_left=20)
    assert choice("fold-recognition", view) in ("discard 9m", "discard 2s", "discard P")
    far_from_it = position(FAR, drawn="5p", rivers={1: "9m6p2s5z"}, wall_left=60)
    assert choice("fold-recognition", far_from_it) == choice("fold-recognition-off", far_from_it)


def test_caution_moves_the_border(position):
    threat = {"rivers": {1: "4z9m", 2: "9m"}, "riichi": [1, 2]}
    view = position("123m456m79m135p55s", drawn="9m", **threat)
    wanted = choice("fold-recognition-off", view)
    assert choice("fold-recognition", view, caution="-100") == wanted
    assert choice("fold-recognition", view, caution="100") == "discard 9m (drawn)"
    tenpai = position(TENPAI, drawn="1m", rivers={1: "1m"}, riichi=[1])
    assert choice("fold-recognition", tenpai, caution="-100") == "riichi"
    assert choice("fold-recognition", tenpai, caution="100").startswith("discard 1m")


def test_folding_is_against_all_in_riichi_else_against_the_most_melds(position):
    view = position(FAR, drawn="5p", riichi=[1, 3])
    assert seats_to_fold_to(view.state, 0) == 0b1010
    view = position(FAR, drawn="5p")
    assert seats_to_fold_to(view.state, 0) == 0b1110
    view.state["n_melds"][:] = [0, 1, 2, 2]
    assert seats_to_fold_to(view.state, 0) == 0b1100
    view.state["riichi"][1] = 2
    assert seats_to_fold_to(view.state, 0) == 0b0010


def test_what_is_safe_against_all_comes_first(position):
    rivers = {1: "9m4p", 2: "9m", 3: "1z"}
    view = position(FAR, drawn="5p", rivers=rivers, riichi=[1, 2])
    danger = joint_danger(view.state, 0, seats_to_fold_to(view.state, 0))
    order = [TILE_NAMES[kind] for kind in np.argsort(danger, kind="stable")]
    assert order[0] == "9m"  # genbutsu of both
    assert order[1] == "E"  # on the table, genbutsu of none of the two
    assert danger[TILE_BY_NAME["4p"]] < danger[TILE_BY_NAME["1p"]] < danger[TILE_BY_NAME["2p"]]


# --- whole games -----------------------------------------------------------------------------


class Watched:
    """Says what a player does and what the steps of its flow demand."""

    def __init__(self, name: str) -> None:
        self.bot = make_strategy(name)
        self.folds = self.riichi = self.wins = 0

    def decide(self, view):
        action = self.bot.decide(view)
        legal = {option.name for option in view.legal}
        for win in ("tsumo", "ron"):
            assert action.name == win or win not in legal
        assert action.name in ("discard", "riichi", "tsumo", "ron", "pass")
        self.riichi += action.name == "riichi"
        self.wins += action.name in ("tsumo", "ron")
        if action.name == "discard":
            self.check_discard(view, action)
        return action

    def check_discard(self, view, action) -> None:
        wanted = str(make_strategy("fold-recognition-off").decide(view))
        if wanted == str(action):
            return
        danger = joint_danger(view.state, view.seat, seats_to_fold_to(view.state, view.seat))
        held = [danger[tile_kind(option.tile)] for option in view.discards]
        assert danger[tile_kind(action.tile)] == min(held)
        self.folds += 1


def play(seed: int, names: tuple[str, ...]) -> tuple[list[int], list[Watched]]:
    bots = [Watched(name) for name in names]
    referee = Referee(seed, "tonpu")
    referee.start()
    while asked := referee.asked:
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
    return [int(points) for points in referee.state["scores"]], bots


def test_whole_games_follow_the_flow_and_can_be_repeated():
    folds = wins = riichi = 0
    for seed in range(3):
        names = ("fold-recognition", "fold-recognition", *BOTH)
        scores, bots = play(seed, names)
        assert sum(scores) == 100_000
        assert bots[3].folds == 0
        folds += sum(bot.folds for bot in bots)
        wins += sum(bot.wins for bot in bots)
        riichi += sum(bot.riichi for bot in bots)
    assert min(folds, wins, riichi) > 5
    assert play(2, names)[0] == scores
