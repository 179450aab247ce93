"""Tiles and seats as players name them in text, and tiles drawn on a page."""

from collections.abc import Iterable, Sequence

from mjbot.game.table.view import View
from mjbot.runtime.languages import translate
from mjbot.viewer.drawing.tiles import HEIGHT, WIDTH, WINDS, shapes, tile_label
from protocol.tiles import TILE_NAMES


def wind_of(view: View, seat: int) -> str:
    """Return a seat by its wind."""
    return translate(WINDS[view.seat_wind(seat)])


def drawings() -> str:
    """Return the drawings of all tiles, once for the page; the others point at them."""
    return f"<svg class=defs><defs>{shapes()}</defs></svg>"


def tile(place: int, more: str = "") -> str:
    """Return a tile (0..36), drawn, with its name as text for screen readers.

    >>> tile(12)
    '<svg class=t role=img aria-label="four of circles"><use href=#t4p /></svg>'
    """
    called = TILE_NAMES[place]
    of = f'"t {more}"' if more else "t"
    label = tile_label(called)
    return f'<svg class={of} role=img aria-label="{label}"><use href=#t{called} /></svg>'


def tiles(places: Iterable[int]) -> str:
    """Return tiles in a row, each distinguishable by itself."""
    return "".join([tile(place) for place in places])


def row(places: Sequence[int], marks: Sequence[str] = ()) -> str:
    """Return tiles as one small image, for rivers; ``marks`` are classes, one for each tile."""
    names = [TILE_NAMES[place] for place in places]
    uses = [
        f"<use href=#t{called} x={WIDTH * at}{_class(marks, at)} />"
        for at, called in enumerate(names)
    ]
    label = translate(", ").join([tile_label(called) for called in names])
    box = f'viewBox="0 0 {WIDTH * len(names)} {HEIGHT}"'
    return f'<svg class=r {box} role=img aria-label="{label}">{"".join(uses)}</svg>'


def _class(marks: Sequence[str], at: int) -> str:
    return f" class={marks[at]}" if at < len(marks) and marks[at] else ""
