"""What the commands that read recorded games share: naming files, progress, what was not read."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import track

from mjbot.records.errors import EmptyRecordError, ForeignRecordError, RecordError
from mjbot.records.sources import Source, list_sources
from mjbot.records.wording import counted


class MissingRecordError(Exception):
    """A path given by the user cannot be opened."""


class Named(NamedTuple):
    """A file of records, and the path at which the user named it."""

    path: Path
    source: Source


class Losses:
    """Tells a command's user of files that gave no game, and counts them.

    True if anything was lost: a damaged file, one of another kind, or a path without any game.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._damaged = self._foreign = self._without_games = 0
        self._told: set[Path] = set()

    def __bool__(self) -> bool:
        return self._damaged + self._foreign + self._without_games > 0

    def __str__(self) -> str:
        """Return the end of a summary: ``", 1 damaged file, 2 files of another kind"``."""
        damaged = counted(self._damaged, "damaged file") if self._damaged else ""
        foreign = f"{counted(self._foreign, 'file')} of another kind" if self._foreign else ""
        return "".join(f", {part}" for part in (damaged, foreign) if part)

    def add(self, path: Path, error: RecordError) -> None:
        """Tell of a file at a path that the user named; an empty one among games is no loss."""
        self._told.add(path)
        kind = ""
        if isinstance(error, ForeignRecordError):
            self._foreign += 1
        elif not isinstance(error, EmptyRecordError):
            self._damaged += 1
            kind = "damaged: "
        self.tell(f"{kind}{error}")

    def add_paths_without_games(self, paths: Iterable[Path], games: Counter[Path]) -> None:
        """Tell of the paths at which there was no game, unless it was told why."""
        for path in paths:
            if not games[path]:
                self._without_games += 1
                if path not in self._told:
                    self.tell(f"{path}: holds no game")

    def tell(self, problem: str) -> None:
        """Say one line."""
        print(f"mjbot {self._command}: {problem}", file=sys.stderr)


def find_sources(paths: Iterable[Path], losses: Losses) -> list[Named]:
    """List the files of records at ``paths``; a path that is damaged or empty is told.

    Raises :class:`MissingRecordError` for a path that cannot be opened.
    """
    found: list[Named] = []
    for path in paths:
        try:
            found += [Named(path, source) for source in list_sources(path)]
        except RecordError as error:
            losses.add(path, error)
        except OSError as error:
            raise MissingRecordError(f"{path}: {error.strerror or error}") from None
    return found


def with_progress(sources: list[Named], doing: str) -> Iterator[Named]:
    """Walk ``sources`` under a progress bar, if there is a terminal to show one."""
    console = Console(stderr=True)
    yield from track(
        sources, doing, console=console, transient=True, disable=not console.is_terminal
    )
