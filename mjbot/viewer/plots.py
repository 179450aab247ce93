"""Just enough plotting for one page: axes with ticks, lines, bands, bars and crosses as SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.viewer.html import text as shown

COLOURS: Final = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#7f5539",
)  # fmt: skip
"""Distinguishable by colour-blind readers too (Okabe and Ito 2008), two added."""

LONGEST: Final = 200
"""Letters of a text in a picture."""
WIDTH: Final = 640
HEIGHT: Final = 340
LEFT: Final = 60
RIGHT: Final = 16
TOP: Final = 16
BOTTOM: Final = 48
PLOT_CSS: Final = """
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:1rem;
margin:1rem 0}figure{margin:0;min-width:0;overflow-wrap:anywhere}figcaption{font-weight:600}
svg text{font-size:12px;fill:currentColor}
.grid{stroke:#8883}.frame{fill:none;stroke:#8888}
.key span{margin-right:1rem}.key i{display:inline-block;width:.8em;height:.8em;margin-right:.3em}
"""
"""For pages with plots: a grid of them, keys, and the axes' colours."""
PLOT_STYLE: Final = f"<style>{PLOT_CSS}</style>"
"""The same as an element of a page."""


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers with a name; ``flip`` puts small numbers at the far end."""

    name: str
    low: float
    high: float
    flip: bool = False

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, cut off at its ends."""
        part = (value - self.low) / (self.high - self.low)
        return min(max(1 - part if self.flip else part, 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Return round numbers along the axis, about five.

        >>> Axis("", 2.31, 2.68).ticks()
        [2.4, 2.5, 2.6]
        """
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 3))
        while (self.high - self.low) / step > 6:
            step *= 2 if round(step / 10 ** math.floor(math.log10(step) + 1e-9)) != 2 else 2.5
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(k * step, 10) for k in range(first, last + 1)]


class Plot:
    """One picture; coordinates are in the units of its axes."""

    def __init__(self, x: Axis, y: Axis, title: str) -> None:
        self.x: Final = x
        self.y: Final = y
        self._title: Final = title
        self._parts: Final[list[str]] = []
        self._keys: Final[list[str]] = []

    def line(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        """Draw a line through points."""
        path = " ".join([f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points])
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )

    def band(self, points: Sequence[tuple[float, float, float]], colour: str) -> None:
        """Fill between the lows and highs of ``(x, low, high)``."""
        there = [(x, low) for x, low, _ in points]
        back = [(x, high) for x, _, high in reversed(points)]
        path = " ".join([f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in there + back])
        self._parts.append(f'<polygon points="{path}" fill="{colour}" fill-opacity="0.18"/>')

    def bar(self, x: float, width: float, y: float, colour: str, tooltip: str) -> None:
        """Draw a bar from the axis up to ``y`` with a text for the mouse."""
        left, right = self._x(x - width / 2), self._x(x + width / 2)
        top, bottom = self._y(y), self._y(self.y.low)
        self._parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}"'
            f' height="{bottom - top:.1f}" fill="{colour}" fill-opacity="0.75">'
            f"<title>{shown(tooltip, LONGEST)}</title></rect>"
        )

    def stroke(self, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
        """Draw a thin straight line, such as an interval."""
        self._parts.append(
            f'<line x1="{self._x(start[0]):.1f}" y1="{self._y(start[1]):.1f}"'
            f' x2="{self._x(end[0]):.1f}" y2="{self._y(end[1]):.1f}" stroke="{colour}"/>'
        )

    def dot(self, x: float, y: float, colour: str, tooltip: str) -> None:
        """Draw a dot with a text for the mouse."""
        self._parts.append(
            f'<circle cx="{self._x(x):.1f}" cy="{self._y(y):.1f}" r="5" fill="{colour}">'
            f"<title>{shown(tooltip, LONGEST)}</title></circle>"
        )

    def note(self, x: float, text: str) -> None:
        """Write under the horizontal axis, instead of its ticks."""
        self._parts.append(_text(self._x(x), HEIGHT - BOTTOM + 18, text, "middle"))

    def key(self, text: str, colour: str) -> None:
        """Add a line to the legend below the picture."""
        self._keys.append(f'<span><i style="background:{colour}"></i>{shown(text, LONGEST)}</span>')

    def svg(self, x_ticks: bool = True) -> str:
        """Return the picture with its legend as HTML."""
        axes = [self._axis_y(), *([self._axis_x()] if x_ticks else [])]
        frame = (
            f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}"'
            f' height="{HEIGHT - TOP - BOTTOM}" class="frame"/>'
        )
        names = _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, self.x.name, "middle")
        names += (
            f'<g transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)">'
            f"{_text(0, 0, self.y.name, 'middle')}</g>"
        )
        return (
            f"<figure><figcaption>{shown(self._title, LONGEST)}</figcaption>"
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
            f"{frame}{''.join(axes)}{''.join(self._parts)}{names}</svg>"
            f'<p class="key">{"".join(self._keys)}</p></figure>'
        )

    # --- inside ------------------------------------------------------------------------------

    def _x(self, value: float) -> float:
        return LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)

    def _axis_x(self) -> str:
        parts = []
        for tick in self.x.ticks():
            at = self._x(tick)
            parts.append(
                f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}"'
                ' class="grid"/>'
            )
            parts.append(_text(at, HEIGHT - BOTTOM + 18, f"{tick:g}", "middle"))
        return "".join(parts)

    def _axis_y(self) -> str:
        parts = []
        for tick in self.y.ticks():
            at = self._y(tick)
            parts.append(
                f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" class="grid"/>'
            )
            parts.append(_text(LEFT - 6, at + 4, f"{tick:g}", "end"))
        return "".join(parts)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{shown(text, LONGEST)}</text>'
