"""The functions on tiles and hands as Python calls them: their arguments are checked.

Compiled code that calls one of those on hands is given the unchecked function in its place.  The
check costs about half a microsecond a call; loops over many hands belong into compiled code.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from mjbot.game.rules import acceptance as unchecked
from mjbot.game.rules import kinds
from mjbot.game.rules.kinds import N_COPIES, Counts
from mjbot.game.rules.shanten import shanten as unchecked_shanten
from mjbot.game.rules.wall_plan import HAND_TILES
from mjbot.protocol import tiles
from mjbot.protocol.tiles import N_KINDS, N_TILES, TILE_NAMES
from mjbot.runtime.checked_arguments import text as text_of
from mjbot.runtime.checked_arguments import tile_counts, whole_number
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.errors import ArgumentError

Function = TypeVar("Function", bound=Callable[..., Any])

_INT8: Final = np.dtype(np.int8)
_SHAPE: Final = (N_KINDS,)
_STRIDES: Final = (1,)
_MELDS: Final = range(5)
_WAITING: Final = (HAND_TILES,)
_WITH_DRAWN: Final = (HAND_TILES, HAND_TILES + 1)


def _compiled_as(bare: Any) -> Callable[[Function], Function]:
    """Let compiled callers of the decorated function call ``bare``."""

    def decorate(function: Function) -> Function:
        typed = getattr(bare, "_numba_type_", None)  # none where nothing is compiled
        if typed is not None:
            vars(function)["_numba_type_"] = typed  # as numba's own functions have it
        return function

    return decorate


@_compiled_as(unchecked_shanten)
def shanten(hand: Counts, n_melds: int) -> int:
    """Return the shanten of a hand: 0 tenpai, -1 complete; with a drawn tile of its best discard.

    ``hand`` int8[34] are the concealed tiles, red fives counted as fives; ``n_melds`` counts the
    declared melds, closed kans included.  With three tiles a meld they are 13 or 14.

    >>> shanten(hand_counts("123m456p789s1122z"), 0)
    0
    """
    return int(unchecked_shanten(*_hand(hand, n_melds, _WITH_DRAWN)))


@_compiled_as(unchecked.acceptance)
def acceptance(hand: Counts, n_melds: int) -> int:
    """Return the mask of kinds that lower the shanten of a hand without a drawn tile.

    >>> [tile_name(kind) for kind in kinds_of(acceptance(hand_counts("123m67p11234s555z"), 0))]
    ['5p', '8p']
    """
    return int(unchecked.acceptance(*_hand(hand, n_melds, _WAITING)))


@_compiled_as(unchecked.shanten_and_acceptance)
def shanten_and_acceptance(hand: Counts, n_melds: int) -> tuple[int, int]:
    """Return the shanten of a hand without a drawn tile and the mask of kinds that lower it."""
    return unchecked.shanten_and_acceptance(*_hand(hand, n_melds, _WAITING))


@_compiled_as(unchecked.waits)
def waits(hand: Counts, n_melds: int) -> int:
    """Return the mask of kinds that complete a hand without a drawn tile; 0 before tenpai.

    Only the shape counts, not whether it would have a yaku.  A kind of which the concealed part
    holds all four copies does not count.

    >>> kinds_of(waits(hand_counts("2345m"), 3))
    [1, 4]
    """
    return int(unchecked.waits(*_hand(hand, n_melds, _WAITING)))


@_compiled_as(unchecked.count_tiles)
def count_tiles(mask: int, counts: Counts) -> int:
    """Return how many tiles of the kinds in ``mask`` are in counts such as ``view.unseen``."""
    if type(mask) is not int or not 0 <= mask >> N_KINDS < 1:
        mask = _mask(mask)
    if not _is_plain(counts) or _n_tiles(counts) < 0:
        counts = tile_counts("counts", counts, N_COPIES)
    return int(unchecked.count_tiles(mask, counts))


def kinds_of(mask: int) -> list[int]:
    """Return the kinds (0..33) in a bit mask of kinds, as waits and acceptance give it.

    >>> kinds_of(0b101)
    [0, 2]
    """
    return kinds.kinds_of(_mask(mask))


def hand_counts(text: str) -> Counts:
    """Return the tiles in shorthand (:func:`parse_tiles`) as counts by kind.

    >>> hand_counts("1105m")[:5].tolist()
    [2, 0, 0, 0, 2]
    """
    return kinds.hand_counts(text_of("text", text))


def parse_tiles(text: str) -> list[int]:
    """Return the tiles in shorthand such as ``123m406p11z``: 0 is a red five, 1z to 7z ESWNPFC.

    >>> [tile_name(tile) for tile in parse_tiles("19m05p7z")]
    ['1m', '9m', '5pr', '5p', 'C']
    """
    return tiles.parse_tiles(text_of("text", text))


def tile_kind(tile: int) -> int:
    """Return the kind (0..33) of a tile (0..36).

    >>> TILE_NAMES[tile_kind(tiles.TILE_BY_NAME["5pr"])]
    '5p'
    """
    if type(tile) is not int or not 0 <= tile < N_TILES:
        tile = whole_number("tile", tile, range(N_TILES))
    return tiles.tile_kind(tile)


def tile_name(tile: int) -> str:
    """Return the protocol's name of a tile (0..36), ``?`` of the unknown one (37)."""
    return TILE_NAMES[whole_number("tile", tile, range(N_TILES + 1))]


def _mask(mask: object) -> int:
    return whole_number("mask", mask, range(1 << N_KINDS))


def _hand(hand: Counts, n_melds: int, sizes: tuple[int, ...]) -> tuple[Counts, int]:
    """Return a hand and its melds as they are; raises for what is none."""
    if type(n_melds) is not int or not 0 <= n_melds < len(_MELDS):
        n_melds = whole_number("n_melds", n_melds, _MELDS)
    n_tiles = _n_tiles(hand) if _is_plain(hand) else -1
    if n_tiles < 0:
        hand = tile_counts("hand", hand, N_COPIES)
        n_tiles = _n_tiles(hand)
    if n_tiles + 3 * n_melds not in sizes:
        due = " or ".join([str(size - 3 * n_melds) for size in sizes])
        raise ArgumentError(f"hand: {n_tiles} tiles; with n_melds={n_melds} it has {due}")
    return hand, n_melds


def _is_plain(counts: Any) -> bool:
    """Return whether compiled code can read counts as they are."""
    return (
        type(counts) is np.ndarray
        and counts.dtype is _INT8
        and counts.shape == _SHAPE
        and counts.strides == _STRIDES
    )


@compiled
def _n_tiles(counts: Counts) -> int:
    """Return the number of tiles, -1 where a count is not 0 to 4."""
    total = 0
    for kind in range(N_KINDS):
        if not 0 <= counts[kind] <= N_COPIES:
            return -1
        total += counts[kind]
    return total
