"""How many processes to start: the processors that the system lets this process use.

The machine's number is too large inside a container: one with a single core of 64 would start 64
processes of 130 MB.  Two things limit a process: the set of processors that it may run on, and on
Linux the time that its control groups may use in each period, divided by that period.  Version 2 of
control groups keeps both in ``cpu.max`` ("150000 100000": one and a half; "max": no limit), version
1 in ``cpu.cfs_quota_us`` (-1: no limit) and ``cpu.cfs_period_us``.  Each group above limits those
below.  A container often sees its own group as the root of the tree, while ``/proc/self/cgroup``
gives the path outside: groups that are not there have no limit.
"""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mjbot.runtime.system import available_processors

_GROUPS: Final = Path("/sys/fs/cgroup")
_MEMBERSHIP: Final = Path("/proc/self/cgroup")


def worker_count() -> int:
    """Return how many processes of this program have a processor each; 1 at least.

    A part of a processor counts as one more.
    """
    limit = processor_limit()
    available = available_processors()
    return available if limit is None else min(available, math.ceil(limit))


def processor_limit(groups: Path = _GROUPS, membership: Path = _MEMBERSHIP) -> float | None:
    """Return how many processors the control groups of this process allow, ``None``: any number.

    ``groups`` is the root of the tree of control groups; ``membership`` lists the process's own.
    """
    limits = [
        limit
        for root, own in _memberships(groups, membership)
        for folder in _upwards(root, own)
        if (limit := _limit(folder)) is not None
    ]
    return min(limits, default=None)


def _memberships(groups: Path, membership: Path) -> Iterator[tuple[Path, str]]:
    """Yield the roots of trees that may limit processors, and the process's group in each."""
    lines: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        lines = membership.read_text("utf-8", "surrogateescape").splitlines()
    found = False
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, own = rest.partition(":")
        if number == "0" and not controllers:
            found = True
            yield from ((root, own) for root in (groups, groups / "unified"))
        elif "cpu" in controllers.split(","):
            found = True
            yield from ((groups / name, own) for name in {controllers, "cpu", "cpu,cpuacct"})
    if not found:
        yield from ((groups / name, "/") for name in ("", "cpu", "cpu,cpuacct"))


def _upwards(root: Path, own: str) -> Iterator[Path]:
    """Yield a group's folder and those above it, up to the root of its tree."""
    parts = [part for part in own.split("/") if part]
    if ".." in parts:  # outside what this process sees
        parts = []
    for depth in range(len(parts), -1, -1):
        yield root.joinpath(*parts[:depth])


def _limit(folder: Path) -> float | None:
    """Return how many processors a group allows, if it limits them."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = (folder / "cpu.max").read_text("ascii").split()
        return _ratio(quota, period)
    with contextlib.suppress(OSError, ValueError):
        quota = (folder / "cpu.cfs_quota_us").read_text("ascii")
        return _ratio(quota, (folder / "cpu.cfs_period_us").read_text("ascii"))
    return None


def _ratio(quota: str, period: str) -> float | None:
    """Return quota by period, ``None`` for no limit; raises ``ValueError``.

    >>> _ratio("150000", "100000"), _ratio("max", "100000"), _ratio("-1", "100000")
    (1.5, None, None)
    """
    if quota == "max" or int(quota) <= 0 or int(period) <= 0:
        return None
    return int(quota) / int(period)


if __name__ == "__main__":  # for the Makefile
    print(worker_count())
