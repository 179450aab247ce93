"""One game in PettingZoo's form."""

import gc
import importlib
import sys
import warnings

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.learning.env import env, raw_env
from mjbot.learning.env.actions import N_ACTIONS, PASS
from mjbot.learning.env.batch import MaskedActionError
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS, encode, new_encoder
from mjbot.runtime.errors import MjbotError


@pytest.fixture(autouse=True)
def pettingzoo():
    """Return the library; warnings of its checks are errors."""
    library = pytest.importorskip("pettingzoo", reason="the extra [env] is not installed")
    gc.collect()  # what other tests left open is no warning of the checks
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield library


def play(game, random, steps=1 << 30):
    """Play at random; yield what the agents get at each step."""
    for agent in game.agent_iter(steps):
        observation, reward, over, _, info = game.last()
        yield agent, observation, reward, over, info
        legal = np.flatnonzero(info["action_mask"])
        game.step(None if over else int(random.choice(legal)))


@pytest.mark.parametrize(
    ("length", "reward", "n_seats"),
    [
        ("hanchan", "score", 4),
        ("tonpu", "rank", 4),
        ("tonpu", "rank-model", 4),
        ("hanchan", "rank", 3),
    ],
)
def test_it_passes_the_librarys_own_checks(length, reward, n_seats):
    from pettingzoo.test import api_test, seed_test

    api_test(env(length, reward, n_seats), num_cycles=1000)
    seed_test(lambda: env(length, reward, n_seats), num_cycles=500)


def test_agents_see_what_the_encoder_sees_and_may_do_what_is_legal():
    game, encoder = raw_env(), new_encoder()
    game.reset(seed=4)
    referee = Referee(4)
    referee.start()
    agent, seen, _, _, info = next(play(game, np.random.default_rng(0)))
    planes, scalars = np.empty((34, N_PLANES), np.float32), np.empty(N_SCALARS, np.float32)
    encode(referee.state, 0, encoder, planes, scalars)
    assert agent == "player_0"
    assert (seen[: 34 * N_PLANES].reshape(34, N_PLANES) == planes).all()
    assert (seen[34 * N_PLANES :] == scalars).all()
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].shape == (N_ACTIONS,)
    discards = {action.tile for action in referee.asked[0] if action.is_discard}
    assert set(np.flatnonzero(info["action_mask"][:37])) == discards


@pytest.mark.parametrize(("n_seats", "start"), [(4, 25_000), (3, 35_000)])
def test_rewards_of_a_game_are_the_final_scores(n_seats, start):
    game = env(length="tonpu", n_seats=n_seats)
    sums = dict.fromkeys([f"player_{seat}" for seat in range(n_seats)], 0.0)
    game.reset(seed=8)
    for agent, _, reward, _, _ in play(game, np.random.default_rng(1)):
        sums[agent] += reward
    assert game.agents == []
    scores = game.unwrapped._batch.final_scores[0]
    assert [1000 * total for total in sums.values()] == pytest.approx(scores - start, abs=0.1)


def test_resets_go_on_with_the_seeds_that_follow():
    game = env()
    game.reset(seed=8)
    game.reset()
    assert game.unwrapped._batch.seeds.tolist() == [9]
    again = env()
    again.reset(seed=9)
    assert (game.last()[0] == again.last()[0]).all()


def test_those_whom_one_discard_concerns_answer_one_after_the_other():
    game, several = raw_env(), 0
    game.reset(seed=8)
    for agent, _, _, over, info in play(game, np.random.default_rng(1)):
        if over:
            break
        others = [other for other in game.agents if game.infos[other]["action_mask"].any()]
        assert agent in others
        several += len(others) > 1
        assert len(others) == 1 or info["action_mask"][PASS]
    assert several


def test_an_illegal_action_raises_without_the_wrappers_and_ends_the_game_with_them():
    game = raw_env()
    game.reset(seed=1)
    with pytest.raises(MaskedActionError, match="45"):
        game.step(PASS)
    assert game.last()[4]["action_mask"].any()
    game = env()
    game.reset(seed=1)
    game.step(PASS)
    assert all(game.terminations.values())
    assert game.rewards["player_0"] == -1


def test_the_table_can_be_shown():
    game = env()
    game.reset(seed=1)
    assert game.render().startswith("East 1, honba 0\nplayer_0  25000:")


@pytest.mark.parametrize("missing", ["pettingzoo", "gymnasium"])
def test_one_line_says_what_to_install(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "mjbot.learning.env.aec", raising=False)
    monkeypatch.delitem(sys.modules, "gymnasium.spaces", raising=False)
    with pytest.raises(MjbotError, match=r"pip install 'mjbot\[env\]'"):
        env()
    monkeypatch.undo()
    importlib.import_module("mjbot.learning.env")
