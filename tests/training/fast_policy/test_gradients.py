"""Gradients in compiled code are the slopes of the loss."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.models.fast_policy.choice import policy_of
from mjbot.models.fast_policy.network import N_WEIGHTS, SHAPES, weights_in
from mjbot.models.fast_policy.reading import MOST_CANDIDATES
from mjbot.training.fast_policy.gradients import new_errors
from mjbot.training.fast_policy.imitation import hard_targets, initial_arrays, learn_rows
from mjbot.training.networks.decisions import KINDS, decisions_of
from mjbot.training.positions import index_games, steps

LOG = Path(__file__).parents[3] / "logs" / "hanchan-thirteen-kyoku.mjson"


@pytest.fixture(scope="module")
def some():
    """Twenty rows of each kind, with their tables."""
    (game,) = steps(index_games([LOG]))
    found = decisions_of(game)
    rows = np.concatenate([found.rows[place][:20] for place in range(len(KINDS))])
    states = np.concatenate([found.states[place][:20] for place in range(len(KINDS))])
    return states, rows


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_are_slopes(some, name):
    numbers = initial_arrays(1)
    policy, errors = policy_of(weights_in(numbers)), new_errors(MOST_CANDIDATES)

    def loss(gradients):
        targets = hard_targets(some[1])
        return learn_rows(policy, *some, targets, errors, weights_in(gradients))

    gradients = np.zeros(N_WEIGHTS, np.float32)
    loss(gradients)
    found = getattr(weights_in(gradients), name)
    weights = getattr(weights_in(numbers), name)
    for place in np.argsort(-np.abs(found))[:3].tolist():
        before, step, losses = float(weights[place]), 2e-3, []
        for sign in (1, -1):
            weights[place] = before + sign * step
            losses.append(loss(np.zeros(N_WEIGHTS, np.float32)))
        weights[place] = before
        assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(found[place], rel=0.05)
