"""Arguments that the kinds of training share, and what they mean."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from mjbot.learning.positions import GameRef, index_games
from mjbot.learning.weights import SHIPPED

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
        type=Path,
        metavar="RECORDS",
        help="mjlog or mjai records: a file, zip or folder (mjbot arena --record makes some)",
    )
    parser.add_argument(
        "--games",
        type=GameRange,
        default=GameRange(":"),
        metavar="START:STOP",
        help="learn from these games, by their place among all, sorted by name (all)",
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
    parser.add_argument(
        "--out", type=Path, default=SHIPPED, help="folder of the weights (those that ship)"
    )


def split_games(args: argparse.Namespace) -> tuple[list[GameRef], list[GameRef]]:
    """Return the games to learn from and those to check with: no game is in both.

    Raises ``OSError`` or :class:`~mjbot.records.errors.RecordError` for unreadable records.
    """
    games = index_games(args.records)
    held_out = list(args.validate.take(games)) if args.validate else []
    numbers = {ref.number for ref in held_out}
    return [ref for ref in args.games.take(games) if ref.number not in numbers], held_out
