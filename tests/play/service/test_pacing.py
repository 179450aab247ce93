"""Hours of the day, a limit an hour."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mjbot.play.service.pacing import HOUR_S, HourlyLimit, Hours

minutes = st.integers(0, 24 * 60 - 1)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31))


@given(minutes, minutes, moments)
def test_hours_open_when_a_clock_that_walks_minute_by_minute_says_so(start, end, moment):
    if start == end:
        return
    text = f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}"
    hours = Hours.read(text)
    at = moment.replace(second=0, microsecond=0)

    def is_open(when):
        clock = when.strftime("%H:%M")
        first, last = text.split("-")
        return first <= clock < last if first < last else clock >= first or clock < last

    assert hours.contains(moment) == is_open(moment)
    if is_open(moment):
        assert hours.opens_in_s(moment) == 0
        return
    while not is_open(at):
        at += timedelta(minutes=1)
    assert moment + timedelta(seconds=hours.opens_in_s(moment)) == at


def test_hours_of_a_whole_day():
    hours = Hours.read("00:00-12:00, 12:00-24:00")
    assert hours.contains(datetime(2026, 1, 1, 23, 59))
    assert hours.contains(datetime(2026, 1, 1, 12, 0))


@given(st.integers(1, 5), st.lists(st.floats(0, 3000), max_size=40))
def test_no_hour_has_more_attempts_than_the_limit(most, gaps):
    limit, now, attempts = HourlyLimit(most), 0.0, []
    for gap in gaps:
        now += gap
        now += limit.wait_s(now)
        limit.add(now)
        attempts.append(now)
    for first, last in zip(attempts, attempts[most:], strict=False):
        assert last - first >= HOUR_S * (1 - 1e-9)


def test_an_attempt_waits_no_longer_than_it_must():
    limit = HourlyLimit(2)
    limit.add(0.0)
    limit.add(10.0)
    assert limit.wait_s(20.0) == pytest.approx(HOUR_S - 20)
    assert limit.wait_s(HOUR_S - 30) == pytest.approx(30)
    assert limit.wait_s(HOUR_S) == 0
