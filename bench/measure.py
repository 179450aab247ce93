"""Times contenders in one process on one core, rounds interleaved, medians reported."""

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

LEAST_SECONDS = 0.2
"""A contender's turn in a round repeats its work until this much time has passed."""


@dataclass(frozen=True)
class Contest:
    """The same work done by us and by one peer.

    A contender is a function that does the work once and returns how many ``unit`` it did.
    ``required`` is the least ratio of our rate to the peer's, ``required_rate`` our least rate.
    """

    name: str
    unit: str
    ours: Callable[[], float]
    peer: str
    theirs: Callable[[], float]
    required: float
    required_rate: float = 0.0
    clock: Callable[[], float] = time.perf_counter
    """``time.process_time`` for work in this process, where others share the machine."""


def measure(contests: list[Contest], rounds: int) -> dict[str, Any]:
    """Run all contests ``rounds`` times in turn and return rates, ratios and the machine."""
    core = _pin_to_one_core()
    for contest in contests:  # compiles, and warms caches
        contest.ours()
        contest.theirs()
    ours: list[list[float]] = [[] for _ in contests]
    theirs: list[list[float]] = [[] for _ in contests]
    for _ in range(rounds):
        for index, contest in enumerate(contests):
            ours[index].append(_rate(contest.ours, contest.clock))
            theirs[index].append(_rate(contest.theirs, contest.clock))
    found = machine_and_versions(*[contest.peer for contest in contests])
    found["machine"]["pinned_to_core"] = core
    return {
        **found,
        "rounds": rounds,
        "results": [
            _result(contest, ours[index], theirs[index]) for index, contest in enumerate(contests)
        ],
    }


def machine_and_versions(*packages: str) -> dict[str, Any]:
    """Return the machine and the versions of numba and of other packages, for a report."""
    return {
        "machine": {
            "processor": _processor(),
            "python": platform.python_version(),
            "load": list(os.getloadavg()),
        },
        "packages": {name: version(name) for name in sorted({"numba", *packages})},
    }


def print_machine(report: dict[str, Any]) -> None:
    """Print the machine of a report in a line."""
    machine = report["machine"]
    print(f"{machine['processor']}, Python {machine['python']}, load {machine['load'][0]:.1f}")


def print_table(report: dict[str, Any]) -> None:
    """Print a report of :func:`measure` for people."""
    print_machine(report)
    for result in report["results"]:
        verdict = "" if result["reached"] else "  TOO SLOW"
        print(
            f"{result['name']:32} {result['mjbot']:>12,.0f} {result['unit']}/s,"
            f" {result['peer']} {result['peer_rate']:>10,.0f}:"
            f" {result['ratio']:.2f}x (needs {result['required']}x){verdict}"
        )


def _result(contest: Contest, ours: list[float], theirs: list[float]) -> dict[str, Any]:
    # Neighbours in a round met the same disturbances, so their ratio is steadier than the rates.
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return {
        "name": contest.name,
        "unit": contest.unit,
        "mjbot": statistics.median(ours),
        "peer": contest.peer,
        "peer_rate": statistics.median(theirs),
        "ratio": statistics.median(ratios),
        "lowest_ratio": min(ratios),
        "required": contest.required,
        "required_rate": contest.required_rate,
        "reached": statistics.median(ratios) >= contest.required
        and statistics.median(ours) >= contest.required_rate,
    }


def _rate(contender: Callable[[], float], clock: Callable[[], float]) -> float:
    done = 0.0
    start = clock()
    while (elapsed := clock() - start) < LEAST_SECONDS:
        done += contender()
    return done / elapsed


def _pin_to_one_core() -> int | None:
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def _processor() -> str:
    """Return what the machine calls its processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()
