"""Bulk play without events, and without asking who does not want to be asked, changes nothing."""

from collections.abc import Callable

import pytest

from mjbot.arena.run_folder import GameLine
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner, make_players, new_referee
from mjbot.game.statistics.figures import EventCounter, as_rows
from mjbot.game.table.actions import DECIDES_ALL
from mjbot.protocol.messages import StartKyoku
from mjbot.strategy.registry import built_in_names, strategy_class

MakeSetup = Callable[..., Setup]
CLOCK = Clock(0, [0] * HEARTBEAT_SIZE)
PICKY = [name for name in built_in_names() if strategy_class(name).decides != DECIDES_ALL]


def told_by_events(setup: Setup, game_id: GameId) -> GameLine:
    """The game by the referee's steps: all are asked about every choice, counts from events."""
    referee, counter = new_referee(setup, game_id), EventCounter()
    players = make_players(setup, game_id, CLOCK, {})
    events = referee.start()
    while True:
        for event in events:
            counter.add(event)
            if isinstance(event, StartKyoku):
                for player in players.values():
                    player.start_kyoku(referee.view(player.seat))
        if referee.over:
            break
        choices = {
            seat: players[seat].decide(referee.view(seat)) if len(legal) > 1 else legal[0]
            for seat, legal in referee.asked.items()
        }
        events = referee.step(choices)
    scores = tuple(referee.state["scores"].tolist())
    return GameLine(game_id.wall, game_id.seating, scores, as_rows(counter.counts))


@pytest.mark.parametrize("walls", ["order", "pinned"])
@pytest.mark.parametrize(
    "names", [("fast-riichi-b", "fast-riichi-d"), ("yaku-evaluation", "fast-riichi-c")]
)
def test_bulk_play_and_events_count_the_same(
    setup_of: MakeSetup, names: tuple[str, str], walls: str
) -> None:
    setup = setup_of(*names, walls=walls)
    games = GameRunner(setup, CLOCK)
    for game_id in [GameId(wall, wall % 6) for wall in range(8)]:
        assert games.play(game_id, {}).line == told_by_events(setup, game_id)


def test_random_players_are_asked_the_same_questions(setup_of: MakeSetup) -> None:
    """One question more or less, and their dice would fall differently."""
    setup = setup_of("Dice", "Dice,seed=1")
    games = GameRunner(setup, CLOCK)
    lines = [games.play(GameId(wall, 0), {}).line for wall in range(12)]
    assert lines == [told_by_events(setup, GameId(wall, 0)) for wall in range(12)]


@pytest.mark.parametrize("name", PICKY)
def test_who_does_not_want_to_be_asked_would_have_done_the_same(
    setup_of: MakeSetup, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = setup_of(name, "fast-riichi-b")
    game_ids = [GameId(wall, 1) for wall in range(8)]
    unasked = [GameRunner(setup, CLOCK).play(game_id, {}) for game_id in game_ids]
    monkeypatch.setattr(strategy_class(name), "decides", DECIDES_ALL)
    assert [GameRunner(setup, CLOCK).play(game_id, {}) for game_id in game_ids] == unasked


def test_some_strategies_are_picky() -> None:
    assert {"tsumogiri", "fast-riichi-a", "fast-riichi-c"} <= set(PICKY)
