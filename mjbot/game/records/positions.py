"""Positions of a recorded game by name: ``E2-0:8``, or the number of an event.

``E2-0:8`` is the eighth choice of a seat in East 2 honba 0, as
:class:`~mjbot.game.records.choices.Numbering` counts them: KYOKU-HONBA:CHOICE.  It needs the seat.
A number names the position after the event of that number, ``start_game`` being the first.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Final, NamedTuple, Self

from mjbot.game.records.choices import Numbering, ReplayStep, kyoku_name, steps_of
from mjbot.game.records.sources import open_games
from mjbot.game.table.view import Sealed, View
from mjbot.protocol.messages import StartKyoku
from mjbot.runtime.checked_arguments import path_of, whole_number
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import plural

EXPECTED: Final = "expected KYOKU-HONBA:CHOICE such as E2-1:5, or the number of an event"


class NoPositionError(ArgumentError):
    """The game has no such position, or the seat has no choice there."""


def require_seat(seat: int, steps: Iterable[ReplayStep], option: str) -> None:
    """Raise :class:`NoPositionError` where the table of a game lacks the seat of an option."""
    step = next(iter(steps), None)
    if step is not None and seat >= (players := int(step.table.state["rules"]["players"])):
        raise NoPositionError(f"{option}: {seats_of(players)}")


def seats_of(players: int) -> str:
    """Return which seats a table has, for the refusal of another."""
    return f"the seats of {players} players are 0 to {players - 1}"


@dataclass(frozen=True)
class RecordPosition:
    """A position as the user names it: by its event, or as a seat's choice in a kyoku."""

    text: str
    event: int = 0
    kyoku: str = ""
    choice: int = 0

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the position of that name; raises ``ValueError``.

        >>> RecordPosition.read("E2-1:5").choice, RecordPosition.read("109").event
        (5, 109)
        """
        if re.fullmatch(r"[0-9]{1,9}", text):
            return cls(text, event=int(text))
        match = re.fullmatch(r"([ESWN][1-4]-[0-9]{1,3}):([0-9]{1,3})", text)
        if match is None:
            raise ValueError(f"{text!r}: {EXPECTED}")
        return cls(text, kyoku=match[1], choice=int(match[2]))

    def __str__(self) -> str:
        return self.text if self.kyoku else f"event {self.text}"

    def event_in(self, steps: Iterable[ReplayStep], seat: int | None) -> int:
        """Return the number of the event after which the position stands.

        ``seat`` is the seat with the choice.  Raises :class:`NoPositionError` where it has no such
        choice; whether a game has so many events is not checked.
        """
        if not self.kyoku:
            return self.event
        if seat is None:
            raise NoPositionError(f"--at {self.text}: add the seat with --seat")
        numbering, most = Numbering(), 0
        for step in steps:
            choosers = numbering.choosers(step)
            if seat in choosers and kyoku_name(step.table.state) == self.kyoku:
                most = max(most, choosers[seat])
                if choosers[seat] == self.choice:
                    return step.number
        number = f"seat {seat} has {plural(most, 'choice')} in {self.kyoku}"
        raise NoPositionError(f"--at {self.text}: {number}; mjbot explain lists all")


def recorded_view(path: str | PathLike[str], at: str | int, seat: int) -> View:
    """Return a position of the first game at ``path`` as a seat sees it; it stays as it is.

    ``at`` is ``E2-1:5``, the fifth choice of the seat in East 2 honba 1, or the number of an event.
    Raises :class:`NoPositionError` where the game has no such position or seat, ``ValueError`` for
    another form of ``at``, and as :func:`~mjbot.game.records.choices.steps`.
    """
    seat = whole_number("seat", seat, range(4))
    named = at if isinstance(at, str) else str(whole_number("at", at, range(1, 10**9)))
    try:
        position = RecordPosition.read(named)
    except ValueError as error:
        raise ArgumentError(f"at: {error}") from None
    events = [entry.event for entry in next(open_games(path_of(path))).entries]
    require_seat(seat, steps_of(events), f"seat {seat}")
    number = position.event_in(steps_of(events), seat)
    step = next((step for step in steps_of(events) if step.number == number), None)
    if step is None:
        raise NoPositionError(f"{path}: there is no event {number}, the last is {len(events)}")
    return Sealed().view(step.table.view(seat))


class BoardAddress(NamedTuple):
    """A moment as the board's address has it: the seat at the bottom, the kyoku and its event.

    Kyoku count from 0, events from 0, which is the deal.
    """

    seat: int
    kyoku: int
    step: int

    def __str__(self) -> str:
        return "/".join(map(str, self))


def moment_of(steps: Iterable[ReplayStep], number: int) -> tuple[int, int] | None:
    """Return the kyoku of an event and its place in it, counted as in :class:`BoardAddress`.

    ``None`` where the game has no such event, or it precedes the first deal.
    """
    return next(((kyoku, at) for n, kyoku, at in _moments(steps) if n == number), None)


def has_moment(steps: Iterable[ReplayStep], address: BoardAddress) -> bool:
    """Return whether a game has that kyoku and event."""
    return any((kyoku, step) == address[1:] for _, kyoku, step in _moments(steps))


def _moments(steps: Iterable[ReplayStep]) -> Iterator[tuple[int, int, int]]:
    """Yield number, kyoku and place in the kyoku of each event from the first deal on."""
    kyoku, first = -1, 0
    for step in steps:
        if isinstance(step.event, StartKyoku):
            kyoku, first = kyoku + 1, step.number
        if kyoku >= 0:
            yield step.number, kyoku, step.number - first
