"""Whether a quantity that was sampled for a while stayed flat.

The first third of the time is warm-up.  The rest is cut into ten blocks of equal time, whose means
are nearly independent where single samples are not; a straight line through these has a slope
with a 95 % interval (Student's t, eight degrees of freedom).  The quantity *grows* if the interval
lies above 0 **and** the line rises by more than a trifle from the first block to the last: by more
than 3 % of its level, and by more than the unit's least.  All else is flat; the interval bounds the
growth that could not be detected.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mjbot.game.statistics.estimates import t_quantile

WARM_UP: Final = 1 / 3
BLOCKS: Final = 10
SHARE: Final = 0.03
CONFIDENCE: Final = 0.95
LEAST: Final = {"MB": 6.0, "handles": 4.0, "threads": 4.0, "tasks": 4.0}
"""What is no growth, whatever its share, by the unit with which a quantity's name ends."""


@dataclass(frozen=True)
class Trend:
    """A line through the blocks: ``level`` is its mean, slopes are per hour.

    ``rise`` is what it gained between the first and the last block, ``least`` what is a trifle.
    """

    level: float
    slope: float
    low: float
    high: float
    rise: float
    least: float

    @property
    def grows(self) -> bool:
        """Whether it did not stay flat."""
        return self.low > 0 and self.rise > max(self.least, SHARE * self.level)

    def __str__(self) -> str:
        verdict = "GROWS" if self.grows else "flat"
        return (
            f"{verdict}: {self.level:.1f}, {self.slope:+.1f} an hour"
            f" (95 %: {self.low:+.1f} to {self.high:+.1f})"
        )


def trend(times_s: Sequence[float], values: Sequence[float], least: float) -> Trend | None:
    """Return the line through the blocks after warm-up; ``None`` if a block has no sample.

    >>> times = list(range(300))
    >>> found = trend(times, [5.0 + time / 3600 for time in times], least=0.01)
    >>> round(found.slope, 3), found.grows
    (1.0, False)
    >>> trend(times, [50.0 + time for time in times], least=10).grows
    True
    """
    first = times_s[0] + WARM_UP * (times_s[-1] - times_s[0])
    width = (times_s[-1] - first) / BLOCKS
    blocks: list[list[tuple[float, float]]] = [[] for _ in range(BLOCKS)]
    for time_s, value in zip(times_s, values, strict=True):
        if time_s >= first and width > 0:
            block = min(BLOCKS - 1, int((time_s - first) / width))
            blocks[block].append((time_s / 3600, value))
    if not all(blocks):
        return None
    hours, means = np.array([np.mean(block, axis=0) for block in blocks]).T
    away = hours - hours.mean()
    slope = float(away @ means / (away @ away))
    residuals = means - means.mean() - slope * away
    error = math.sqrt(float(residuals @ residuals) / (BLOCKS - 2) / float(away @ away))
    reach = t_quantile((1 + CONFIDENCE) / 2, BLOCKS - 2) * error
    rise = slope * float(hours[-1] - hours[0])
    return Trend(float(means.mean()), slope, slope - reach, slope + reach, rise, least)


def growing(times_s: Sequence[float], samples: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Print the trend of each quantity; yield those that grow or are unclear."""
    for name in samples[0]:
        least = LEAST[name.rpartition(" ")[2]]
        found = trend(times_s, [sample[name] for sample in samples], least)
        line = f"{name}: {found or 'too few samples'}"
        print(line)
        if found is None or found.grows:
            yield line
