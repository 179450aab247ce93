"""When a service may connect: hours of the day, a limit an hour.

Nothing here reads a clock: moments are arguments, in seconds of a monotonic clock or as local
times.
"""

import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

HOUR_S: Final = 3600.0
_SPAN: Final = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")
_DAY_MIN: Final = 24 * 60


@dataclass(frozen=True)
class Hours:
    """Spans of the day in which games may begin, in minutes; one may go past midnight.

    >>> hours = Hours.read("08:00-12:00,22:30-01:00")
    >>> hours.contains(datetime(2026, 11, 25, 0, 59)), hours.contains(datetime(2026, 11, 25, 12, 0))
    (True, False)
    >>> hours.opens_in_s(datetime(2026, 11, 25, 21, 30)), str(hours)
    (3600.0, '08:00-12:00,22:30-01:00')
    """

    spans: tuple[tuple[int, int], ...]

    @classmethod
    def read(cls, text: str) -> "Hours":
        """Return the hours that a text names; raises ``ValueError``."""
        return cls(tuple([_span(part.strip()) for part in text.split(",")]))

    def __str__(self) -> str:
        return ",".join([f"{_clock(start)}-{_clock(end)}" for start, end in self.spans])

    def contains(self, moment: datetime) -> bool:
        """Return whether a game may begin at a local time."""
        at = 60 * moment.hour + moment.minute
        return any((at - start) % _DAY_MIN < (end - start) % _DAY_MIN for start, end in self.spans)

    def opens_in_s(self, moment: datetime) -> float:
        """Return the seconds until a game may begin; 0 if it may now."""
        if self.contains(moment):
            return 0.0
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        starts = [
            midnight + timedelta(days=day, minutes=start)
            for day in (0, 1)
            for start, _ in self.spans
        ]
        return min((start - moment).total_seconds() for start in starts if start > moment)


def _span(text: str) -> tuple[int, int]:
    match = _SPAN.fullmatch(text)
    numbers = [int(number) for number in match.groups()] if match else [99]
    if match is None or max(numbers[::2]) > 24 or max(numbers[1::2]) > 59:
        raise ValueError(f"{text!r}: expected hours of the day, such as 08:00-23:30")
    start, end = 60 * numbers[0] + numbers[1], 60 * numbers[2] + numbers[3]
    if max(start, end) > _DAY_MIN or start % _DAY_MIN == end % _DAY_MIN:
        raise ValueError(f"{text!r}: expected two different times from 00:00 to 24:00")
    return start, end


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


class HourlyLimit:
    """At most ``most`` failed attempts in any hour, by the moments at which they were made."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._moments: Final[deque[float]] = deque()

    def wait_s(self, now_s: float) -> float:
        """Return the seconds until another attempt is allowed; 0 if one is now."""
        while self._moments and self._moments[0] <= now_s - HOUR_S:
            self._moments.popleft()
        if len(self._moments) < self.most:
            return 0.0
        return self._moments[len(self._moments) - self.most] + HOUR_S - now_s

    def add(self, now_s: float) -> float:
        """Count an attempt that is made now, and may fail; return its moment."""
        self._moments.append(now_s)
        return now_s

    def forget(self, moment_s: float) -> None:
        """An attempt did not fail."""
        with suppress(ValueError):  # it was an hour ago
            self._moments.remove(moment_s)
