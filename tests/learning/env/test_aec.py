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


def test_dictionaries_pass_the_librarys_own_checks():
    from pettingzoo.test import api_test, seed_test

    warnings.filterwarnings("ignore", "Observation ")  # it warns about any Dict
    api_test(env("tonpu", observation="dict"), num_cycles=500)
    seed_test(lambda: env("tonpu", n_seats=3, observation="dict"), num_cycles=300)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"observation": "box"}, "observation must be flat or dict, not 'box'"),
        ({"observation": 5}, "observation must be a text, not 5"),
        ({"render_mode": "rgb_array"}, "render_mode must be ansi, human or None, not 'rgb_array'"),
    ],
)
def test_other_forms_are_refused(wrong, problem):
    with pytest.raises((TypeError, ValueError), match=problem):
        env(**wrong)


def test_a_person_sees_the_table_after_each_decision(capsys):
    game = env("tonpu", observation="dict", render_mode="human")
    game.reset(seed=1)
    assert capsys.readouterr().out == ""
    game.step(int(np.flatnonzero(game.last()[0]["action_mask"])[0]))
    assert capsys.readouterr().out.startswith("East 1, honba 0\nplayer_0")
    assert game.render() is None
    assert capsys.readouterr().out.startswith("East 1, honba 0\nplayer_0")


def test_both_forms_show_the_same():
    flat, dicts = raw_env("tonpu"), raw_env("tonpu", observation="dict")
    assert set(dicts.observation_space("player_0")) == {"observation", "action_mask"}
    for game in (flat, dicts):
        game.reset(seed=4)
    random = np.random.default_rng(3)
    for agent in flat.agent_iter(60):
        seen, _, over, _, info = flat.last()
        shown, *_ = dicts.last()
        observation, mask = shown.values()  # in this order, which tutorials rely on
        assert (observation == seen).all() and (mask == info["action_mask"]).all()
        assert dicts.observation_space(agent).contains(shown)
        others = [other for other in flat.agents if not flat.infos[other]["action_mask"].any()]
        assert not any(dicts.observe(other)["action_mask"].any() for other in others)
        action = None if over else int(random.choice(np.flatnonzero(mask)))
        flat.step(action)
        dicts.step(action)
    shown["action_mask"][:] = 1  # a copy
    assert not dicts.observe("player_0")["action_mask"].all()


def test_a_single_agent_wrapper_of_the_librarys_tutorials_learns_and_plays():
    """A policy of Stable-Baselines3 with masks makes these calls; here it plays at random."""
    import gymnasium
    from pettingzoo.utils import BaseWrapper

    class OneAgent(BaseWrapper, gymnasium.Env):
        def reset(self, seed=None, options=None):
            super().reset(seed, options)
            first = self.possible_agents[0]
            self.observation_space = super().observation_space(first)["observation"]
            self.action_space = super().action_space(first)
            return self.observe(self.agent_selection), {}

        def step(self, action):
            agent = self.agent_selection
            super().step(action)
            ends = self.terminations[agent], self.truncations[agent]
            seen = self.observe(self.agent_selection)
            return seen, self._cumulative_rewards[agent], *ends, self.infos[agent]

        def observe(self, agent):
            return super().observe(agent)["observation"]

        def action_mask(self):
            return super().observe(self.agent_selection)["action_mask"]

    game, games = OneAgent(env("tonpu", observation="dict")), 0
    seen, _ = game.reset(seed=0)
    for _ in range(400):
        assert game.observation_space.contains(seen)
        action = int(game.action_space.sample(game.action_mask()))
        seen, reward, over, cut, _ = game.step(action)
        assert np.isfinite(reward) and not cut
        if over:
            games += 1
            seen, _ = game.reset()
    game = env("tonpu", observation="dict", render_mode=None)
    game.reset(seed=1)
    game.action_space("player_0").seed(1)
    for agent in game.agent_iter():
        shown, _, over, cut, _ = game.last()
        _, mask = shown.values()
        if over or cut:
            assert set(game.rewards) == set(game.possible_agents)
            break
        game.step(int(game.action_space(agent).sample(mask)))
    assert game.unwrapped.metadata.get("name") == "mjbot_riichi_v0"
