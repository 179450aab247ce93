"""How likely a discard deals in to each opponent, and what that would cost: fitted to records.

Of a tile and an opponent x are the features that are active
(:mod:`mjbot.learning.models.danger_features`), w weights that were fitted::

    P(deal-in) = 1 / (1 + exp(-w.x))     one w for opponents in riichi, one for the others,
                                         whose tenpai is uncertain
    points     = exp(w'.x')              mean of such hands' rons, without honba and sticks

Logistic and Poisson regression with a ridge equal to one row for each weight
(:mod:`mjbot.learning.training.regression`), by ``mjbot train danger hanchan-2024.zip --games 0:4000
--validate 4000:4444``; how well it predicts: docs/learning.md.  ``grades`` are the rates of the
four grades of Mizukami et al. 2013 in the same games, the control.

    chance, points = np.zeros((4, 34)), np.zeros((4, 34))
    deal_in_chances(view.state, view.seat, view.unseen, danger_weights(), chance, points)
    expected_loss = (chance * points).sum(axis=0)  # of each kind
"""

from functools import cache
from math import exp
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.observe import dora_values, genbutsu
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import State
from mjbot.learning.models.danger_features import (
    LOSS_ACTIVE,
    MAX_ACTIVE,
    N_FEATURES,
    N_GRADES,
    N_LOSS,
    OPPONENT_SIGNS,
    active_features,
    grade,
    loss_features,
    read_opponent,
)
from mjbot.learning.models.weights import SHIPPED, Shape, load_weights, shaped
from mjbot.runtime.compiler.compiled import compiled, keep_alive

Counts = NDArray[np.int8]
Floats = NDArray[np.float64]


class DangerWeights(NamedTuple):
    """Weights of log-odds of opponents without and with riichi, and of the log of points."""

    other: NDArray[np.float32]
    riichi: NDArray[np.float32]
    loss: NDArray[np.float32]
    grades: NDArray[np.float32]  # [riichi, grade]: how often the paper's safety grades deal in


@cache
def danger_weights(folder: Path = SHIPPED) -> DangerWeights:
    """Return the weights in a folder.  Raises ``WeightsError`` if they are missing or damaged."""
    shapes: dict[str, Shape] = {
        "other": (N_FEATURES,),
        "riichi": (N_FEATURES,),
        "loss": (N_LOSS,),
        "grades": (2, N_GRADES),
    }
    arrays = shaped(load_weights("danger", folder), shapes, folder / "danger.npz")
    return DangerWeights(*(arrays[name].astype(np.float32) for name in DangerWeights._fields))


@compiled
def deal_in_chances(
    state: State, seat: int, unseen: Counts, weights: DangerWeights, chance: Floats, points: Floats
) -> None:
    """Fill what each kind risks against each opponent, as ``seat`` sees the table.

    ``chance`` float64[4, 34] is the probability that the opponent wins on the kind now,
    ``points`` float64[4, 34] what it would then be paid, without honba and sticks.  ``unseen``
    is int8[34], the copies that the seat does not see.  The own row is 0.
    """
    dora = np.empty(34, np.int8)
    dora_values(state, dora)
    all_signs = np.empty(1, OPPONENT_SIGNS)
    signs = all_signs[0]
    active = np.empty(MAX_ACTIVE, np.int16)
    chance[seat] = 0
    points[seat] = 0
    for step in range(1, state.rules.players):
        opponent = seat_after(state, seat, step)
        read_opponent(state, opponent, unseen, signs)
        safe = genbutsu(state, opponent)
        odds = weights.riichi if state.riichi[opponent] else weights.other
        loss = np.zeros(3)
        for kind in range(34):
            if safe >> kind & 1:
                chance[opponent, kind] = 0
                points[opponent, kind] = 0
                continue
            total = 0.0
            for index in range(active_features(state, opponent, kind, unseen, dora, signs, active)):
                total += odds[active[index]]
            chance[opponent, kind] = 1 / (1 + exp(-total))
            extra = min(dora[kind], 2)
            if loss[extra] == 0:
                loss[extra] = _mean_loss(state, opponent, kind, dora, weights.loss)
            points[opponent, kind] = loss[extra]
    keep_alive(all_signs)


@compiled
def _mean_loss(
    state: State, opponent: int, kind: int, dora: Counts, weights: NDArray[np.float32]
) -> float:
    active = np.empty(LOSS_ACTIVE, np.int16)
    total = 0.0
    for index in range(loss_features(state, opponent, kind, dora, active)):
        total += weights[active[index]]
    return exp(total)


@compiled
def grade_chances(
    state: State, seat: int, unseen: Counts, weights: DangerWeights, chance: Floats
) -> None:
    """Replace the chances of :func:`deal_in_chances` by those of the paper's four grades."""
    for step in range(1, state.rules.players):
        opponent = seat_after(state, seat, step)
        safe = genbutsu(state, opponent)
        rates = weights.grades[1 if state.riichi[opponent] else 0]
        for kind in range(34):
            if chance[opponent, kind] > 0:
                chance[opponent, kind] = rates[grade(kind, safe, unseen)]
