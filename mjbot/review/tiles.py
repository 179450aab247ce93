"""Tiles and seats as players name them in text, and tiles drawn on a page."""

from collections.abc import Iterable, Sequence
from typing import Final

from mjbot.table.view import View
from mjbot.watch.tiles import HEIGHT, WIDTH, shapes, tile_label
from protocol.tiles import FIRST_HONOUR, RED_FIVES, TILE_NAMES

WINDS: Final = ("East", "South", "West", "North")
HONOURS: Final = (*WINDS, "the white dragon", "the green dragon", "the red dragon")


def tile_text(tile: int) -> str:
    """Return a tile's (0..36) name.

    >>> tile_text(4), tile_text(34), tile_text(27), tile_text(33)
    ('5m', 'red 5m', 'East', 'the red dragon')
    """
    if tile in RED_FIVES:
        return f"red {TILE_NAMES[tile][:2]}"
    return HONOURS[tile - FIRST_HONOUR] if tile >= FIRST_HONOUR else TILE_NAMES[tile]


def wind_of(view: View, seat: int) -> str:
    """Return a seat by its wind."""
    return WINDS[view.seat_wind(seat)]


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
    label = ", ".join([tile_label(called) for called in names])
    box = f'viewBox="0 0 {WIDTH * len(names)} {HEIGHT}"'
    return f'<svg class=r {box} role=img aria-label="{label}">{"".join(uses)}</svg>'


def _class(marks: Sequence[str], at: int) -> str:
    return f" class={marks[at]}" if at < len(marks) and marks[at] else ""
