"""Gradients in compiled code are the slopes of the loss."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.learning.models.fast_policy.choice import policy_of
from mjbot.learning.models.fast_policy.network import PolicyWeights, Units, load_network, weights_in
from mjbot.learning.models.fast_policy.reading import MOST_CANDIDATES
from mjbot.learning.training.fast_policy.gradients import new_errors
from mjbot.learning.training.fast_policy.imitation import (
    MOST_CLASSES,
    embed,
    hard_targets,
    initial_weights,
    learn_rows,
    write_row_chances,
)
from mjbot.learning.training.fast_policy.requests import ImitationPlan
from mjbot.learning.training.networks.decisions import KINDS, decisions_of
from mjbot.learning.training.positions import index_games, steps
from mjbot.learning.training.runs import TrainingError

LOG = Path(__file__).parents[4] / "logs" / "hanchan-thirteen-kyoku.mjson"


@pytest.fixture(scope="module")
def some():
    """Twenty rows of each kind, with their tables."""
    (game,) = steps(index_games([LOG]))
    found = decisions_of(game)
    rows = np.concatenate([found.rows[place][:20] for place in range(len(KINDS))])
    states = np.concatenate([found.states[place][:20] for place in range(len(KINDS))])
    return states, rows


def plan_of(units):
    return ImitationPlan(first=units.first, second=units.second, plans=units != Units(), seed=1)


@pytest.mark.parametrize("units", [Units(), Units(64, 48)])
@pytest.mark.parametrize("name", PolicyWeights._fields)
def test_gradients_are_slopes(some, name, units):
    start = initial_weights(plan_of(units))
    policy, errors = policy_of(start), new_errors(MOST_CANDIDATES)

    def loss(gradients):
        targets = hard_targets(some[1])
        return learn_rows(policy, *some, targets, errors, weights_in(gradients, units))

    gradients = np.zeros(units.n_weights, np.float32)
    loss(gradients)
    found = getattr(weights_in(gradients, units), name)
    weights = getattr(start, name)
    for place in np.argsort(-np.abs(found))[:3].tolist():
        before, step, losses = float(weights[place]), 2e-3, []
        for sign in (1, -1):
            weights[place] = before + sign * step
            losses.append(loss(np.zeros(units.n_weights, np.float32)))
        weights[place] = before
        assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(found[place], rel=0.05)


def test_a_wider_network_starts_with_the_answers_of_a_narrow_one(some):
    wide, narrow = initial_weights(plan_of(Units(64, 48))), load_network()
    embed(narrow, wide)
    found, expected = (np.empty((len(some[1]), MOST_CLASSES), np.float32) for _ in range(2))
    write_row_chances(policy_of(wide), *some, found)
    write_row_chances(policy_of(narrow), *some, expected)
    assert np.abs(found - expected).max() < 1e-5
    with pytest.raises(TrainingError, match="64 and 48 units"):
        embed(wide, narrow)
