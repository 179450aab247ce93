"""Lines into messages and back, whatever the dialect.

What all dialects spell alike (nearly every line of a game) is decoded straight into its type;
the rest, and whatever fails there, goes through :mod:`mjbot.protocol.reading`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from mjbot.protocol import messages as m
from mjbot.protocol.dialects import DEMANDED, RIICHILAB_REASONS, UNSAID, Dialect
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.framing import MAX_LINE_BYTES, without_mark
from mjbot.protocol.plain_text import excerpt
from mjbot.protocol.reading import read_object

__all__ = ["MAX_LINE_BYTES", "ProtocolError", "decode_all", "decode_line", "encode"]

_Alike = (
    m.Skip | m.Tsumo | m.Dahai | m.Chi | m.Pon | m.Daiminkan | m.Kakan | m.Ankan | m.Reach
    | m.ReachAccepted | m.Dora | m.EndKyoku
)  # fmt: skip
_one_alike: Final = msgspec.json.Decoder(_Alike)
_many_alike: Final = msgspec.json.Decoder(tuple[_Alike, ...])
_encoder: Final = msgspec.json.Encoder()


def decode_line(line: bytes | str, players: int = 4) -> tuple[m.Message, ...]:
    """Return the messages of one line: an object, or an array of objects.

    Types that are not known are left out, a blank line holds none.  Raises
    :class:`ProtocolError` naming the field for everything else that is not mjai.  Of three
    ``players`` values by seat get a fourth place.

    >>> decode_line('{"type":"dahai","actor":1,"pai":"5sr","tsumogiri":true}')[0].pai
    '5sr'
    >>> decode_line('{"type":"tsumo","actor":4,"pai":"E"}')
    Traceback (most recent call last):
    mjbot.protocol.errors.ProtocolError: tsumo.actor: expected int <= 3, got 4
    """
    return tuple(
        [fields for fields in decode_all(line, players) if not isinstance(fields, m.Unknown)]
    )


def decode_all(line: bytes | str, players: int = 4) -> tuple[m.Message, ...]:
    """Do as :func:`decode_line`, but keep unknown types as :class:`Unknown`."""
    data = _checked_bytes(line)
    if not data:
        return ()
    if players == 3:
        return _read_tolerantly(data, players)
    try:
        return _many_alike.decode(data) if data[0] == 0x5B else (_one_alike.decode(data),)
    except msgspec.ValidationError:
        return _read_tolerantly(data, players)
    except msgspec.DecodeError as error:
        raise ProtocolError("line", f"not JSON: {error}; {excerpt(data)}") from None
    except RecursionError:
        raise ProtocolError("line", f"nested too deeply; {excerpt(data)}") from None


def _checked_bytes(line: bytes | str) -> bytes:
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    if len(data) > MAX_LINE_BYTES:
        raise ProtocolError("line", f"longer than the limit of {MAX_LINE_BYTES} bytes")
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 at byte {error.start}; {excerpt(data)}"
            raise ProtocolError("line", problem) from None
    return without_mark(data).strip()


def _read_tolerantly(data: bytes, players: int) -> tuple[m.Message, ...]:
    try:
        value = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise ProtocolError("line", f"not JSON: {error}; {excerpt(data)}") from None
    except RecursionError:
        raise ProtocolError("line", f"nested too deeply; {excerpt(data)}") from None
    if not isinstance(value, list):
        return (read_object(value, players),)
    return tuple([read_object(element, players) for element in value])


def encode(message: m.Message, dialect: Dialect, extra: dict[str, Any] | None = None) -> bytes:
    """Return ``message`` spelled in ``dialect``, without a line end.

    ``extra`` adds fields of the envelope (``request_id`` of a reply, ``logs`` of a log line).
    Raises :class:`LocalProtocolError` where the dialect demands a field that is ``None``.

    >>> from mjbot.protocol.dialects import LOCKSTEP
    >>> encode(m.Ankan(actor=0, consumed=("1m",) * 4), LOCKSTEP)
    b'{"type":"ankan","actor":0,"consumed":["1m","1m","1m","1m"]}'
    """
    form = _form(type(message), dialect)
    for field in form.demanded:
        if getattr(message, field, None) is None:  # a ScoresOnly has no winner
            raise LocalProtocolError(f"{form.name}.{field}", f"{dialect.name} demands it")
    unsaid = {field: value for field, value in form.unsaid if getattr(message, field) is not value}
    if unsaid:
        message = replace(message, **unsaid)
    if not form.is_respelled and extra is None:
        return _encoder.encode(message)
    fields: dict[str, Any] = {"type": form.name}
    for field, value in form.defaults.items():
        if (given := getattr(message, field)) is not value:
            fields[field] = given
    if form.is_respelled:
        _respell(message, fields, dialect)
    return _encoder.encode(fields | extra if extra else fields)


class _Form(NamedTuple):
    """How a dialect writes messages of one type; ``unsaid`` are the defaults of what it omits."""

    name: str
    demanded: tuple[str, ...]
    unsaid: tuple[tuple[str, Any], ...]
    defaults: Mapping[str, Any]
    is_respelled: bool


@cache
def _form(message_type: type[m.Message], dialect: Dialect) -> _Form:
    name = m.name_of(message_type)
    unsaid = UNSAID[dialect].get("*", frozenset()) | UNSAID[dialect].get(name, frozenset())
    defaults = {field.name: field.default for field in msgspec.structs.fields(message_type)}
    return _Form(
        name=name,
        demanded=DEMANDED[dialect].get(name, ()),
        unsaid=tuple([(field, defaults[field]) for field in sorted(unsaid & defaults.keys())]),
        defaults=defaults,
        is_respelled=dialect.traits.spelling != "canonical"
        and issubclass(message_type, _RESPELLED),
    )


_RESPELLED: Final = (m.Hora, m.Ryukyoku, m.Ankan, m.Kita, m.RequestAction)


def _respell(message: m.Message, fields: dict[str, Any], dialect: Dialect) -> None:
    """Spell the fields that Mortal's descendants name differently."""
    riichilab = dialect.traits.spelling == "riichilab"
    match message:
        case m.Hora(uradora_markers=markers):
            if markers is not None:
                fields["ura_markers"] = fields.pop("uradora_markers")
            if riichilab and message.actor == message.target:
                fields["tsumo"] = True
        case m.Ryukyoku(reason=reason) if riichilab and reason:
            fields["reason"] = RIICHILAB_REASONS.get(reason, reason)
        case m.Ankan(consumed=consumed) if riichilab:
            fields["pai"] = min(consumed, key=len)
        case m.Kita():
            fields["type"] = dialect.traits.kita
        case m.RequestAction():
            limits = ("grace_ms", "bank_ms", "deadline_ms")
            fields["time"] = {limit: fields.pop(limit) for limit in limits if limit in fields}
