"""The records that are shown: a list of files, of which one game at a time is in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from mjbot.game.records.choices import ReplayStep, steps_of
from mjbot.game.records.game import Entry, RecordError, hand_problems
from mjbot.game.records.sources import Source, games_of, list_sources
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import MjbotError

ARENA_GAMES: Final = "games.jsonl"
ARENA_RECORDS: Final = "records"
"""In the folder of an arena's run (``mjbot arena --record``)."""


class NoGameError(MjbotError):
    """There is no such game among the records."""


@dataclass(frozen=True)
class ReadGame:
    """The events of one game, with the remarks on each of them.

    ``problem`` is why the rest, or a hand, could not be read.
    """

    name: str
    entries: Sequence[Entry]
    problem: str = ""
    rules: str = ""
    """As :class:`~mjbot.game.records.game.HandNotes` has them."""

    def steps(self) -> Iterator[ReplayStep]:
        """Replay it on a table that plays on past what does not fit."""
        return steps_of([entry.event for entry in self.entries], strict=False)


class Library:
    """Records at a path: a file, a folder, a zip, or an arena's run.

    Raises ``OSError`` and :class:`~mjbot.game.records.game.RecordError` where nothing can be
    listed.
    """

    def __init__(self, path: Path, rules: Rules | None = None) -> None:
        if (path / ARENA_GAMES).is_file() and (path / ARENA_RECORDS).is_dir():
            path = path / ARENA_RECORDS
        self._sources: Final[Sequence[Source]] = list_sources(path, rules)
        self._last: tuple[tuple[int, int], ReadGame] | None = None
        self.names: Final = [one_line(_short(source, path)) for source in self._sources]

    def game(self, record: int, game: int = 0) -> ReadGame:
        """Return one game of a file; raises :class:`NoGameError` and ``RecordError``.

        The server calls this in several threads: what is kept changes in one assignment.
        """
        last = self._last
        if last is not None and last[0] == (record, game):
            return last[1]
        content = self._read(record, game)
        self._last = (record, game), content
        return content

    def _read(self, record: int, game: int) -> ReadGame:
        if not 0 <= record < len(self._sources):
            raise NoGameError(f"there is no record {record}, the first being 0")
        source = self._sources[record]
        content = (
            next(islice(games_of(source, players=(3, 4)), game, None), None) if game >= 0 else None
        )
        if content is None:
            raise NoGameError(f"{source.name} has no game {game}, the first being 0")
        entries: list[Entry] = []
        try:
            entries.extend(content.entries)
        except RecordError as error:
            if not entries:
                raise
            return ReadGame(content.name, entries, one_line(error))
        bad = [problem.text for problem in hand_problems(content) if problem.is_loss]
        problem, rules = one_line("; ".join(bad)), one_line(content.hands.rules)
        return ReadGame(content.name, entries, problem, rules)


def _short(source: Source, path: Path) -> str:
    if source.member is not None:
        return source.member if source.path == path else f"{source.path.name}/{source.member}"
    return str(source.path.relative_to(path)) if source.path != path else path.name
