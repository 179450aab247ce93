"""What the commands that read recorded games share: naming files, progress, damaged files."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import track

from mjbot.records.errors import RecordError
from mjbot.records.sources import Source, list_sources
from protocol.plain_text import one_line


class MissingRecordError(Exception):
    """A path given by the user cannot be opened."""


def find_sources(paths: Iterable[Path]) -> tuple[list[Source], int]:
    """List the files of records at ``paths``, and how many paths were damaged (and are named).

    Raises :class:`MissingRecordError` for a path that cannot be opened.
    """
    sources: list[Source] = []
    damaged = 0
    for path in paths:
        try:
            sources += list_sources(path)
        except RecordError as error:
            report(str(error))
            damaged += 1
        except OSError as error:
            raise MissingRecordError(f"{path}: {error.strerror or error}") from None
    return sources, damaged


def with_progress(sources: list[Source], doing: str) -> Iterator[Source]:
    """Walk ``sources`` under a progress bar, if there is a terminal to show one."""
    console = Console(stderr=True)
    yield from track(
        sources, doing, console=console, transient=True, disable=not console.is_terminal
    )


def report(problem: str) -> None:
    """Tell the user about one file."""
    print(f"mjbot: {one_line(problem)}", file=sys.stderr)
