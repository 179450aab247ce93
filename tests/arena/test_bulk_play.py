"""Bulk play without events, and without asking who does not want to be asked, changes nothing."""

from collections.abc import Callable

import pytest

from mjbot.arena.results import GameLine
from mjbot.arena.setup import Setup, Unit
from mjbot.arena.workers.clock import PULSE_SIZE, Clock
from mjbot.arena.workers.playing import Games, make_guards, new_referee
from mjbot.statistics.counts import EventCounter, as_rows
from mjbot.strategy.registry import built_in_names, strategy_class
from mjbot.table.actions import WANTS_ALL
from protocol.messages import StartKyoku

MakeSetup = Callable[..., Setup]
CLOCK = Clock(0, [0] * PULSE_SIZE)
PICKY = [name for name in built_in_names() if strategy_class(name).wants != WANTS_ALL]


def told_by_events(setup: Setup, unit: Unit) -> GameLine:
    """The game by the referee's steps: all are asked about every choice, counts from events."""
    referee, counter = new_referee(setup, unit), EventCounter()
    guards = make_guards(setup, unit, CLOCK, {})
    events = referee.start()
    while True:
        for event in events:
            counter.add(event)
            if isinstance(event, StartKyoku):
                for guard in guards.values():
                    guard.start_kyoku(referee.view(guard.seat))
        if referee.over:
            break
        choices = {
            seat: guards[seat].decide(referee.view(seat)) if len(legal) > 1 else legal[0]
            for seat, legal in referee.asked.items()
        }
        events = referee.step(choices)
    scores = tuple(referee.state["scores"].tolist())
    return GameLine(unit.wall, unit.seating, scores, as_rows(counter.counts))


@pytest.mark.parametrize("walls", ["order", "pinned"])
@pytest.mark.parametrize(
    "names", [("fast-riichi-b", "fast-riichi-d"), ("yaku-evaluation", "fast-riichi-c")]
)
def test_bulk_play_and_events_count_the_same(
    setup_of: MakeSetup, names: tuple[str, str], walls: str
) -> None:
    setup = setup_of(*names, walls=walls)
    games = Games(setup, CLOCK)
    for unit in [Unit(wall, wall % 6) for wall in range(8)]:
        assert games.play(unit, {}).line == told_by_events(setup, unit)


def test_random_players_are_asked_the_same_questions(setup_of: MakeSetup) -> None:
    """One question more or less, and their dice would fall differently."""
    setup = setup_of("Dice", "Dice,seed=1")
    games = Games(setup, CLOCK)
    lines = [games.play(Unit(wall, 0), {}).line for wall in range(12)]
    assert lines == [told_by_events(setup, Unit(wall, 0)) for wall in range(12)]


@pytest.mark.parametrize("name", PICKY)
def test_who_does_not_want_to_be_asked_would_have_done_the_same(
    setup_of: MakeSetup, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = setup_of(name, "fast-riichi-b")
    units = [Unit(wall, 1) for wall in range(8)]
    unasked = [Games(setup, CLOCK).play(unit, {}) for unit in units]
    monkeypatch.setattr(strategy_class(name), "wants", WANTS_ALL)
    assert [Games(setup, CLOCK).play(unit, {}) for unit in units] == unasked


def test_some_strategies_are_picky() -> None:
    assert {"tsumogiri", "fast-riichi-a", "fast-riichi-c"} <= set(PICKY)
