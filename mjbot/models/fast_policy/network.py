"""The network of the fast policy: two small layers a candidate, over rows that add up.

For a question q, context x of the table, candidate c with inputs y_c and the rows of the hand it
leaves::

    h_c = relu(b1[q] + x C[q] + sum of rows E[row] + y_c Y[q])    HIDDEN units
    g_c = relu(b2[q] + h_c W[q])                                  SECOND units
    score_c = g_c v[q] + b3[q]

and chances are a softmax over the candidates and, where the question has one, over "no" with the
score 0.  The table of rows E is shared by all questions.  Context and rows of the hand as it is
are added up once for all candidates.
"""

from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Float32s, Record
from mjbot.compiler.vectors import row_adder
from mjbot.models.fast_policy.ally import NO_ALLY, OF_ALLY, OF_TILE
from mjbot.models.fast_policy.candidates import DISCARD, N_QUESTIONS
from mjbot.models.fast_policy.reading import (
    MOST_CANDIDATES,
    N_CONTEXT,
    N_INPUTS,
    PLAIN_CONTEXT,
    PLAIN_INPUTS,
    Reading,
)
from mjbot.models.fast_policy.shape_rows import N_ROWS, NONE, OF_KIND
from mjbot.models.weights import SHIPPED, load_weights, shaped

NAME: Final = "fast-policy"
PAIR_NAME: Final = "fast-pair"
"""Of the weights that an ally's numbers are multiplied with."""
HIDDEN: Final = 48
SECOND: Final = 32

SHAPES: Final[dict[str, tuple[int, ...]]] = {
    "rows": (N_ROWS, HIDDEN),
    "context": (N_QUESTIONS, N_CONTEXT, HIDDEN),
    "inputs": (N_QUESTIONS, N_INPUTS, HIDDEN),
    "first_bias": (N_QUESTIONS, HIDDEN),
    "second": (N_QUESTIONS, HIDDEN, SECOND),
    "second_bias": (N_QUESTIONS, SECOND),
    "last": (N_QUESTIONS, SECOND),
    "last_bias": (N_QUESTIONS, 1),
}
N_WEIGHTS: Final = sum(int(np.prod(shape)) for shape in SHAPES.values())

add_hidden: Final = row_adder(HIDDEN)
add_second: Final = row_adder(SECOND)


class PolicyWeights(NamedTuple):
    """The arrays of :data:`SHAPES` in one dimension each, float32."""

    rows: Float32s
    context: Float32s
    inputs: Float32s
    first_bias: Float32s
    second: Float32s
    second_bias: Float32s
    last: Float32s
    last_bias: Float32s


class Layers(Record):
    """Values of the last question, scratch memory of one thread; of scores the last is "no"."""

    base: Annotated[Float32s, HIDDEN]
    first: Annotated[Float32s, MOST_CANDIDATES * HIDDEN]
    second: Annotated[Float32s, MOST_CANDIDATES * SECOND]
    scores: Annotated[Float32s, MOST_CANDIDATES + 1]
    chances: Annotated[Float32s, MOST_CANDIDATES + 1]


def weights_in(numbers: Float32s) -> PolicyWeights:
    """Return views of all weights in one array, float32[N_WEIGHTS]."""
    ends = np.cumsum([int(np.prod(shape)) for shape in SHAPES.values()])
    return PolicyWeights(*np.split(numbers, ends[:-1]))


@compiled
def answer(weights: PolicyWeights, question: int, n: int, reading: Reading, layers: Layers) -> None:
    """Fill scores and chances of the first ``n`` candidates and of "no" (0 for discards)."""
    base, context = layers.base, reading.context
    at = question * HIDDEN
    for unit in range(HIDDEN):
        base[unit] = weights.first_bias[at + unit]
    at = question * N_CONTEXT * HIDDEN
    for number in range(PLAIN_CONTEXT if reading.ally.seat == NO_ALLY else N_CONTEXT):
        if context[number] != 0:
            add_hidden(base, 0, weights.context, at + number * HIDDEN, context[number])
    for kind in range(34):
        for place in range(OF_KIND):
            row = reading.shape.rows[kind, place]
            if row != NONE:
                add_hidden(base, 0, weights.rows, row * HIDDEN, np.float32(1))
    for candidate in range(n):
        layers.scores[candidate] = _score(weights, question, candidate, reading, layers)
    layers.scores[n] = 0
    write_chances(layers, n if question == DISCARD else n + 1)


@compiled
def write_chances(layers: Layers, n: int) -> None:
    """Fill the chances of the first ``n`` scores."""
    scores, chances = layers.scores, layers.chances
    best, total = scores[0], np.float32(0)
    for place in range(1, n):
        best = max(best, scores[place])
    for place in range(n):
        chances[place] = np.exp(scores[place] - best)
        total += chances[place]
    for place in range(n):
        chances[place] /= total


@compiled
def _score(
    weights: PolicyWeights, question: int, candidate: int, reading: Reading, layers: Layers
) -> float:
    first, second, inputs = layers.first, layers.second, reading.inputs
    start, at = candidate * HIDDEN, candidate * SECOND
    for unit in range(HIDDEN):
        first[start + unit] = layers.base[unit]
    changes = reading.changes[candidate]
    for place in range(changes.n_removed):
        add_hidden(first, start, weights.rows, changes.removed[place] * HIDDEN, np.float32(-1))
    for place in range(changes.n_added):
        add_hidden(first, start, weights.rows, changes.added[place] * HIDDEN, np.float32(1))
    of_question = question * N_INPUTS * HIDDEN
    for number in range(PLAIN_INPUTS if reading.ally.seat == NO_ALLY else N_INPUTS):
        value = inputs[candidate, number]
        if value != 0:
            add_hidden(first, start, weights.inputs, of_question + number * HIDDEN, value)
    for unit in range(SECOND):
        second[at + unit] = weights.second_bias[question * SECOND + unit]
    of_question = question * HIDDEN * SECOND
    for unit in range(HIDDEN):
        value = first[start + unit]
        if value > 0:
            add_second(second, at, weights.second, of_question + unit * SECOND, value)
        else:
            first[start + unit] = 0
    score = weights.last_bias[question]
    for unit in range(SECOND):
        value = max(second[at + unit], np.float32(0))
        second[at + unit] = value
        score += value * weights.last[question * SECOND + unit]
    return float(score)


def load_network(folder: Path = SHIPPED) -> PolicyWeights:
    """Return the weights in a folder; ``WeightsError`` if they cannot be used.

    They know of no ally: the numbers of one count as zero.
    """
    path = folder / f"{NAME}.npz"
    arrays = load_weights(NAME, folder)
    scale = shaped(arrays, {"rows_scale": (HIDDEN,)}, path)["rows_scale"]
    found = shaped(arrays, {**SHAPES, **_shapes(PLAIN_CONTEXT, PLAIN_INPUTS)}, path)
    plain = {name: array.astype(np.float32) for name, array in found.items()}
    plain["rows"] *= scale.astype(np.float32)
    for name, (_, size, _) in _shapes(N_CONTEXT, N_INPUTS).items():
        plain[name] = np.pad(plain[name], ((0, 0), (0, size - plain[name].shape[1]), (0, 0)))
    return PolicyWeights(**{name: np.ascontiguousarray(plain[name]).ravel() for name in SHAPES})


def load_pair_network(folder: Path = SHIPPED) -> PolicyWeights:
    """Return the shipped weights with those of an ally's numbers in a folder."""
    network = load_network()
    path = folder / f"{PAIR_NAME}.npz"
    of_ally = shaped(load_weights(PAIR_NAME, folder), _shapes(OF_ALLY, OF_TILE), path)
    for name, array in of_ally.items():
        getattr(network, name).reshape(SHAPES[name])[:, -array.shape[1] :] = array
    return network


def packed(weights: PolicyWeights) -> dict[str, NDArray[Any]]:
    """Return the arrays as they are saved: rows as int8 times a scale, the others float16."""
    named = weights._asdict()
    arrays = {name: named[name].reshape(shape).astype(np.float16) for name, shape in SHAPES.items()}
    arrays["context"] = arrays["context"][:, :PLAIN_CONTEXT]
    arrays["inputs"] = arrays["inputs"][:, :PLAIN_INPUTS]
    rows = weights.rows.reshape(SHAPES["rows"])
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-6).astype(np.float16).astype(np.float32) / 127
    scale = scale.astype(np.float16)
    whole = np.rint(rows / scale.astype(np.float32))
    return {**arrays, "rows": np.clip(whole, -127, 127).astype(np.int8), "rows_scale": scale}


def packed_of_ally(weights: PolicyWeights) -> dict[str, NDArray[Any]]:
    """Return the weights of an ally's numbers as they are saved, float16."""
    context = weights.context.reshape(SHAPES["context"])[:, PLAIN_CONTEXT:]
    inputs = weights.inputs.reshape(SHAPES["inputs"])[:, PLAIN_INPUTS:]
    return {"context": context.astype(np.float16), "inputs": inputs.astype(np.float16)}


def _shapes(context: int, inputs: int) -> dict[str, tuple[int, int, int]]:
    return {
        "context": (N_QUESTIONS, context, HIDDEN),
        "inputs": (N_QUESTIONS, inputs, HIDDEN),
    }
