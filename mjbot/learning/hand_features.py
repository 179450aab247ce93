"""The features of every discard that a hand offers, of the set asked for."""

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.learning import paper_features
from mjbot.learning.hand_positions import HandPosition
from mjbot.learning.paper_features import Indices, write_paper_features
from mjbot.learning.suit_shapes import ShapeTable, shape_table

FeatureSet = Literal["paper"]
FEATURE_SETS: Final[tuple[FeatureSet, ...]] = ("paper",)
PAPER: Final = 0

N_FEATURES: Final = {"paper": paper_features.N_FEATURES}
"""How many features a set has."""

MOST_KINDS: Final = 14
MOST_ACTIVE: Final = 512


class Choices(NamedTuple):
    """Room for what a hand offers: for each of ``n`` kinds held, the hand left without one.

    ``features`` int32[14, 512] are indices, of which the first ``counts`` int64[14] count.
    """

    kinds: NDArray[np.int64]
    counts: NDArray[np.int64]
    features: NDArray[np.int32]
    shapes: ShapeTable


def new_choices() -> Choices:
    """Return room, to be used again and again."""
    return Choices(
        np.zeros(MOST_KINDS, np.int64),
        np.zeros(MOST_KINDS, np.int64),
        np.zeros((MOST_KINDS, MOST_ACTIVE), np.int32),
        shape_table(),
    )


@compiled
def write_choices(feature_set: int, position: HandPosition, choices: Choices) -> int:
    """Fill ``choices`` for every kind in the hand; return how many kinds there are."""
    hand = position.hand.copy()
    n = 0
    for kind in range(34):
        if hand[kind]:
            hand[kind] -= 1
            choices.kinds[n] = kind
            choices.counts[n] = _write(feature_set, position, hand, choices, choices.features[n])
            hand[kind] += 1
            n += 1
    return n


@compiled
def _write(
    feature_set: int,
    position: HandPosition,
    rest: NDArray[np.int8],
    choices: Choices,
    out: Indices,
) -> int:
    return write_paper_features(choices.shapes, rest, position.n_melds, position.unseen, out)


@compiled
def score(weights: NDArray[np.floating[Any]], features: Indices, count: int) -> float:
    """Return the sum of the weights of ``count`` features."""
    total = 0.0
    for place in range(count):
        total += weights[features[place]]
    return total
