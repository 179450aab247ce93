"""How many playouts are played in a second, and how long decisions of collusion-mc take.

``python -m bench playouts [--rounds N] [--json]``.  The positions come from games of four
``fast-riichi-d``: a seat is about to discard and half of the live wall is left.  A playout counts
with all that belongs to it: hidden hands dealt, in the paper's way risk lists made for each of
them, the wall shuffled, the state copied, and the kyoku played to its end, by the lists or by the
fast policy (every discard in the same worlds, :mod:`mjbot.learning.playouts.worlds`).  A
decision has m = n = 10 in the paper's way, else 100 worlds.  Held against the processor's clock,
on one core; the decisions are all those of a hanchan, warm.  The ways to read hidden hands take
turns, round by round, so that their ratio does not depend on what else the machine does.
"""

import time
from typing import Any

import numpy as np

from bench.measure import machine_and_versions, print_machine
from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.state import TURN, copy_state
from mjbot.game.table.view import View
from mjbot.strategy.registry import make_strategy
from mjbot.strategy.strategy import Strategy

PLAYERS = {
    "mode=paper": {"mode": "paper", "deals": "10", "walls": "10"},
    "mode=full": {"mode": "full", "deals": "100"},
    "mode=full,hands=greedy": {"mode": "full", "hands": "greedy", "deals": "100"},
}
POSITIONS = 12
MIDDLE = range(32, 40)
"""Live tiles left in a middle position."""
PLAYOUTS = 100
REQUIRED_PLAYOUTS_PER_S = {"mode=paper": 20_000}
REQUIRED_FAST_POLICYS = 1_000
REQUIRED_P99_MS = {"mode=paper": 300}
REQUIRED_FAST_POLICYS_P99_MS = 1_000
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
        **machine_and_versions(),
        "positions": len(views),
        "rounds": rounds,
        "results": [*results, _ratio(warm["mode=full"], warm["mode=full,hands=greedy"])],
    }


def _measured(name: str, rates: list[float]) -> list[dict[str, Any]]:
    times_ms = decision_times_ms(PLAYERS[name], 1)
    p99_ms = float(np.percentile(times_ms, 99))
    rate = REQUIRED_PLAYOUTS_PER_S.get(name, REQUIRED_FAST_POLICYS)
    most_ms = REQUIRED_P99_MS.get(name, REQUIRED_FAST_POLICYS_P99_MS)
    return [
        {
            "name": f"playouts/s, {name}",
            "value": float(np.median(rates)),
            "lowest": min(rates),
            "required": rate,
            "reached": float(np.median(rates)) >= rate,
        },
        {
            "name": f"ms a decision of {PLAYOUTS} playouts an action, 99th percentile, {name}",
            "value": p99_ms,
            "median": float(np.median(times_ms)),
            "decisions": len(times_ms),
            "required": most_ms,
            "reached": p99_ms <= most_ms,
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
    """Return the rate: every discard tried in each position."""
    bot: Any = make_strategy("collusion-mc", player, seed=1)
    playouts = 0
    spent_ns = -time.thread_time_ns()
    for view in views:
        plans = [(action,) for action in view.discards]
        bot.values(view, plans)
        playouts += PLAYOUTS * len(plans)
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
    bot = Timed(make_strategy("collusion-mc", player, seed=seed))
    Referee(seed).play([bot, *[make_strategy("fast-riichi-d") for _ in range(3)]])
    return bot.times_ms


def print_report(found: dict[str, Any]) -> None:
    """Print a report for people."""
    print_machine(found)
    print(f"{found['positions']} positions x {found['rounds']} rounds; one core")
    for result in found["results"]:
        verdict = "" if result["reached"] else "  NOT REACHED"
        print(f"{result['name']:68} {result['value']:>10,.2f} (required {result['required']:,})"
              f"{verdict}")  # fmt: skip
