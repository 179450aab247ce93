"""Tenhou's tile ids 0..135 and the mjai tiles that they are.

``id // 4`` is the kind (0..33, see :mod:`mjbot.protocol.tiles`), ``id % 4`` the copy.  In games
with red fives 16, 52 and 88 are the red ones; without them they are plain fives.
"""

from collections.abc import Sequence
from typing import Final

from mjbot.protocol.tiles import TILE_NAMES

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
