r"""Tenhou's tags as bytes, in both spellings.

Over TCP a tag is XML without a document, ended by a NUL byte; several may come in one piece, or
one in several.  On a WebSocket a frame is one JSON object whose key ``tag`` is the tag's name; the
server's attributes are strings there as well, a client's numbers are numbers, and a browser
client still sends ``Z``, ``PXR`` and ``BYE`` as bare XML without NUL.

    >>> write(Discarding(p=115), Spelling.XML), write(Discarding(p=115), Spelling.JSON)
    (b'<D p="115"/>\x00', b'{"tag":"D","p":115}')
    >>> TagReader(Spelling.XML, SERVER_TAGS).feed(b'<U/>\0<e126 t="1"/>\0<V')
    [DrawTag(seat=1, tile=None, t=None), DiscardTag(seat=1, tile=126, drawn=True, t=1)]
"""

import enum
import re
from collections.abc import Mapping
from functools import cache
from typing import Final, get_args, get_origin, get_type_hints

import msgspec

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.plain_text import excerpt
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.tags import (
    CLIENT_TAGS,
    RECORD_TAGS,
    SERVER_TAGS,
    Discarding,
    DiscardTag,
    DrawTag,
    Other,
    Tag,
)

__all__ = [
    "CLIENT_TAGS", "MAX_TAG_BYTES", "RECORD_TAGS", "SERVER_TAGS", "Discarding", "Spelling",
    "TagReader", "tag_name", "typed", "write",
]  # fmt: skip

MAX_TAG_BYTES: Final = 1 << 16
"""Longest tag that is accepted; the longest of 654 recorded sessions has below 1 kB."""

_END: Final = b"\0"
_TAG: Final = re.compile(r"\s*<(\w+)((?:\s+\w+\s*=\s*\"[^\"<]*\")*)\s*/>\s*")
_ATTRIBUTE: Final = re.compile(r"(\w+)\s*=\s*\"([^\"]*)\"")
_TURN: Final = re.compile(r"([T-WD-Gd-g])(\d+)|[UVW]")
_DRAWERS: Final = "TUVW"
_DISCARDERS: Final = "DEFG"
_BARE: Final = (tags.KeepAlive, tags.AskUsers, tags.ClientBye)
_CLOSED_UP: Final = frozenset({"D", "AUTH"})
_SPACED: Final = frozenset({"N", "DORA", "AGARI", "RYUUKYOKU", "FURITEN", "BYE", "CHAT"})
"""Before the end of a tag the old client had a space but in two, the server none but in these."""


class Spelling(enum.Enum):
    """How tags travel."""

    XML = "XML ended by NUL, over TCP"
    JSON = "JSON objects, on a WebSocket"


class TagReader:
    """Reads the tags of one side; ``known`` is :data:`SERVER_TAGS` or :data:`CLIENT_TAGS`.

    A ``lenient`` reader lets pass tags (as :class:`Other`) and attributes that are not known.
    """

    def __init__(
        self, spelling: Spelling, known: Mapping[str, type[Tag]], *, lenient: bool = False
    ) -> None:
        self._spelling: Final = spelling
        self._known: Final = known
        self._lenient: Final = lenient
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Tag]:
        """Return the tags that ``data`` completes: a piece of the stream, or one frame.

        Raises :class:`ProtocolError` naming tag and attribute.
        """
        if self._spelling is Spelling.JSON:
            return [self._read_frame(data)]
        searched = len(self._rest)
        self._rest += data
        tags_read: list[Tag] = []
        start = 0
        while (end := self._rest.find(_END, max(start, searched))) >= 0:
            _check_length(end - start)
            if text := bytes(self._rest[start:end]).strip():
                tags_read.append(self._read_xml(text))
            start = end + 1
        del self._rest[:start]
        _check_length(len(self._rest))
        return tags_read

    def finish(self) -> None:
        """Take note of the end of the stream; raises where a NUL is missing before it."""
        if rest := bytes(self._rest).strip():
            raise ProtocolError(_begin(rest), "cut off by the end of the stream, NUL is missing")

    def _read_frame(self, frame: bytes) -> Tag:
        _check_length(len(frame))
        text = frame.strip().removesuffix(_END)
        if text.startswith(b"<"):
            return self._read_xml(text)
        try:
            fields = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ProtocolError(
                "frame", f"neither JSON nor a tag: {error}; {_shown(text)}"
            ) from None
        except RecursionError:
            raise ProtocolError("frame", f"nested too deeply; {_shown(text)}") from None
        if not isinstance(fields, dict) or not isinstance(fields.get("tag"), str):
            raise ProtocolError("frame.tag", "missing: a frame is an object with a tag")
        return typed(fields.pop("tag"), fields, self._known, lenient=self._lenient)

    def _read_xml(self, data: bytes) -> Tag:
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise ProtocolError(_begin(data), f"not UTF-8 at byte {error.start}") from None
        if not (match := _TAG.fullmatch(text)):
            missing = _TAG.match(text)
            problem = "NUL is missing after it" if missing else 'not one tag <NAME a="..."/>'
            raise ProtocolError(_begin(data), problem)
        pairs = _ATTRIBUTE.findall(match[2])
        attributes: dict[str, object] = dict(pairs)
        if len(attributes) < len(pairs):
            raise ProtocolError(match[1], "an attribute stands twice")
        return typed(match[1], attributes, self._known, lenient=self._lenient)


def typed(
    name: str,
    attributes: Mapping[str, object],
    known: Mapping[str, type[Tag]],
    *,
    lenient: bool = False,
) -> Tag:
    """Return a tag of a name and attributes; ``known`` is the table of one side, or of records.

    Raises :class:`ProtocolError` naming tag and attribute; ``lenient`` as in :class:`TagReader`.

    >>> typed("V17", {}, RECORD_TAGS)
    DrawTag(seat=2, tile=17, t=None)
    """
    tag_type = known.get(name)
    if tag_type is None and known is not CLIENT_TAGS and (turn := _TURN.fullmatch(name)):
        return _turn(name, turn, attributes, lenient=lenient)
    if tag_type is None:
        if lenient:
            return Other(name=name)
        raise ProtocolError(name[:40], "no such tag")
    return _convert(name, tag_type, attributes, lenient=lenient)


def _turn(
    name: str, turn: re.Match[str], attributes: Mapping[str, object], *, lenient: bool
) -> Tag:
    letter = turn[1] or name
    fields: dict[str, object] = {"tile": turn[2], **attributes}
    if "seat" in attributes or "tile" in attributes or "drawn" in attributes:
        raise ProtocolError(name, "only the attribute t belongs here")
    if letter in _DRAWERS:
        fields["seat"] = _DRAWERS.index(letter)
        return _convert(name, DrawTag, fields, lenient=lenient)
    fields |= {"seat": _DISCARDERS.index(letter.upper()), "drawn": letter.islower()}
    return _convert(name, DiscardTag, fields, lenient=lenient)


def _convert(
    name: str, tag_type: type[Tag], attributes: Mapping[str, object], *, lenient: bool
) -> Tag:
    lists = _list_fields(tag_type)
    fields: dict[str, object] = {}
    for attribute, value in attributes.items():
        if isinstance(value, dict | list):
            raise ProtocolError(f"{name}.{attribute}", "expected a string or a number")
        if attribute in lists:
            fields[attribute] = str(value).split(",") if value != "" else []
        elif value is not None:
            fields[attribute] = value
    try:
        return msgspec.convert(fields, tag_type, strict=False)
    except msgspec.ValidationError as error:
        unknown = fields.keys() - _encoded_fields(tag_type)
        if lenient and unknown:
            rest = {key: value for key, value in attributes.items() if key not in unknown}
            return _convert(name, tag_type, rest, lenient=lenient)
        raise _explained(name, str(error), attributes) from None


def _check_length(length: int) -> None:
    if length > MAX_TAG_BYTES:
        raise ProtocolError("tag", f"longer than the limit of {MAX_TAG_BYTES} bytes")


def _begin(data: bytes) -> str:
    """Return how to name a damaged tag."""
    return f"tag {_shown(data)}"


def _shown(data: bytes) -> str:
    """Return the beginning of a damaged tag; of a login no more than its name, the rest is secret.

    >>> print(_shown(b'<DORA hai="3'), _shown(b'<HELO name="ID01'), _shown(b'{"tag":"AUTH","val":'))
    '<DORA hai="3' '<HELO' 'AUTH'
    """
    login = _LOGIN.search(data[:_MOST_SHOWN])
    return excerpt(login[0] if login else data, _MOST_SHOWN)


_LOGIN: Final = re.compile(rb"<?(HELO|AUTH)")
_MOST_SHOWN: Final = 40


@cache
def _list_fields(tag_type: type[Tag]) -> frozenset[str]:
    hints = get_type_hints(tag_type)
    return frozenset(
        encoded
        for name, encoded in _names(tag_type)
        if any(get_origin(part) is tuple for part in (hints[name], *get_args(hints[name])))
    )


@cache
def _encoded_fields(tag_type: type[Tag]) -> frozenset[str]:
    return frozenset(tag_type.__struct_encode_fields__)


def _names(tag_type: type[Tag]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(tag_type.__struct_fields__, tag_type.__struct_encode_fields__, strict=True))


_AT: Final = re.compile(r"^(?P<problem>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.S)
_NAMED: Final = re.compile(r"^Object (missing required|contains unknown) field `(\w+)`$")


def _explained(name: str, problem: str, attributes: Mapping[str, object]) -> ProtocolError:
    match = _AT.match(problem)
    assert match
    if named := _NAMED.match(match["problem"]):
        what = "missing" if named[1].startswith("missing") else "no such attribute"
        return ProtocolError(f"{name}.{named[2]}", what)
    attribute = re.split(r"[.\[]", match["path"] or "")[0]
    if attribute == "tile":
        return ProtocolError(name, "names a tile outside 0..135")
    expected = match["problem"].partition(", got")[0].replace("`", "").replace("array", "list")
    value = str(attributes.get(attribute))[:60]
    field = f"{name}.{attribute}" if attribute else name
    return ProtocolError(field, f"{expected[:1].lower()}{expected[1:]}, got {value!r}")


# --- writing -----------------------------------------------------------------------------------

_NAME_BY_TYPE: Final = {
    kind: name for named in (SERVER_TAGS, RECORD_TAGS, CLIENT_TAGS) for name, kind in named.items()
}
_CLIENT_TYPES: Final = frozenset(CLIENT_TAGS.values())


def tag_name(tag: Tag) -> str:
    """Return the tag's name on the wire, of a draw or discard with its tile."""
    if isinstance(tag, DrawTag):
        return _DRAWERS[tag.seat] + ("" if tag.tile is None else str(tag.tile))
    if isinstance(tag, DiscardTag):
        letter = _DISCARDERS[tag.seat]
        return f"{letter.lower() if tag.drawn else letter}{tag.tile}"
    if isinstance(tag, Other):
        return tag.name
    return _NAME_BY_TYPE[type(tag)]


def write(tag: Tag, spelling: Spelling) -> bytes:
    """Return the tag as it travels: with its NUL over TCP, as a frame on a WebSocket."""
    name = tag_name(tag)
    fields = _attributes(tag)
    is_clients = type(tag) in _CLIENT_TYPES
    if spelling is Spelling.JSON and not isinstance(tag, _BARE):
        values = {
            attribute: value if is_clients and isinstance(value, int) else _text(value)
            for attribute, value in fields.items()
        }
        return msgspec.json.encode({"tag": name, **values})
    has_space = name not in _CLOSED_UP if is_clients else name in _SPACED
    written = "".join(f' {attribute}="{_text(value)}"' for attribute, value in fields.items())
    xml = f"<{name}{written}{' ' if has_space else ''}/>".encode()
    return xml + _END if spelling is Spelling.XML else xml


def _attributes(tag: Tag) -> dict[str, object]:
    if isinstance(tag, DrawTag | DiscardTag):
        return {} if tag.t is None else {"t": tag.t}
    if isinstance(tag, Other):
        return {}
    fields = ((encoded, getattr(tag, name)) for name, encoded in _names(type(tag)))
    return {encoded: value for encoded, value in fields if value is not None}


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    text = str(value)
    if any(letter in text for letter in '"<>\0'):
        raise ValueError(f"{text[:40]!r} cannot stand in an attribute")
    return text
