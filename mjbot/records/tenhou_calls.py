"""Tenhou's tile ids and the 16-bit code of a call, shared by its wire and its records.

A tile id is 0..135: ``id // 4`` is the kind, ``id % 4`` the copy; the red fives are 16, 52
and 88.  The layout of a call code is Tenhou's (bits are tested in the order used here).
"""

from dataclasses import dataclass
from typing import Final, Literal

from protocol.tiles import FIVE_KINDS, TILE_NAMES

N_IDS: Final = 136
RED_IDS: Final = (16, 52, 88)
PLAIN_TILES: Final = tuple(TILE_NAMES[tile_id // 4] for tile_id in range(N_IDS))
"""Id -> wire tile in games without red fives."""
RED_TILES: Final = tuple(
    f"{name}r" if tile_id in RED_IDS else name for tile_id, name in enumerate(PLAIN_TILES)
)
"""Id -> wire tile in games with one red five per suit."""

assert all(red // 4 in FIVE_KINDS for red in RED_IDS)

CallKind = Literal["chi", "pon", "daiminkan", "kakan", "ankan"]


@dataclass(frozen=True, slots=True)
class Call:
    """A decoded call.  All tiles are ids.

    ``source`` counts seats to the right of the caller (0 = the caller).  ``tile`` is the
    claimed tile, of a kakan the added one, of an ankan its first copy.  ``own`` are the tiles
    from the caller's hand; of a kakan the three of the pon, of an ankan all four.
    """

    kind: CallKind
    source: int
    tile: int
    own: tuple[int, ...]


def decode_call(code: int) -> Call:
    """Decode a call of a four-player game.

    Raises ``ValueError`` for a north call and for codes that no call has.

    >>> decode_call(20839)
    Call(kind='chi', source=3, tile=34, own=(24, 31))
    >>> decode_call(33024).own
    (128, 129, 130, 131)
    """
    if not 0 <= code < 1 << 16:
        raise ValueError(f"call code {code} is not a 16-bit number")
    if code & 0x04:
        return _chi(code)
    if code & 0x18:
        return _pon_or_kakan(code)
    if code & 0x20:
        raise ValueError(f"call code {code} is a north call of a three-player game")
    return _kan(code)


def _chi(code: int) -> Call:
    run, place = divmod(code >> 10, 3)
    if run > 20 or code & 3 != 3:
        raise ValueError(f"call code {code} is no chi: run {run}, from seat +{code & 3}")
    lowest = run // 7 * 9 + run % 7
    copies = (code >> 3 & 3, code >> 5 & 3, code >> 7 & 3)
    tiles = [(lowest + step) * 4 + copy for step, copy in enumerate(copies)]
    called = tiles.pop(place)
    return Call("chi", 3, called, tuple(tiles))


def _pon_or_kakan(code: int) -> Call:
    kind, place = divmod(code >> 9, 3)
    source = code & 3
    if kind > 33 or source == 0:
        raise ValueError(f"call code {code} is no pon: kind {kind}, from seat +{source}")
    fourth = kind * 4 + (code >> 5 & 3)
    pon = [tile for tile in range(kind * 4, kind * 4 + 4) if tile != fourth]
    if code & 0x10 and not code & 0x08:
        return Call("kakan", 0, fourth, tuple(pon))
    called = pon.pop(place)
    return Call("pon", source, called, tuple(pon))


def _kan(code: int) -> Call:
    tile, source = code >> 8, code & 3
    if tile >= N_IDS:
        raise ValueError(f"call code {code} names tile {tile}, ids end at {N_IDS - 1}")
    quad = tuple(range(tile // 4 * 4, tile // 4 * 4 + 4))
    if source == 0:
        return Call("ankan", 0, quad[0], quad)
    return Call("daiminkan", source, tile, tuple(copy for copy in quad if copy != tile))
