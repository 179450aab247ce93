"""When a run stops before its last wall: as soon as the sequential test of two players is sure."""

from typing import Final

from mjbot.arena.accumulator import WallAccumulator
from mjbot.game.statistics.figures import rank_differences
from mjbot.game.statistics.sequential import ErrorRates, SequentialTest, TestOutcome


class SequentialTester:
    """Looks at the walls in their order, as soon as all before are there, until it is sure.

    So the verdict and the wall that brought it do not depend on the order of completion.
    """

    def __init__(self, accumulator: WallAccumulator, rates: ErrorRates) -> None:
        self.test: Final = SequentialTest(accumulator.seating.rank_bound, rates)
        self.walls = 0
        self._accumulator: Final = accumulator

    @property
    def verdict(self) -> TestOutcome:
        """What is known of the first strategy against the second."""
        return self.test.verdict

    def look(self, n_walls: int) -> bool:
        """Take in what is there of the first ``n_walls`` walls; return whether it is decided."""
        while self.verdict == "open" and self.walls < n_walls:
            if not self._accumulator.is_settled(self.walls):
                return False
            row = self._accumulator.row(self.walls)
            if row is not None:
                self.test.add(float(rank_differences(row[None], 0, 1)[0]))
            self.walls += 1
        return self.verdict != "open"
