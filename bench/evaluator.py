"""How long the hand evaluator takes: to load, and for all discards of a hand."""

import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any

from bench.measure import processor
from mjbot.game.table.state import State, copy_state
from mjbot.learning.models.hand import FEATURE_SETS, HandEvaluator
from mjbot.learning.models.weights import load_weights
from mjbot.learning.training.positions import index_games, steps
from protocol.messages import Dahai

LOGS = Path(__file__).parent.parent / "logs"
REQUIRED_P99_US = 2000.0


def report(rounds: int) -> dict[str, Any]:
    """Score every discard of the recorded games, ``rounds`` times; microseconds of wall time."""
    positions = recorded_positions()
    return {
        "machine": {
            "processor": processor(),
            "python": platform.python_version(),
            "load": list(os.getloadavg()),
        },
        "positions": len(positions),
        "rounds": rounds,
        "results": [_measure(features, positions, rounds) for features in FEATURE_SETS],
    }


def recorded_positions() -> list[tuple[State, int]]:
    """Return the table and the seat at every discard of the games in ``logs/``."""
    games = index_games(sorted(LOGS.glob("*.mjson")))
    return [
        (copy_state(step.state), step.event.actor)
        for game in steps(games)
        for step in game
        if isinstance(step.event, Dahai)
    ]


def _measure(features: Any, positions: list[tuple[State, int]], rounds: int) -> dict[str, Any]:
    begun = time.perf_counter()
    load_weights(f"hand-{features}")
    loading_ms = 1e3 * (time.perf_counter() - begun)
    evaluator = HandEvaluator.load(features)
    evaluator.scores_at(*positions[0])  # compiles
    times_us = []
    for _ in range(rounds):
        for state, seat in positions:
            begun = time.perf_counter()
            evaluator.scores_at(state, seat)
            times_us.append(1e6 * (time.perf_counter() - begun))
    times_us.sort()
    p99_us = times_us[int(0.99 * len(times_us))]
    return {
        "features": features,
        "loading_ms": loading_ms,
        "median_us": statistics.median(times_us),
        "p99_us": p99_us,
        "reached": p99_us <= REQUIRED_P99_US,
    }


def print_report(found: dict[str, Any]) -> None:
    """Print a report for people."""
    machine = found["machine"]
    print(f"{machine['processor']}, Python {machine['python']}, load {machine['load'][0]:.1f};")
    print(f"all discards of a hand, {found['positions']} positions x {found['rounds']} rounds")
    for result in found["results"]:
        print(
            f"{result['features']:6} weights loaded in {result['loading_ms']:.1f} ms;"
            f" median {result['median_us']:.1f} us, p99 {result['p99_us']:.1f} us"
            f" (at most {REQUIRED_P99_US:.0f})"
        )
