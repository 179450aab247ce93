"""The arena against the referee alone: the same games by the same players, in one process.

In the first two contests the arena plays as a run of one worker does, without the way between
processes: players that are supervised under a deadline, sealed views, checks of every choice, a
line with a checksum for each game, sums for each wall.  The peer is
:meth:`mjbot.game.referee.Referee.play` with the bare strategies.  ``tsumogiri asked`` chooses at
once, so that its ratio shows what a decision costs in the arena; with ``fast-riichi-d`` it is what
a run takes.  Processor time.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Contest
from mjbot.arena.run import Arena, ArenaPlan
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner, PlayedGame, make_players, new_referee
from mjbot.game.statistics.sequential import ErrorRates

WALLS = 4
ASKED = "bench.referee:Asked"


def contests() -> list[Contest]:
    """Return a contest for each strategy, with the ratio that it must reach."""
    return [
        _contest("tsumogiri asked", ASKED, 0.15),
        _contest("four fast-riichi-d", "fast-riichi-d", 0.8),
    ]


def _contest(name: str, strategy: str, required: float) -> Contest:
    setup = Setup(strategies=(strategy, strategy), format="2v2")
    arena, referee = partial(_arena_games, setup), partial(_referee_games, setup)
    return Contest(name, "hanchan", arena, "mjbot", referee, required, clock=time.process_time)


class _ThisProcess:
    """Plays the games of a run here, one after the other."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def play(
        self, game_ids: Iterable[GameId], look: Callable[[], None] = lambda: None
    ) -> Iterator[PlayedGame]:
        with Clock(self._setup.deadline_s, [0] * HEARTBEAT_SIZE) as clock:
            games = GameRunner(self._setup, clock)
            for game_id in game_ids:
                yield games.play(game_id, {})


def _arena_games(setup: Setup) -> int:
    with TemporaryDirectory() as folder:
        plan = ArenaPlan(setup=setup, n_walls=WALLS, folder=Path(folder), rates=ErrorRates())
        with Arena(plan) as arena:
            arena.play(_ThisProcess(setup), _refuse_faults)
            return arena.outcome().games


def _refuse_faults(played: PlayedGame) -> None:
    assert not played.faults, played.faults[0].problem


def _referee_games(setup: Setup) -> int:
    seatings = range(len(setup.seating.tables))
    game_ids = [GameId(wall, seating) for wall in range(WALLS) for seating in seatings]
    with Clock(setup.deadline_s, [0] * HEARTBEAT_SIZE) as clock:
        for game_id in game_ids:
            players = make_players(setup, game_id, clock, {})
            new_referee(setup, game_id).play([players[seat].strategy for seat in range(4)])
    return len(game_ids)
