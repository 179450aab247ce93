"""Schedules for the suite: a greedy cover of what struck where.

A schedule spends of two budgets, the number of schedules and their processor time.  Each time the
one is taken that reaches most missing places for the sum of the shares which it spends.  When none
is missing each is to be reached once more.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mjbot.runtime.files import write_text


@dataclass(frozen=True)
class Tried:
    """A schedule without a finding: ``places`` are kinds of faults and where they struck."""

    scenario: str
    seed: int
    places: frozenset[tuple[str, ...]]
    cost_s: float


def chosen(tried: Iterable[Tried], most: int, most_s: float) -> list[Tried]:
    """Return so many schedules, or what fits in so much time, in the order in which it is taken."""
    left, taken, left_s = list(tried), list[Tried](), most_s
    missing = set[tuple[str, ...]]()
    while left and len(taken) < most:
        if not any(missing & one.places for one in left):
            missing = set[tuple[str, ...]]().union(*[one.places for one in left])
        best = max(
            left, key=lambda one: len(missing & one.places) / (1 / most + one.cost_s / most_s)
        )
        left.remove(best)
        if best.cost_s > left_s:
            continue
        left_s -= best.cost_s
        taken.append(best)
        missing -= best.places
    return taken


def write_chosen(path: Path, schedules: Iterable[Tried]) -> None:
    """Write the seeds by scenario, as ``tests/proof/test_simulation.py`` reads them."""
    seeds: dict[str, list[int]] = {}
    for one in schedules:
        seeds.setdefault(one.scenario, []).append(one.seed)
    lines = [f" {json.dumps(name)}: {sorted(seeds[name])}" for name in sorted(seeds)]
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")
