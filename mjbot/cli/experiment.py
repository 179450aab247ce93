"""``mjbot experiment NAME``: a paper's experiment, played again, as Markdown."""

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from mjbot.arena.results import ResultsError
from mjbot.arena.run import Arena, Outcome, Plan
from mjbot.arena.sequential import ErrorRates
from mjbot.arena.setup import LARGEST_SEED
from mjbot.arena.workers import Crew, WorkerError
from mjbot.cli import exit_codes
from mjbot.cli.arena_progress import GamesProgress
from mjbot.experiments import nakano2021

RUNS = Path("logs", "runs")
EXPERIMENTS = {"nakano2021": "A, B, C and D of Nakano 2021 against three of A, east-only"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    told = "; ".join([f"{name}: {summary}" for name, summary in EXPERIMENTS.items()])
    parser.add_argument("name", choices=sorted(EXPERIMENTS), metavar="NAME", help=told)
    parser.add_argument("--games", type=int, default=300, help="per strategy (300, the paper's)")
    parser.add_argument("--seed", type=int, default=2021, help="seed of all walls (2021)")
    parser.add_argument("--pinned", action="store_true", help="each seat draws its own tiles")
    parser.add_argument("--jobs", type=int, help="processes (default: one per processor)")
    parser.add_argument("--out", type=Path, help="folder of the run, taken up if it is there")


def run(args: argparse.Namespace) -> int:
    """Play what is missing and print the tables; every failure is one line."""
    if args.games < 1 or not 0 <= args.seed <= LARGEST_SEED or (args.jobs or 1) < 1:
        return _fail("--games, --jobs: at least 1; --seed: 0 or more", exit_codes.BAD_ARGUMENTS)
    setup = nakano2021.make_setup(args.seed, args.pinned)
    plan = Plan(
        setup=setup,
        n_walls=nakano2021.walls_for(args.games),
        folder=args.out or RUNS / f"{args.name}-{setup.identity}",
        rates=ErrorRates(),
    )
    try:
        outcome = _play(plan, args.jobs or os.cpu_count() or 1)
    except ResultsError as error:
        return _fail(str(error), exit_codes.UNREACHABLE)
    except WorkerError as error:
        return _fail(str(error), exit_codes.FAILED)
    for line in report(outcome):
        print(line)
    return exit_codes.OK


def _play(plan: Plan, jobs: int) -> Outcome:
    console = Console(stderr=True)
    with Arena(plan) as arena:
        if not arena.is_over:
            with Crew(plan.setup, jobs) as crew, GamesProgress(console, arena) as progress:
                arena.play(crew, progress.on_game)
        return arena.outcome()


def report(outcome: Outcome) -> list[str]:
    """Return the lines to print: the paper's size first, then all games."""
    paper_walls = nakano2021.walls_for(nakano2021.PAPER_GAMES)
    sizes = sorted({min(paper_walls, len(outcome.rows)), len(outcome.rows)})
    lines: list[str] = []
    for n_walls in sizes:
        rows = outcome.rows[:n_walls]
        lines += [*nakano2021.table_1(rows), "", *nakano2021.differences(rows), ""]
    return [*lines, *nakano2021.is_d_better_than_b(outcome)]


def _fail(text: str, code: int) -> int:
    print(f"mjbot experiment: {text}", file=sys.stderr)
    return code
