"""Games that a proof works on one after the other, and the file of their lines, which resumes.

Each line is a JSON object that names its game.  A line is written as soon as it is there; a run
starts after the last complete game of its file.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from mjbot.game.records.sources import Source, list_sources
from mjbot.runtime.files import write_text
from proof.records import shared_folder

ARCHIVE: Final = "hanchan-2024.zip"
HELD_OUT: Final = "4000:4444"
"""Games of the archive that no network was trained on."""

Line = dict[str, Any]
Name = TypeVar("Name", str, int)
Game = TypeVar("Game")


def add_record_arguments(parser: argparse.ArgumentParser, by: str, games: str) -> None:
    """Declare the options for recorded games and their reviewer, with defaults."""
    parser.add_argument("records", nargs="?", type=Path, help="a record, folder or zip (Phoenix)")
    parser.add_argument("--by", default=by, help=f"the reviewer (default: {by})")
    which = f"which of them, FIRST:LAST (default: {games}; of other records: all)"
    parser.add_argument("--games", default=None, help=which)


def recorded_games(args: argparse.Namespace, games: str) -> dict[str, Source] | None:
    """Return the requested records by name; unreadable ones are reported, and None returned."""
    path = args.records or shared_folder() / "data" / "phoenix" / ARCHIVE
    span = args.games or (":" if args.records else games)
    first, last = (int(end) if end else None for end in span.split(":"))
    try:
        return {source.name: source for source in list_sources(path)[first:last]}
    except OSError as error:
        print(f"proof: {error.filename}: {error.strerror}", file=sys.stderr)
        return None


def with_seats_in_turn(sources: Mapping[str, Source]) -> dict[str, tuple[int, Source]]:
    """Return each record with the one seat that is reviewed: 0, 1, 2, 3, 0 ..."""
    return {name: (number % 4, source) for number, (name, source) in enumerate(sources.items())}


def complete_lines(
    path: Path,
    games: Mapping[Name, Game],
    work: Callable[[Name, Game], Iterable[Line]],
    is_last: Callable[[Line], bool] = lambda line: True,
) -> list[Line]:
    """Return the lines of a file, after those of the games that it lacked were appended.

    ``work`` yields the lines of a game, without its name.  A game is complete with a line for which
    ``is_last`` holds; lines of an incomplete one are removed.
    """
    found, start = read_lines(path), time.monotonic()
    done = {line["game"] for line in found if is_last(line)}
    lines = [line for line in found if line["game"] in done]
    if len(lines) < len(found):
        write_text(path, "".join([json.dumps(line) + "\n" for line in lines]))
    todo = [name for name in games if name not in done]
    with path.open("a", encoding="utf-8") as out:
        for number, name in enumerate(todo, 1 + len(games) - len(todo)):
            for line in work(name, games[name]):
                lines.append({"game": name, **line})
                out.write(json.dumps(lines[-1]) + "\n")
                out.flush()
            took = f"{time.monotonic() - start:.0f} s, {time.process_time():.0f} s processor"
            print(f"{number} of {len(games)} games, {took}", file=sys.stderr, flush=True)
    return lines


def read_lines(path: Path) -> list[Line]:
    """Return the lines of an earlier run; one that was cut off is left out."""
    data = path.read_bytes() if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        path.write_bytes(whole)
    return [json.loads(line) for line in whole.splitlines()]
