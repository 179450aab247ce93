"""The messages of a decoded record of Mahjong Soul: what is read of them, checked.

The names are those of the site's message definitions.  A field that is missing has its default, as
in all messages of protobuf; some writers leave defaults out, others write them all, so ``null``,
an empty text and an empty list are missing, too.  Fields that do not matter are not named here.
Tiles are ``1m``, ``0p`` (a red five) and ``5z`` (the white dragon), seats 0 to 3.
"""

import re
from typing import Annotated, Any, Final

import msgspec

from mjbot.protocol.messages import MOST_POINTS, MOST_STICKS

Text = Annotated[str, msgspec.Meta(pattern=r"^([0-9][mps]|[1-7]z)\Z")]
Seat = Annotated[int, msgspec.Meta(ge=0, le=3)]
Points = Annotated[int, msgspec.Meta(ge=-MOST_POINTS, le=MOST_POINTS)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_STICKS)]
Texts = tuple[Text, ...]
BySeat = Annotated[tuple[Points, ...], msgspec.Meta(min_length=3, max_length=4)]
"""Points of three or four seats."""


class NewRound(msgspec.Struct, frozen=True):
    """A deal: wind ``chang``, dealer ``ju``, honba ``ben``, sticks ``liqibang``.

    The dealer has 14 tiles, of which the last counts as its first draw.  As many ``scores`` as
    seats play.
    """

    scores: BySeat
    tiles0: Texts
    tiles1: Texts
    tiles2: Texts
    tiles3: Texts = ()
    chang: Seat = 0
    ju: Seat = 0
    ben: Count = 0
    liqibang: Count = 0
    doras: Texts = ()
    dora: Text | None = None


class DealTile(msgspec.Struct, frozen=True):
    """A draw; ``doras`` are all indicators, where one was turned."""

    tile: Text
    seat: Seat = 0
    doras: Texts = ()


class DiscardTile(msgspec.Struct, frozen=True):
    """A discard: ``moqie`` of the tile just drawn, ``is_liqi`` or ``is_wliqi`` with riichi."""

    tile: Text
    seat: Seat = 0
    moqie: bool = False
    is_liqi: bool = False
    is_wliqi: bool = False
    doras: Texts = ()


class ChiPengGang(msgspec.Struct, frozen=True):
    """A call: ``type`` 0 chi, 1 pon, 2 kan; ``froms`` are the seats where its ``tiles`` were."""

    tiles: Texts
    froms: tuple[Seat, ...]
    seat: Seat = 0
    type: Annotated[int, msgspec.Meta(ge=0, le=2)] = 0


class AnGangAddGang(msgspec.Struct, frozen=True):
    """An own kan: ``type`` 2 adds ``tiles`` (one tile) to a pon, 3 is a concealed kan of it."""

    tiles: Text
    seat: Seat = 0
    type: Annotated[int, msgspec.Meta(ge=2, le=3)] = 2
    doras: Texts = ()


class BaBei(msgspec.Struct, frozen=True):
    """A north that is set aside, in games of three players."""

    seat: Seat = 0
    doras: Texts = ()


class Fan(msgspec.Struct, frozen=True):
    """A yaku; ``val`` are its han, or how many yakuman it counts as."""

    val: Count = 0


class Hule(msgspec.Struct, frozen=True):
    """A win.  ``count`` are han, ``point_rong`` what a discarder gives without honba and sticks."""

    hu_tile: Text
    seat: Seat = 0
    zimo: bool = False
    yiman: bool = False
    count: Count = 0
    fu: Count = 0
    fans: tuple[Fan, ...] = ()
    li_doras: Texts = ()
    point_rong: Points = 0


class HuleRecord(msgspec.Struct, frozen=True):
    """The wins that end a hand, and what they move together."""

    hules: Annotated[tuple[Hule, ...], msgspec.Meta(min_length=1, max_length=3)]
    delta_scores: BySeat


class Payment(msgspec.Struct, frozen=True):
    """What an exhaustive draw, or one nagashi mangan, moves."""

    delta_scores: BySeat = (0, 0, 0, 0)


class NoTile(msgspec.Struct, frozen=True):
    """An exhaustive draw."""

    liujumanguan: bool = False
    scores: tuple[Payment, ...] = ()


class LiuJu(msgspec.Struct, frozen=True):
    """An abortive draw; of what it is called by its ``type`` writers have different opinions."""

    type: Count = 0


Message = (
    NewRound
    | DealTile
    | DiscardTile
    | ChiPengGang
    | AnGangAddGang
    | BaBei
    | HuleRecord
    | NoTile
    | LiuJu
)
NEW_ROUND: Final = "RecordNewRound"
_KINDS: Final[dict[str, type[Message]]] = {
    NEW_ROUND: NewRound,
    "RecordDealTile": DealTile,
    "RecordDiscardTile": DiscardTile,
    "RecordChiPengGang": ChiPengGang,
    "RecordAnGangAddGang": AnGangAddGang,
    "RecordBaBei": BaBei,
    "RecordHule": HuleRecord,
    "RecordNoTile": NoTile,
    "RecordLiuJu": LiuJu,
}
KNOWN: Final = frozenset(_KINDS)


_NAME: Final = re.compile(r"\.?(?:lq\.)?((?:Record|Action|GameDetail)[A-Z]\w*)")
_NAME_KEYS: Final = ("name", "__type", "type", "$type")
"""Where writers put the name of a message."""


def bare_name(record: Any) -> str:
    """Return ``RecordNewRound`` for a message of that name, empty for what is none.

    >>> bare_name({"name": ".lq.RecordNewRound", "data": {}}), bare_name({"type": "dahai"})
    ('RecordNewRound', '')
    >>> bare_name({"__type": "RecordNoTile"}), bare_name([".lq.RecordHule", {}])
    ('RecordNoTile', 'RecordHule')
    """
    names = [record.get(key) for key in _NAME_KEYS] if isinstance(record, dict) else []
    if isinstance(record, list) and len(record) == 2:
        names = record[:1]
    matches = [_NAME.fullmatch(name) for name in names if isinstance(name, str)]
    return next((match[1] for match in matches if match), "")


def named(record: Any) -> dict[str, Any] | None:
    """Return a message in the site's form, ``{"name": ..., "data": ...}``; ``None`` for no message.

    Others are a pair of name and fields, or have the fields next to the name.
    """
    name = bare_name(record)
    if not name:
        return None
    if isinstance(record, list):
        data = record[1]
    elif "data" in record:
        data = record["data"]
    else:
        data = {key: value for key, value in record.items() if key not in _NAME_KEYS[:2]}
        if bare_name({"name": record.get("type")}):
            data.pop("type")
    return {"name": name, "data": data}


def read_message(record: dict[str, Any]) -> Message:
    """Return the message of a record.  Raises ``ValueError`` that names message and field."""
    name = bare_name(record)
    fields = record.get("data")
    if name not in _KINDS or not isinstance(fields, dict):
        raise ValueError(f"{name or 'it'}: is no message with data")
    try:
        return msgspec.convert(_present(fields), _KINDS[name])
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$.")
        place = f"{name}.{path.rstrip('`')}" if path else name
        raise ValueError(f"{place}: {problem}") from None
    except RecursionError:
        raise ValueError(f"{name}: nested too deep") from None


def _present(value: Any) -> Any:
    """Return a JSON value without the fields that are missing."""
    if isinstance(value, list):
        if any(isinstance(item, int) for item in value):  # points by seat
            return [0 if item is None else item for item in value]
        return [_present(item) for item in value if item is not None]
    if not isinstance(value, dict):
        return value
    known = ((key, part) for key, part in value.items() if part not in (None, "", []))
    return {_FORMER.get(key, key): _present(part) for key, part in known}


_FORMER: Final = {f"begin_tiles[{seat}]": f"tiles{seat}" for seat in range(4)}
"""Fields that were called otherwise in 2020."""
