"""The clocks of this machine, read when they are asked and not bound when a module is loaded."""

import time
from datetime import datetime


def monotonic_s() -> float:
    """Return the seconds of a clock that nobody sets."""
    return time.monotonic()


def local_time() -> datetime:
    """Return the time of day here."""
    return datetime.fromtimestamp(time.time())
