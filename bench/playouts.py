"""How many playouts collusion-mc makes in a second, and how long a decision takes at m = n = 10.

``python -m bench playouts [--rounds N] [--json]``.  The positions come from games of four
``fast-riichi-d``: a seat is about to discard and half of the live wall is left.  A playout counts
with all that belongs to it: hidden hands dealt, risk lists made for each of them, the wall
shuffled, the state copied, and the kyoku played to its end.  Held against the processor's clock,
on one core; the decisions are all those of a hanchan, warm.  The ways to read hidden hands take
turns, round by round, so that their ratio does not depend on what else the machine does.
"""

import os
import platform
import time
from importlib.metadata import version
from typing import Any

import numpy as np

from bench.measure import processor
from mjbot.referee import Referee
from mjbot.strategy.registry import make_strategy
from mjbot.strategy.strategy import Strategy
from mjbot.table.actions import Action
from mjbot.table.state import TURN, copy_state
from mjbot.table.view import View

PLAYERS = {
    "mode=paper": {"mode": "paper"},
    "mode=full": {"mode": "full"},
    "mode=full,hands=greedy": {"mode": "full", "hands": "greedy"},
}
POSITIONS = 12
MIDDLE = range(32, 40)
"""Live tiles left in a middle position."""
PAPERS_SIZE = {"deals": "10", "walls": "10"}
REQUIRED_PLAYOUTS_PER_S = 20_000
REQUIRED_P99_MS = 300
REQUIRED_RATIO = 0.8


def report(rounds: int) -> dict[str, Any]:
    """Return rates and times of each player, and the machine."""
    views = middle_positions(POSITIONS)
    rates: dict[str, list[float]] = {name: [] for name in PLAYERS}
    for _ in range(rounds + 1):
        for name, found in rates.items():
            found.append(playouts_per_s(PLAYERS[name], views))
    warm = {name: found[1:] for name, found in rates.items()}
    results = [result for name, found in warm.items() for result in _measured(name, found)]
    return {
        "machine": {
            "processor": processor(),
            "python": platform.python_version(),
            "load": list(os.getloadavg()),
        },
        "packages": {"numba": version("numba")},
        "positions": len(views),
        "rounds": rounds,
        "results": [*results, _ratio(warm["mode=full"], warm["mode=full,hands=greedy"])],
    }


def _measured(name: str, rates: list[float]) -> list[dict[str, Any]]:
    times_ms = decision_times_ms(PLAYERS[name], 1)
    p99_ms = float(np.percentile(times_ms, 99))
    return [
        {
            "name": f"playouts/s, {name}",
            "value": float(np.median(rates)),
            "lowest": min(rates),
            "required": REQUIRED_PLAYOUTS_PER_S,
            "reached": float(np.median(rates)) >= REQUIRED_PLAYOUTS_PER_S,
        },
        {
            "name": f"ms a decision at m = n = 10, 99th percentile, {name}",
            "value": p99_ms,
            "median": float(np.median(times_ms)),
            "decisions": len(times_ms),
            "required": REQUIRED_P99_MS,
            "reached": p99_ms <= REQUIRED_P99_MS,
        },
    ]


def _ratio(learned: list[float], greedy: list[float]) -> dict[str, Any]:
    ratios = np.array(learned) / np.array(greedy)
    return {
        "name": "playouts/s, hands=learned over hands=greedy",
        "value": float(np.median(ratios)),
        "lowest": float(ratios.min()),
        "required": REQUIRED_RATIO,
        "reached": float(np.median(ratios)) >= REQUIRED_RATIO,
    }


def middle_positions(n: int) -> list[View]:
    """Return positions in the middle of a kyoku as the seat that is to discard sees them."""
    views: list[View] = []
    for seed in range(1000):
        referee = Referee(seed)
        bots = [make_strategy("fast-riichi-d") for _ in range(4)]
        referee.start()
        while int(referee.state["wall_left"]) > MIDDLE.start:
            (seat, legal), *_ = referee.asked.items()
            state = referee.state
            if int(state["wall_left"]) in MIDDLE and int(state["phase"]) == TURN and len(legal) > 5:
                views.append(View(copy_state(state), seat))
                break
            choices = {seat: bots[seat].decide(referee.view(seat)) for seat in referee.asked}
            referee.step(choices)
            if int(referee.state["round"]) or int(referee.state["honba"]):
                break
        if len(views) == n:
            break
    return views


def playouts_per_s(player: dict[str, str], views: list[View]) -> float:
    """Return the rate at the paper's size: every discard tried in each position."""
    bot: Any = make_strategy("collusion-mc", {**player, **PAPERS_SIZE}, seed=1)
    playouts = 0
    spent_ns = -time.thread_time_ns()
    for view in views:
        plans = np.array([(a.code, -1) for a in view.discards], np.int64)
        bot.worths(view, plans)
        playouts += 100 * len(plans)
    return 1e9 * playouts / (spent_ns + time.thread_time_ns())


class Timed(Strategy):
    """A strategy whose decisions are timed by the processor's clock."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self.times_ms: list[float] = []

    def decide(self, view: View) -> Action:
        """Pass the question on."""
        begun = time.thread_time_ns()
        action = self._strategy.decide(view)
        self.times_ms.append((time.thread_time_ns() - begun) / 1e6)
        return action


def decision_times_ms(player: dict[str, str], seed: int) -> list[float]:
    """Return how long each decision of a hanchan takes, at a table with three fast-riichi-d."""
    bot = Timed(make_strategy("collusion-mc", {**player, **PAPERS_SIZE}, seed=seed))
    Referee(seed).play([bot, *[make_strategy("fast-riichi-d") for _ in range(3)]])
    return bot.times_ms


def print_report(found: dict[str, Any]) -> None:
    """Print a report for people."""
    machine = found["machine"]
    print(f"{machine['processor']}, Python {machine['python']}, load {machine['load'][0]:.1f}")
    print(f"{found['positions']} positions x {found['rounds']} rounds; one core")
    for result in found["results"]:
        verdict = "" if result["reached"] else "  NOT REACHED"
        print(f"{result['name']:68} {result['value']:>10,.2f} (required {result['required']:,})"
              f"{verdict}")  # fmt: skip
