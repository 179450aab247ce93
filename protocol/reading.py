"""The tolerant way in: one JSON object of any dialect into its canonical message."""

import re
from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

from mjbot.protocol import messages as m
from mjbot.protocol.dialects import canonical_reason
from mjbot.protocol.errors import NOT_JSON, ProtocolError, ThreePlayersError

Fields = dict[str, Any]

_Known = (
    m.Event
    | m.Skip
    | m.Hello
    | m.Join
    | m.Error
    | m.RequestAction
    | m.ActionAck
    | m.ValidationResult
)
_KNOWN_NAMES: Final = frozenset(str(kind.__struct_config__.tag) for kind in _Known.__args__)
# msgspec looks into a type when it first meets it, and two threads that are the first together (the
# conversation, and a strategy's warm-up) can crash the process: so it meets all here.
_met: Final = [msgspec.json.Decoder(kind) for kind in (_Known, m.ScoresOnly)]
SPELLINGS_OF_KITA: Final[tuple[Literal["kita", "nukidora"], ...]] = ("kita", "nukidora")
_FIGURES: Final = frozenset(
    {"scores", "deltas", "hora_points", "fu", "fan", "kyoku", "honba", "kyotaku"}
)
"""Fields in which converters that count in floats write ``25000.0``."""


def read_object(value: object, players: int = 4) -> m.Message:
    """Return the message that a decoded JSON value means in any dialect, at a table of ``players``.

    A type that is not known becomes :class:`Unknown`.  Raises :class:`ProtocolError`.
    """
    if not isinstance(value, dict):
        raise ProtocolError(
            "line", f"expected an object or an array of objects, got {_short(value)}"
        )
    fields: Fields = {key: field for key, field in value.items() if field is not None}
    name = _type_name(fields)
    if players == 3:
        fields = _of_three(fields)
        name = fields["type"]
    elif name in SPELLINGS_OF_KITA:
        raise ThreePlayersError(
            "type", f"{name!r} belongs to three-player mahjong, not played here"
        )
    if name not in _KNOWN_NAMES:
        return m.Unknown(name=name)
    fields |= {key: _whole(fields[key]) for key in _FIGURES & fields.keys()}
    fields = _without_gaps(fields)
    if respell := _RESPELL.get(name):
        fields = respell(fields)
    is_gateways = name == "hora" and "actor" not in fields and "scores" in fields
    try:
        return msgspec.convert(fields, m.ScoresOnly if is_gateways else _Known)
    except msgspec.ValidationError as error:
        raise _explained(str(error), fields) from None


def shows_three(line: bytes | str) -> bool:
    """Return whether a line has a ``start_game`` or ``start_kyoku`` of three players."""
    try:
        value = msgspec.json.decode(line)
    except NOT_JSON:  # it is reported when it is read
        return False
    return any(map(is_of_three, value if isinstance(value, list) else [value]))


def is_of_three(value: object) -> bool:
    """Return whether a decoded ``start_game`` or ``start_kyoku`` is of three players.

    It has their number, lists of three, or the scores with which they start.

    >>> is_of_three({"type": "start_game", "num_players": 3})
    True
    >>> is_of_three({"type": "start_kyoku", "scores": [35000, 35000, 35000, 0]})
    True
    """
    if not isinstance(value, dict):
        return False
    if isinstance(rules := value.get("mjbot_rules"), dict):
        return rules.get("players") == 3
    rows = [value.get(name) for name in ("names", "tehais", "scores")]
    has_three = any(isinstance(row, list) and len(row) == 3 for row in rows)
    start = [35_000] * 3
    return has_three or value.get("num_players") == 3 or rows[2] in ([*start, 0], [*start, 35_000])


THREE: Final = {"players": 3}
"""What a table of three players announces that announces no other rules."""
_EMPTY_SEAT: Final = {
    "names": "", "tehais": ["?"] * 13, "scores": 0, "deltas": 0, "tenpais": False,
}  # fmt: skip


def _of_three(fields: Fields) -> Fields:
    """Return a message of three players with four seats, of which the last is empty."""
    name = fields["type"]
    if name in SPELLINGS_OF_KITA:
        return {"pai": "N"} | fields | {"type": "kita"}
    if name == "start_game":
        fields = {"mjbot_rules": THREE} | fields | {"num_players": 4}
    for field, empty in _EMPTY_SEAT.items():
        row = fields.get(field)
        if isinstance(row, list) and len(row) in (3, 4):
            fields = fields | {field: [*row[:3], empty]}
    return fields


def whole_number(value: object) -> int | None:
    """Return a number without a fraction as an int, anything else as ``None``.

    >>> whole_number(25000.0), whole_number(-8), whole_number(0.5), whole_number(True)
    (25000, -8, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


_MAY_MISS: Final = (
    "scores", "deltas", "tenpais", "uradora_markers", "ura_markers", "hora_tehais", "yakus",
)  # fmt: skip
"""Optional lists: one that is empty where it has four places, or has gaps, is not known."""
_BY_SEAT: Final = ("scores", "deltas", "tenpais", "tehais")


def _without_gaps(fields: Fields) -> Fields:
    """Return a message without lists that hold ``null`` for what their writer does not know.

    A hand that is ``null`` is hidden.
    """
    hands = fields.get("tehais")
    if isinstance(hands, list) and None in hands:
        shown = [["?"] * 13 if hand is None else hand for hand in hands]
        fields = fields | {"tehais": shown}
    gaps = [name for name in _MAY_MISS if _has_gaps(fields.get(name))]
    gaps += [name for name in _BY_SEAT if fields.get(name) == []]
    return {name: value for name, value in fields.items() if name not in gaps} if gaps else fields


def _has_gaps(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    return any(item is None or (isinstance(item, list) and None in item) for item in value)


def _whole(value: Any) -> Any:
    """Return whole floats as ints, in a list too; everything else as it is."""
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _type_name(fields: Fields) -> str:
    name = fields.get("type")
    if name is None and "error" in fields:
        name = fields["type"] = "error"  # RiichiLab's other form
    if name is None:
        raise ProtocolError("type", "missing")
    if not isinstance(name, str):
        raise ProtocolError("type", f"expected a string, got {_short(name)}")
    return name


# --- one function per message with different spellings -------------------------------


def _error(fields: Fields) -> Fields:
    text = fields.get("message", fields.get("error", "no reason given"))
    return fields | {"message": text if isinstance(text, str) else _short(text)}


def _start_game(fields: Fields) -> Fields:
    names = fields.get("names")
    if fields.get("num_players", 4) == 3 or (isinstance(names, list) and len(names) == 3):
        raise ThreePlayersError("start_game", "three-player mahjong is not played here")
    if isinstance(names, list) and None in names:
        known = ["" if name is None else name for name in names]
        fields = {**fields, "names": known if any(known) else None}
    if type(fields.get("kyoku_first")) is not int:
        fields.pop("kyoku_first", None)
    return fields


def _start_kyoku(fields: Fields) -> Fields:
    for rows in ("tehais", "scores"):
        if isinstance(fields.get(rows), list) and len(fields[rows]) == 3:
            raise ThreePlayersError(
                f"start_kyoku.{rows}", "three-player mahjong is not played here"
            )
    if type(fields.get("num_players")) is not int:
        fields.pop("num_players", None)
    kyoku, oya = fields.get("kyoku"), fields.get("oya")
    if isinstance(kyoku, int) and isinstance(oya, int) and kyoku != oya + 1:
        if kyoku != oya:  # mjai-gateway counts from 0
            raise ProtocolError("start_kyoku.oya", f"seat {oya} does not deal in kyoku {kyoku}")
        fields = fields | {"kyoku": oya + 1}
    return _dora(fields)


def _dora(fields: Fields) -> Fields:
    match fields.get("dora_marker"):
        case [marker]:  # one copy of RiichiLab's documents draws it so
            return fields | {"dora_marker": marker}
    return fields


def _tsumo(fields: Fields) -> Fields:
    return fields | _offers(fields)


def _dahai(fields: Fields) -> Fields:
    return {"tsumogiri": False} | fields | _offers(fields)


def _offers(fields: Fields) -> Fields:
    """Return the field of the server's offers without what says nothing of an action.

    A field of an unexpected form is left out of an offer: no game must end by a field of a hint.
    """
    hints = fields.get("possible_actions")
    if not isinstance(hints, list):
        return {}
    return {"possible_actions": [_hint(hint) if isinstance(hint, dict) else hint for hint in hints]}


def _hint(fields: Fields) -> Fields:
    if fields.get("type") in SPELLINGS_OF_KITA:
        fields = fields | {"type": "kita"}
    return {name: fields[name] for name in fields if name == "type" or _is_of_hint(name, fields)}


def _is_of_hint(name: str, fields: Fields) -> bool:
    try:
        msgspec.convert({"type": "", name: fields[name]}, m.Hint)
    except msgspec.ValidationError:
        return False
    return True


def _kakan(fields: Fields) -> Fields:
    """One copy of RiichiLab's documents shows a single consumed tile."""
    pai, consumed = fields.get("pai"), fields.get("consumed")
    fields = fields | _offers(fields)
    if not isinstance(pai, str) or not isinstance(consumed, list) or len(consumed) != 1:
        return fields
    return fields | {"consumed": [pai[:2], pai[:2], *consumed]}


def _hora(fields: Fields) -> Fields:
    for spelling in ("ura_markers", "uradora_marker"):
        if spelling in fields and "uradora_markers" not in fields:
            markers = fields[spelling]
            fields = fields | {
                "uradora_markers": [markers] if isinstance(markers, str) else markers
            }
    if fields.get("tsumo") is True and "actor" in fields:
        fields = {"target": fields["actor"]} | fields
    return fields


def _ryukyoku(fields: Fields) -> Fields:
    reason = fields.get("reason")
    return fields | {"reason": canonical_reason(reason)} if isinstance(reason, str) else fields


def _request_action(fields: Fields) -> Fields:
    limits = fields.get("time", {})
    if not isinstance(limits, dict):
        raise ProtocolError("request_action.time", f"expected an object, got {_short(limits)}")
    return limits | fields | _offers(fields)


def _action_ack(fields: Fields) -> Fields:
    """Leave out figures and remarks of an unexpected form: no game must end by a verdict's."""
    kept = ("type", "status", "request_id", "can_act")
    known: Fields = {name: fields[name] for name in kept if name in fields}
    for name in ("elapsed_ms", "bank_consumed_ms", "bank_ms"):
        figure = fields.get(name)
        if isinstance(figure, int | float) and not isinstance(figure, bool) and abs(figure) < 1e9:
            known[name] = round(figure)
    reason, types = fields.get("reason"), fields.get("legal_types")
    if isinstance(reason, str):
        known["reason"] = reason
    if isinstance(types, list) and all(isinstance(item, str) for item in types):
        known["legal_types"] = types
    return known


def _validation_result(fields: Fields) -> Fields:
    fields = {"passed": fields["success"]} | fields if "success" in fields else fields
    return {"reason": fields["message"]} | fields if "message" in fields else fields


_RESPELL: Final[dict[str, Callable[[Fields], Fields]]] = {
    "error": _error,
    "start_game": _start_game,
    "start_kyoku": _start_kyoku,
    "dora": _dora,
    "tsumo": _tsumo,
    "dahai": _dahai,
    "kakan": _kakan,
    "hora": _hora,
    "ryukyoku": _ryukyoku,
    "request_action": _request_action,
    "action_ack": _action_ack,
    "validation_result": _validation_result,
}


# --- errors that name the field --------------------------------------------------------------

_AT: Final = re.compile(r"^(?P<problem>.*?)(?: - at `\$(?P<path>.*)`)?$", re.S)
_MISSING: Final = re.compile(r"^Object missing required field `(\w+)`$")
_NO_TILE: Final = re.compile(r"^Invalid enum value")


def _explained(problem: str, fields: Fields) -> ProtocolError:
    match = _AT.match(problem)
    assert match
    path = match["path"] or ""
    problem = match["problem"]
    if missing := _MISSING.match(problem):
        return ProtocolError(f"{fields['type']}{path}.{missing[1]}", "missing")
    value = _short(_value_at(fields, path))
    if _NO_TILE.match(problem):
        return ProtocolError(fields["type"] + path, f"{value} is not a tile")
    expected = problem.partition(", got")[0].replace("`", "")
    return ProtocolError(
        fields["type"] + path, f"{expected[:1].lower()}{expected[1:]}, got {value}"
    )


def _value_at(fields: Fields, path: str) -> object:
    value: Any = fields
    for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        value = value[key] if key else value[int(index)]
    return value


def _short(value: object) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except RecursionError:
        text = "something deeply nested"
    return text if len(text) <= 60 else text[:57] + "..."
