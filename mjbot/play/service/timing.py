"""How long a strategy thinks on this machine: games in memory, its decisions timed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.play.client.player import MakeStrategy
from mjbot.play.startup.warm_up import NAMES, play_with_mirrors, warm_up_alone
from mjbot.strategy.strategy import Strategy

ENOUGH: Final = 400
"""Decisions that are timed, at least, unless the time is up: some four games."""


@dataclass(frozen=True)
class Timing:
    """The times of ``count`` decisions, in seconds."""

    count: int
    median_s: float
    p99_s: float
    longest_s: float


def time_strategy(make: MakeStrategy, most_s: float) -> Timing:
    """Return how long a strategy's decisions take, measured for at most ``most_s`` seconds.

    It plays all four seats of whole games, after a warm-up that is not timed.
    """
    warm_up_alone(make(0))
    times: list[float] = []
    until = time.perf_counter() + most_s
    game = 0
    while len(times) < ENOUGH and time.perf_counter() < until:
        players = [_Timed(make(game), times, until) for _ in range(4)]
        for seat, player in enumerate(players):
            player.start_game(seat, NAMES)
        play_with_mirrors(players, Referee(game, "tonpu"))
        game += 1
    times.sort()
    at_99 = min(len(times) - 1, int(0.99 * len(times)))
    return Timing(len(times), times[len(times) // 2], times[at_99], times[-1])


class _Timed(Strategy):
    """Hands on to a strategy and times it; discards what was drawn once the time is up."""

    def __init__(self, strategy: Strategy, times: list[float], until: float) -> None:
        self._strategy: Final = strategy
        self._times: Final = times
        self._until: Final = until

    def start_game(self, seat: int, names: Sequence[str]) -> None:
        """Begin a game."""
        self._strategy.start_game(seat, tuple(names))

    def start_kyoku(self, view: View) -> None:
        """Begin a kyoku."""
        self._strategy.start_kyoku(view)

    def decide(self, view: View) -> Action:
        """Decide, and note how long it took."""
        begun = time.perf_counter()
        if begun > self._until and self._times:
            return view.default_action
        choice = self._strategy.decide(view)
        self._times.append(time.perf_counter() - begun)
        return choice
