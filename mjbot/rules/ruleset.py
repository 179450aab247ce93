"""The frame of a ranked Tenhou game: start, length, target, and what placements are worth."""

from typing import Final, Literal

Length = Literal["tonpu", "hanchan"]

LAST_ROUND: Final[dict[Length, int]] = {"tonpu": 3, "hanchan": 7}
"""The last scheduled round: East 4 or South 4."""

START_POINTS: Final = 25_000
TARGET_POINTS: Final = 30_000
"""While nobody has so many, the game goes on after its last scheduled round ..."""
EXTENSION_ROUNDS: Final = 4
"""... for at most so many rounds more."""

UMA_POINTS: Final = (20_000, 10_000, -10_000, -20_000)
"""By placement."""
OKA_POINTS: Final = 4 * (TARGET_POINTS - START_POINTS)
"""To the first, besides its uma: what all four have put in."""
PLACEMENT_POINTS: Final = (UMA_POINTS[0] + OKA_POINTS, *UMA_POINTS[1:])
"""What each rank is worth in the end: uma, and oka for the first."""
