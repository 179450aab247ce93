"""Figures with their intervals as text and as JSON."""

import math
from collections.abc import Callable
from typing import Final

from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.figures import FigureKind

UNITS: Final[dict[FigureKind, tuple[float, int, str]]] = {
    "mean": (1, 3, ""),
    "rate": (100, 2, " %"),
    "points": (1, 0, ""),
}
"""Kind -> factor, decimals and unit."""


def format_estimate(estimate: Estimate, kind: FigureKind, signed: bool = False) -> str:
    """Return a figure with its interval.

    >>> format_estimate(Estimate(0.2244, 0.2144, 0.2344), "rate")
    '22.44 ± 1.00 %'
    >>> format_estimate(Estimate(0.0, 0.0, 0.036), "rate")
    '0.00 (0.00 .. 3.60) %'
    >>> format_estimate(Estimate(-1e-17, -1e-17, -1e-17), "mean")
    '0.000 (alike)'
    >>> format_estimate(Estimate(2.25, -math.inf, math.inf), "mean")
    '2.250 ± ?'
    >>> format_estimate(Estimate(-0.05, -0.07, -0.03), "mean", signed=True)
    '-0.050 ± 0.020'
    """
    if math.isnan(estimate.value):
        return "-"
    factor, decimals, unit = UNITS[kind]
    sign = "+" if signed else ""
    value = f"{factor * estimate.value:{sign}z.{decimals}f}"
    if not estimate.is_bounded:
        return f"{value} ± ?{unit}"
    if estimate.is_alike:
        return f"{value} (alike){unit}"
    low, high = (f"{factor * end:.{decimals}f}" for end in (estimate.low, estimate.high))
    middle = (estimate.low + estimate.high) / 2
    if abs(middle - estimate.value) > 0.1 * estimate.half_width:
        return f"{value} ({low} .. {high}){unit}"
    return f"{value} ± {factor * estimate.half_width:.{decimals}f}{unit}"


def plus_minus(estimate: Estimate, write: Callable[[float], str]) -> str:
    """Return a figure and half the length of its interval, each as ``write`` writes it.

    >>> plus_minus(Estimate(0.25, 0.2, 0.3), "{:+.2f}".format)
    '+0.25 ±0.05'
    """
    if math.isnan(estimate.value):
        return "-"
    half = write(estimate.half_width).lstrip("+") if estimate.is_bounded else "?"
    return f"{write(estimate.value)} ±{half}"


def compact(estimate: Estimate, kind: FigureKind) -> str:
    """Return a figure for a narrow column: without its unit, a digit less.

    >>> compact(Estimate(0.2244, 0.2144, 0.2344), "rate")
    '22.4 ±1.0'
    """
    factor, decimals, _ = UNITS[kind]
    return plus_minus(estimate, lambda value: f"{factor * value:,.{max(decimals - 1, 0)}f}")


def estimate_json(estimate: Estimate) -> dict[str, float | None] | None:
    """Return an estimate as JSON has it, rates as shares; ``None`` for what is not known."""
    if math.isnan(estimate.value):
        return None
    ends = {"low": estimate.low, "high": estimate.high}
    bounded = {name: end if math.isfinite(end) else None for name, end in ends.items()}
    return {"value": estimate.value, **bounded}
