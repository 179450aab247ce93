"""Tiles and seats as players name them in text."""

from typing import Final

from mjbot.table.view import View
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
