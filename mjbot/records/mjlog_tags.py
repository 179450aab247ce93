"""The tags of a Tenhou mjlog document, checked attribute by attribute."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn
from xml.parsers import expat

from mjbot.records.game import ForeignRecordError, RecordError
from protocol.messages import MOST_POINTS
from protocol.tenhou.tiles import N_IDS

AGAINST_PEOPLE: Final = 0x01
NO_REDS: Final = 0x02
HANCHAN: Final = 0x08
"""Bits of the attribute ``type`` of GO."""

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
        if tiles and not (min(tiles) >= 0 and max(tiles) < N_IDS):
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
