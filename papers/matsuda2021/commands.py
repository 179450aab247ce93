"""``mjbot train networks-paper`` and ``mjbot train reinforce``, in a checkout."""

import argparse
from pathlib import Path
from typing import Final

from mjbot.cli.train import (
    Kind,
    add_column_arguments,
    add_folder_arguments,
    print_learned,
    print_scores,
    request_from,
)
from mjbot.errors import ArgumentError
from papers.matsuda2021.networks import CLASSES, WEIGHTS


def _declare_networks_paper(parser: argparse.ArgumentParser) -> None:
    add_column_arguments(parser)
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=CLASSES,
        default=tuple(CLASSES),
        help="which networks (all five)",
    )
    parser.add_argument("--rows", type=int, default=0, help="shown to each (by kind)")
    parser.add_argument(
        "--check-rows", type=int, default=60_000, help="at most, drawn from each check (60000)"
    )
    add_folder_arguments(parser)


def _declare_reinforce(parser: argparse.ArgumentParser) -> None:
    for name, default, what in (
        ("episodes", 150_000, "kyoku of the learning seat, as in the paper"),
        ("tables", 128, "at once, a multiple of 4"),
        ("look-every", 5000, "episodes from one look, when all is saved, to the next"),
        ("look-games", 128, "hanchan of greedy play in a look, four on each wall"),
        ("seed", 0, "of all chance"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} ({default})")
    parser.add_argument(
        "--epsilon-from",
        type=float,
        default=1.0,
        help="chance of a random choice at first; it falls to 0.01 in 90,000 episodes (1)",
    )
    parser.add_argument(
        "--weights",
        type=Path,
        default=WEIGHTS,
        metavar="FOLDER",
        help="of the networks to begin with and to play against (those that ship)",
    )
    add_folder_arguments(parser)
    parser.add_argument("--out", type=Path, help="folder of the networks (the run's)")


def _train_networks_paper(args: argparse.Namespace) -> None:
    from mjbot.training.networks.decisions import Kind as Decided
    from papers.matsuda2021.training import PaperRequest, train

    if args.rows < 0 or args.check_rows < 1:
        raise ArgumentError("--rows: not below 0; --check-rows: at least 1")
    args.kinds = [Decided(kind) for kind in args.kinds]
    for learned in train(request_from(PaperRequest, args)):
        print_learned(learned)


def _train_reinforce(args: argparse.Namespace) -> None:
    from papers.matsuda2021.reinforcement import ReinforceRequest, train

    learned = train(request_from(ReinforceRequest, args))
    print_scores(learned[0])
    for network in learned:
        print(network.folder / f"{network.name}.npz")


KINDS: Final[dict[str, Kind]] = {
    "networks-paper": Kind(
        "the five networks of Matsuda and Ito 2021, from columns",
        "Train the networks of Matsuda and Ito 2021 for discard, riichi, pon, chi and kan.",
        _declare_networks_paper,
        _train_networks_paper,
    ),
    "reinforce": Kind(
        "the reinforcement of Matsuda and Ito 2021, from their five networks",
        "Let the five networks learn by play against three of themselves: deep Q-learning.",
        _declare_reinforce,
        _train_reinforce,
    ),
}
