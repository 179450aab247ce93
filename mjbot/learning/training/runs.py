"""What the kinds of training share: their arguments, and the folder of a run.

``run.jsonl`` names each file before it is written, so the files of a run can be listed and erased
without touching any other file.  A file is complete or absent.
"""

import argparse
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.records.other_formats import record_path
from mjbot.learning.models.weights import Manifest, load_manifest
from mjbot.learning.training.positions import DistinctGames, GameRef, LeftOut
from mjbot.runtime.append_log import AppendLog, Cures, emptied
from mjbot.runtime.errors import ArgumentError, MjbotError
from mjbot.runtime.files import first_line, plural, unfinished_path, whole_file
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import argument, option

RUN_FILE: Final = "run.jsonl"
RUN_CURES: Final = Cures("name another --folder", "use --fresh")


class TrainingHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of the list: what is trained."""

    train: str


class Written(msgspec.Struct, frozen=True):
    """A further line: the name of a file in the folder."""

    file: str


def _decode(text: bytes) -> Written:
    line = msgspec.json.decode(text, type=Written)
    if Path(line.file).name != line.file:
        raise ValueError(f"{line.file!r} is no file of this folder")
    return line


class RunFolder:
    """The folder of one run, locked while it is open; use it as a context manager.

    Raises :class:`~mjbot.runtime.append_log.LogError`.
    """

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder: Final = folder
        path = folder / RUN_FILE
        self._log: Final = AppendLog(path, TrainingHeader(train=kind), RUN_CURES, decode=_decode)
        self._own: Final = {line.file for line in self._log.lines}

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def claim(self, name: str) -> Path:
        """Return the path of a file that is the run's to write from now on."""
        if name not in self._own:
            self._log.append(Written(name))
            self._own.add(name)
        return self.folder / name

    def kept(self, name: str) -> Path | None:
        """Return the path of a file that the run wrote before."""
        path = self.folder / name
        return path if name in self._own and path.exists() else None

    def write(self, name: str, save: Callable[[BinaryIO], object]) -> None:
        """Write a file whole or not at all; an ``OSError`` names it."""
        with whole_file(self.claim(name)) as file:
            save(file)


def load_kept(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return arrays of a ``.npz`` that a run kept; :class:`TrainingError` if it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as saved:
            return {name: saved[name] for name in names}
    except Exception as error:  # numpy, zipfile and zlib raise a dozen kinds over damaged bytes
        problem = f"{path}: damaged ({first_line(error)}); erase it, and it is made again"
        raise TrainingError(problem) from None


def erase_run(folder: Path) -> None:
    """Erase a training run: the files that its list names, and nothing else.

    Raises :class:`~mjbot.runtime.append_log.LogError`, and nothing was erased, if the folder holds
    things but no run, or a run that is going on.
    """
    with emptied(folder / RUN_FILE, TrainingHeader, _decode, RUN_CURES.elsewhere) as lines:
        for line in lines:
            path = folder / line.file
            path.unlink(missing_ok=True)
            unfinished_path(path).unlink(missing_ok=True)


TORCH: Final = "mjbot[train]"


@cache
def torch() -> Any:
    """Return torch, which nothing but training may import; :class:`TrainingError` without it."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise TrainingError(f"torch is not installed; pip install '{TORCH}'") from None


RUNS: Final = Path("logs", "runs")
Item = TypeVar("Item")


class GameRange:
    """Games ``start:stop`` by number, as in ``--games 0:4000``; either end may be left out.

    >>> list(GameRange("10:20").take(range(12)))
    [10, 11]
    """

    def __init__(self, text: str) -> None:
        start, colon, stop = text.partition(":")
        numbers = [part for part in (start, stop) if part]
        if not colon or not all(part.isascii() and part.isdigit() for part in numbers):
            raise ArgumentError(f"{text!r}: expected START:STOP, such as 0:4000")
        self.start = int(start or 0)
        self.stop = int(stop) if stop else None
        if self.stop is not None and self.stop <= self.start:
            raise ArgumentError(f"{text!r}: there are no games in this range")

    def take(self, games: Sequence[Item]) -> Sequence[Item]:
        """Return the part of the games, all in order, that is meant."""
        return games[self.start : self.stop]

    def __str__(self) -> str:
        return f"{self.start}:{'' if self.stop is None else self.stop}"


# --- arguments that the kinds of training share ------------------------------------------------


def game_range(text: str) -> GameRange:
    """Return a range of games as the command line has it."""
    try:
        return GameRange(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def games_field(help_: str) -> Any:
    """Return the option ``--games``."""
    return option(GameRange(":"), help_, type=game_range, metavar="START:STOP")


def records_field() -> Any:
    """Return the records to learn from."""
    return argument(
        "mjai, mjlog or tenhou.net/6 records: a file, zip or folder (mjbot arena --record makes"
        " some)",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
    )


def seed_field() -> Any:
    """Return the option ``--seed``."""
    return option(0, "random seed", type=int)


def folder_field() -> Any:
    """Return the option ``--folder`` of a run that can be resumed."""
    help_ = f"folder of the run (default: one of its own in {RUNS})"
    return option(None, help_, type=Path, shown=False)


def fresh_field() -> Any:
    """Return the option ``--fresh`` of a run that can be resumed."""
    return option(False, "erase the run in that folder first", shown=False)


def out_field() -> Any:
    """Return the option ``--out``."""
    help_ = f"folder of the weights (default: the run's own in {RUNS}; strategies play with the"
    return option(None, f"{help_} shipped ones)", type=Path, shown=False)


def mean_of_field() -> Any:
    """Return the option ``--mean-of`` of trainings by play."""
    return option(
        (),
        "play nothing: average the weights of these runs, which had the same start",
        nargs="+",
        type=Path,
        metavar="FOLDER",
        shown=False,
    )


def at_least_1(request: object, *names: str) -> None:
    """Raise :class:`~mjbot.runtime.errors.ArgumentError` if a number of the request is below 1."""
    if min(getattr(request, name) for name in names) < 1:
        options = [f"--{name.replace('_', '-')}" for name in names]
        listed = " and ".join([", ".join(options[:-1]), options[-1]] if options[1:] else options)
        raise ArgumentError(f"{listed}: at least 1")


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """Arguments of every training from records; ``out`` is the folder of the weights, if named.

    Games of other than ``players`` are left out.  ``left_out`` collects what cannot be read.
    """

    records: Sequence[Path] = records_field()
    games: GameRange = games_field(
        "games to learn from, by their place among all: paths in the order given, the files inside"
        " each sorted by name (default: all)"
    )
    validate: GameRange | None = option(
        None,
        "games to check with, which are then not learned from (default: none)",
        type=game_range,
        metavar="START:STOP",
    )
    seed: int = seed_field()
    jobs: int = option(worker_count(), "number of processes", type=int, shown=False)
    out: Path | None = out_field()
    players: int = 4
    left_out: LeftOut = field(default_factory=LeftOut)

    @cached_property
    def distinct(self) -> DistinctGames:
        """What lists every game once: no copy of a game learned from is checked with."""
        return DistinctGames(self.left_out, (self.players,))

    def more(self, path: Path) -> list[GameRef]:
        """Return further games to check with: those at ``path`` that are not used already.

        Raises as :meth:`split`, and where no game is left.
        """
        games = self.distinct.index([path])
        if not games:
            problem = "all its games are among those learned from or checked with"
            raise ArgumentError(f"--check {path}: {problem}; name other records")
        return games

    def split(self) -> tuple[list[GameRef], list[GameRef]]:
        """Return the games to learn from and those to check with: no game is in both.

        Raises ``OSError``, :class:`~mjbot.game.records.game.RecordError` for a path at which
        nothing can be read and :class:`~mjbot.runtime.errors.ArgumentError` if there is nothing to
        learn from.
        """
        with progress(Console(stderr=True), "looking through the records"):
            games = self.distinct.index(self.records)
        self.left_out.require(games, self.records, "learn from")
        held_out = list(self.validate.take(games)) if self.validate else []
        if self.validate and not held_out:
            n = plural(len(games), "game")
            raise ArgumentError(f"--validate {self.validate}: none of the {n} is in this range")
        numbers = {ref.number for ref in held_out}
        learned = [ref for ref in self.games.take(games) if ref.number not in numbers]
        if not learned:
            n = plural(len(games), "game")
            raise ArgumentError(f"no games to learn from; widen --games, of {n}{self.left_out}")
        return learned, held_out


class Learned(NamedTuple):
    """Weights of a ``name``, as they were written into a ``folder``."""

    name: str
    manifest: Manifest
    folder: Path


class TrainingError(MjbotError):
    """There is nothing to be learned from these games; the text is one line for the user."""


OTHER_SIZES: Final = "--mean-of: networks of different sizes; name runs of one start"


def mean_manifest(name: str, folders: Sequence[Path], played: str) -> Manifest:
    """Return the manifest of the mean of what some runs of one start learned.

    It states what they share once, and then what each run had of its own.  ``played`` names the
    score that counts the games of a run, here those of all.  Raises
    :class:`~mjbot.learning.models.weights.WeightsError`.
    """
    manifests = [load_manifest(name, folder) for folder in folders]
    games = sum(int(manifest.scores.get(played, 0)) for manifest in manifests)
    return Manifest(
        data=_of_runs([manifest.data for manifest in manifests]),
        command=_of_runs([manifest.command for manifest in manifests]),
        seed=manifests[0].seed,
        scores={played: games},
    )


def _of_runs(texts: Sequence[str]) -> str:
    """Return the common beginning of the steps of some runs, and after it those of each run."""
    steps = [text.split("; ") for text in texts]
    same = takewhile(lambda each: len({*each}) == 1, zip(*steps, strict=False))
    shared = [step for step, *_ in same]
    own = ["; ".join(each[len(shared) :]) for each in steps]
    parts = f": {' | '.join(own)}" if any(own) else ""
    return "; ".join([*shared, f"the mean (--mean-of) of {len(own)} runs{parts}"])


def claim_weights(folder: RunFolder, name: str) -> Path:
    """Return the folder of a run, where weights are going to be the run's own files."""
    for ending in ("npz", "json"):
        folder.claim(f"{name}.{ending}")
    return folder.folder
