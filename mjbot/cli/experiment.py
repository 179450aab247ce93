"""``mjbot experiment NAME``: a paper's experiment, played again, as Markdown."""

import argparse
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

from rich.console import Console

from mjbot.arena.results import ResultsError
from mjbot.arena.run import Arena, Outcome, Plan
from mjbot.arena.sequential import ErrorRates
from mjbot.arena.setup import LARGEST_SEED, Setup
from mjbot.arena.workers import Crew, WorkerError
from mjbot.cli import exit_codes
from mjbot.cli.arena_progress import GamesProgress

RUNS: Final = Path("logs", "runs")
EXPERIMENTS: Final = ("nakano2021", "arena-checks")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    told = "; ".join([f"{name}: {_module(name).SUMMARY}" for name in EXPERIMENTS])
    parser.add_argument("name", choices=EXPERIMENTS, metavar="NAME", help=told)
    parser.add_argument("--games", type=int, help="per strategy (default: the paper's number)")
    parser.add_argument("--seed", type=int, default=2021, help="seed of all walls (2021)")
    parser.add_argument("--jobs", type=int, help="processes (default: one per processor)")
    parser.add_argument(
        "--out", type=Path, default=RUNS, help=f"where the runs' folders are or go ({RUNS})"
    )


def run(args: argparse.Namespace) -> int:
    """Play what is missing and print the tables; every failure is one line."""
    experiment = _module(args.name)
    games = experiment.GAMES if args.games is None else args.games
    if games < 1 or not 0 <= args.seed <= LARGEST_SEED or (args.jobs or 1) < 1:
        return _fail("--games and --jobs: at least 1; --seed: 0 or more", exit_codes.BAD_ARGUMENTS)
    outcomes = {}
    try:
        for name, setup in experiment.setups(args.seed).items():
            outcomes[name] = _play(_plan(setup, experiment.walls_for(games), args.out), args.jobs)
    except ResultsError as error:
        return _fail(str(error), exit_codes.UNREACHABLE)
    except WorkerError as error:
        return _fail(str(error), exit_codes.FAILED)
    for line in experiment.report(outcomes):
        print(line)
    return exit_codes.OK


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"mjbot.experiments.{name.replace('-', '_')}")


def _plan(setup: Setup, n_walls: int, folder: Path) -> Plan:
    return Plan(
        setup=setup,
        n_walls=n_walls,
        folder=folder / f"arena-{setup.identity}",
        rates=ErrorRates(),
    )


def _play(plan: Plan, jobs: int | None) -> Outcome:
    console = Console(stderr=True)
    with Arena(plan) as arena:
        if not arena.is_over:
            crew = Crew(plan.setup, jobs or os.cpu_count() or 1)
            with crew, GamesProgress(console, arena) as progress:
                arena.play(crew, progress.on_game)
        return arena.outcome()


def _fail(text: str, code: int) -> int:
    print(f"mjbot experiment: {text}", file=sys.stderr)
    return code
