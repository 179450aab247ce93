"""The averaged perceptron, learning which discard was made (Mizukami et al. 2013, section 5.2).

Where the discard that scores best is not the one that was made, the weights of the latter's
features go up by one and those of the former's down; the result is the mean of the weights over
all positions seen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.hands import kind_of
from mjbot.learning.models.hand import Choices, score, write_choices
from mjbot.learning.training.hand_positions import Positions
from mjbot.runtime.compiler.compiled import compiled

Weights = NDArray[np.float64]


class PerceptronState(NamedTuple):
    """What is known so far, after ``steps[0]`` positions.

    ``sums`` add up every change times the step it was made at, so that the mean of the weights
    over all steps is ``weights - sums / steps`` (Daumé 2006).
    """

    weights: Weights
    sums: Weights
    steps: NDArray[np.int64]


def initial_state(n_features: int) -> PerceptronState:
    """Return what is known before the first position: nothing."""
    return PerceptronState(np.zeros(n_features), np.zeros(n_features), np.zeros(1, np.int64))


def averaged(state: PerceptronState) -> NDArray[np.float32]:
    """Return the mean of the weights over all steps: float32[n_features]."""
    mean = state.weights - state.sums / max(int(state.steps[0]), 1)
    return mean.astype(np.float32)


@compiled
def learn(
    feature_set: int,
    positions: Positions,
    order: NDArray[np.int64],
    choices: Choices,
    state: PerceptronState,
) -> int:
    """Learn from ``positions`` in this order; return how often the best discard was made."""
    right = 0
    for number in order:
        position = positions[number]
        n = write_choices(feature_set, position, choices)
        best, made, highest = 0, 0, -np.inf
        for choice in range(n):
            points = score(state.weights, choices.features[choice], choices.counts[choice])
            if points > highest:
                best, highest = choice, points
            if choices.kinds[choice] == kind_of(position.tile):
                made = choice
        if best == made:
            right += 1
        else:
            _change(state, choices, made, 1)
            _change(state, choices, best, -1)
        state.steps[0] += 1
    return right


@compiled
def _change(state: PerceptronState, choices: Choices, choice: int, sign: int) -> None:
    for place in range(choices.counts[choice]):
        feature = choices.features[choice, place]
        state.weights[feature] += sign
        state.sums[feature] += sign * state.steps[0]


@compiled
def ranks_of_made(
    feature_set: int,
    positions: Positions,
    choices: Choices,
    weights: NDArray[np.float32],
    ranks: NDArray[np.int8],
) -> None:
    """Write which rank (1 is best) the discard made has in each position: int8[n].

    Of equals the discard made ranks last: doubt is no agreement.
    """
    points = np.empty(14, np.float64)
    for number in range(len(positions)):
        position = positions[number]
        n = write_choices(feature_set, position, choices)
        made = 0.0
        for choice in range(n):
            points[choice] = score(weights, choices.features[choice], choices.counts[choice])
            if choices.kinds[choice] == kind_of(position.tile):
                made = points[choice]
        ranks[number] = 0
        for choice in range(n):
            ranks[number] += points[choice] >= made
