"""Tenhou's call codes ``m``: 16 bits for the seat called from, the kind of call, the tiles.

Bits 0 and 1 always count the seats from the caller to the seat called from: 1 right, 2 across,
3 left, 0 itself.  The other bits are read in this order:

===================  ==========================================================================
bit 2: chi           3-4, 5-6, 7-8: copies of the low, middle and high tile; 10-15: 3 x run
                     (7 x suit + lowest rank) + which of the three was called
bit 3: pon           5-6: the copy that is not in it; 9-15: 3 x kind + which of the three,
                     ascending, was called
bit 4: kakan         as pon: 5-6 is the copy that is added, the rest is the pon
bit 5: kita          of three players: 8-15 is the north that is set aside
none: kan            8-15: the called tile of a daiminkan, any tile of an ankan (source 0)
===================  ==========================================================================
"""

from dataclasses import dataclass
from typing import Final, Literal

from mjbot.protocol.tenhou.tiles import N_IDS
from mjbot.protocol.tiles import NORTH

CallKind = Literal["chi", "pon", "daiminkan", "kakan", "ankan", "kita"]
_CHI: Final = 0x04
_PON: Final = 0x08
_KAKAN: Final = 0x10
_NORTH: Final = 0x20
_LEFT: Final = 3


@dataclass(frozen=True, slots=True)
class Call:
    """A call.  All tiles are ids; a kita has one, as ``tile`` and in ``own``.

    ``source`` counts seats to the right of the caller (0 = the caller), of a kakan to where the
    pon came from.  ``tile`` is the claimed tile, of a kakan the added one, of an ankan the one
    of its four that the code names.  ``own`` are the tiles from the caller's hand, ascending; of
    a kakan the three of the pon, of an ankan all four.  ``claimed`` is the tile that a kakan's
    pon claimed, of other calls ``None``.
    """

    kind: CallKind
    source: int
    tile: int
    own: tuple[int, ...]
    claimed: int | None = None


def decode_call(code: int, players: int = 4) -> Call:
    """Decode a call of a game of so many players.

    Raises ``ValueError`` for codes that no call has, which kita is with four players.

    >>> decode_call(20839)
    Call(kind='chi', source=3, tile=34, own=(24, 31), claimed=None)
    >>> decode_call(33024).own
    (128, 129, 130, 131)
    >>> decode_call(30752, players=3)
    Call(kind='kita', source=0, tile=120, own=(120,), claimed=None)
    """
    if not 0 <= code < 1 << 16:
        raise ValueError(f"call code {code} is not a 16-bit number")
    if code & _CHI:
        return _chi(code)
    if code & (_PON | _KAKAN):
        return _pon_or_kakan(code)
    if code & _NORTH:
        return _kita(code, players)
    return _kan(code)


def encode_call(call: Call) -> int:
    """Return the code of a call; raise ``ValueError`` where its tiles or source make none.

    The order of ``own`` does not matter.

    >>> encode_call(decode_call(20839))
    20839
    """
    match call.kind:
        case "chi":
            code = _chi_code(call)
        case "pon":
            code = _PON | _trio_code(call.tile, (call.tile, *call.own))
        case "kakan":
            claimed = -1 if call.claimed is None else call.claimed
            code = _KAKAN | _trio_code(claimed, call.own)
        case "kita":
            code = _NORTH | call.tile << 8
        case _:
            code = call.tile << 8
    code |= call.source
    try:
        same = _alike(decode_call(code, 3 if call.kind == "kita" else 4), call)
    except ValueError:
        same = False
    if not same:
        raise ValueError(f"{call} is no call")
    return code


def _alike(one: Call, other: Call) -> bool:
    return sorted(one.own) == sorted(other.own) and (
        (one.kind, one.source, one.tile, one.claimed)
        == (other.kind, other.source, other.tile, other.claimed)
    )


def _chi(code: int) -> Call:
    run, index = divmod(code >> 10, 3)
    if run > 20 or code & 3 != _LEFT:
        raise ValueError(f"call code {code} is no chi: run {run}, from seat +{code & 3}")
    lowest = run // 7 * 9 + run % 7
    copies = (code >> 3 & 3, code >> 5 & 3, code >> 7 & 3)
    tiles = [(lowest + step) * 4 + copy for step, copy in enumerate(copies)]
    called = tiles.pop(index)
    return Call("chi", _LEFT, called, tuple(tiles))


def _chi_code(call: Call) -> int:
    tiles = sorted((call.tile, *call.own))
    suit, rank = divmod(tiles[0] // 4, 9)
    code = _CHI | (3 * (7 * suit + rank) + tiles.index(call.tile)) << 10
    for shift, tile in zip((3, 5, 7), tiles, strict=False):
        code |= tile % 4 << shift
    return code


def _pon_or_kakan(code: int) -> Call:
    kind, index = divmod(code >> 9, 3)
    source = code & 3
    if kind > 33 or source == 0:
        raise ValueError(f"call code {code} is no pon: kind {kind}, from seat +{source}")
    fourth = kind * 4 + (code >> 5 & 3)
    pon = [tile for tile in range(kind * 4, kind * 4 + 4) if tile != fourth]
    if code & _KAKAN and not code & _PON:
        return Call("kakan", source, fourth, tuple(pon), pon[index])
    called = pon.pop(index)
    return Call("pon", source, called, tuple(pon))


def _trio_code(called: int, trio: tuple[int, ...]) -> int:
    first = min(trio) // 4 * 4
    fourth = {first, first + 1, first + 2, first + 3} - {*trio}
    index = sorted(trio).index(called) if called in trio else 0
    return (min(fourth, default=first) - first) << 5 | (3 * (first // 4) + index) << 9


def _kita(code: int, players: int) -> Call:
    if players != 3:
        raise ValueError(f"call code {code} is a north call of a three-player game")
    tile = code >> 8
    if tile // 4 != NORTH or code & 0xFF != _NORTH:
        raise ValueError(f"call code {code} is no kita: tile {tile}")
    return Call("kita", 0, tile, (tile,))


def _kan(code: int) -> Call:
    tile, source = code >> 8, code & 3
    if tile >= N_IDS:
        raise ValueError(f"call code {code} names tile {tile}, ids end at {N_IDS - 1}")
    quad = tuple(range(tile // 4 * 4, tile // 4 * 4 + 4))
    if source == 0:
        return Call("ankan", 0, tile, quad)
    return Call("daiminkan", source, tile, tuple(copy for copy in quad if copy != tile))
