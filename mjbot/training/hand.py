"""``mjbot train hand RECORDS``: the hand evaluator's weights, by averaged perceptron.

How good they are is told by how often the evaluator's first, second or third choice is the
discard that was made.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot import exit_codes
from mjbot.interruption import keeping
from mjbot.models.hand import FEATURE_SETS, N_FEATURES, FeatureSet, weights_name
from mjbot.models.weights import Manifest, save_weights
from mjbot.statistics.estimates import Estimate, rate
from mjbot.training.hand_positions import Positions
from mjbot.training.hand_run import Course, TrainingRun, identity_of
from mjbot.training.positions import GameRef, index_games
from mjbot.training.runs import (
    RUNS,
    RunFolder,
    add_record_arguments,
    add_training_arguments,
    claim_weights,
    erase_run,
    split_games,
    tell_weights,
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


SUMMARY: Final = "Learn the hand evaluator from the discards before each kyoku's first riichi."

Shares = dict[str, dict[str, Estimate]]
"""Kind of position -> rank -> share."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``mjbot train hand``."""
    add_record_arguments(parser)
    add_training_arguments(parser)
    parser.add_argument(
        "--check", type=Path, metavar="RECORDS", help="check with these, too; nothing is learned"
    )
    parser.add_argument(
        "--features", choices=FEATURE_SETS, default="paper", help="the feature set (paper)"
    )
    parser.add_argument("--passes", type=int, default=8, help="over all positions (8)")
    parser.add_argument("--folder", type=Path, help=f"of the run (one of its own in {RUNS})")
    parser.add_argument("--fresh", action="store_true", help="erase the run in that folder")


def run(args: argparse.Namespace) -> int:
    """Train, save the weights and say how well they agree with the players."""
    if args.passes < 1 or args.jobs < 1:
        return _fail("--passes and --jobs: at least 1", exit_codes.BAD_ARGUMENTS)
    games, held_out = split_games(args)
    if not games:
        return _fail("no games to learn from; widen --games", exit_codes.BAD_ARGUMENTS)
    checked = {"held out": held_out}
    if args.check:
        checked[args.check.name] = index_games([args.check])
    folder = args.folder or RUNS / f"train-hand-{identity_of(games)}"
    if args.fresh:
        erase_run(folder)
    course = Course(features=args.features, seed=args.seed, games=games)
    with RunFolder(folder, "hand") as run_folder:
        return _train(args, TrainingRun(course, run_folder, args.jobs), checked, run_folder)


def _train(
    args: argparse.Namespace,
    training: TrainingRun,
    checked: Mapping[str, Sequence[GameRef]],
    run_folder: RunFolder,
) -> int:
    with keeping(training.kept):
        positions = training.positions()
        if not len(positions):
            return _fail("there is no riichi in these games to learn from", exit_codes.FAILED)
        weights = training.learn(positions, args.passes)
        shares = _check(training, weights, checked)
        out = args.out or claim_weights(run_folder, weights_name(args.features))
    manifest = _manifest(args, positions, training.n_games, shares)
    _save(args.features, weights, manifest, out)
    return exit_codes.OK


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


def _manifest(
    args: argparse.Namespace, positions: Positions, n_games: int, shares: Shares
) -> Manifest:
    files = ", ".join(path.name for path in args.records)
    scores: dict[str, float | int | str] = {
        "positions": len(positions),
        "features": N_FEATURES[args.features],
        "passes": args.passes,
    }
    for kind, found in shares.items():
        scores |= {f"{kind}, {rank}": str(share) for rank, share in found.items()}
    return Manifest(
        data=f"{n_games} games ({args.games} of {files}), every discard of the first to declare"
        " riichi in each kyoku, up to the riichi",
        command=f"mjbot train hand {files} --games {args.games} --features {args.features}"
        f" --passes {args.passes} --seed {args.seed}",
        seed=args.seed,
        scores=scores,
    )


def _save(
    features: FeatureSet, weights: NDArray[np.float32], manifest: Manifest, out: Path
) -> None:
    name = weights_name(features)
    written = save_weights(name, {"weights": weights.astype(np.float16)}, manifest, out)
    print(f"learned from {written.data}")
    for what, figure in written.scores.items():
        print(f"{what}: {figure}")
    times = os.times()
    print(f"{sum(times[:4]):.0f} s of processor time")
    tell_weights(name, written, out)


def _fail(text: str, code: int) -> int:
    print(f"mjbot train hand: {text}", file=sys.stderr)
    return code
