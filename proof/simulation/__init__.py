"""The real programs under simulated time, network, disk and signals: one seed, one schedule.

A schedule runs commands of ours whole (:mod:`proof.simulation.processes`) on a loop whose time is
simulated; faults strike as the seed draws them, and what must hold whatever happens is judged at
its end.  A seed that fails is shrunk to the shortest schedule that still fails, and printed.

Judged are how commands end, what they leave open, what they log, the files that they write and
remove, who takes part in a game, and what a pair's channel sends and believes.  ``--planted``
proves that each of these judges judges: with a fault planted in one function of ours
(:mod:`proof.simulation.planted`) it must find what it is there for, and without it not.

Why no library: simloop 0.2, simloom 0.5 and seedloop 0.4 need Python 3.12, which is not the oldest
that mjbot supports; none has processes with signals or a disk, and simloop refuses
what ``run_until_signalled`` uses.  A clock and transports in memory are the smaller part.
"""

import argparse
import gc
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from proof.simulation.cover import Tried, chosen, write_chosen
from proof.simulation.planted import PLANTED
from proof.simulation.scenarios import SCENARIOS
from proof.simulation.schedule import Schedule, drawn, shrunk
from proof.simulation.world import Outcome, World, scratch_folder

MOST_FINDINGS: Final = 20
COUNTED: Final = 25
"""Between so many schedules objects are counted."""
WARM: Final = 4
"""Growths that are not judged: the first schedules load compiled functions as they call them, some
ten objects each; run again, the same schedules leave none."""
MOST_KEPT: Final = 10.0
"""Objects that a schedule may leave: a leak of a connection or a game has hundreds."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof simulation``."""
    parser.add_argument("--scenario", choices=[*SCENARIOS], help="only this one")
    parser.add_argument("--schedules", type=int, default=1000, help="of each scenario (1000)")
    parser.add_argument("--first", type=int, default=0, help="first seed (0)")
    parser.add_argument(
        "--planted", action="store_true", help="plant each known fault instead: all must be found"
    )
    parser.add_argument(
        "--choose", type=Path, help="file for the seeds of the suite: a cover of these schedules"
    )
    parser.add_argument("--most", type=int, default=200, help="seeds that are chosen (200)")
    parser.add_argument(
        "--most-s", type=float, default=30.0, help="processor time that these may take (30 s)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the schedules, print what does not hold, return 1 if anything does not."""
    gc.freeze()  # what is imported would be looked at in each collection: 5 to 10 % of the time
    if args.planted:
        missed = [name for name in PLANTED if not find_planted(name)]
        print(f"{len(PLANTED) - len(missed)} of {len(PLANTED)} planted faults found")
        return int(bool(missed))
    findings, tried = 0, list[Tried]()
    for name in SCENARIOS:
        if args.scenario in (None, name):
            findings += _explore(name, range(args.first, args.first + args.schedules), tried)
    if args.choose:
        taken = chosen(tried, args.most, args.most_s)
        write_chosen(args.choose, taken)
        cost_s = sum([one.cost_s for one in taken])
        reached = [{place for one in some for place in one.places} for some in (taken, tried)]
        print(f"{len(taken)} of {len(tried)} schedules chosen: {cost_s:.0f} s of processor time,")
        print(f"{len(reached[0])} of {len(reached[1])} pairs of a fault and a place")
    return int(findings > 0)


def find_planted(name: str) -> bool:
    """Return whether a planted fault is found, and only where it is planted; print the seed."""
    planted = PLANTED[name]
    for count, seed in enumerate(planted.seeds(), 1):
        schedule = drawn(planted.scenario, seed, SCENARIOS[planted.scenario].kinds)
        with planted.in_place():
            is_found = planted.shows_in(played(schedule).problems)
        if is_found:
            is_alone = not planted.shows_in(played(schedule).problems)
            verdict = "found" if is_alone else "FOUND, but also without the fault: proves nothing"
            print(f"{name}: {verdict}; {planted.scenario}, seed {seed} ({count} tried)", flush=True)
            return is_alone
    print(f"{name}: NOT FOUND in {count} schedules of {planted.scenario}", flush=True)
    return False


def played(schedule: Schedule) -> Outcome:
    """Run a schedule."""
    with scratch_folder() as folder:
        return World(schedule, folder).run(SCENARIOS[schedule.scenario].play)


def objects() -> int:
    """Return how many objects there are once the garbage is gone."""
    gc.collect()
    return len(gc.get_objects())


def _explore(name: str, seeds: range, tried: list[Tried]) -> int:
    findings, spent_s, counts, struck = 0, 0.0, list[int](), Counter[str]()
    for count, seed in enumerate(seeds, 1):
        began_s = time.process_time()
        outcome = played(drawn(name, seed, SCENARIOS[name].kinds))
        cost_s = time.process_time() - began_s
        spent_s += cost_s
        struck.update({kind for kind, _ in outcome.places})
        if outcome.problems:
            findings += 1
            _report(drawn(name, seed, SCENARIOS[name].kinds), outcome)
        else:
            places = {(name, *place) for place in outcome.places} or {(name, "no fault")}
            tried.append(Tried(name, seed, frozenset(places), cost_s))
        if count % COUNTED == 0:
            counts.append(objects())
        is_last = count == len(seeds) or findings >= MOST_FINDINGS
        if is_last or count % 100 == 0:
            kinds = ", ".join([f"{kind} {number}" for kind, number in sorted(struck.items())])
            print(
                f"{name}: {count} schedules, {findings} findings, {spent_s:.0f} s of processor time"
                f" ({spent_s / count:.2f} each), {kept(counts):.1f} objects kept; struck: {kinds}",
                flush=True,
            )
        if is_last:
            break
    if kept(counts) > MOST_KEPT:
        findings += 1
        print(f"FOUND {name}: memory grows by {kept(counts):.1f} objects a schedule", flush=True)
    return findings


def kept(counts: list[int]) -> float:
    """Return how many objects each schedule leaves, by the least growth between two counts.

    What is imported or cached once grows once, a leak each time: of one growth nothing follows.
    """
    growths = [(after - before) / COUNTED for before, after in pairwise(counts)][WARM:]
    return min(growths) if len(growths) > 1 else 0.0


def _report(schedule: Schedule, outcome: Outcome) -> None:
    print(f"FOUND {schedule}", *problems_of(outcome), sep="\n  ", flush=True)
    shortest = shrunk(schedule, lambda smaller: bool(played(smaller).problems))
    print(f"shortest: {shortest}", *problems_of(played(shortest)), sep="\n  ", flush=True)


def problems_of(outcome: Outcome) -> Iterator[str]:
    """Yield the first problems as lines."""
    for problem in outcome.problems[:5]:
        yield f"problem: {problem}"
