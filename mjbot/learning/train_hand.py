"""``mjbot train hand RECORDS``: the hand evaluator's weights, by averaged perceptron."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mjbot import exit_codes
from mjbot.learning.agreement import agreement
from mjbot.learning.hand_evaluator import weights_name
from mjbot.learning.hand_features import FEATURE_SETS, N_FEATURES, FeatureSet
from mjbot.learning.hand_positions import Positions
from mjbot.learning.options import (
    RUNS,
    add_record_arguments,
    add_training_arguments,
    claim_weights,
    split_games,
    tell_weights,
)
from mjbot.learning.positions import GameRef, index_games
from mjbot.learning.run_folder import RunFolder, erase_run
from mjbot.learning.training_run import Course, TrainingRun, identity_of
from mjbot.learning.weights import Manifest, save_weights
from mjbot.statistics import Estimate

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
    checked = {"held out": held_out}
    if args.check:
        checked[args.check.name] = index_games([args.check])
    folder = args.folder or RUNS / f"train-hand-{identity_of(games)}"
    if args.fresh:
        erase_run(folder)
    course = Course(features=args.features, seed=args.seed, games=games)
    with RunFolder(folder, "hand") as run_folder, _progress() as bar:
        training = TrainingRun(course, run_folder, bar, args.jobs)
        positions = training.positions()
        if not len(positions):
            return _fail("there is no riichi in these games to learn from", exit_codes.FAILED)
        weights = training.learn(positions, args.passes)
        shares = _check(training, weights, checked)
        out = args.out or claim_weights(run_folder, weights_name(args.features))
    manifest = _manifest(args, positions, len(games), shares)
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


def _progress() -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(
        *columns,
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


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
