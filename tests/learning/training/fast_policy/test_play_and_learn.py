"""What is learned from a kyoku: who plays it, advantages, and the slopes of the loss."""

import numpy as np
import pytest

from mjbot.game.referee.flow import deal
from mjbot.game.referee.step import new_step_buffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.actions import DECIDES_ALL
from mjbot.game.table.apply import apply_start_game
from mjbot.game.table.state import new_state
from mjbot.learning.models.fast_policy.candidates import DISCARD
from mjbot.learning.models.fast_policy.choice import policy_of
from mjbot.learning.models.fast_policy.network import (
    Layers,
    answer,
    load_network,
    units_of,
    weights_in,
)
from mjbot.learning.models.networks.rank import rank_model
from mjbot.learning.training.fast_policy.play_and_learn import (
    MOST_TRACES,
    N_CRITIC,
    add_policy_gradients,
    all_seats,
    initial_critic,
    keep_kyoku,
    new_learner,
    write_gains,
)

TEMPERATURE, KL, BONUS = 0.5, 0.3, 0.7


def new_kept(sharper, own):
    """A learner that kept a kyoku of some seats, and the rewards of all."""
    start, weights = load_network(), load_network()
    weights.last[:] *= sharper
    units = units_of(weights)
    learner = new_learner(
        policy_of(weights),
        policy_of(start),
        rank_model().weights,
        critic=initial_critic(3),
        critic_gradients=np.zeros(N_CRITIC, np.float32),
        gradients=weights_in(np.zeros(units.n_weights, np.float32), units),
        random=np.array([5], np.uint64),
        settings=np.array([TEMPERATURE, KL, 0.9, BONUS]),
    )
    state, buffer = new_state(), new_step_buffer()
    buffer["decides"] = DECIDES_ALL
    apply_start_game(state, rule_set())
    shuffle_wall(8, 0, 0, state["wall"], 4)
    deal(state, buffer, 0, 0)
    rewards = np.zeros(4)
    keep_kyoku(learner, state, buffer, own, rewards)
    return learner, rewards


@pytest.fixture
def learner():
    """A learner that kept a kyoku, whose policy is not that of its start any more."""
    learner, rewards = new_kept(1.1, all_seats(4))
    assert abs(rewards.sum()) < 1e-3
    assert learner.traces.counts[0] > 8
    return learner, rewards


def test_the_start_plays_as_the_policy_does_that_is_still_the_start():
    everyone, rewards = new_kept(1.0, all_seats(4))
    alone, same = new_kept(1.0, 0b0100)
    assert (same == rewards).all()
    seats = everyone.traces.numbers[: everyone.traces.counts[0], 3]
    assert alone.traces.counts[0] == (seats == 2).sum() > 0
    assert (alone.traces.numbers[: alone.traces.counts[0], 3] == 2).all()


def test_advantages_are_sums_of_later_differences(learner):
    learner, rewards = learner
    traces, gains = learner.traces, np.zeros(MOST_TRACES)
    n = int(traces.counts[0])
    write_gains(traces, rewards, 1.0, gains)
    seats, values = traces.numbers[:n, 3], traces.values[:n]
    assert gains[:n] == pytest.approx(rewards[seats] - values)
    write_gains(traces, rewards, 0.0, gains)
    for seat in range(4):
        of_it = np.flatnonzero(seats == seat)
        following = [*values[of_it[1:]], rewards[seat]]
        assert gains[of_it] == pytest.approx(following - values[of_it])


def chances(scores):
    found = np.exp((scores - scores.max()) / TEMPERATURE)
    return found / found.sum()


def loss(learner, layers, advantages):
    total, traces = 0.0, learner.traces
    for at in range(traces.counts[0]):
        question, n, picked = traces.numbers[at, :3].tolist()
        answer(learner.policy.weights, question, n, traces.readings[at], layers)
        size = n if question == DISCARD else n + 1
        now = chances(layers["scores"][:size].astype(float))
        total -= advantages[at] * np.log(now[picked])
        total += KL * (now * np.log(now / traces.before[at, :size])).sum()
        total += BONUS * (now * np.log(now)).sum()
    return total


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("name", ["rows", "last", "second", "context", "inputs"])
def test_what_is_learned_are_the_slopes_of_the_loss(learner, name, spread):
    learner = learner[0]
    advantages = np.random.default_rng(4).normal(0, spread, learner.traces.counts[0])
    for at, advantage in enumerate(advantages):
        add_policy_gradients(learner, at, advantage)
    found = getattr(learner.gradients, name)
    weights, layers = getattr(learner.policy.weights, name), Layers.new()
    for place in np.argsort(-np.abs(found))[:2].tolist():
        before, losses = float(weights[place]), []
        for sign in (1, -1):
            weights[place] = before + sign * 1e-3
            losses.append(loss(learner, layers, advantages))
        weights[place] = before
        assert (losses[0] - losses[1]) / 2e-3 == pytest.approx(found[place], rel=0.05)
