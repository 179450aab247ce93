"""Replaying recorded games through the table."""

from dataclasses import dataclass
from typing import Final

from mjbot.game.records.game import Entry, Game
from mjbot.game.records.other_rules import missing_draw, named_problem
from mjbot.game.table.mirror.mirror import Mirror, TableError, quote
from mjbot.protocol.messages import Dora, EndGame, Event, Hora, Ryukyoku, StartKyoku
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.languages import translate, translate_count

RULES_SINCE: Final = "2018-01"
"""The first month of which records were checked.  A game of 2009-02 was played without tenpai-yame;
the month of the rule's introduction is not known."""


@dataclass
class MismatchError(MjbotError, ValueError):
    """A record and the rules disagree; ``game`` and ``place`` are where, ``event`` on what."""

    game: str
    place: str
    event: str
    problem: str

    def __str__(self) -> str:
        return f"{self.game}: {self.place}: {self.problem}\n  {self.event}"


class OlderRulesError(MismatchError):
    """A game of before :data:`RULES_SINCE` continues where tenpai-yame ends it today."""


@dataclass
class ReplaySummary:
    """What has been replayed; a game without ``end_game`` counts as unfinished."""

    games: int = 0
    unfinished: int = 0
    kyoku: int = 0
    without_result: int = 0
    """Of :attr:`kyoku`, those that end without a win or a draw."""
    events: int = 0

    def __str__(self) -> str:
        parts = [
            translate_count("{n} game", "{n} games", self.games),
            translate("{n} kyoku", n=self.kyoku),
            translate_count("{n} event", "{n} events", self.events),
        ]
        if self.unfinished:
            parts[0] += translate(" ({n} unfinished)", n=self.unfinished)
        if self.without_result:
            parts[1] += translate(" ({n} without a result)", n=self.without_result)
        return translate(", ").join(parts)


def replay(game: Game, summary: ReplaySummary, strict: bool = True) -> None:
    """Apply a game's events to a fresh table and count them in ``summary``.

    Raises :class:`MismatchError` at the first event that the strict table refuses, or before which
    a draw should have come, and :class:`RecordError` at a line or tag that cannot be read.
    """
    table = _ReplayTable(strict)
    for count, entry in enumerate(game.entries):
        if count == 0:
            summary.games += 1
            summary.unfinished += 1
        if problem := table.apply(entry.event):
            raise _mismatch(game, entry, problem, table.is_drawn)
        summary.events += 1
        summary.kyoku += isinstance(entry.event, StartKyoku)
        summary.unfinished -= isinstance(entry.event, EndGame)
    summary.without_result += len(game.hands.without_result)


class _ReplayTable:
    """A table that reports what is wrong with an event; ``is_drawn``: the last kyoku was drawn."""

    def __init__(self, strict: bool) -> None:
        self._table: Final = Mirror(strict=strict)
        self._before: Event | None = None
        self.is_drawn = False

    def apply(self, event: Event) -> str:
        """Apply an event; return what is wrong with it, empty if nothing is."""
        state = self._table.state
        if self._table.strict and (problem := missing_draw(state, event, self._before)):
            return problem
        try:
            self._table.apply(event)
        except TableError as error:
            return named_problem(error, state, self._before)
        if not isinstance(event, Dora):
            self._before = event
        self.is_drawn = isinstance(event, Ryukyoku) or (
            self.is_drawn and not isinstance(event, Hora | StartKyoku)
        )
        return ""


def _mismatch(game: Game, entry: Entry, problem: str, is_drawn: bool) -> MismatchError:
    """Return what is wrong; ``is_drawn`` is whether the kyoku before was drawn."""
    place, event = game.place(entry.number), quote(entry.event)
    goes_on = isinstance(entry.event, StartKyoku) and "the game is over" in problem
    if goes_on and is_drawn and game.month and game.month < RULES_SINCE:
        problem = f"played under older rules ({game.month}), without tenpai-yame: {problem}"
        return OlderRulesError(game.name, place, event, problem)
    return MismatchError(game.name, place, event, problem)
