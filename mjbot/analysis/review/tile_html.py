"""Tiles and seats as players name them in text, and tiles drawn on a page."""

from collections.abc import Iterable

from mjbot.game.table.view import View
from mjbot.protocol.tiles import TILE_NAMES
from mjbot.runtime.languages import translate
from mjbot.viewer.drawing.tiles import WINDS, shapes, tile_label


def wind_of(view: View, seat: int) -> str:
    """Return a seat by its wind."""
    return translate(WINDS[view.seat_wind(seat)])


def drawings() -> str:
    """Return the drawings of all tiles, once for the page; the others point at them."""
    return f"<svg class=defs><defs>{shapes()}</defs></svg>"


def tile(number: int, more: str = "") -> str:
    """Return a tile (0..36), drawn, with its name as text for screen readers.

    >>> tile(12)
    '<svg class=t role=img aria-label="four of circles"><use href=#t4p /></svg>'
    """
    called = TILE_NAMES[number]
    of = f'"t {more}"' if more else "t"
    label = tile_label(called)
    return f'<svg class={of} role=img aria-label="{label}"><use href=#t{called} /></svg>'


def tiles(numbers: Iterable[int]) -> str:
    """Return tiles in a row, each distinguishable by itself."""
    return "".join([tile(number) for number in numbers])
