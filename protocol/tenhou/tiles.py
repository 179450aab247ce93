"""Tenhou's tile ids 0..135 and the mjai tiles that they are.

``id // 4`` is the kind (0..33, see :mod:`protocol.tiles`), ``id % 4`` the copy.  In games with
red fives 16, 52 and 88 are the red ones; without them they are plain fives.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from protocol.tiles import TILE_BY_NAME, TILE_NAMES, tile_kind

N_IDS: Final = 136
RED_IDS: Final = (16, 52, 88)
PLAIN_TILES: Final = tuple(TILE_NAMES[tile_id // 4] for tile_id in range(N_IDS))
"""Id -> mjai tile in games without red fives."""
RED_TILES: Final = tuple(
    f"{name}r" if tile_id in RED_IDS else name for tile_id, name in enumerate(PLAIN_TILES)
)
"""Id -> mjai tile in games with one red five per suit."""


def _copies(tiles: Sequence[str]) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple(tile_id for tile_id, tile in enumerate(tiles) if tile == name)
        for name in dict.fromkeys(tiles)
    }


PLAIN_COPIES: Final = _copies(PLAIN_TILES)
"""Mjai tile -> its ids, ascending, in games without red fives."""
RED_COPIES: Final = _copies(RED_TILES)
"""Mjai tile -> its ids, ascending, with red fives: ``5m`` has three, ``5mr`` one."""


def in_id_order(tiles: Iterable[str]) -> tuple[str, ...]:
    """Return known mjai tiles as ids order them: a red five is the first of its kind.

    >>> in_id_order(["E", "5m", "1m", "5mr"])
    ('1m', '5mr', '5m', 'E')
    """
    return tuple(sorted(tiles, key=_place))


def _place(name: str) -> tuple[int, int]:
    tile = TILE_BY_NAME[name]
    return tile_kind(tile), -tile
