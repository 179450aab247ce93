"""What may differ between tables without touching the rules of a single hand."""

from dataclasses import dataclass
from typing import Literal

Length = Literal["tonpu", "hanchan"]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The frame of a game; the defaults are Tenhou's ranked four-player games.

    ``last_round`` is the last scheduled round (0 East 1 .. 7 South 4); while nobody has
    ``target_points`` the game goes on for up to ``extension_rounds`` more.  ``uma_points`` are by
    placement, oka (the difference between start and target, to the first) not included.
    """

    length: Length = "hanchan"
    start_points: int = 25_000
    target_points: int = 30_000
    extension_rounds: int = 4
    uma_points: tuple[int, int, int, int] = (20_000, 10_000, -10_000, -20_000)

    @property
    def last_round(self) -> int:
        """Return 3 (East 4) for a tonpu, 7 (South 4) for a hanchan."""
        return 3 if self.length == "tonpu" else 7

    def final_points(self, scores: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """Return what each seat takes home: its score against the target, uma and oka.

        Equal scores are placed in the order of the seats, who dealt first coming first.

        >>> RuleSet().final_points((25_000, 41_000, 9_000, 25_000))
        (5000, 51000, -41000, -15000)
        """
        order = sorted(range(4), key=lambda seat: (-scores[seat], seat))
        points = [score - self.target_points for score in scores]
        for place, seat in enumerate(order):
            points[seat] += self.uma_points[place]
        points[order[0]] += 4 * (self.target_points - self.start_points)
        first, second, third, fourth = points
        return first, second, third, fourth
