"""The tags of a Tenhou mjlog document, checked attribute by attribute; its tile ids and call codes.

A tile id is 0..135: ``id // 4`` is the kind, ``id % 4`` the copy; the red fives are 16, 52 and
88.  A call is a 16-bit code whose layout is Tenhou's (bits are tested in the order used here).
Tenhou's wire has the same ids and codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn
from xml.parsers import expat

from mjbot.records.game import ForeignRecordError, RecordError
from protocol.messages import MOST_POINTS
from protocol.tiles import FIVE_KINDS, TILE_NAMES

LARGEST_NUMBER: Final = MOST_POINTS // 100
"""Of any attribute: points are told in hundreds, and all else is far smaller."""


@dataclass(frozen=True, slots=True)
class Tag:
    """One XML element: its name, its attributes, and its number in the document (from 1)."""

    name: str
    attributes: Mapping[str, str]
    number: int

    def __getitem__(self, attribute: str) -> str:
        try:
            return self.attributes[attribute]
        except KeyError:
            raise ValueError(f"<{self.name}> lacks the attribute {attribute}") from None

    def integer(self, attribute: str) -> int:
        """Return a whole number; raise ``ValueError`` naming the attribute."""
        return self.integers(attribute, 1)[0]

    def seat(self, attribute: str) -> int:
        """Return a seat 0..3; raise ``ValueError`` naming the attribute."""
        seat = self.integer(attribute)
        if not 0 <= seat <= 3:
            raise ValueError(f"<{self.name}> {attribute}={seat}: seats are 0..3")
        return seat

    def integers(self, attribute: str, count: int | None = None) -> list[int]:
        """Return a comma-separated list, of ``count`` numbers if that is given."""
        text = self[attribute]
        try:
            numbers = [int(part) for part in text.split(",")] if text else []
        except ValueError:
            self._refuse(attribute, "is no list of whole numbers")
        if count is not None and len(numbers) != count:
            self._refuse(attribute, f"has {len(numbers)} numbers where {count} belong")
        if any(abs(number) > LARGEST_NUMBER for number in numbers):
            self._refuse(attribute, f"has a number beyond {LARGEST_NUMBER}")
        return numbers

    def tiles(self, attribute: str, count: int | None = None) -> list[int]:
        """Return a list of tile ids 0..135."""
        tiles = self.integers(attribute, count)
        if tiles and not (min(tiles) >= 0 and max(tiles) < 136):
            self._refuse(attribute, "names a tile outside 0..135")
        return tiles

    def _refuse(self, attribute: str, problem: str) -> NoReturn:
        shown = self.attributes[attribute][:80]
        raise ValueError(f'<{self.name}> {attribute}="{shown}" {problem}') from None


def scan_tags(document: bytes, name: str) -> list[Tag]:
    """Return the elements inside ``<mjloggm>`` in order.

    Raises :class:`RecordError` with ``name`` if the document is damaged,
    :class:`ForeignRecordError` if it is not an mjlog.
    """
    tags: list[Tag] = []
    parser = expat.ParserCreate()

    def element(tag: str, attributes: dict[str, str]) -> None:
        tags.append(Tag(tag, attributes, len(tags)))

    def doctype(*_: object) -> NoReturn:
        # Entities could make a small file expand without bound; an mjlog has none.
        raise RecordError(name, "", "a document type declaration has no place in an mjlog")

    parser.StartElementHandler = element
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(document, True)
    except expat.ExpatError as error:
        raise RecordError(name, f"tag {len(tags)}", f"damaged XML ({error})") from None
    if tags[0].name != "mjloggm":
        raise ForeignRecordError(name, f"begins with <{tags[0].name}>, not with <mjloggm>")
    return tags[1:]


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
