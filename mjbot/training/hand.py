"""``mjbot train hand RECORDS``: the hand evaluator's weights, by averaged perceptron.

How good they are is told by how often the evaluator's first, second or third choice is the
discard that was made.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mjbot.interruption import keeping
from mjbot.models.hand import N_FEATURES, weights_name
from mjbot.models.weights import Manifest, save_weights
from mjbot.requests import command_of
from mjbot.statistics.estimates import Estimate, rate
from mjbot.training.hand_positions import Positions
from mjbot.training.hand_run import Course, TrainingRun, identity_of
from mjbot.training.positions import GameRef
from mjbot.training.requests import HandRequest
from mjbot.training.runs import (
    RUNS,
    Learned,
    RunFolder,
    TrainingError,
    claim_weights,
    erase_run,
)

RANKS = (1, 2, 3)


def agreement(ranks: NDArray[np.int8], games: NDArray[np.int32]) -> dict[str, Estimate]:
    """Return the shares of positions where the discard made ranked 1, 1..2 and 1..3.

    ``ranks`` int8[n] as :func:`mjbot.training.perceptron.ranks_of_made` writes them; ``games``
    int32[n] are the positions' games: one game is one observation of the 95 % intervals.

    >>> shares = agreement(np.int8([1, 1, 3, 2]), np.int32([0, 1, 2, 3]))
    >>> [share.value for share in shares.values()]
    [0.5, 0.75, 1.0]
    >>> print(shares["rank 3"])
    1 [0.3976, 1]
    """
    _, game = np.unique(games, return_inverse=True)
    chances = np.bincount(game).astype(np.float64)
    return {
        f"rank {rank}": rate(np.bincount(game, ranks <= rank).astype(np.float64), chances)
        for rank in RANKS
    }


Shares = dict[str, dict[str, Estimate]]
"""Kind of position -> rank -> share."""


def train(request: HandRequest) -> Learned:
    """Train and save the weights.

    Raises ``OSError`` and :class:`~mjbot.errors.MjbotError`.
    """
    games, held_out = request.split()
    checked = {"held out": held_out}
    if request.check:
        checked[request.check.name] = request.more(request.check)
    folder = request.folder or RUNS / f"train-hand-{identity_of(games)}"
    if request.fresh:
        erase_run(folder)
    course = Course(features=request.features, seed=request.seed, games=games)
    with RunFolder(folder, "hand") as run_folder:
        training = TrainingRun(course, run_folder, request.jobs, request.left_out)
        return _train(request, training, checked, run_folder)


def _train(
    request: HandRequest,
    training: TrainingRun,
    checked: Mapping[str, Sequence[GameRef]],
    run_folder: RunFolder,
) -> Learned:
    name = weights_name(request.features)
    with keeping(training.kept):
        positions = training.positions()
        if not len(positions):
            raise TrainingError("there is no riichi in these games to learn from")
        weights = training.learn(positions, request.passes)
        shares = _check(training, weights, checked)
        out = request.out or claim_weights(run_folder, name)
    manifest = _manifest(request, positions, training.n_games, shares)
    arrays = {"weights": weights.astype(np.float16)}
    return Learned(name, save_weights(name, arrays, manifest, out), out)


def _check(
    training: TrainingRun, weights: NDArray[np.float32], checked: Mapping[str, Sequence[GameRef]]
) -> Shares:
    """Return the agreement on each set of games, by the set's name and kind of position."""
    shares: Shares = {}
    for label, games in checked.items():
        positions = training.checks(games)
        found = _shares(positions, training.ranks(positions, weights))
        shares |= {f"{label}, {kind}": share for kind, share in found.items()}
    return shares


def _shares(checks: Positions, ranks: NDArray[np.int8]) -> Shares:
    """Return the agreement on the positions learned from, and on wider circles of them."""
    if not len(checks):
        return {}
    kinds = {
        "up to the first riichi": checks["before_riichi"] == 1,
        "closed hands, nobody in riichi": checks["riichis"] == 0,
        "closed hands": checks["riichis"] >= 0,
    }
    return {
        kind: agreement(ranks[chosen], checks["game"][chosen]) for kind, chosen in kinds.items()
    }


def _manifest(request: HandRequest, positions: Positions, n_games: int, shares: Shares) -> Manifest:
    files = ", ".join(path.name for path in request.records)
    scores: dict[str, float | int | str] = {
        "positions": len(positions),
        "features": N_FEATURES[request.features],
        "passes": request.passes,
    }
    for kind, found in shares.items():
        scores |= {f"{kind}, {rank}": str(share) for rank, share in found.items()}
    return Manifest(
        data=f"{n_games} games ({request.games} of {files}), every discard of the first to declare"
        f" riichi in each kyoku, up to the riichi{request.left_out}",
        command=command_of("mjbot train hand", request),
        seed=request.seed,
        scores=scores,
    )
