"""Arguments that the kinds of training share, what they mean, and where the weights went."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

from mjbot.learning.positions import GameRef, index_games
from mjbot.learning.run_folder import RunFolder
from mjbot.learning.weights import SHIPPED, Manifest
from mjbot.records.other_formats import record_path

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
            raise argparse.ArgumentTypeError(f"{text!r}: expected START:STOP, such as 0:4000")
        self.start = int(start or 0)
        self.stop = int(stop) if stop else None

    def take(self, games: Sequence[Item]) -> Sequence[Item]:
        """Return the part of the games, all in order, that is meant."""
        return games[self.start : self.stop]

    def __str__(self) -> str:
        return f"{self.start}:{'' if self.stop is None else self.stop}"


def add_record_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the records, which of their games to learn from and which to check with."""
    parser.add_argument(
        "records",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
        help="mjlog or mjai records: a file, zip or folder (mjbot arena --record makes some)",
    )
    parser.add_argument(
        "--games",
        type=GameRange,
        default=GameRange(":"),
        metavar="START:STOP",
        help="learn from these games, by their place among all: paths in the order given,"
        " the files inside each sorted by name (all)",
    )
    parser.add_argument(
        "--validate",
        type=GameRange,
        metavar="START:STOP",
        help="check with these games, which are then not learned from (none)",
    )


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare seed, processes and where the weights go."""
    parser.add_argument("--seed", type=int, default=0, help="seed of all chance (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    add_out_argument(parser)


def add_out_argument(parser: argparse.ArgumentParser) -> None:
    """Declare where the weights go."""
    parser.add_argument(
        "--out",
        type=Path,
        help=f"folder of the weights (the run's own in {RUNS}; to play with them: {_shipped()})",
    )


def claim_weights(folder: RunFolder, name: str) -> Path:
    """Return the folder of a run, where weights are going to be the run's own files."""
    for ending in ("npz", "json"):
        folder.claim(f"{name}.{ending}")
    return folder.folder


def tell_weights(name: str, manifest: Manifest, folder: Path) -> None:
    """Say where weights were written, and how they come to be played with."""
    size_kb = (folder / f"{name}.npz").stat().st_size / 1000
    print(f"{folder / name}.npz: {size_kb:.0f} kB, digest {manifest.digest[:12]}")
    if folder.resolve() != SHIPPED.resolve():
        print(f"strategies play with those in {_shipped()}; to put these there: --out {_shipped()}")


def _shipped() -> Path:
    """Return the folder of the weights that ship, from here if it is below."""
    here = Path.cwd()
    return SHIPPED.relative_to(here) if SHIPPED.is_relative_to(here) else SHIPPED


def split_games(args: argparse.Namespace) -> tuple[list[GameRef], list[GameRef]]:
    """Return the games to learn from and those to check with: no game is in both.

    Raises ``OSError`` or :class:`~mjbot.records.errors.RecordError` for unreadable records.
    """
    games = index_games(args.records)
    held_out = list(args.validate.take(games)) if args.validate else []
    numbers = {ref.number for ref in held_out}
    return [ref for ref in args.games.take(games) if ref.number not in numbers], held_out
