"""Tiles as the mjai protocol spells them, and their small integer codes.

A *kind* is 0..33: ``1m..9m 1p..9p 1s..9s E S W N P F C``.  A *tile* is 0..36: the 34 kinds in
that order, then the red fives ``5mr 5pr 5sr``.  :data:`UNKNOWN` (37, ``?``) stands for a tile
that the reader may not see.
"""

from collections.abc import Iterable
from typing import Final

N_KINDS: Final = 34
FIRST_HONOUR: Final = 27
"""East; the three other winds follow, then the dragons."""
NORTH: Final = 30
FIRST_DRAGON: Final = 31
N_TILES: Final = 37
UNKNOWN: Final = 37

TILE_NAMES: Final[tuple[str, ...]] = (
    *(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)),
    *"ESWNPFC",
    *("5mr", "5pr", "5sr"),
    "?",
)
TILE_BY_NAME: Final[dict[str, int]] = {name: tile for tile, name in enumerate(TILE_NAMES)}
WIND_NAMES: Final = "ESWN"

RED_FIVES: Final = (34, 35, 36)
FIVE_KINDS: Final = (4, 13, 22)


def tile_kind(tile: int) -> int:
    """Return the kind (0..33) of a known tile (0..36).

    >>> TILE_NAMES[tile_kind(TILE_BY_NAME["5pr"])]
    '5p'
    """
    return tile if tile < N_KINDS else 4 + 9 * (tile - N_KINDS)


def tile_name(tile: int) -> str:
    """Return the wire spelling of a tile code (0..37)."""
    return TILE_NAMES[tile]


def tile_names(tiles: Iterable[int]) -> tuple[str, ...]:
    """Return the wire spellings of tile codes (0..37)."""
    return tuple([TILE_NAMES[tile] for tile in tiles])


def parse_tiles(text: str) -> list[int]:
    """Read the shorthand ``123m406p11z`` (0 is a red five, z is E S W N P F C) into tile codes.

    Raises ``ValueError`` for anything else, full-width digits among it.

    >>> [tile_name(tile) for tile in parse_tiles("19m05p7z")]
    ['1m', '9m', '5pr', '5p', 'C']
    """
    tiles: list[int] = []
    ranks = ""
    for letter in text:
        if letter in "0123456789":  # isdigit would take those of other scripts, too
            ranks += letter
        elif letter in "mpsz" and ranks:
            tiles += [_suited_tile(rank, letter) for rank in ranks]
            ranks = ""
        else:
            raise ValueError(f"tiles {text!r}: expected digits followed by m, p, s or z")
    if ranks:
        raise ValueError(f"tiles {text!r}: {ranks!r} lacks its suit letter")
    return tiles


def _suited_tile(rank: str, suit: str) -> int:
    if suit == "z":
        if rank not in "1234567":
            raise ValueError(f"tile {rank}z does not exist: honours are 1z..7z")
        return 26 + int(rank)
    return TILE_BY_NAME[f"5{suit}r" if rank == "0" else f"{rank}{suit}"]
