"""``mjbot experiment NAME``: a paper's experiment, played again, as Markdown."""

import argparse
import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Final

from rich.console import Console

from mjbot import exit_codes
from mjbot.arena.faults import FaultFileError
from mjbot.arena.results import ResultsError
from mjbot.arena.run import Arena, Outcome, Plan
from mjbot.arena.sequential import ErrorRates
from mjbot.arena.setup import LARGEST_SEED, Setup
from mjbot.arena.show import trouble_lines
from mjbot.arena.workers import Crew, WorkerError
from mjbot.cli.arena_progress import GamesProgress
from mjbot.experiments.request import ExperimentError, Request
from mjbot.strategy_options import StrategyError

RUNS: Final = Path("logs", "runs")
EXPERIMENTS: Final = ("nakano2021", "arena-checks", "mizukami2013", "hamabe2017", "takada2022")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    told = "; ".join([f"{name}: {_module(name).SUMMARY}" for name in EXPERIMENTS])
    parser.add_argument("name", choices=EXPERIMENTS, metavar="NAME", help=told)
    parts = "; ".join([f"{name}: {_parts(_module(name))}" for name in EXPERIMENTS])
    parser.add_argument("--part", help=f"one of the experiment's parts (its first). {parts}")
    parser.add_argument("--games", type=int, help="how many (default: the experiment's number)")
    parser.add_argument("--seed", type=int, default=2021, help="seed of all walls (2021)")
    parser.add_argument("--jobs", type=int, help="processes (default: one per processor)")
    parser.add_argument(
        "--out", type=Path, default=RUNS, help=f"where the runs' folders are or go ({RUNS})"
    )


def run(args: argparse.Namespace) -> int:
    """Play what is missing and print the tables; every failure is one line."""
    experiment = _module(args.name)
    games = _usual_games(experiment, args.part) if args.games is None else args.games
    if games < 1 or not 0 <= args.seed <= LARGEST_SEED or (args.jobs or 1) < 1:
        return _fail("--games and --jobs: at least 1; --seed: 0 or more", exit_codes.BAD_ARGUMENTS)
    if args.part not in (None, *experiment.PARTS):
        told = f"--part {args.part}: the parts of {args.name} are {_parts(experiment)}"
        if len(experiment.PARTS) == 1:
            told = f"--part {args.part}: the only part of {args.name} is {_parts(experiment)}"
        return _fail(told, exit_codes.BAD_ARGUMENTS)
    jobs = args.jobs or os.cpu_count() or 1
    faults: list[str] = []
    request = Request(
        games=games,
        seed=args.seed,
        jobs=jobs,
        folder=args.out,
        part=args.part or experiment.PARTS[0],
        arena=lambda setup, n_walls: _play(_plan(setup, n_walls, args.out), jobs, faults),
    )
    try:
        for line in experiment.play(request):
            print(line, flush=True)
    except (ResultsError, FaultFileError, OSError) as error:
        return _fail(str(error), exit_codes.UNREACHABLE)
    except (WorkerError, StrategyError, ExperimentError) as error:
        return _fail(str(error), exit_codes.FAILED)
    for line in dict.fromkeys(faults):
        _fail(line, exit_codes.FAILED)
    return exit_codes.FAILED if faults else exit_codes.OK


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"mjbot.experiments.{name.replace('-', '_')}")


def _parts(experiment: ModuleType) -> str:
    return ", ".join(experiment.PARTS)


def _usual_games(experiment: ModuleType, part: str | None) -> int:
    """Return how many an experiment plays if nothing is said: one number, or one per part."""
    games: int | Mapping[str, int] = experiment.GAMES
    return games if isinstance(games, int) else games.get(part or experiment.PARTS[0], 1)


def _plan(setup: Setup, n_walls: int, folder: Path) -> Plan:
    return Plan(
        setup=setup,
        n_walls=n_walls,
        folder=folder / f"arena-{setup.identity}",
        rates=ErrorRates(),
    )


def _play(plan: Plan, jobs: int, faults: list[str]) -> Outcome:
    """Play what is missing of a run; its faults are added to ``faults``, a line each."""
    console = Console(stderr=True)
    with Arena(plan) as arena:
        if arena.set_aside:
            console.print(arena.set_aside, highlight=False, markup=False, soft_wrap=True)
        if not arena.is_over:
            with (
                GamesProgress(console, arena) as progress,
                Crew(plan.setup, jobs, tell=progress.on_fault) as crew,
            ):
                arena.play(crew, progress.on_game)
        outcome = arena.outcome()
    faults.extend(trouble_lines(outcome))
    return outcome


def _fail(text: str, code: int) -> int:
    print(f"mjbot experiment: {text}", file=sys.stderr)
    return code
