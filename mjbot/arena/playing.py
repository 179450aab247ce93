"""One game of the run, in this process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mjbot.arena.clock import Clock
from mjbot.arena.count_events import EventCounter
from mjbot.arena.counts import Counts, as_rows
from mjbot.arena.guard import NO_FAULTS, Fault, Guard
from mjbot.arena.results import GameLine
from mjbot.arena.setup import Setup, Spec, Unit, labels
from mjbot.referee import Referee

Fatal = Mapping[int, Mapping[int, Fault]]
"""Seat -> decision -> what happened there to a whole process."""


@dataclass(frozen=True)
class Played:
    """A finished game and what went wrong in it."""

    line: GameLine
    faults: tuple[Fault, ...]


def new_referee(setup: Setup, unit: Unit) -> Referee:
    """Return the table of a game, before the deal."""
    referee = Referee(setup.game_seed(unit.wall), setup.length)
    referee.state["pinned"] = setup.walls == "pinned"
    return referee


def make_guards(setup: Setup, unit: Unit, clock: Clock, fatal: Fatal) -> list[Guard]:
    """Return the four players of a game, seated and introduced."""
    table = setup.seating.tables[unit.seating]
    names = labels(setup.strategies)
    guards = []
    for seat, number in enumerate(table):
        strategy = Spec.read(setup.strategies[number]).make(setup.player_seed(unit.wall, seat))
        guards.append(Guard(strategy, seat, clock, fatal.get(seat, NO_FAULTS)))
    for guard in guards:
        guard.start_game(guard.seat, tuple([names[number] for number in table]))
    return guards


def play_unit(setup: Setup, unit: Unit, clock: Clock, fatal: Fatal) -> Played:
    """Play a game to its end."""
    referee = new_referee(setup, unit)
    guards = make_guards(setup, unit, clock, fatal)
    counts = play_game(referee, guards)
    faults = tuple([fault for guard in guards for fault in guard.faults])
    line = GameLine(
        wall=unit.wall,
        seating=unit.seating,
        scores=tuple(referee.state["scores"].tolist()),
        counts=as_rows(counts),
        faults=len(faults),
    )
    return Played(line, faults)


def play_game(referee: Referee, guards: Sequence[Guard]) -> Counts:
    """Play from the deal to the end and return what was counted."""
    counter = EventCounter()
    events = referee.start()
    while True:
        for event in events:
            counter.add(event)
        if referee.over:
            return counter.counts
        asked = referee.asked
        events = referee.step({seat: guards[seat].decide(referee.view(seat)) for seat in asked})
