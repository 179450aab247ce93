"""Replaying recorded games through the table."""

from dataclasses import dataclass

from mjbot.errors import MjbotError
from mjbot.records.game import Entry, Game
from mjbot.table.mirror.mirror import Table, TableError, quote
from mjbot.text import plural
from protocol.messages import EndGame, StartKyoku


@dataclass
class MismatchError(MjbotError, ValueError):
    """A record and the rules disagree; ``game`` and ``place`` say where, ``event`` on what."""

    game: str
    place: str
    event: str
    problem: str

    def __str__(self) -> str:
        return f"{self.game}: {self.place}: {self.problem}\n  {self.event}"


@dataclass
class ReplaySummary:
    """What has been replayed; a game without ``end_game`` counts as unfinished."""

    games: int = 0
    unfinished: int = 0
    kyoku: int = 0
    events: int = 0

    def __str__(self) -> str:
        unfinished = f" ({self.unfinished} unfinished)" if self.unfinished else ""
        games = f"{plural(self.games, 'game')}{unfinished}"
        return f"{games}, {self.kyoku} kyoku, {plural(self.events, 'event')}"


def replay(game: Game, summary: ReplaySummary, strict: bool = True) -> None:
    """Apply a game's events to a fresh table and count them in ``summary``.

    Raises :class:`MismatchError` at the first event that the strict table refuses, and
    :class:`RecordError` at a line or tag that cannot be read.
    """
    table = Table(strict=strict)
    for count, entry in enumerate(game.entries):
        if count == 0:
            summary.games += 1
            summary.unfinished += 1
        try:
            table.apply(entry.event)
        except TableError as error:
            raise _mismatch(game, entry, error) from None
        summary.events += 1
        summary.kyoku += isinstance(entry.event, StartKyoku)
        summary.unfinished -= isinstance(entry.event, EndGame)


def _mismatch(game: Game, entry: Entry, error: TableError) -> MismatchError:
    place = game.place(entry.number)
    return MismatchError(game.name, place, quote(entry.event), error.problem)
