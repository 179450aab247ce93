"""Games from Python as records: mjai messages to a file that every command reads."""

import io
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from mjbot.game.records.choices import steps_of
from mjbot.game.records.game import Entry, Game, RecordError, hand_problems
from mjbot.game.records.mjai_log import read_mjai_log
from mjbot.game.records.writers import format_of, open_writer, refusal
from mjbot.game.table.mirror.mirror import TableError
from mjbot.runtime.checked_arguments import path_of, type_error
from mjbot.runtime.errors import ArgumentError

NAME: Final = "events"
"""How messages call what is written."""


def write_record(path: str | PathLike[str], events: Iterable[Mapping[str, Any]]) -> int:
    """Write games to a record that ``mjbot replay`` reads back; return how many.

    ``events`` are mjai messages as dictionaries, from ``start_game`` to ``end_game``, game after
    game.  The format follows from ``path``: ``.mjson``, ``.jsonl`` or ``.jsonl.gz`` are lines of
    mjai, ``.mjlog`` is Tenhou's; a folder or ``.zip`` gets a file per game.

    Raises ``OSError``, and ``ValueError`` with the line for events that are no game: then nothing
    was written.
    """
    target = path_of(path)
    form = format_of(target)
    if problem := refusal(target, form):
        raise ArgumentError(f"path: {problem}")
    lines = _lines(events)
    games = [_checked(game) for game in read_mjai_log(_stream(lines), NAME)]
    if not games:
        raise ArgumentError("events hold no game")
    if left_out := len(lines) - sum(len(game) for game in games):
        raise ArgumentError(f"events: {left_out} of {len(lines)} are no events of a game")
    with open_writer(target, form) as writer:
        for number, entries in enumerate(games, 1):
            try:
                writer.write(PurePosixPath(f"game-{number}"), Game(NAME, "line", iter(entries)))
            except RecordError as error:
                raise ArgumentError(str(error)) from None
    return len(games)


def _lines(events: object) -> list[bytes]:
    if isinstance(events, str | bytes | Mapping) or not isinstance(events, Iterable):
        raise type_error("events", "a sequence of dictionaries", events)
    lines = []
    for number, event in enumerate(events, 1):
        if not isinstance(event, Mapping):
            raise type_error(f"events, number {number},", "a dictionary", event)
        try:
            lines.append(msgspec.json.encode(dict(event)))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ArgumentError(f"events, number {number}: {error}") from None
    return lines


def _stream(lines: Iterable[bytes]) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(b"".join([line + b"\n" for line in lines])))


def _checked(game: Game) -> list[Entry]:
    """Return the entries of a game, after they have been played on a table."""
    try:
        entries = list(game.entries)
        problems = list(hand_problems(game))
        for _ in steps_of([entry.event for entry in entries]):
            pass
    except RecordError as error:
        raise ArgumentError(str(error)) from None
    except TableError as error:
        raise ArgumentError(f"{NAME}: {error}") from None
    if problems:
        raise ArgumentError(problems[0].text)
    return entries
