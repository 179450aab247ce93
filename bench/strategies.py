"""How long each strategy takes to decide, and how many hanchan that makes in a processor second.

``python -m bench strategies [--rounds N] [--json]``: N hanchan of each.

Every strategy that ``mjbot strategies`` lists plays hanchan in this process, warm: four of it at
one table, or, if it is made for a pair, linked with another one of its kind against two of
RIVAL.  Limits are held against the processor's clock, which other programs do not slow down; the
wall clock is shown beside it.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from bench.measure import machine_and_versions, print_machine
from mjbot.arena.setup import GameId, Setup, labels
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import make_players, new_referee
from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.strategy.pair.member import PairMember
from mjbot.strategy.registry import built_in_names, strategy_class
from mjbot.strategy.strategy import Strategy

RIVAL = "fast-riichi-d"
WARM_UP_S = 20.0
PATIENCE_S = 60.0
"""After so long in decisions a strategy is not asked any more: the hanchan ends with tsumogiri."""
LIMITS_MS = {
    "fold-recognition": 2.0,
    "yaku-evaluation": 20.0,
    "combo-partner": 20.0,
    "collusion-mc": 300.0,
    "supervised": 2.0,
    "fast-policy": 0.2,
}
"""Beginning of a name -> what its 99th percentile may be."""
OPTIONS = {"collusion-mc": ",deals=50"}
"""Else it thinks as long as its budget lets it."""


@dataclass
class Times:
    """Nanoseconds of every decision, by the clock on the wall and by the processor's."""

    wall: list[int] = field(default_factory=list)
    processor: list[int] = field(default_factory=list)
    left_ns: float = PATIENCE_S * 1e9

    @property
    def is_over(self) -> bool:
        return self.left_ns <= 0


class Timed:
    """A strategy whose decisions are timed."""

    def __init__(self, strategy: Strategy, times: Times) -> None:
        self._strategy = strategy
        self._times = times
        self.start_game = strategy.start_game
        self.start_kyoku = strategy.start_kyoku

    def decide(self, view: View) -> Action:
        if self._times.is_over:
            return view.default_action
        processor, wall = time.thread_time_ns(), time.perf_counter_ns()
        action = self._strategy.decide(view)
        self._times.wall.append(time.perf_counter_ns() - wall)
        self._times.processor.append(time.thread_time_ns() - processor)
        self._times.left_ns -= self._times.wall[-1]
        return action


def report(rounds: int) -> dict[str, Any]:
    """Return the times and rates of all strategies over so many hanchan each, and the machine."""
    return {
        **machine_and_versions(),
        "hanchan": rounds,
        "results": [measured(name, rounds) for name in built_in_names()],
    }


def table_of(name: str) -> Setup:
    """Return who plays with whom, so that every seat of strategy 0 is one of ``name``."""
    if not issubclass(strategy_class(name), PairMember):
        player = name + OPTIONS.get(name, "")
        return Setup(strategies=(player, player), format="2v2")
    kind = [other for other in built_in_names() if issubclass(strategy_class(other), PairMember)]
    partner = next((other for other in kind if other != name), name)
    return Setup(strategies=(name, partner, RIVAL), format="pair")


def measured(name: str, games: int) -> dict[str, Any]:
    """Return what a strategy takes in so many hanchan, or in as many as it gets done.

    The first game, which compiles, does not count.
    """
    setup = table_of(name)
    play(msgspec.structs.replace(setup, length="tonpu"), 0, Times(left_ns=WARM_UP_S * 1e9))
    times, played, elapsed_s, start = Times(), 0, 0.0, time.process_time()
    while played < games and not times.is_over:
        play(setup, played, times)
        if not times.is_over:
            played, elapsed_s = played + 1, time.process_time() - start
    limit = next((ms for begin, ms in LIMITS_MS.items() if name.startswith(begin)), None)
    p99_us = percentile_us(times.processor, 99)
    return {
        "name": name,
        "table": labels(setup.specs),
        "hanchan": played,
        "decisions": len(times.wall),
        "median_us": percentile_us(times.processor, 50),
        "p99_us": p99_us,
        "median_wall_us": percentile_us(times.wall, 50),
        "p99_wall_us": percentile_us(times.wall, 99),
        "hanchan_per_processor_s": played / elapsed_s if played else None,
        "limit_ms": limit,
        "reached": limit is None or p99_us is None or p99_us <= 1000 * limit,
    }


def percentile_us(times_ns: list[int], percent: int) -> float | None:
    """Return a percentile; nothing of a strategy that wants to be asked nothing."""
    return float(np.percentile(times_ns, percent)) / 1000 if times_ns else None


def play(setup: Setup, game: int, times: Times) -> None:
    """Play a hanchan; note the decisions of strategy 0, and in 2v2 (all alike) of strategy 1."""
    tables = setup.seating.tables
    game_id = GameId(game, game % len(tables))
    players = make_players(setup, game_id, Clock(0, [0] * HEARTBEAT_SIZE), {})
    for seat, number in enumerate(tables[game_id.seating]):
        if setup.strategies[number] == setup.strategies[0]:
            players[seat].strategy = Timed(players[seat].strategy, times)
    new_referee(setup, game_id).play([players[seat] for seat in range(4)])
    faults = [fault for player in players.values() for fault in player.faults]
    if faults:
        raise RuntimeError(f"{labels(setup.specs)[0]}: {faults[0].problem}")


def print_report(report: dict[str, Any]) -> None:
    """Print a report for people."""
    print_machine(report)
    print(
        f"up to {report['hanchan']} hanchan each; microseconds a decision, of processor and wall;"
    )
    print("hanchan per second of the processor")
    print(f"{'':24}    median      99 %    median      99 %   hanchan")
    for result in report["results"]:
        keys = ("median_us", "p99_us", "median_wall_us", "p99_wall_us", "hanchan_per_processor_s")
        cells = ["-" if result[key] is None else f"{result[key]:.1f}" for key in keys]
        verdict = "" if result["reached"] else f"  TOO SLOW (limit {result['limit_ms']} ms)"
        print(f"{result['name']:24}" + "".join(f" {cell:>9}" for cell in cells) + verdict)
