"""What an experiment is, and which there are.

An experiment is a module with ``SUMMARY``, one line of what it shows; ``GAMES``, the default number
of games (one number, or one by part); ``PARTS``, the names of its runs (the first is the default);
and ``play``, which takes an :class:`ExperimentContext` and yields the lines of its report, as
Markdown.  One with options of its own has them in ``REQUEST``, a subclass of
:class:`ExperimentRequest`.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from mjbot.arena.run import RunOutcome
from mjbot.arena.runs import Run, Runs
from mjbot.arena.setup import RUNS, require_seed
from mjbot.cli.arguments import folder_option, jobs_option, seed_option
from mjbot.runtime.argument_types import count
from mjbot.runtime.errors import ArgumentError, MjbotError
from mjbot.runtime.processors import worker_count
from mjbot.runtime.requests import Subcommand, option
from mjbot.strategy.options import StrategyError
from papers import PROGRAM


class ExperimentError(MjbotError):
    """An experiment cannot be played or continued; the text is one line for the user."""


@dataclass(frozen=True, kw_only=True)
class ExperimentRequest:
    """The options of every experiment."""

    part: str | None = option(None, "part to play (default: the first of those below)")
    games: int | None = option(
        None, "number of games (default: the experiment's number)", type=count
    )
    seed: int = seed_option(2021)
    jobs: int | None = jobs_option()
    out: Path = folder_option("folder of the runs' folders", RUNS)


@dataclass(frozen=True, slots=True)
class ExperimentContext:
    """What the user asked for.

    ``folder`` is where all that is played is kept, each run under a name of its own, so that
    an interrupted run resumes.  ``arenas(runs)`` plays what is missing of each run and yields
    its outcome before the next one begins: name all that there are, for the forecast.  ``own`` is
    the request, with the experiment's own options.
    """

    games: int
    seed: int
    jobs: int
    folder: Path
    part: str
    arenas: Callable[[Sequence[Run]], Iterator[RunOutcome]]
    own: Any = None


EXPERIMENTS: Final = {
    "arena-checks": "papers.arena_checks",
    "detection": "papers.detection.experiment",
    "hamabe2017": "papers.hamabe2017.experiment",
    "matsuda2021": "papers.matsuda2021.experiment",
    "mizukami2013": "papers.mizukami2013.experiment",
    "nakano2021": "papers.nakano2021",
    "takada2022": "papers.takada2022.experiment",
}
"""The modules of the experiments by name."""


def experiments() -> dict[str, Subcommand]:
    """Return the experiments as commands, by name."""
    return {
        name: _subcommand(name, importlib.import_module(path)) for name, path in EXPERIMENTS.items()
    }


def _subcommand(name: str, experiment: ModuleType) -> Subcommand:
    summary = experiment.SUMMARY
    if len(experiment.PARTS) > 1:
        summary += f"; parts: {', '.join(experiment.PARTS)}"
    request = getattr(experiment, "REQUEST", ExperimentRequest)
    return Subcommand(experiment.SUMMARY, summary, request, partial(_play, name, experiment))


def _play(name: str, experiment: ModuleType, request: ExperimentRequest) -> int:
    """Play what is missing and print the tables; return the exit status."""
    require_seed(request.seed)
    parts = experiment.PARTS
    if request.part not in (None, *parts):
        are = "parts of {} are" if len(parts) > 1 else "only part of {} is"
        known = f"the {are.format(name)} {', '.join(parts)}"
        raise ArgumentError(f"--part {request.part}: {known}")
    part = request.part or parts[0]
    jobs = request.jobs or worker_count()
    runs = Runs(request.out, jobs)
    context = ExperimentContext(
        games=request.games or _usual_games(experiment, part),
        seed=request.seed,
        jobs=jobs,
        folder=request.out,
        part=part,
        arenas=runs.play,
        own=request,
    )
    try:
        return runs.print_report(f"{PROGRAM} {name}", experiment.play(context))
    except StrategyError as error:  # the experiment's own: no argument names it
        raise ExperimentError(str(error)) from error


def _usual_games(experiment: ModuleType, part: str) -> int:
    """Return an experiment's default number of games: one number, or one per part."""
    games: int | Mapping[str, int] = experiment.GAMES
    return games if isinstance(games, int) else games.get(part, 1)
