"""What decisions cost: how many took how long, counted in classes that can be added up.

A doubling has :data:`CLASSES_PER_DOUBLING` classes, so that a percentile is right to 2.2 %, and so
is a sum.  Of our own strategies the time is the processor's, of all threads of the process, which
other programs do not slow down; of an external engine it is the time until its answer is there.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from mjbot.arena.run_folder import GameLine
from mjbot.game.statistics.seating import Seating

CLASSES_PER_DOUBLING: Final = 16
NS_PER_MS: Final = 1e6
NS_PER_S: Final = 1e9

TimeCounts = dict[int, int]
"""Class -> how many decisions."""


def count_time(counts: TimeCounts, time_ns: int) -> None:
    """Count a decision that took so many nanoseconds."""
    number = math.floor(CLASSES_PER_DOUBLING * math.log2(max(time_ns, 1)))
    counts[number] = counts.get(number, 0) + 1


def class_ns(number: int) -> float:
    """Return the middle of a class in nanoseconds.

    >>> counts: TimeCounts = {}
    >>> count_time(counts, 1_000_000)
    >>> [round(class_ns(number) / NS_PER_MS, 2) for number in counts]
    [0.98]
    """
    return float(2 ** ((number + 0.5) / CLASSES_PER_DOUBLING))


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """The decisions of one strategy over some hanchan, each as one player of the table."""

    counts: Mapping[int, int]
    games: int

    @property
    def decisions(self) -> int:
        """How many were timed."""
        return sum(self.counts.values())

    def percentile_ms(self, percent: float) -> float:
        """Return what so many per cent of the decisions did not exceed; ``nan`` of none."""
        left = self.decisions * percent / 100
        for number in sorted(self.counts):
            left -= self.counts[number]
            if left <= 0:
                return class_ns(number) / NS_PER_MS
        return math.nan

    @property
    def seconds_per_game(self) -> float:
        """All decisions of one player in a game, in seconds; ``nan`` if no game was timed."""
        spent_ns = sum(count * class_ns(number) for number, count in self.counts.items())
        return spent_ns / NS_PER_S / self.games if self.games else math.nan


def decision_costs(lines: Iterable[GameLine], seating: Seating) -> tuple[DecisionCost, ...]:
    """Return what each strategy's decisions cost where its figures are taken.

    Games that were not timed count nothing.
    """
    lines = [game for game in lines if game.times]
    costs = []
    for places in seating.rows:
        here = {(place.seating, place.seat) for place in places}
        total: TimeCounts = {}
        games = 0
        for game in lines:
            for seat, counts in enumerate(game.times):
                if (game.seating, seat) in here:
                    games += 1
                    for number, count in counts.items():
                        total[number] = total.get(number, 0) + count
        costs.append(DecisionCost(total, games))
    return tuple(costs)
