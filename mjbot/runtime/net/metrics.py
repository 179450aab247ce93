"""Metrics in Prometheus's text format, version 0.0.4."""

from collections.abc import Iterator
from typing import Any, Final

from mjbot.runtime.system import memory_bytes

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
    """Yield the memory of this process, if it is known."""
    if (size := memory_bytes()) is not None:
        yield from family("resident_memory_bytes", "gauge", "Memory of the process.")
        yield f"mjbot_resident_memory_bytes {size}"
