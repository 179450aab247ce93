"""The clocks of this machine, read when they are asked and not bound when a module is loaded."""

import time
from datetime import UTC, datetime


def monotonic_s() -> float:
    """Return the seconds of a clock that nobody sets."""
    return time.monotonic()


def local_time() -> datetime:
    """Return the time of day here."""
    return datetime.fromtimestamp(time.time())


def utc_time() -> str:
    """Return the time as UTC in ISO 8601, to the second."""
    moment = datetime.fromtimestamp(time.time(), UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
