"""Gradients of the fast policy's network, and Adam, in compiled code.

The loss of a question is the cross-entropy between its chances p and a target t over the
candidates and "no"; its derivative by a score is p - t.  From there the derivatives follow back
through both layers (:mod:`mjbot.learning.models.fast_policy.network`); rows that all candidates
share, and the context, get the sum over the candidates.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.learning.models.fast_policy.candidates import N_QUESTIONS
from mjbot.learning.models.fast_policy.network import MOST_UNITS, Layers, PolicyWeights
from mjbot.learning.models.fast_policy.reading import N_CONTEXT, N_INPUTS, Reading
from mjbot.learning.models.fast_policy.shape_rows import NONE, OF_KIND
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s
from mjbot.runtime.compiler.vectors import add_row, dot_row

FIRST_MOMENT: Final = 0.9
SECOND_MOMENT: Final = 0.999
EPSILON: Final = 1e-8


class Errors(NamedTuple):
    """Derivatives on the way back, scratch memory of one thread."""

    scores: Float32s  # [candidates + 1]
    second: Float32s  # [MOST_UNITS], as the others of which narrower layers use the beginning
    first: Float32s  # [MOST_UNITS]
    base: Float32s  # [MOST_UNITS], sum over the candidates


def new_errors(candidates: int) -> Errors:
    """Return scratch memory."""
    sizes = candidates + 1, MOST_UNITS, MOST_UNITS, MOST_UNITS
    return Errors(*(np.zeros(size, np.float32) for size in sizes))


@compiled
def add_gradients(
    weights: PolicyWeights,
    reading: Reading,
    layers: Layers,
    question: int,
    n: int,
    errors: Errors,
    gradients: PolicyWeights,
) -> None:
    """Add the derivatives of a question with ``n`` candidates from those of its scores."""
    units = len(weights.first_bias) // N_QUESTIONS
    errors.base[:] = 0
    for candidate in range(n):
        if errors.scores[candidate] != 0:
            _candidate(weights, question, candidate, reading, layers, errors, gradients)
    add_row(gradients.first_bias, question * units, errors.base, 0, np.float32(1), units)
    at = question * N_CONTEXT * units
    for number in range(N_CONTEXT):
        value = reading.context[number]
        if value != 0:
            add_row(gradients.context, at + number * units, errors.base, 0, value, units)
    for kind in range(34):
        for place in range(OF_KIND):
            row = reading.shape.rows[kind, place]
            if row != NONE:
                add_row(gradients.rows, row * units, errors.base, 0, np.float32(1), units)


@compiled
def _candidate(
    weights: PolicyWeights,
    question: int,
    candidate: int,
    reading: Reading,
    layers: Layers,
    errors: Errors,
    gradients: PolicyWeights,
) -> None:
    units = len(weights.first_bias) // N_QUESTIONS
    others = len(weights.second_bias) // N_QUESTIONS
    error, one = errors.scores[candidate], np.float32(1)
    at, start = candidate * others, candidate * units
    of_question = question * others
    gradients.last_bias[question] += error
    add_row(gradients.last, of_question, layers.second, at, error, others)
    for unit in range(others):
        is_active = layers.second[at + unit] > 0
        errors.second[unit] = error * weights.last[of_question + unit] if is_active else 0
    add_row(gradients.second_bias, of_question, errors.second, 0, one, others)
    of_question = question * units * others
    for unit in range(units):
        value, place = layers.first[start + unit], of_question + unit * others
        errors.first[unit] = 0
        if value > 0:
            add_row(gradients.second, place, errors.second, 0, value, others)
            errors.first[unit] = dot_row(weights.second, place, errors.second, 0, others)
    add_row(errors.base, 0, errors.first, 0, one, units)
    changes, rows = reading.changes[candidate], gradients.rows
    for place in range(changes.n_removed):
        add_row(rows, changes.removed[place] * units, errors.first, 0, -one, units)
    for place in range(changes.n_added):
        add_row(rows, changes.added[place] * units, errors.first, 0, one, units)
    of_question = question * N_INPUTS * units
    for number in range(N_INPUTS):
        value = reading.inputs[candidate, number]
        if value != 0:
            at = of_question + number * units
            add_row(gradients.inputs, at, errors.first, 0, value, units)


class AdamMoments(NamedTuple):
    """Adam's means of the gradient and of its square, and the mean of the weights: [N_WEIGHTS]."""

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    mean: NDArray[np.float32]


@compiled
def adam_step(
    numbers: Float32s,
    gradients: Float32s,
    moments: AdamMoments,
    step: int,
    rate: float,
    kept: float,
) -> None:
    """Change the weights by their gradients, and set these to 0; ``step`` counts from 1.

    The mean moves by ``1 - kept`` of the way to the new weights.
    """
    first, second, mean = moments
    scale = np.float32(rate * np.sqrt(1 - SECOND_MOMENT**step) / (1 - FIRST_MOMENT**step))
    keep_1, keep_2 = np.float32(FIRST_MOMENT), np.float32(SECOND_MOMENT)
    share = np.float32(1 - kept)
    one, epsilon = np.float32(1), np.float32(EPSILON)
    for place in range(len(numbers)):
        gradient = gradients[place]
        first[place] = keep_1 * first[place] + (one - keep_1) * gradient
        second[place] = keep_2 * second[place] + (one - keep_2) * gradient * gradient
        numbers[place] -= scale * first[place] / (np.sqrt(second[place]) + epsilon)
        mean[place] += share * (numbers[place] - mean[place])
        gradients[place] = 0
