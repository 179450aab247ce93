"""How long the fast policy takes to decide in compiled code, and how many hanchan it plays.

``python -m bench fast_policy [--rounds N] [--json]``.  Every decision with a choice of some hanchan
among four of it is repeated in a compiled loop and timed by the processor's clock, by what is
decided; then four of it play whole hanchan in one compiled loop.  One core.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.measure import machine_and_versions, print_machine
from mjbot.game.referee import Referee
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.state import STATE, State
from mjbot.game.table.view import View
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.choice import FastPolicy, choose, load_policy
from mjbot.learning.models.fast_policy.games import play_games
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategy.registry import make_strategy

GAMES = 4
REPEATS = 40
HANCHAN = 100
MOST_US = 15.0
LEAST_HANCHAN_PER_S = 100.0


@compiled
def repeat(policy: FastPolicy, state: State, seat: int, times: int) -> int:
    """Decide the same some times; return the sum of the codes."""
    total = 0
    for _ in range(times):
        total += choose(policy, state, seat, NO_ALLY)
    return total


def report(rounds: int) -> dict[str, Any]:
    """Return times by what is decided, the rate of whole games, and the machine."""
    policy = load_policy()
    decisions = [*recorded_decisions()]
    times: dict[str, list[float]] = {"all": []}
    for name, state, seat in decisions:
        times.setdefault(name, []).append(time_of(policy, state, seat, rounds))
        times["all"].append(times[name][-1])
    results = [result_of(name, found) for name, found in times.items()]
    rates = [rate(policy, number) for number in range(rounds + 1)][1:]
    return {
        **machine_and_versions(),
        "decisions": len(decisions),
        "hanchan_per_s": float(np.median(rates)),
        "results": [
            *results,
            {"name": "hanchan", "reached": float(np.median(rates)) >= LEAST_HANCHAN_PER_S},
        ],
    }


def recorded_decisions() -> Iterator[tuple[str, Any, int]]:
    """Yield all decisions of some hanchan: what is decided, the table and the seat."""
    for seed in range(GAMES):
        bots = [make_strategy("fast-policy") for _ in range(4)]
        referee = Referee(seed)
        referee.start()
        while asked := referee.asked:
            choices = {}
            for seat, legal in asked.items():
                if len(legal) > 1:
                    copies = np.empty(1, STATE)
                    copies[0] = referee.state
                    yield kind_of_decision(referee.view(seat)), copies[0], seat
                choices[seat] = bots[seat].decide(referee.view(seat))
            referee.step(choices)


def kind_of_decision(view: View) -> str:
    """Return what is decided: a discard, a discard or riichi, or a call."""
    if not view.discards:
        return "calls"
    return "riichi" if any(action.is_riichi for action in view.legal) else "discards"


def time_of(policy: FastPolicy, state: State, seat: int, rounds: int) -> float:
    """Return the microseconds of a decision: the median of the rounds."""
    found = []
    for _ in range(rounds + 1):
        start = time.thread_time_ns()
        repeat(policy, state, seat, REPEATS)
        found.append((time.thread_time_ns() - start) / REPEATS / 1000)
    return float(np.median(found[1:]))


def rate(policy: FastPolicy, number: int) -> float:
    """Return hanchan per second of the processor, four of it at each table."""
    seeds = np.arange(number * HANCHAN, (number + 1) * HANCHAN)
    start = time.process_time()
    play_games(policy, policy, 15, seeds, rule_set())
    return HANCHAN / (time.process_time() - start)


def result_of(name: str, times: list[float]) -> dict[str, Any]:
    """Return the figures of one kind of decision."""
    median = float(np.median(times))
    return {
        "name": name,
        "decisions": len(times),
        "median_us": median,
        "mean_us": float(np.mean(times)),
        "p99_us": float(np.percentile(times, 99)),
        "reached": median <= MOST_US,
    }


def print_report(report: dict[str, Any]) -> None:
    """Print a report for people."""
    print_machine(report)
    print("microseconds of the processor a decision, compiled loop")
    print(f"{'':12} decisions    median      mean      99 %")
    for result in report["results"]:
        if "median_us" in result:
            verdict = "" if result["reached"] else f"  TOO SLOW (limit {MOST_US:g} us)"
            cells = "".join(f"{result[key]:10.1f}" for key in ("median_us", "mean_us", "p99_us"))
            print(f"{result['name']:12} {result['decisions']:9}{cells}{verdict}")
    print(f"{report['hanchan_per_s']:.0f} hanchan a second, four of it in one compiled loop")
