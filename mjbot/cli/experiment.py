"""``mjbot experiment NAME``: a paper's experiment, played again, as Markdown."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from rich.console import Console

from mjbot.arena.report.text import trouble_lines
from mjbot.arena.run import Arena, Plan, RunOutcome
from mjbot.arena.workers.playing import Played
from mjbot.arena.workers.pool import WorkerPool
from mjbot.cli.arena import RUNS, GamesProgress, prepare_own, require_seed
from mjbot.cli.arguments import count, folder_option, jobs_option, seed_option
from mjbot.cli.requests import declare
from mjbot.errors import ArgumentError, ExitCode
from mjbot.experiments import ExperimentError, Request, Run, experiments
from mjbot.interruption import keeping
from mjbot.progress import elapsed, progress
from mjbot.statistics.sequential import ErrorRates
from mjbot.strategy.options import StrategyError
from mjbot.text import plural


@dataclass(frozen=True, kw_only=True)
class _Shared:
    """The options that an experiment shares with other commands."""

    seed: int = seed_option(2021)
    jobs: int | None = jobs_option()
    out: Path = folder_option("folder of the runs' folders", RUNS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    known = experiments()
    names = "; ".join([f"{name}: {module.SUMMARY}" for name, module in known.items()])
    parser.add_argument("name", choices=known, metavar="NAME", help=names)
    parts = "; ".join([f"{name}: {_parts(module)}" for name, module in known.items()])
    parser.add_argument("--part", help=f"part to play (default: the first). {parts}")
    games = "number of games (default: the experiment's number)"
    parser.add_argument("--games", type=count, help=games)
    declare(parser, _Shared)
    records = "people's games, to list (strength) or to judge too (detection; default: none)"
    parser.add_argument("--records", type=Path, metavar="FILE", help=records)
    for name, module in known.items():
        if hasattr(module, "add_arguments"):
            module.add_arguments(parser.add_argument_group(f"{name} only"))


def run(args: argparse.Namespace) -> int:
    """Play what is missing and print the tables."""
    experiment = experiments()[args.name]
    require_seed(args.seed)
    if args.part not in (None, *experiment.PARTS):
        are = "parts of {} are" if len(experiment.PARTS) > 1 else "only part of {} is"
        parts = f"the {are.format(args.name)} {_parts(experiment)}"
        raise ArgumentError(f"--part {args.part}: {parts}")
    _refuse_foreign_options(args)
    jobs = args.jobs or os.cpu_count() or 1
    arenas = _Arenas(args.out, jobs)
    request = Request(
        games=args.games or _usual_games(experiment, args.part),
        seed=args.seed,
        jobs=jobs,
        folder=args.out,
        part=args.part or experiment.PARTS[0],
        arenas=arenas.play,
        own={name: getattr(args, name) for name in options_of(experiment)},
    )
    return _play(experiment, request, arenas)


def _play(experiment: ModuleType, request: Request, arenas: "_Arenas") -> int:
    try:
        with keeping(arenas.kept):
            for line in experiment.play(request):
                print(line, flush=True)
    except StrategyError as error:  # the experiment's own: no argument names it
        raise ExperimentError(str(error)) from error
    for line in dict.fromkeys(arenas.faults):
        print(f"mjbot experiment: {line}", file=sys.stderr)
    return ExitCode.FAILED if arenas.faults else ExitCode.OK


def options_of(experiment: ModuleType) -> tuple[str, ...]:
    """Return the names of the arguments that this experiment takes and not all do."""
    return getattr(experiment, "OPTIONS", ())


def _refuse_foreign_options(args: argparse.Namespace) -> None:
    known = experiments()
    for name in dict.fromkeys(name for each in known.values() for name in options_of(each)):
        takers = [taker for taker, module in known.items() if name in options_of(module)]
        if args.name not in takers and getattr(args, name, None) is not None:
            verb = "takes" if len(takers) == 1 else "take"
            flag = f"--{name.replace('_', '-')}"
            raise ArgumentError(f"{flag}: only {' and '.join(takers)} {verb} it")


def _parts(experiment: ModuleType) -> str:
    return ", ".join(experiment.PARTS)


def _usual_games(experiment: ModuleType, part: str | None) -> int:
    """Return how many an experiment plays if nothing is said: one number, or one per part."""
    games: int | Mapping[str, int] = experiment.GAMES
    return games if isinstance(games, int) else games.get(part or experiment.PARTS[0], 1)


class _Arenas:
    """Plays an experiment's runs, and says how far the whole is and how long it may take."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.faults: Final[list[str]] = []
        self._folder: Final = folder
        self._jobs: Final = jobs
        self._known = 0
        self._fresh = 0
        self._spent_s = 0.0

    def kept(self) -> str:
        """Say what has been played by now, in this run or before."""
        return f"kept in {self._folder}: {plural(self._known, 'game')}; the same command goes on"

    def play(self, runs: Sequence[Run]) -> Iterator[RunOutcome]:
        """Play what is missing of each run and yield its outcome before the next one begins."""
        total = self._known + sum(run.n_walls * len(run.setup.seating.tables) for run in runs)
        for number, run in enumerate(runs, 1):
            place = f" ({number} of {len(runs)})" if len(runs) > 1 else ""
            yield self._play(run, f"{run.label}{place}", total)

    def _play(self, run: Run, place: str, total: int) -> RunOutcome:
        plan = Plan(
            setup=run.setup,
            n_walls=run.n_walls,
            folder=self._folder / (run.folder or f"arena-{run.setup.identity}"),
            rates=ErrorRates(),
            recording=run.recording,
        )
        with Arena(plan) as arena:
            if arena.set_aside:
                print(arena.set_aside, file=sys.stderr)
            self._known += min(arena.games_kept, arena.n_games)
            if not arena.is_over:
                self._play_missing(arena, place, total, run)
            outcome = arena.outcome()
        self.faults.extend(trouble_lines(outcome))
        return outcome

    def _play_missing(self, arena: Arena, place: str, total: int, run: Run) -> None:
        console = Console(stderr=True)
        prepare_own(arena.plan.setup, console)
        with progress(console, place, total, "games") as step:
            games = GamesProgress(console, arena.plan.setup, step)
            step(self._known)
            last = time.monotonic()

            def on_game(played: Played) -> None:
                nonlocal last
                now = time.monotonic()
                self._spent_s += now - last
                last = now
                self._fresh += 1
                self._known += 1
                left_s = (total - self._known) * self._spent_s / self._fresh
                games.on_game(played, f"about {elapsed(left_s)} left")

            with WorkerPool(
                run.setup,
                self._jobs,
                recording=run.recording,
                tell=games.on_fault,
                timing=run.timing,
            ) as pool:
                arena.play(pool, on_game)
