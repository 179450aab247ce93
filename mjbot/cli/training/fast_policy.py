"""``mjbot train fast-policy`` and ``mjbot train fast-policy-play``."""

import argparse
from pathlib import Path
from typing import Final

from mjbot.cli.train import (
    Kind,
    add_column_arguments,
    add_folder_arguments,
    print_learned,
    request_from,
)
from mjbot.errors import ArgumentError
from mjbot.models.weights import SHIPPED
from mjbot.rules.ruleset import LAST_ROUND


def _declare_imitation(parser: argparse.ArgumentParser) -> None:
    add_column_arguments(parser)
    parser.add_argument(
        "--held-out", type=int, default=25, help="games that show the progress, the last (25)"
    )
    parser.add_argument(
        "--rows", type=int, default=8_000_000, help="rows to learn from, repeated (8000000)"
    )
    parser.add_argument("--batch", type=int, default=256, help="rows of a step (256)")
    parser.add_argument("--rate", type=float, default=1.5e-3, help="rate of Adam at most (0.0015)")
    parser.add_argument(
        "--shares",
        type=float,
        nargs=5,
        default=(0.58, 0.08, 0.12, 0.16, 0.06),
        metavar="SHARE",
        help="shares of discard, riichi, pon, chi and kan in a batch (0.58 0.08 0.12 0.16 0.06)",
    )
    parser.add_argument(
        "--start", type=Path, metavar="FOLDER", help="folder of weights to continue from (none)"
    )
    add_folder_arguments(parser)


def _train_imitation(args: argparse.Namespace) -> None:
    from mjbot.training.fast_policy.imitation import ImitationRequest, Plan, train

    if min(args.rows, args.batch, args.held_out) < 1 or args.rows < args.batch:
        raise ArgumentError("--batch and --held-out: at least 1; --rows: at least one batch")
    if min(args.shares) < 0 or not args.shares[0] > 0:
        raise ArgumentError("--shares: none below 0, and some discards")
    args.shares = tuple(args.shares)
    args.plan = request_from(Plan, args)
    print_learned(train(request_from(ImitationRequest, args)))


def _declare_play(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="folders of columns (mjbot train data) on whose games the result is scored",
    )
    parser.add_argument(
        "--check-from", type=int, default=4000, help="first game of the first folder (4000)"
    )
    for name, default, what in (
        ("batches", 800, "batches of games, each followed by one step"),
        ("tables", 32, "games of a batch"),
        ("warm-up", 15, "batches in which the critic learns alone"),
        ("seed", 0, "seed of walls and choices"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} ({default})")
    for name, share, what in (
        ("apart", 0.3, "share of the tables where one seat plays three of the start"),
        ("rate", 4e-4, "rate of Adam"),
        ("kl", 0.03, "cost of a nat of divergence from the start"),
        ("temperature", 0.5, "temperature at which choices are drawn"),
    ):
        parser.add_argument(f"--{name}", type=float, default=share, help=f"{what} ({share:g})")
    parser.add_argument("--length", choices=LAST_ROUND, default="hanchan", help="(hanchan)")
    parser.add_argument(
        "--start",
        type=Path,
        default=SHIPPED,
        metavar="FOLDER",
        help="folder of the weights to start from (those that ship)",
    )
    parser.add_argument(
        "--mean-of",
        type=Path,
        nargs="+",
        default=(),
        metavar="FOLDER",
        help="play nothing: average the weights of these runs, which had the same start",
    )
    add_folder_arguments(parser)
    parser.add_argument("--out", type=Path, help="folder of the weights (the run's)")


def _train_play(args: argparse.Namespace) -> None:
    from mjbot.training.fast_policy.self_play import PlayPlan, PlayRequest, train

    if min(args.batches, args.tables) < 1 or args.warm_up < 0:
        raise ArgumentError("--batches and --tables: at least 1; --warm-up: at least 0")
    if not (0 <= args.apart <= 1 and args.temperature > 0 and args.rate > 0 and args.kl >= 0):
        raise ArgumentError("--apart: 0 to 1; --temperature, --rate: above 0; --kl: at least 0")
    args.data, args.mean_of = tuple(args.data), tuple(args.mean_of)
    args.plan = request_from(PlayPlan, args)
    print_learned(train(request_from(PlayRequest, args)))


KINDS: Final[dict[str, Kind]] = {
    "fast-policy": Kind(
        "the fast policy's network, from columns",
        "Learn all five decisions of strong players with the small compiled network.",
        _declare_imitation,
        _train_imitation,
    ),
    "fast-policy-play": Kind(
        "the fast policy's network, refined by games against itself",
        "Refine the small network by policy gradient, with a critic that sees all hands.",
        _declare_play,
        _train_play,
    ),
}
