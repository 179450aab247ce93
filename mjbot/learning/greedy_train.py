"""``mjbot train greedy``: what greedy players hold, from games of our own."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from mjbot import exit_codes
from mjbot.interruption import keeping
from mjbot.learning.greedy_count import MAX_BLOCKS, MAX_DRAWS, MAX_MIDDLE, N_SHANTEN, count_games
from mjbot.learning.options import RUNS, add_out_argument, tell_weights
from mjbot.learning.weights import Manifest, save_weights
from mjbot.progress import progress
from mjbot.rules.ruleset import LAST_ROUND
from mjbot.statistics import Estimate, rate

SUMMARY: Final = "Count what four greedy players hold: P(shanten | draws, discarded 3..7, blocks)."
PAPER_DRAWS: Final = 6
PAPER_MIDDLE: Final = 1
PAPER_PERCENT: Final = {2: 27, 1: 61, 0: 8}
"""Takada and Sato 2022, section 4.1.1: shanten -> percent of hands."""

Counts = NDArray[np.int64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--games", type=int, default=1000, help="games to play (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first game's walls (0)")
    parser.add_argument("--length", choices=LAST_ROUND, default="hanchan", help="(hanchan)")
    add_out_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Play, count, save, and show the row that the paper prints."""
    if args.games < 2:
        print("mjbot train greedy: --games: at least 2, for the intervals", file=sys.stderr)
        return exit_codes.BAD_ARGUMENTS
    begun = time.monotonic()
    with (
        keeping(lambda: "nothing is kept before the last game"),
        progress(Console(stderr=True), "playing", args.games, "games") as step,
    ):
        hands, row, kyoku = count_hands(args.games, args.seed, LAST_ROUND[args.length], step)
    percents = [percent_of(row, shanten) for shanten in range(N_SHANTEN)]
    manifest = Manifest(
        data=f"{args.games} games ({args.length}, {kyoku} kyoku) of four greedy players",
        command=f"mjbot train greedy --games {args.games} --seed {args.seed} "
        f"--length {args.length}",
        seed=args.seed,
        scores={
            f"percent_{shanten}_shanten_after_6_draws_1_middle": _told(percent, 2)
            for shanten, percent in enumerate(percents)
        },
    )
    out = args.out or RUNS / f"train-greedy-{args.games}-{args.seed}-{args.length}"
    written = save_weights("greedy", {"hands": hands}, manifest, out)
    _show(percents, row)
    seconds = time.monotonic() - begun
    print(f"{args.games} games, {kyoku} kyoku, {int(hands[:, :, 0].sum())} hands, {seconds:.1f} s")
    tell_weights("greedy", written, out)
    return exit_codes.OK


def count_hands(
    games: int, seed: int, last_round: int, step: Callable[[], object] = lambda: None
) -> tuple[NDArray[np.int32], Counts, int]:
    """Play games with the seeds from ``seed`` on; ``step`` is called after each.

    Returns the table (:data:`mjbot.learning.greedy_count.Hands`), of the paper's row the counts
    per game int64[games, 7], and the number of kyoku.
    """
    hands = np.zeros((MAX_DRAWS + 1, MAX_MIDDLE + 1, MAX_BLOCKS + 1, N_SHANTEN), np.int32)
    row = np.zeros((games, N_SHANTEN), np.int64)
    kyoku = 0
    for game in range(games):
        before = hands[PAPER_DRAWS, PAPER_MIDDLE, 0].copy()
        kyoku += count_games(np.array([seed + game]), last_round, hands)
        row[game] = hands[PAPER_DRAWS, PAPER_MIDDLE, 0] - before
        step()
    return hands, row, kyoku


def percent_of(row: Counts, shanten: int) -> Estimate:
    """Return the percentage of a shanten in ``row`` int64[games, 7]; a game is one observation."""
    share = rate(row[:, shanten].astype(np.float64), row.sum(axis=1).astype(np.float64))
    return Estimate(100 * share.value, 100 * share.low, 100 * share.high)


def _told(percent: Estimate, decimals: int) -> str:
    low, high = f"{percent.low:.{decimals}f}", f"{percent.high:.{decimals}f}"
    return f"{percent.value:.{decimals}f} [{low}, {high}]"


def _show(percents: Sequence[Estimate], row: Counts) -> None:
    table = Table(
        "shanten", "% [95 %]", "paper %", title="after 6 draws, one 3..7 of a number suit gone"
    )
    for shanten, percent in enumerate(percents):
        told = PAPER_PERCENT.get(shanten)
        table.add_row(str(shanten), _told(percent, 1), "" if told is None else str(told))
    Console().print(table)
    print(f"{int(row.sum())} such hands")
