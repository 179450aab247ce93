"""The hand evaluator: which discard brings a hand on, learned from strong players' games.

::

    evaluator = HandEvaluator.load()                 # the weights that ship; milliseconds
    scores = evaluator.scores(hand, n_melds, unseen) # float64[34], -inf for kinds not held
    scores = evaluator.scores_at(state, seat)        # the same, all that the seat sees included

``hand`` int8[34] are the concealed tiles of 3n+2, red fives counted as fives; ``unseen``
int8[34] the copies that the player does not see.  Higher is better, and only differences within
one hand mean anything.  A kind's red five and plain five have one score: give up the plain one.
Melds, called or declared, count as finished.  A call takes about ten microseconds.

In compiled code: ``score_discards(model, position, scores)`` with ``evaluator.model`` and a
record of :data:`~mjbot.learning.models.hand_position.HAND_POSITION` (made by ``new_position`` in
Python, filled by ``observe`` or by hand).

The score is the sum of the weights of the features that are active after the discard
(:mod:`mjbot.learning.models.hand_paper_features`, :mod:`mjbot.learning.models.hand_plus_features`).

Source: Mizukami et al. 2013, section 5 (one-player mahjong).
"""

from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.state import State
from mjbot.learning.models import hand_paper_features as paper_features
from mjbot.learning.models import hand_plus_features as plus_features
from mjbot.learning.models.hand_paper_features import Indices, write_paper_features
from mjbot.learning.models.hand_plus_features import write_plus_features
from mjbot.learning.models.hand_position import HAND_POSITION, HandPosition, observe
from mjbot.learning.models.hand_shapes import (
    Nearness,
    ShapeTable,
    measure,
    new_nearness,
    shape_table,
)
from mjbot.learning.models.weights import SHIPPED, load_weights, shaped
from mjbot.runtime.compiler.compiled import compiled

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
    for index in range(count):
        total += weights[features[index]]
    return total


Counts = NDArray[np.int8]
Scores = NDArray[np.float64]

NO_WIND: Final = -1


class HandModel(NamedTuple):
    """What compiled code needs; ``choices`` is scratch space, so one model serves one thread."""

    feature_set: int
    weights: NDArray[np.float32]
    choices: Choices


def weights_name(features: FeatureSet) -> str:
    """Return what the weights of a feature set are called: ``hand-paper``."""
    return f"hand-{features}"


def new_position() -> HandPosition:
    """Return a position with only a hand: no dora, value tiles or opponents."""
    position = cast(HandPosition, np.zeros(1, HAND_POSITION)[0])
    position["seat_wind"] = position["round_wind"] = NO_WIND
    return position


@compiled
def score_discards(model: HandModel, position: HandPosition, scores: Scores) -> None:
    """Write the score of discarding each kind, float64[34], -inf for kinds not in the hand."""
    scores[:] = -np.inf
    n = write_choices(model.feature_set, position, model.choices)
    for choice in range(n):
        scores[model.choices.kinds[choice]] = score(
            model.weights, model.choices.features[choice], model.choices.counts[choice]
        )


@compiled
def _score_seat(model: HandModel, state: State, seat: int, position: HandPosition) -> Scores:
    observe(state, seat, position)
    scores = np.empty(34, np.float64)
    score_discards(model, position, scores)
    return scores


@compiled
def _score_hand(
    model: HandModel, position: HandPosition, hand: Counts, n_melds: int, unseen: Counts
) -> Scores:
    position.hand[:] = hand
    position.n_melds = n_melds
    position.unseen[:] = unseen
    scores = np.empty(34, np.float64)
    score_discards(model, position, scores)
    return scores


class HandEvaluator:
    """Scores of all discards of a hand; see the top of this module."""

    def __init__(self, features: FeatureSet, weights: NDArray[np.float32]) -> None:
        self.features: Final = features
        self.model: Final = HandModel(FEATURE_SETS.index(features), weights, new_choices())
        self._bare: Final = new_position()
        self._seen: Final = new_position()

    @classmethod
    def load(cls, features: FeatureSet = "paper", folder: Path = SHIPPED) -> Self:
        """Load the weights of a feature set; :class:`WeightsError` if they cannot be used."""
        return cls(features, _load(features, folder))

    def scores(self, hand: Counts, n_melds: int, unseen: Counts) -> Scores:
        """Return the score of discarding each kind by the hand alone: no dora, no value tiles."""
        return _score_hand(self.model, self._bare, hand, n_melds, unseen)

    def scores_at(self, state: State, seat: int) -> Scores:
        """Return the score of discarding each kind for a seat that is to discard now."""
        return _score_seat(self.model, state, seat, self._seen)

    def scores_of(self, position: HandPosition) -> Scores:
        """Return the score of discarding each kind in a position filled by the caller."""
        scores = np.empty(34, np.float64)
        score_discards(self.model, position, scores)
        return scores


@cache
def _load(features: FeatureSet, folder: Path) -> NDArray[np.float32]:
    name = weights_name(features)
    shapes = {"weights": (N_FEATURES[features],)}
    arrays = shaped(load_weights(name, folder), shapes, folder / f"{name}.npz")
    return arrays["weights"].astype(np.float32)
