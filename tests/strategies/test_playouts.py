"""Playouts by risk lists: the referee's own kyoku, played by what each player fears."""

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.referee.step import new_step_buffer
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.table.actions import ACTIONS, DISCARD, DISCARD_DRAWN, PASS, RON
from mjbot.game.table.observe import extra_copy
from mjbot.game.table.state import DRAWN, REACTION, TURN, WON, copy_state, new_state
from mjbot.learning.models.tenpai import hand_reader
from mjbot.strategies.collusion_mc import CollusionMc
from mjbot.strategies.evaluation.playouts.playouts import own_turn, play_out
from mjbot.strategies.evaluation.playouts.search import begin, fill_in, make_lists
from papers.takada2022.experiment import position


def random_lists(seed: int):
    return np.random.default_rng(seed).integers(0, 5, (4, 34)).astype(np.float64)


@pytest.mark.parametrize("seed", range(12))
def test_a_playout_is_the_kyoku_that_the_referee_would_play(seed):
    referee = Referee(seed)
    referee.start()
    for _ in range(20):
        referee.step({seat: referee.view(seat).default_action for seat in referee.asked})
    lists, played = random_lists(seed), copy_state(referee.state)
    play_out(played, new_step_buffer(), lists, np.array([seed], np.uint64))
    assert int(played["phase"]) in (WON, DRAWN)
    random = np.array([seed], np.uint64)
    kyoku = (int(referee.state["round"]), int(referee.state["honba"]))
    scores = None
    while not referee.over and (int(referee.state["round"]), int(referee.state["honba"])) == kyoku:
        choices = {}
        for seat, legal in referee.asked.items():
            if int(referee.state["turn"]) == seat and int(referee.state["phase"]) != REACTION:
                choices[seat] = ACTIONS[own_turn(referee.state, lists, random)]
            else:
                choices[seat] = ACTIONS[RON if ACTIONS[RON] in legal else PASS]
        for event in referee.step(choices):
            if event.__class__.__name__ in ("Hora", "Ryukyoku"):
                scores = list(event.scores)
    assert scores == played["scores"].tolist()


def seat_to_discard(hand: str, drawn: int):
    state = new_state()
    state["hand"][0] = hand_counts(hand)
    state["hand_known"][0] = 1
    state["hand_size"][0] = 14
    state["phase"], state["drawn"], state["wall_left"] = TURN, drawn, 30
    return state


def test_the_tile_of_least_risk_goes_and_of_equals_any():
    state = seat_to_discard("159m159p159s12345z", 31)
    lists, random = np.full((4, 34), 100.0), np.array([1], np.uint64)
    lists[0, [8, 28]] = 50
    chosen = [own_turn(state, lists, random) for _ in range(300)]
    assert set(chosen) == {DISCARD + 8, DISCARD + 28}
    assert 100 < chosen.count(DISCARD + 8) < 200


def test_whoever_is_tenpai_stays_so():
    state = seat_to_discard("234567m234p2366s9s", 26)
    lists, random = np.zeros((4, 34)), np.array([1], np.uint64)
    lists[0] = np.arange(34)  # 2m is the safest, 9s the one that keeps tenpai
    assert own_turn(state, lists, random) == DISCARD_DRAWN + 26
    farther = seat_to_discard("234567m234p2358s9s", 26)
    assert own_turn(farther, lists, random) == DISCARD + 1


def test_dealt_positions_hold_no_fifth_copy_and_keep_all_points():
    view = position("figure6.jsonl", 0)
    bot = CollusionMc(mode="paper")
    workspace = bot._set_up(view)
    random, visible = np.array([5], np.uint64), np.empty(34, np.int8)
    for _ in range(30):
        workspace["filled"] = workspace["position"]
        fill_in(workspace, hand_reader(), random)
        assert extra_copy(workspace["filled"], visible) == -1
        assert workspace["filled"]["hand"][0].tolist() == view.hand.tolist()
        workspace["begun"] = workspace["filled"]
        begin(workspace["begun"], workspace["buffer"], 0, view.legal[0].code)
        make_lists(workspace, random)
        play_out(workspace["begun"], workspace["buffer"], workspace["lists"], random)
        assert int(workspace["begun"]["scores"].sum()) == 100_000
