"""The features of every discard that a hand offers, of the set asked for."""

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.learning import paper_features, plus_features
from mjbot.learning.hand_positions import HandPosition
from mjbot.learning.nearness import Nearness, measure, new_nearness
from mjbot.learning.paper_features import Indices, write_paper_features
from mjbot.learning.plus_features import write_plus_features
from mjbot.learning.suit_shapes import ShapeTable, shape_table

FeatureSet = Literal["paper", "plus"]
FEATURE_SETS: Final[tuple[FeatureSet, ...]] = ("paper", "plus")
PAPER: Final = 0

N_FEATURES: Final = {"paper": paper_features.N_FEATURES, "plus": plus_features.N_FEATURES}
"""How many features a set has."""

MOST_KINDS: Final = 14
MOST_ACTIVE: Final = 256


class Choices(NamedTuple):
    """Room for what a hand offers: for each of ``n`` kinds held, the hand left without one.

    ``features`` int32[14, 256] are indices, of which the first ``counts`` int64[14] count.
    """

    kinds: NDArray[np.int64]
    counts: NDArray[np.int64]
    features: NDArray[np.int32]
    nearness: Nearness
    shapes: ShapeTable


def new_choices() -> Choices:
    """Return room, to be used again and again."""
    return Choices(
        np.zeros(MOST_KINDS, np.int64),
        np.zeros(MOST_KINDS, np.int64),
        np.zeros((MOST_KINDS, MOST_ACTIVE), np.int32),
        new_nearness(),
        shape_table(),
    )


@compiled
def write_choices(feature_set: int, position: HandPosition, choices: Choices) -> int:
    """Fill ``choices`` for every kind in the hand; return how many kinds there are."""
    measure(position, choices.nearness)
    hand = position.hand.copy()
    n = 0
    for kind in range(34):
        if hand[kind]:
            hand[kind] -= 1
            choices.kinds[n] = kind
            out = choices.features[n]
            if feature_set == PAPER:
                tiles = choices.nearness.tiles[kind]
                count = write_paper_features(choices.shapes, hand, position.n_melds, tiles, out)
            else:
                near = choices.nearness
                count = write_plus_features(choices.shapes, position, near, kind, hand, out)
            choices.counts[n] = count
            hand[kind] += 1
            n += 1
    return n


@compiled
def score(weights: NDArray[np.floating[Any]], features: Indices, count: int) -> float:
    """Return the sum of the weights of ``count`` features."""
    total = 0.0
    for place in range(count):
        total += weights[features[place]]
    return total
