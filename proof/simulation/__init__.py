"""The real programs under simulated time, network, disk and signals: one seed, one schedule.

A schedule runs commands of ours whole (:mod:`proof.simulation.processes`) on a loop whose time is
simulated; faults strike as the seed draws them, and what must hold whatever happens is judged at
its end.  A seed that fails is shrunk to the shortest schedule that still fails, and printed.

Why no library: simloop 0.2, simloom 0.5 and seedloop 0.4 need Python 3.12, which is not the oldest
that mjbot supports; none has processes with signals or a disk, and simloop refuses
what ``run_until_signalled`` uses.  A clock and transports in memory are the smaller part.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from proof.simulation.scenarios import SCENARIOS
from proof.simulation.schedule import Schedule, drawn, shrunk
from proof.simulation.world import Outcome, World, scratch_folder

MOST_FINDINGS: Final = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof simulation``."""
    parser.add_argument("--scenario", choices=[*SCENARIOS], help="only this one")
    parser.add_argument("--schedules", type=int, default=1000, help="of each scenario (1000)")
    parser.add_argument("--first", type=int, default=0, help="first seed (0)")


def run(args: argparse.Namespace) -> int:
    """Run the schedules, print what does not hold, return 1 if anything does not."""
    findings = 0
    for name in SCENARIOS:
        if args.scenario in (None, name):
            findings += _explore(name, range(args.first, args.first + args.schedules))
    return int(findings > 0)


def played(schedule: Schedule) -> Outcome:
    """Run a schedule."""
    with scratch_folder() as folder:
        return World(schedule, folder).run(SCENARIOS[schedule.scenario].play)


def _explore(name: str, seeds: range) -> int:
    began_s, findings, struck = time.process_time(), 0, Counter[str]()
    for seed in seeds:
        outcome = played(drawn(name, seed, SCENARIOS[name].kinds))
        struck.update({kind for kind, _ in outcome.places})
        if outcome.problems:
            findings += 1
            _report(drawn(name, seed, SCENARIOS[name].kinds), outcome)
        if findings >= MOST_FINDINGS:
            break
        if (seed + 1) % 100 == 0:
            print(_line(name, seed + 1 - seeds.start, findings, began_s, struck), flush=True)
    print(_line(name, seed + 1 - seeds.start, findings, began_s, struck), flush=True)
    return findings


def _line(name: str, count: int, findings: int, began_s: float, struck: Counter[str]) -> str:
    spent_s = time.process_time() - began_s
    kinds = ", ".join([f"{kind} {number}" for kind, number in sorted(struck.items())])
    return (
        f"{name}: {count} schedules, {findings} findings, {spent_s:.0f} s of processor time"
        f" ({spent_s / count:.2f} each); struck: {kinds}"
    )


def _report(schedule: Schedule, outcome: Outcome) -> None:
    print(f"FOUND {schedule}", *problems_of(outcome), sep="\n  ", flush=True)
    shortest = shrunk(schedule, lambda smaller: bool(played(smaller).problems))
    print(f"shortest: {shortest}", *problems_of(played(shortest)), sep="\n  ", flush=True)


def problems_of(outcome: Outcome) -> Iterator[str]:
    """Yield the first problems as lines."""
    for problem in outcome.problems[:5]:
        yield f"problem: {problem}"
