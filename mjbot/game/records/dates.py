"""When a game was played, by what its record or its name has: a day, and the time if it is known.

Exporters of Mahjong Soul write the date as a browser prints it, so its form is the language's; the
ids of the site and of Tenhou begin with the day.
"""

import datetime
import re
from typing import Any, Final

_TENHOU_TIME: Final = re.compile(r"\b(20\d\d)(0[1-9]|1[0-2])([0-3]\d)(\d\d)gm-")
_DAY: Final = re.compile(r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2([0-3]\d)(?!\d)")
_SOUL_ID: Final = re.compile(r"(?<![\da-f])(\d\d)(\d\d)(\d\d)-[0-9a-f]{8}-[0-9a-f]{4}-")
_YEAR_FIRST: Final = re.compile(
    r"(?<!\d)(20\d\d)\s?[-/.年년]\s?(\d\d?)\s?[-/.月월]\s?(\d\d?)(?!\d)"
)
_YEAR_LAST: Final = re.compile(r"(?<!\d)(\d\d?)([./-])\s?(\d\d?)\2\s?(20\d\d)(?!\d)")
_TIME: Final = re.compile(r"(\d\d?):(\d\d)(?::(\d\d))?(?:[.,]\d+)?\s*([AaPp]\.?[Mm])?")
_AFTERNOON: Final = ("下午", "午後", "오후")
_EARLIEST: Final = datetime.datetime(2006, 1, 1).timestamp()
_LATEST: Final = datetime.datetime(2100, 1, 1).timestamp()
_MOST_LETTERS: Final = 100


def day_of(name: str) -> str:
    """Return the day in a name, by a site's id of the game or written as a date; else empty.

    >>> day_of("2009022011gm-00a9-0000-d7935c6d"), day_of("logs/2026-11-24-081500.mjson")
    ('2009-02-20', '2026-11-24')
    >>> day_of("games/00012.mjlog"), day_of("20261340.mjlog")
    ('', '')
    """
    return moment_of_id(name)[:10] or next(filter(None, _written_days(name)), "")


def _written_days(name: str) -> list[str]:
    days = [_as_day(year, month, day) for year, _, month, day in _DAY.findall(name)]
    return days[::-1]


def moment_of_id(text: str) -> str:
    """Return the day, and of Tenhou the hour, by the id of a game in a text; else empty.

    >>> moment_of_id("2009022011gm-00a9-0000-d7935c6d"), moment_of_id("g.json")
    ('2009-02-20T11', '')
    >>> moment_of_id("261120-0f3c6d2e-1111-4a5b-9c3d-abcdefabcdef")
    '2026-11-20'
    """
    if tenhou := _TENHOU_TIME.search(text):
        year, month, day, hour = tenhou.groups()
        return f"{date}T{hour}" if (date := _as_day(year, month, day)) else ""
    if soul := _SOUL_ID.search(text):
        year, month, day = soul.groups()
        return _as_day(f"20{year}", month, day)
    return ""


def moment_of_text(text: Any) -> str:
    """Return day and time of a date as people and browsers write it; else empty.

    Where day and month may be either, neither is known.

    >>> moment_of_text("2026/11/20 21:03:12"), moment_of_text("11/20/2026, 9:03:12 PM")
    ('2026-11-20T21:03:12', '2026-11-20T21:03:12')
    >>> moment_of_text("20.11.2026"), moment_of_text("11/12/2026"), moment_of_text("hanchan")
    ('2026-11-20', '', '')
    """
    if not isinstance(text, str) or len(text) > _MOST_LETTERS:
        return ""
    day = ""
    if match := _YEAR_FIRST.search(text):
        day = _as_day(*match.groups())
    elif match := _YEAR_LAST.search(text):
        day = _year_last(text, *match.groups())
    if not day or not (time := _TIME.search(text, match.end() if match else 0)):
        return day
    hour, minute, second = (int(part or 0) for part in time.groups()[:3])
    if (time[4] or "").lower().startswith("p") or any(word in text for word in _AFTERNOON):
        hour = hour % 12 + 12
    elif (time[4] or "").lower().startswith("a"):
        hour %= 12
    is_time = hour < 24 and minute < 60 and second < 60
    return f"{day}T{hour:02}:{minute:02}:{second:02}" if is_time else day


def _year_last(text: str, first: str, mark: str, second: str, year: str) -> str:
    """Return the day of a date that ends with the year: with dots the day comes first."""
    month_first = re.search(r"[AaPp]\.?[Mm]", text) is not None or int(second) > 12
    day_first = mark == "." or int(first) > 12
    if month_first == day_first:
        return ""
    return _as_day(year, second, first) if day_first else _as_day(year, first, second)


def moment_of_clock(seconds: Any) -> str:
    """Return day and time, on this machine's clock, of seconds or ms since 1970; else empty.

    >>> moment_of_clock(None), moment_of_clock("1795208592")[:4]
    ('', '2026')
    """
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdigit():
        seconds = int(seconds[:_MOST_LETTERS])
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return ""
    seconds = seconds / 1000 if seconds > 10 * _LATEST else seconds
    if not _EARLIEST <= seconds < _LATEST:
        return ""
    return datetime.datetime.fromtimestamp(seconds).isoformat(timespec="seconds")


def _as_day(year: str, month: str, day: str) -> str:
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
