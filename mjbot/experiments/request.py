"""What ``mjbot experiment`` hands to an experiment.

An experiment is a module of this package.  It has ``SUMMARY``, one line of what it shows,
``GAMES``, how many it plays if nothing is said (one number, or one by part), ``PARTS``, names of
runs of which one can be asked for (the first one is the usual), and ``play``, which takes a
:class:`Request` and yields the lines of its report, as Markdown.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mjbot.arena.run import RunOutcome
from mjbot.arena.setup import Setup
from mjbot.errors import MjbotError


class ExperimentError(MjbotError):
    """An experiment cannot be played or go on; the text is one line for the user."""


class Run(NamedTuple):
    """Games to play; ``label`` says what they are in the experiment."""

    label: str
    setup: Setup
    n_walls: int


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for.

    ``folder`` is where all that is played is kept, each run under a name of its own, so that
    what was interrupted goes on.  ``arenas(runs)`` plays what is missing of each run and yields
    its outcome before the next one begins: name all that there are, for the forecast.
    """

    games: int
    seed: int
    jobs: int
    folder: Path
    part: str
    arenas: Callable[[Sequence[Run]], Iterator[RunOutcome]]
