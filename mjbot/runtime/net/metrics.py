"""Metrics in Prometheus's text format, version 0.0.4."""

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

METRICS_TYPE: Final = "text/plain; version=0.0.4"
"""The content type."""


def family(name: str, metric_type: str, what: str) -> Iterator[str]:
    """Yield the head of a metric of a ``metric_type`` (counter, gauge, summary)."""
    yield f"# HELP mjbot_{name} {what}"
    yield f"# TYPE mjbot_{name} {metric_type}"


def counters(name: str, what: str, label: str, counts: Any, values: Any) -> Iterator[str]:
    """Yield a counter for each of the ``values`` of a label."""
    yield from family(f"{name}_total", "counter", what)
    for value in values:
        yield f'mjbot_{name}_total{{{label}="{value}"}} {counts[value]}'


def escaped(text: str) -> str:
    """Return the value of a label as it stands between quotation marks."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def memory() -> Iterator[str]:
    """Yield the memory of this process."""
    yield from family("resident_memory_bytes", "gauge", "Memory of the process.")
    yield f"mjbot_resident_memory_bytes {memory_bytes()}"


def memory_bytes() -> int:
    """Return the memory of this process, in bytes; where that is not known the most it has had."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
