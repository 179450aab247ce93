"""``mjbot experiment NAME``: a paper's experiment, played again, as Markdown."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, make_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from rich.console import Console

from mjbot.arena.experiments import ExperimentContext, ExperimentError, Run, experiments
from mjbot.arena.report.text import trouble_lines
from mjbot.arena.run import Arena, ArenaPlan, RunOutcome
from mjbot.arena.setup import RUNS
from mjbot.arena.workers.playing import PlayedGame
from mjbot.arena.workers.pool import WorkerPool
from mjbot.cli.arena import GamesProgress, prepare_own, require_seed
from mjbot.cli.arguments import folder_option, jobs_option, seed_option
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.runtime.argument_types import count
from mjbot.runtime.checkout import papers
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import plural
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import elapsed, progress
from mjbot.runtime.requests import argument, group, is_given, option
from mjbot.strategy.options import StrategyError


def _parts(experiment: ModuleType) -> str:
    return ", ".join(experiment.PARTS)


_KNOWN: Final = experiments()
_OWN: Final = make_dataclass(
    "_OWN",
    [
        (name, Any, group(module.REQUEST, f"{name} only"))
        for name, module in _KNOWN.items()
        if hasattr(module, "REQUEST")
    ],
    frozen=True,
    kw_only=True,
)


def _name(text: str) -> str:
    if text not in _KNOWN and papers() is None:
        expected = " or ".join(_KNOWN)
        hint = "the experiments of papers need a checkout of mjbot (docs/papers.md)"
        raise argparse.ArgumentTypeError(f"unknown {text!r}; expected {expected}; {hint}")
    return text


@dataclass(frozen=True, kw_only=True)
class ExperimentRequest:
    """Arguments of ``mjbot experiment``; ``own`` has the options of each experiment by its name."""

    name: str = argument(
        "experiment, one of those below",
        type=_name,
        choices=_KNOWN,
        metavar="NAME",
    )
    part: str | None = option(None, "part to play (default: the first of those below)")
    games: int | None = option(
        None, "number of games (default: the experiment's number)", type=count
    )
    seed: int = seed_option(2021)
    jobs: int | None = jobs_option()
    out: Path = folder_option("folder of the runs' folders", RUNS)
    own: Any = group(_OWN)

    @staticmethod
    def listed() -> str:
        """Return what the help lists below the options: each experiment with its parts."""
        lines = ["experiments:"]
        for name, module in _KNOWN.items():
            lines.append(f"  {name:12}  {module.SUMMARY}")
            if len(module.PARTS) > 1:
                lines.append(f"  {'':12}  parts: {_parts(module)}")
        return "\n".join(lines)


def run(request: ExperimentRequest) -> int:
    """Play what is missing and print the tables."""
    experiment = experiments()[request.name]
    require_seed(request.seed)
    if request.part not in (None, *experiment.PARTS):
        are = "parts of {} are" if len(experiment.PARTS) > 1 else "only part of {} is"
        parts = f"the {are.format(request.name)} {_parts(experiment)}"
        raise ArgumentError(f"--part {request.part}: {parts}")
    jobs = request.jobs or os.cpu_count() or 1
    arenas = _Arenas(request.out, jobs)
    return _play(
        experiment,
        ExperimentContext(
            games=request.games or _usual_games(experiment, request.part),
            seed=request.seed,
            jobs=jobs,
            folder=request.out,
            part=request.part or experiment.PARTS[0],
            arenas=arenas.play,
            own=_own(request),
        ),
        arenas,
    )


def _own(request: ExperimentRequest) -> Any:
    """Return the named experiment's own options; raises ``ArgumentError`` if another's is given."""
    own = {each.name: getattr(request.own, each.name) for each in fields(request.own)}
    ours = own.get(request.name)
    for theirs in own.values():
        for each in fields(theirs):
            if is_given(getattr(theirs, each.name)) and not hasattr(ours, each.name):
                takers = [name for name, options in own.items() if hasattr(options, each.name)]
                verb = "takes" if len(takers) == 1 else "take"
                flag = f"--{each.name.replace('_', '-')}"
                raise ArgumentError(f"{flag}: only {' and '.join(takers)} {verb} it")
    return ours


def _play(experiment: ModuleType, request: ExperimentContext, arenas: "_Arenas") -> int:
    try:
        with keeping(arenas.kept):
            for line in experiment.play(request):
                print(line, flush=True)
    except StrategyError as error:  # the experiment's own: no argument names it
        raise ExperimentError(str(error)) from error
    for line in dict.fromkeys(arenas.faults):
        print(f"mjbot experiment: {line}", file=sys.stderr)
    return ExitCode.FAILED if arenas.faults else ExitCode.OK


def _usual_games(experiment: ModuleType, part: str | None) -> int:
    """Return an experiment's default number of games: one number, or one per part."""
    games: int | Mapping[str, int] = experiment.GAMES
    return games if isinstance(games, int) else games.get(part or experiment.PARTS[0], 1)


class _Arenas:
    """Plays an experiment's runs, and reports progress and the time left."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.faults: Final[list[str]] = []
        self._folder: Final = folder
        self._jobs: Final = jobs
        self._known = 0
        self._fresh = 0
        self._spent_s = 0.0

    def kept(self) -> str:
        """Report what has been played by now, in this run or before."""
        return (
            f"kept in {self._folder}: {plural(self._known, 'game')}; run the same command to resume"
        )

    def play(self, runs: Sequence[Run]) -> Iterator[RunOutcome]:
        """Play what is missing of each run and yield its outcome before the next one begins."""
        total = self._known + sum(run.n_walls * len(run.setup.seating.tables) for run in runs)
        for number, run in enumerate(runs, 1):
            place = f" ({number} of {len(runs)})" if len(runs) > 1 else ""
            yield self._play(run, f"{run.label}{place}", total)

    def _play(self, run: Run, place: str, total: int) -> RunOutcome:
        plan = ArenaPlan(
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

            def on_game(played: PlayedGame) -> None:
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
                report=games.on_fault,
                timing=run.timing,
            ) as pool:
                arena.play(pool, on_game)
