"""What an experiment is, and which there are.

The ladder and the detector's experiment are installed, :data:`OWN`.  In a checkout each module of
``papers`` is one, or the module ``experiment`` of a folder there, if it has ``SUMMARY``, one line
of what it shows.  An experiment also has ``GAMES``, the default number of games (one number, or one
by part), ``PARTS``, the names of its runs (the first is the default), and ``play``, which takes an
:class:`ExperimentContext` and yields the lines of its report, as Markdown.  Further options are
declared as ``REQUEST``, a class of requests (:mod:`mjbot.runtime.requests`) in which each option is
off, empty or ``None`` unless given.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from mjbot.arena.run import RunOutcome
from mjbot.arena.setup import Setup
from mjbot.runtime.checkout import papers
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.requests import option


class ExperimentError(MjbotError):
    """An experiment cannot be played or continued; the text is one line for the user."""


class Run(NamedTuple):
    """Games to play; ``label`` names their part in the experiment.

    They are kept in ``folder`` inside the request's (empty: one that is named after the setup).
    ``timing``: every game but the first of a process keeps what its decisions cost.
    ``recording``: the folder also gets a record of every game.
    """

    label: str
    setup: Setup
    n_walls: int
    folder: str = ""
    timing: bool = False
    recording: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentContext:
    """What the user asked for.

    ``folder`` is where all that is played is kept, each run under a name of its own, so that
    an interrupted run resumes.  ``arenas(runs)`` plays what is missing of each run and yields
    its outcome before the next one begins: name all that there are, for the forecast.  ``own`` is
    the experiment's own ``REQUEST``.
    """

    games: int
    seed: int
    jobs: int
    folder: Path
    part: str
    arenas: Callable[[Sequence[Run]], Iterator[RunOutcome]]
    own: Any = None


OWN: Final = {
    "detection": "mjbot.analysis.collusion.experiment.experiment",
    "strength": "mjbot.arena.ladder.experiment",
}


def records_option() -> Any:
    """Return the option ``--records`` of experiments."""
    help_ = "people's games, to list (strength) or to judge too (detection; default: none)"
    return option(None, help_, type=Path, metavar="FILE")


def experiments() -> dict[str, ModuleType]:
    """Return the experiments by the names that a command line gives them, sorted."""
    names = OWN | (_of(checkout) if (checkout := papers()) else {})
    found = {name: importlib.import_module(path) for name, path in sorted(names.items())}
    return {name: module for name, module in found.items() if hasattr(module, "SUMMARY")}


def _of(package: ModuleType) -> dict[str, str]:
    """Return the modules of ``package`` that may be experiments, by name."""
    found = {}
    for _, name, is_folder in pkgutil.iter_modules(package.__path__):
        path = f"{package.__name__}.{name}" + (".experiment" if is_folder else "")
        if find_spec(path):
            found[name.replace("_", "-")] = path
    return found
