"""Periods of days, and which games of whom one side of a comparison has."""

import calendar
import datetime
import re
from dataclasses import dataclass
from typing import Final

_WEEK: Final = re.compile(r"(20\d\d)-W(\d\d)")
_MONTH: Final = re.compile(r"(20\d\d)-(\d\d)")
_YEAR: Final = re.compile(r"20\d\d")
FORMS: Final = "2026, 2026-10, 2026-W41 or 2026-10-05, or FROM..TO of them"


@dataclass(frozen=True)
class Period:
    """The days from ``first`` to ``last`` (``2026-10-05``); an empty one leaves that end open."""

    first: str = ""
    last: str = ""

    @classmethod
    def read(cls, text: str) -> "Period":
        """Return the period that is written so.  Raises ``ValueError``.

        >>> Period.read("2026-10"), Period.read("2026-W41..")
        (Period(first='2026-10-01', last='2026-10-31'), Period(first='2026-10-05', last=''))
        """
        start, dots, end = text.partition("..")
        first = _days(start)[0] if start else ""
        last = _days(end or start)[1] if end or not dots else ""
        if not text.strip(".") or (last and first > last):
            raise ValueError(f"{text!r} is no period: expected {FORMS}")
        return cls(first, last)

    def has(self, day: str) -> bool:
        """Return whether a day lies in it; an unknown day (empty) lies in the open period only."""
        if not day:
            return not self.first and not self.last
        return self.first <= day and (not self.last or day <= self.last)

    def overlaps(self, other: "Period") -> bool:
        """Return whether both have a day in common."""
        return (not self.last or other.first <= self.last) and (
            not other.last or self.first <= other.last
        )

    def __str__(self) -> str:
        return f"{self.first}..{self.last}" if self.first != self.last else self.first


def _days(text: str) -> tuple[str, str]:
    """Return the first and the last day of a year, month, week or day."""
    try:
        if match := _WEEK.fullmatch(text):
            monday = datetime.date.fromisocalendar(int(match[1]), int(match[2]), 1)
            return monday.isoformat(), (monday + datetime.timedelta(days=6)).isoformat()
        if match := _MONTH.fullmatch(text):
            last = calendar.monthrange(int(match[1]), int(match[2]))[1]
            return f"{text}-01", f"{text}-{last:02}"
        if _YEAR.fullmatch(text):
            return f"{text}-01-01", f"{text}-12-31"
        day = datetime.date.fromisoformat(text).isoformat()
    except (ValueError, IndexError):
        raise ValueError(f"{text!r} is no period: expected {FORMS}") from None
    return day, day


@dataclass(frozen=True)
class ComparedSide:
    """One side of a comparison: a player's games, those of a period if one is named."""

    name: str
    period: Period = Period()

    @classmethod
    def read(cls, text: str) -> "ComparedSide":
        """Return the side that ``NAME`` or ``NAME@PERIOD`` means.  Raises ``ValueError``.

        What stands behind an ``@`` is a part of the name unless it begins as a period does.

        >>> ComparedSide.read("bot@1.2"), ComparedSide.read("bot@1.2@..2026-10")
        ... # doctest: +NORMALIZE_WHITESPACE
        (ComparedSide(name='bot@1.2', period=Period(first='', last='')),
         ComparedSide(name='bot@1.2', period=Period(first='', last='2026-10-31')))
        """
        name, at, period = text.rpartition("@")
        if not at or not re.match(r"20\d\d|\.\.", period):
            return cls(text)
        if not name:
            raise ValueError(f"{text!r} names no player: expected NAME@PERIOD")
        return cls(name, Period.read(period))

    def has(self, name: str, day: str) -> bool:
        """Return whether a player's game of that day is one of this side."""
        return name == self.name and self.period.has(day)

    def overlaps(self, other: "ComparedSide") -> bool:
        """Return whether a game could be of both."""
        return self.name == other.name and self.period.overlaps(other.period)

    def __str__(self) -> str:
        return f"{self.name}@{self.period}" if self.period != Period() else self.name
