"""The network of the fast policy: two small layers a candidate, over rows that add up.

For a question q, context x of the table, candidate c with inputs y_c and the rows of the hand it
leaves::

    h_c = relu(b1[q] + x C[q] + sum of rows E[row] + y_c Y[q])    first layer
    g_c = relu(b2[q] + h_c W[q])                                  second layer
    score_c = g_c v[q] + b3[q]

and chances are a softmax over the candidates and, where the question has one, over "no" with the
score 0.  The table of rows E is shared by all questions.  Context and rows of the hand as it is
are added up once for all candidates.  How many units the layers have follows from the weights
(:class:`Units`).
"""

from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.learning.models.fast_policy.ally import NO_ALLY, OF_ALLY, OF_TILE
from mjbot.learning.models.fast_policy.candidates import DISCARD, N_QUESTIONS
from mjbot.learning.models.fast_policy.reading import (
    MOST_CANDIDATES,
    N_CONTEXT,
    N_INPUTS,
    PLAIN_CONTEXT,
    PLAIN_INPUTS,
    TO_ALLY,
    Reading,
)
from mjbot.learning.models.fast_policy.shape_rows import N_ROWS, NONE, OF_KIND
from mjbot.learning.models.weights import SHIPPED, Arrays, WeightsError, load_weights, shaped
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Record
from mjbot.runtime.compiler.vectors import LANES, add_row

NAME: Final = "fast-policy"
PAIR_NAME: Final = "fast-pair"
"""Of the weights that an ally's numbers are multiplied with."""
MOST_UNITS: Final = 256
"""Of each layer; a multiple of LANES."""


class Units(NamedTuple):
    """Units of the layers, each a multiple of LANES and at most :data:`MOST_UNITS`."""

    first: int = 48
    second: int = 32

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays of :class:`PolicyWeights`."""
        return {
            "rows": (N_ROWS, self.first),
            "context": (N_QUESTIONS, N_CONTEXT, self.first),
            "inputs": (N_QUESTIONS, N_INPUTS, self.first),
            "first_bias": (N_QUESTIONS, self.first),
            "second": (N_QUESTIONS, self.first, self.second),
            "second_bias": (N_QUESTIONS, self.second),
            "last": (N_QUESTIONS, self.second),
            "last_bias": (N_QUESTIONS, 1),
        }

    @property
    def is_possible(self) -> bool:
        """Whether there can be layers of these sizes."""
        return all(size % LANES == 0 and 0 < size <= MOST_UNITS for size in self)

    @property
    def n_weights(self) -> int:
        """How many numbers the arrays have together."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())


class PolicyWeights(NamedTuple):
    """The arrays of :attr:`Units.shapes` in one dimension each, float32."""

    rows: Float32s
    context: Float32s
    inputs: Float32s
    first_bias: Float32s
    second: Float32s
    second_bias: Float32s
    last: Float32s
    last_bias: Float32s


def units_of(weights: PolicyWeights) -> Units:
    """Return the units of both layers."""
    return Units(len(weights.first_bias) // N_QUESTIONS, len(weights.second_bias) // N_QUESTIONS)


class Layers(Record):
    """Values of the last question, scratch memory of one thread; of scores the last is "no".

    Of narrower layers only the beginning is used.
    """

    base: Annotated[Float32s, MOST_UNITS]
    first: Annotated[Float32s, MOST_CANDIDATES * MOST_UNITS]
    second: Annotated[Float32s, MOST_CANDIDATES * MOST_UNITS]
    scores: Annotated[Float32s, MOST_CANDIDATES + 1]
    chances: Annotated[Float32s, MOST_CANDIDATES + 1]


def weights_in(numbers: Float32s, units: Units) -> PolicyWeights:
    """Return views of all weights in one array, float32[units.n_weights]."""
    ends = np.cumsum([int(np.prod(shape)) for shape in units.shapes.values()])
    return PolicyWeights(*np.split(numbers, ends[:-1]))


@compiled
def answer(weights: PolicyWeights, question: int, n: int, reading: Reading, layers: Layers) -> None:
    """Fill scores and chances of the first ``n`` candidates and of "no" (0 for discards)."""
    base, context = layers.base, reading.context
    units = len(weights.first_bias) // N_QUESTIONS
    at = question * units
    for unit in range(units):
        base[unit] = weights.first_bias[at + unit]
    at = question * N_CONTEXT * units
    for number in range(PLAIN_CONTEXT if reading.ally.seat == NO_ALLY else N_CONTEXT):
        if context[number] != 0:
            add_row(base, 0, weights.context, at + number * units, context[number], units)
    for kind in range(34):
        for index in range(OF_KIND):
            row = reading.shape.rows[kind, index]
            if row != NONE:
                add_row(base, 0, weights.rows, row * units, np.float32(1), units)
    for candidate in range(n):
        layers.scores[candidate] = _score(weights, question, candidate, reading, layers)
    layers.scores[n] = 0
    write_chances(layers, n if question == DISCARD else n + 1)


@compiled
def write_chances(layers: Layers, n: int) -> None:
    """Fill the chances of the first ``n`` scores."""
    scores, chances = layers.scores, layers.chances
    best, total = scores[0], np.float32(0)
    for index in range(1, n):
        best = max(best, scores[index])
    for index in range(n):
        chances[index] = np.exp(scores[index] - best)
        total += chances[index]
    for index in range(n):
        chances[index] /= total


@compiled
def _score(
    weights: PolicyWeights, question: int, candidate: int, reading: Reading, layers: Layers
) -> float:
    first, second, inputs = layers.first, layers.second, reading.inputs
    units = len(weights.first_bias) // N_QUESTIONS
    others = len(weights.second_bias) // N_QUESTIONS
    start, at = candidate * units, candidate * others
    for unit in range(units):
        first[start + unit] = layers.base[unit]
    changes, rows = reading.changes[candidate], weights.rows
    for index in range(changes.n_removed):
        add_row(first, start, rows, changes.removed[index] * units, np.float32(-1), units)
    for index in range(changes.n_added):
        add_row(first, start, rows, changes.added[index] * units, np.float32(1), units)
    of_question = question * N_INPUTS * units
    for number in range(TO_ALLY if reading.ally.seat == NO_ALLY else N_INPUTS):
        value = inputs[candidate, number]
        if value != 0:
            add_row(first, start, weights.inputs, of_question + number * units, value, units)
    for unit in range(others):
        second[at + unit] = weights.second_bias[question * others + unit]
    of_question = question * units * others
    for unit in range(units):
        value = first[start + unit]
        if value > 0:
            add_row(second, at, weights.second, of_question + unit * others, value, others)
        else:
            first[start + unit] = 0
    score = weights.last_bias[question]
    for unit in range(others):
        value = max(second[at + unit], np.float32(0))
        second[at + unit] = value
        score += value * weights.last[question * others + unit]
    return float(score)


def load_network(folder: Path = SHIPPED) -> PolicyWeights:
    """Return the weights in a folder; ``WeightsError`` if they cannot be used.

    They have no weights of an ally's numbers, which count as zero, nor of more inputs unless the
    file has.
    """
    return unpacked(load_weights(NAME, folder), folder / f"{NAME}.npz")


def unpacked(arrays: Arrays, path: Path) -> PolicyWeights:
    """Return the weights in arrays as :func:`packed` makes them, which were read from ``path``."""
    units = _units_in(arrays, path)
    scale = shaped(arrays, {"rows_scale": (units.first,)}, path)["rows_scale"]
    n_inputs = TO_ALLY if _has_more(arrays) else PLAIN_INPUTS
    checked = shaped(arrays, units.shapes | _shapes(PLAIN_CONTEXT, n_inputs, units), path)
    plain = {name: array.astype(np.float32) for name, array in checked.items()}
    plain["rows"] *= scale.astype(np.float32)
    for name, (_, size, _) in _shapes(N_CONTEXT, N_INPUTS, units).items():
        plain[name] = np.pad(plain[name], ((0, 0), (0, size - plain[name].shape[1]), (0, 0)))
    return PolicyWeights(
        **{name: np.ascontiguousarray(plain[name]).ravel() for name in units.shapes}
    )


def _units_in(arrays: Arrays, path: Path) -> Units:
    """Return the units of both layers; ``WeightsError`` if there can be no such network."""
    biases = shaped(arrays, {"first_bias": (None, None), "second_bias": (None, None)}, path)
    units = Units(*(array.shape[1] for array in biases.values()))
    if not units.is_possible:
        problem = f"layers of {units.first} and {units.second} units; fetch or train it again"
        raise WeightsError(path, problem)
    return units


def _has_more(arrays: Arrays) -> bool:
    inputs = arrays.get("inputs")
    return inputs is not None and inputs.ndim > 1 and inputs.shape[1] > PLAIN_INPUTS


def reads_more(weights: PolicyWeights) -> bool:
    """Return whether more inputs than the first are multiplied with anything."""
    inputs = weights.inputs.reshape(units_of(weights).shapes["inputs"])
    return bool(inputs[:, PLAIN_INPUTS:TO_ALLY].any())


def load_pair_network(folder: Path = SHIPPED) -> PolicyWeights:
    """Return the shipped weights with those of an ally's numbers in a folder."""
    network = load_network()
    units = units_of(network)
    path = folder / f"{PAIR_NAME}.npz"
    of_ally = shaped(load_weights(PAIR_NAME, folder), _shapes(OF_ALLY, OF_TILE, units), path)
    for name, array in of_ally.items():
        getattr(network, name).reshape(units.shapes[name])[:, -array.shape[1] :] = array
    return network


def packed(weights: PolicyWeights) -> dict[str, NDArray[Any]]:
    """Return the arrays as they are saved: rows as int8 times a scale, the others float16."""
    named, shapes = weights._asdict(), units_of(weights).shapes
    arrays = {name: named[name].reshape(shape).astype(np.float16) for name, shape in shapes.items()}
    arrays["context"] = arrays["context"][:, :PLAIN_CONTEXT]
    arrays["inputs"] = arrays["inputs"][:, : TO_ALLY if reads_more(weights) else PLAIN_INPUTS]
    rows = weights.rows.reshape(shapes["rows"])
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-6).astype(np.float16).astype(np.float32) / 127
    scale = scale.astype(np.float16)
    whole = np.rint(rows / scale.astype(np.float32))
    return {**arrays, "rows": np.clip(whole, -127, 127).astype(np.int8), "rows_scale": scale}


def packed_of_ally(weights: PolicyWeights) -> dict[str, NDArray[Any]]:
    """Return the weights of an ally's numbers as they are saved, float16."""
    shapes = units_of(weights).shapes
    context = weights.context.reshape(shapes["context"])[:, PLAIN_CONTEXT:]
    inputs = weights.inputs.reshape(shapes["inputs"])[:, TO_ALLY:]
    return {"context": context.astype(np.float16), "inputs": inputs.astype(np.float16)}


def _shapes(context: int, inputs: int, units: Units) -> dict[str, tuple[int, ...]]:
    return {
        "context": (N_QUESTIONS, context, units.first),
        "inputs": (N_QUESTIONS, inputs, units.first),
    }
