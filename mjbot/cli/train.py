"""``mjbot train WHAT ...``: learn weights from recorded games, or from games of our own."""

import argparse
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.table import Table

from mjbot.checkout import papers
from mjbot.errors import ArgumentError, ExitCode
from mjbot.models.hand import FEATURE_SETS
from mjbot.models.weights import SHIPPED
from mjbot.records.other_formats import record_path
from mjbot.training.positions import LeftOut
from mjbot.training.runs import RUNS, GameRange, Learned, TrainingRequest, torch
from protocol.rules import LAST_ROUND

Declare = Callable[[argparse.ArgumentParser], None]

PAPERS_POSITIONS: Final = 5716
STEPS: Final = (1, 2, 4)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be trained, and the arguments of each."""
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name, kind in all_kinds().items():
        own = kinds.add_parser(name, help=kind.help, description=kind.summary)
        own.set_defaults(program=own.prog)
        kind.declare(own)


def run(args: argparse.Namespace) -> int:
    """Train, save the weights and say how good they are; FAILED if records were left out."""
    args.left_out = LeftOut()
    all_kinds()[args.what].train(args)
    if args.left_out.duplicates:
        print(args.left_out.duplicates_text.removeprefix("; "))
    if args.left_out:
        print(str(args.left_out).removeprefix("; "))
    return ExitCode.FAILED if args.left_out else ExitCode.OK


# --- arguments ---------------------------------------------------------------------------------


def _add_record_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "records",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
        help="mjai, mjlog or tenhou.net/6 records: a file, zip or folder (mjbot arena --record"
        " makes some)",
    )
    parser.add_argument(
        "--games",
        type=_game_range,
        default=GameRange(":"),
        metavar="START:STOP",
        help="learn from these games, by their place among all: paths in the order given,"
        " the files inside each sorted by name (all)",
    )
    parser.add_argument(
        "--validate",
        type=_game_range,
        metavar="START:STOP",
        help="check with these games, which are then not learned from (none)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all chance (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    _add_out_argument(parser)


def add_folder_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder of a run that can be resumed."""
    parser.add_argument("--folder", type=Path, help=f"of the run (one of its own in {RUNS})")
    parser.add_argument("--fresh", action="store_true", help="erase the run in that folder")


def _add_out_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        help=f"folder of the weights (the run's own in {RUNS}; to play with them: {_shipped()})",
    )


def _game_range(text: str) -> GameRange:
    try:
        return GameRange(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _declare_hand(parser: argparse.ArgumentParser) -> None:
    _add_record_arguments(parser)
    parser.add_argument(
        "--check", type=Path, metavar="RECORDS", help="check with these, too; nothing is learned"
    )
    parser.add_argument(
        "--features", choices=FEATURE_SETS, default="paper", help="the feature set (paper)"
    )
    parser.add_argument("--passes", type=int, default=8, help="over all positions (8)")
    add_folder_arguments(parser)


def _declare_fold(parser: argparse.ArgumentParser) -> None:
    _add_record_arguments(parser)
    parser.add_argument(
        "--per-game", type=int, default=6, help="positions drawn from each game (6)"
    )
    parser.add_argument(
        "--step",
        type=int,
        choices=STEPS,
        default=4,
        help="of the exponents of 2 in the grid, refined around the best; 1: all 441 cells (4)",
    )
    parser.add_argument(
        "--grid",
        type=int,
        default=PAPERS_POSITIONS,
        metavar="POSITIONS",
        help=f"that the cells of the grid are tried with ({PAPERS_POSITIONS}, as in the paper)",
    )
    add_folder_arguments(parser)


def _declare_shanten(parser: argparse.ArgumentParser) -> None:
    _add_record_arguments(parser)
    parser.add_argument(
        "--check", type=Path, metavar="RECORDS", help="check with these, too; nothing is learned"
    )
    parser.add_argument("--passes", type=int, default=10, help="over all rows (10)")


def _declare_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "records",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
        help="mjai, mjlog or tenhou.net/6",
    )
    parser.add_argument("--folder", type=Path, required=True, help="to be made for the columns")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")


def _declare_greedy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", type=int, default=1000, help="games to play (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first game's walls (0)")
    parser.add_argument("--length", choices=LAST_ROUND, default="hanchan", help="(hanchan)")
    _add_out_argument(parser)


def _declare_detection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "records", nargs="+", type=record_path, metavar="RECORDS", help="of honest players"
    )
    parser.add_argument(
        "--games",
        type=_game_range,
        default=GameRange(":"),
        metavar="START:STOP",
        help="learn from these of them (all)",
    )
    parser.add_argument(
        "--pair",
        nargs=3,
        action="append",
        required=True,
        metavar=("NAME", "NAME", "RECORDS"),
        help="two who are a pair in these records; once for each kind of pair",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--out", type=Path, help=f"folder of the weights ({RUNS / 'detection'})")


def _declare_rank(parser: argparse.ArgumentParser) -> None:
    add_column_arguments(parser)
    parser.add_argument("--nets", type=int, default=2, help="networks to average (2)")
    parser.add_argument("--passes", type=int, default=20, help="over all kyoku, by each (20)")
    parser.add_argument(
        "--controls",
        action="store_true",
        help="also train softmax regression and the paper's form, to weigh ours against",
    )


def _declare_policy(parser: argparse.ArgumentParser) -> None:
    add_column_arguments(parser)
    parser.add_argument(
        "--held-out", type=int, default=25, help="of the games, that tell how it gets on (25)"
    )
    parser.add_argument(
        "--crossed",
        nargs=3,
        metavar=("GAME", "BEFORE", "FROM"),
        help="show rows of games before GAME the hand and danger weights in folder FROM, fitted to"
        " the others, and the others those in folder BEFORE (all: those that ship)",
    )
    for name, default, what in (
        ("channels", 64, "of each cell"),
        ("blocks", 6, "of two convolutions"),
        ("rows", 10_000_000, "to learn from, several passes if that is more than there are"),
        ("batch", 512, "rows of a step"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} ({default})")
    parser.add_argument("--rate", type=float, default=2e-3, help="of AdamW at most (0.002)")
    parser.add_argument("--decay", type=float, default=1e-2, help="of weights in AdamW (0.01)")
    parser.add_argument(
        "--shares",
        type=float,
        nargs=5,
        default=(0.47, 0.10, 0.16, 0.19, 0.08),
        metavar="SHARE",
        help="of discard, riichi, pon, chi and kan in each batch (0.47 0.1 0.16 0.19 0.08)",
    )
    parser.add_argument(
        "--start", type=Path, metavar="FOLDER", help="go on from the weights in a folder"
    )
    add_folder_arguments(parser)


def _declare_self_play(parser: argparse.ArgumentParser) -> None:
    for name, default, what in (
        ("chapters", 60, "of games, after each of which the networks learn"),
        ("tables", 192, "hanchan of a chapter, at once; a multiple of 4"),
        ("warm-up", 3, "chapters in which the critic learns alone"),
        ("passes", 3, "over each chapter's decisions"),
        ("seed", 0, "of all chance"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} ({default})")
    for name, share, what in (
        ("apart", 0.25, "share of the tables where one seat plays three of others"),
        ("rate", 1e-4, "of AdamW for the policy"),
        ("kl", 0.05, "what a nat of divergence from the start costs, in spreads of advantage"),
    ):
        parser.add_argument(f"--{name}", type=float, default=share, help=f"{what} ({share:g})")
    parser.add_argument("--length", choices=LAST_ROUND, default="hanchan", help="(hanchan)")
    parser.add_argument(
        "--learns",
        choices=("all", "last"),
        default="last",
        help="which weights: all, or the last layer (last)",
    )
    parser.add_argument(
        "--rivals",
        nargs="+",
        default=[],
        metavar="STRATEGY",
        help="others at those tables, four tables in turn with the start (the start alone)",
    )
    parser.add_argument(
        "--start",
        type=Path,
        default=SHIPPED,
        metavar="FOLDER",
        help="of the policy's weights to begin with (those that ship)",
    )
    add_folder_arguments(parser)
    parser.add_argument("--out", type=Path, help="folder of the weights (the run's)")


def add_column_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is learned from columns: their folders, games, the seed and the output."""
    parser.add_argument(
        "data",
        nargs="+",
        type=Path,
        metavar="FOLDER",
        help="of columns (mjbot train data): learn from the first, check with the games of it that"
        " are left and with each further one",
    )
    parser.add_argument(
        "--games",
        type=_game_range,
        default=GameRange(":"),
        metavar="START:STOP",
        help="learn from these games of the first folder; the last tenth says when to stop (all)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all chance (0)")
    _add_out_argument(parser)


# --- what is done ------------------------------------------------------------------------------


def request_from(request: Any, args: argparse.Namespace) -> Any:
    """Return a ``request`` (a dataclass) with the arguments of the names of its fields."""
    return request(**{name: getattr(args, name) for name in request.__dataclass_fields__})


def _train_data(args: argparse.Namespace) -> None:
    from mjbot.training.networks.decisions import write_decisions

    if args.jobs < 1:
        raise ArgumentError("--jobs: at least 1")
    everything = {"games": GameRange(":"), "validate": None, "seed": 0, "out": None}
    request = request_from(TrainingRequest, argparse.Namespace(**(vars(args) | everything)))
    files = " ".join(path.name for path in args.records)
    info = write_decisions(request, args.folder, f"mjbot train data {files}")
    for kind, n in info.rows.items():
        print(f"{kind}: {n} rows")
    times = os.times()
    total = sum(info.rows.values())
    spent = sum(times[:4])
    print(f"{info.games} games, {total} rows, {spent:.0f} s of processor time")
    print(f"columns: {args.folder}")


def _train_rank(args: argparse.Namespace) -> None:
    from mjbot.training.networks.rank import RankRequest, train

    if min(args.nets, args.passes) < 1:
        raise ArgumentError("--nets and --passes: at least 1")
    learned = train(request_from(RankRequest, args))
    print_learned(learned)


def _train_policy(args: argparse.Namespace) -> None:
    torch()
    from mjbot.training.networks.policy import Plan, PolicyRequest, train

    if min(args.channels, args.blocks - 1, args.rows, args.batch, args.held_out) < 1:
        raise ArgumentError("--channels, --rows, --batch, --held-out: at least 1; --blocks: 2")
    if min(args.shares) < 0 or not args.shares[0] > 0:
        raise ArgumentError("--shares: none below 0, and some discards")
    args.shares = tuple(args.shares)
    if args.crossed:
        number, before, since = args.crossed
        if not number.isdecimal():
            raise ArgumentError(f"--crossed {number!r}: expected the number of a game")
        args.crossed = int(number), Path(before), Path(since)
    args.plan = request_from(Plan, args)
    learned = train(request_from(PolicyRequest, args))
    print_learned(learned)


def _train_hand(args: argparse.Namespace) -> None:
    from mjbot.training.hand import HandRequest, train

    if args.passes < 1 or args.jobs < 1:
        raise ArgumentError("--passes and --jobs: at least 1")
    learned = train(request_from(HandRequest, args))
    print(f"learned from {learned.manifest.data}")
    print_scores(learned)
    times = os.times()
    print(f"{sum(times[:4]):.0f} s of processor time")
    print_weights(learned)


def _train_fold(args: argparse.Namespace) -> None:
    from mjbot.training.fold import FoldRequest, train

    if min(args.per_game, args.grid, args.jobs) < 1:
        raise ArgumentError("--per-game, --grid and --jobs: at least 1")
    learned = train(request_from(FoldRequest, args))
    print_learned(learned)


def _train_danger(args: argparse.Namespace) -> None:
    from mjbot.training.danger import train

    learned, calibration = train(request_from(TrainingRequest, args))
    for line in calibration:
        print(line)
    print_learned(learned)


def _train_detection(args: argparse.Namespace) -> None:
    from mjbot.detection.learning import DetectionRequest, train
    from mjbot.detection.verdicts import SHIPPED as DETECTS

    args.pairs = [(one, other, record_path(path)) for one, other, path in args.pair]
    learned = train(request_from(DetectionRequest, args))
    print_scores(learned)
    print(f"{learned.folder / learned.name}.npz; mjbot detect goes by those in {DETECTS}")


def _train_shanten(args: argparse.Namespace) -> None:
    from mjbot.training.networks.hidden_shanten import ShantenRequest, train

    if args.passes < 1 or args.jobs < 1:
        raise ArgumentError("--passes and --jobs: at least 1")
    learned, calibration = train(request_from(ShantenRequest, args))
    for line in calibration:
        print(line)
    print_learned(learned)


def _train_greedy(args: argparse.Namespace) -> None:
    from mjbot.training.tenpai import PAPER_PERCENT, percents_of, train

    if args.games < 2:
        raise ArgumentError("--games: at least 2, for the intervals")
    learned, counted = train(args.games, args.seed, args.length, args.out)
    table = Table(
        "shanten", "% [95 %]", "paper %", title="after 6 draws, one 3..7 of a number suit gone"
    )
    for n, percent in enumerate(percents_of(counted.row)):
        paper = str(PAPER_PERCENT.get(n, ""))
        table.add_row(str(n), f"{percent.value:.1f} [{percent.low:.1f}, {percent.high:.1f}]", paper)
    Console().print(table)
    print(f"{int(counted.row.sum())} such hands")
    hands = int(counted.hands[:, :, 0].sum())
    print(f"{args.games} games, {counted.kyoku} kyoku, {hands} hands, {counted.seconds:.1f} s")
    print_weights(learned)


def _train_self_play(args: argparse.Namespace) -> None:
    torch()
    from mjbot.training.networks.self_play import SelfPlayRequest, train

    print_learned(train(request_from(SelfPlayRequest, args)))


def print_learned(learned: Learned) -> None:
    """Print how good the weights are, and where they were written."""
    print_scores(learned)
    print_weights(learned)


def print_scores(learned: Learned) -> None:
    """Print how good the weights are: the scores of their manifest."""
    for what, figure in learned.manifest.scores.items():
        print(f"{what}: {figure}")


def print_weights(learned: Learned) -> None:
    """Say where weights were written, and how they come to be played with."""
    file = learned.folder / f"{learned.name}.npz"
    size_kb = file.stat().st_size / 1000
    print(f"{file}: {size_kb:.0f} kB, digest {learned.manifest.digest[:12]}")
    if learned.folder.resolve() != SHIPPED.resolve():
        print(f"strategies play with those in {_shipped()}; to put these there: --out {_shipped()}")


def _shipped() -> Path:
    """Return the folder of the weights that ship, from here if it is below."""
    here = Path.cwd()
    return SHIPPED.relative_to(here) if SHIPPED.is_relative_to(here) else SHIPPED


class Kind(NamedTuple):
    """What can be trained: one line of it, what it is, its arguments and how it is done."""

    help: str
    summary: str
    declare: Declare
    train: Callable[[argparse.Namespace], None]


KINDS: Final[dict[str, Kind]] = {
    "data": Kind(
        "columns of all choices in records, for the learned players",
        "Write every discard, riichi, pon, chi and kan in records as memory-mapped columns.",
        _declare_data,
        _train_data,
    ),
    "rank": Kind(
        "the rank model, from columns",
        "Learn where the four seats may end from what stands at the start of each kyoku.",
        _declare_rank,
        _train_rank,
    ),
    "policy": Kind(
        "the learned player's network, from columns",
        "Learn all five decisions of strong players with one network.",
        _declare_policy,
        _train_policy,
    ),
    "self-play": Kind(
        "the learned player's network, from games against itself",
        "Let the learned player go on learning by play: PPO with a critic that sees all hands.",
        _declare_self_play,
        _train_self_play,
    ),
    "hand": Kind(
        "the hand evaluator, from discards before a riichi",
        "Learn the hand evaluator from the discards before each kyoku's first riichi.",
        _declare_hand,
        _train_hand,
    ),
    "fold": Kind(
        "when to fold, from records",
        "Learn when to fold: labels from what players did under threat, an RBF support vector"
        " machine, C and gamma by cross-validation.",
        _declare_fold,
        _train_fold,
    ),
    "danger": Kind(
        "how dangerous a tile is, from records",
        "Fit how likely each tile is to deal in to each opponent, what that costs, and how soon"
        " others win, from all discards in records.",
        _add_record_arguments,
        _train_danger,
    ),
    "detection": Kind(
        "what tells a pair from strangers, from honest records and games of known pairs",
        "Learn what mjbot detect goes by: what strangers do, and how known pairs depart from it.",
        _declare_detection,
        _train_detection,
    ),
    "shanten": Kind(
        "how far hidden hands are from tenpai, from records",
        "Learn how far a seat is from tenpai by what all can see of it, from all discards in"
        " records.",
        _declare_shanten,
        _train_shanten,
    ),
    "greedy": Kind(
        "what greedy players hold, from games of our own",
        "Count what four greedy players hold: P(shanten | draws, discarded 3..7, blocks).",
        _declare_greedy,
        _train_greedy,
    ),
}
"""The modules of :mod:`mjbot.training` are imported only when they are asked for."""


def all_kinds() -> dict[str, Kind]:
    """Return what can be trained: :data:`KINDS`, and in a checkout the papers' systems."""
    modules: dict[str, str] = getattr(papers(), "TRAINING", {})
    return KINDS | {
        name: importlib.import_module(path).KINDS[name] for name, path in modules.items()
    }
