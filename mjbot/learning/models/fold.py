"""The fold recogniser at play time: a support vector machine, scored in compiled code.

::

    recogniser = FoldRecogniser.load()               # the weights that ship
    margin = recogniser.margin(state, seat, kind)    # above 0: fold

``kind`` is what the seat, which is to discard, would discard if it were alone
(:func:`wanted_kind`).  A call takes some twenty microseconds.

With features x float32[34] (:mod:`mjbot.learning.models.fold_features`), support vectors v_i and
their coefficients a_i::

    margin(x) = sum of a_i exp(-gamma |x - v_i| ** 2) + offset

Source: Mizukami et al. 2013, section 7.  C = 2^8 and gamma = 2^-10 are the best of the paper's
grid 2^-10 .. 2^10 by cross-validation; the threshold in the offset is where its F1 is highest
(``python -m papers train-fold``, the command is in ``fold.json`` beside the weights;
docs/strategies/fold-recognition.md).
"""

import math
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.state import ACCEPTED, State
from mjbot.learning.models.fold_features import N_FEATURES, Features, fold_features
from mjbot.learning.models.hand import HandEvaluator
from mjbot.learning.models.weights import SHIPPED, Arrays, load_weights, shaped
from mjbot.protocol.tiles import tile_kind
from mjbot.runtime.compiler.compiled import compiled

NAME: Final = "fold"
FEATURE_SET: Final = "paper"
"""The kind that the hand evaluator would discard."""


class FoldModel(NamedTuple):
    """``margin(x) = sum(coefficients x exp(-gamma |x - support|^2)) + offset``.

    ``support`` float32[34, n], a column for each support vector, and ``coefficients`` float32[n];
    the offset is the machine's own less the threshold that was chosen for it.
    """

    support: NDArray[np.float32]
    coefficients: NDArray[np.float32]
    gamma: float
    offset: float


def arrays_of(model: FoldModel) -> dict[str, NDArray[Any]]:
    """Return the model as the arrays that are saved: support vectors as float16."""
    constants = np.array([model.gamma, model.offset], np.float32)
    return {
        "support": model.support.astype(np.float16),
        "coefficients": model.coefficients,
        "gamma_and_offset": constants,
    }


class FoldRecogniser:
    """Decides whether to fold; see the top of this module."""

    def __init__(self, model: FoldModel) -> None:
        self.model: Final = model

    @classmethod
    def load(cls, folder: Path = SHIPPED) -> Self:
        """Load the weights; ``WeightsError`` if they are unusable."""
        return cls(_model(load_weights(NAME, folder), folder))

    def margin(self, state: State, seat: int, kind: int) -> float:
        """Return how far on the side of folding the seat is that would discard ``kind``."""
        return float(_margin_at(self.model, state, seat, kind))


def wanted_kind(evaluator: HandEvaluator, state: State, seat: int) -> int:
    """Return the kind that the seat, which is to discard, would discard if it were alone.

    Of equals the lowest kind; in riichi what was drawn: there is no choice.
    """
    if state["riichi"][seat] == ACCEPTED:
        return tile_kind(int(state["drawn"]))
    return int(np.argmax(evaluator.scores_at(state, seat)))


@cache
def shared_recogniser() -> FoldRecogniser:
    """Return the recogniser with the weights that ship, one for the whole process."""
    return FoldRecogniser.load()


def _model(arrays: Arrays, folder: Path) -> FoldModel:
    path = folder / f"{NAME}.npz"
    checked = shaped(arrays, {"coefficients": (None,), "gamma_and_offset": (2,)}, path)
    coefficients = checked["coefficients"].astype(np.float32)
    vectors = shaped(arrays, {"support": (N_FEATURES, len(coefficients))}, path)
    gamma, offset = (float(number) for number in checked["gamma_and_offset"])
    return FoldModel(vectors["support"].astype(np.float32), coefficients, gamma, offset)


@compiled
def _margin_at(model: FoldModel, state: State, seat: int, kind: int) -> float:
    features = np.empty(N_FEATURES, np.float32)
    fold_features(state, seat, kind, features)
    return margin(model, features)


@compiled
def margin(model: FoldModel, features: Features) -> float:
    """Return the margin of features float32[34]: above 0 is to fold."""
    # one feature after the other: neighbouring vectors are taken several at a time
    squares = np.zeros(len(model.coefficients), np.float32)
    for index in range(N_FEATURES):
        feature, column = features[index], model.support[index]
        for row in range(len(squares)):
            step = feature - column[row]
            squares[row] += step * step
    total = model.offset
    for row in range(len(squares)):
        total += model.coefficients[row] * math.exp(-model.gamma * squares[row])
    return total
