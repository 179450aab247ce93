"""A schedule: a scenario, a seed, and the faults that it draws; shrinking of one that fails."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Final

LINK: Final = ("late", "cut", "silent", "drop")
ATTEMPT: Final = ("refuse", "no-answer")
DISK: Final = ("full", "broken", "read-only", "gone")
SIGNALS: Final = ("SIGTERM", "SIGHUP", "SIGINT")
JOB: Final = ("slow", "fails")
CLOCK: Final = ("jump",)
BREAKING: Final = ("cut", "silent", "drop")


@dataclass(frozen=True)
class Fault:
    """What strikes ``target`` (a connection, an attempt, a process, a job) at ``at``."""

    kind: str
    target: str
    at: int
    amount: float = 0.0

    def __str__(self) -> str:
        where = {
            LINK: f"connection {self.target}, byte {self.at}",
            ATTEMPT: f"attempt {self.target} to connect",
            DISK: f"file operation {self.at}",
            SIGNALS: f"{self.target}, step {self.at}",
            JOB: f"job {self.at}",
            CLOCK: f"second {self.at}",
        }
        text = next(text for kinds, text in where.items() if self.kind in kinds)
        return f"{self.kind} at {text}" + (f", {self.amount:.3g}" if self.amount else "")


@dataclass(frozen=True)
class Kinds:
    """What may strike in a scenario, and where: drawn up to these numbers."""

    weights: Mapping[str, float]
    connections: int = 6
    bytes: int = 60_000
    operations: int = 600
    steps: int = 20_000
    jobs: int = 400
    seconds: int = 600
    processes: tuple[str, ...] = ("serve",)


@dataclass(frozen=True)
class Schedule:
    """One run of a scenario; ``is_calm``: bytes come whole and after equal times."""

    scenario: str
    seed: int
    faults: tuple[Fault, ...]
    is_calm: bool = False

    def __str__(self) -> str:
        faults = "".join([f"\n  {fault}" for fault in self.faults]) or "\n  no fault"
        calm = ", calm network" if self.is_calm else ""
        return f"{self.scenario}, seed {self.seed}{calm}:{faults}"


def drawn(scenario: str, seed: int, kinds: Kinds) -> Schedule:
    """Return the schedule of a seed."""
    random = Random(f"{scenario} {seed}")
    count = random.choice((0, 1, 1, 1, 2, 2, 3, 4, 6))
    names, weights = [*kinds.weights], [*kinds.weights.values()]
    chosen = random.choices(names, weights, k=count)
    return Schedule(scenario, seed, tuple([_fault(kind, kinds, random) for kind in chosen]))


def _fault(kind: str, kinds: Kinds, random: Random) -> Fault:
    if kind in LINK:
        end = random.choice(("client", "server"))
        target = f"{random.randrange(kinds.connections)} {end}"
        most = kinds.bytes // (6 if end == "client" else 1)  # a client sends less
        at = random.choice((_log_uniform(random, most), random.randrange(1, most)))
        return Fault(kind, target, at, _seconds(kind, random))
    if kind in ATTEMPT:
        return Fault(kind, str(random.randrange(kinds.connections)), 0)
    if kind in DISK:
        at = _log_uniform(random, kinds.operations) - 1
        return Fault(kind, "", at, random.choice((1, 1, 2, 10, 1e6)))
    if kind in SIGNALS:
        return Fault(kind, random.choice(kinds.processes), 1 + random.randrange(kinds.steps))
    if kind in JOB:
        return Fault(kind, "", random.randrange(kinds.jobs), _seconds(kind, random))
    return Fault(kind, "", random.randrange(kinds.seconds), _seconds(kind, random))


def _log_uniform(random: Random, most: int) -> int:
    return round(math.exp(random.uniform(0, math.log(most))))


def _seconds(kind: str, random: Random) -> float:
    match kind:
        case "late":
            return random.choice((0.2, 3.0, 30.0, 100.0, 400.0))
        case "slow":
            return random.choice((0.1, 3.0, 8.0, 30.0, 200.0))
        case "jump":
            return random.choice((-86_400.0, -3600.0, -1.0, 61.0, 3600.0, 86_400.0, 4e7))
    return 0.0


def shrunk(schedule: Schedule, fails: Callable[[Schedule], bool]) -> Schedule:
    """Return the shortest schedule that still fails: fewer faults, a calm network, less of each."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _smaller(schedule):
            if fails(candidate):
                schedule, is_smaller = candidate, True
                break
    return schedule


def _smaller(schedule: Schedule) -> Iterator[Schedule]:
    faults = schedule.faults
    for few in (1, 2):  # without the others a signal strikes elsewhere: try all, not one by one
        if len(faults) > few + 1:
            yield from [replace(schedule, faults=some) for some in combinations(faults, few)]
    for place in range(len(faults)):
        yield replace(schedule, faults=faults[:place] + faults[place + 1 :])
    if not schedule.is_calm:
        yield replace(schedule, is_calm=True)
    for place, fault in enumerate(faults):
        if fault.kind in DISK and fault.amount > 1:
            once = replace(fault, amount=1.0)
            yield replace(schedule, faults=(*faults[:place], once, *faults[place + 1 :]))
