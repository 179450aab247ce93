"""Changes to lines, JSON, XML and bytes, as damage, bugs and malice make them, by seed."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

_NUMBERS: Final = (
    -1, 0, 1, 3, 4, 5, 13, 14, 16, 34, 37, 38, 60, 135, 136, 255, 256, 10_001, 65_536, 2**31 - 1,
    2**31, -(2**31) - 1, 2**53 + 1, 2**63, -(2**63) - 1, 10**40, 0.5, -0.0, 1e300,
)  # fmt: skip
_TEXTS: Final = (
    "", " ", "?", "x", "0", "5mr", "E", "none", "start_game", "-1", "1e5", "a\nb", "\x1b[2J", "\0",
    "\u202e", "\ufeff", "ﾟ", "\U0001d7db", "٣", "²", "\ud800", "é" * 300, '"}', "\\u0000", "%", "<>",
)  # fmt: skip
_OTHERS: Final = (None, True, False, [], {}, [[]], {"type": "none"}, [None] * 13)
_RAW: Final = (b"NaN", b"-Infinity", b"1e999", b"1" * 5000, b"[" * 3000, b'{"a":' * 3000, b"\xff")
_ATTRIBUTE: Final = re.compile(rb'="([^"]*)"')


def mutated(data: bytes, random: Random, most: int = 3) -> tuple[bytes, str]:
    """Return other bytes, and the names of what was done to them."""
    done = []
    for _ in range(random.randint(1, most)):
        name = random.choice(_NAMES)
        data = _CHANGES[name](data, random)
        done.append(name)
    return data, "+".join(done)


# --- bytes -----------------------------------------------------------------------------------


def _flipped(data: bytes, random: Random) -> bytes:
    if not data:
        return b"\0"
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _truncated(data: bytes, random: Random) -> bytes:
    cut = random.randrange(len(data) + 1)
    return data[cut:] if random.random() < 0.2 else data[:cut]


def _inserted(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(_RAW) + data[at:]


# --- lines -----------------------------------------------------------------------------------


def _in_lines(change: Callable[[list[bytes], int, Random], list[bytes]]) -> Any:
    def changed(data: bytes, random: Random) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join(change(lines, random.randrange(len(lines)), random))

    return changed


def _removed(lines: list[bytes], at: int, random: Random) -> list[bytes]:
    return lines[:at] + lines[at + random.choice((1, 1, 1, 5, 50)) :]


def _doubled(lines: list[bytes], at: int, random: Random) -> list[bytes]:
    return lines[: at + 1] + lines[at : at + 1] * random.choice((1, 1, 2, 20)) + lines[at + 1 :]


def _moved(lines: list[bytes], at: int, random: Random) -> list[bytes]:
    rest = lines[:at] + lines[at + 1 :]
    to = random.randrange(len(rest) + 1) if random.random() < 0.3 else min(at + 1, len(rest))
    return rest[:to] + lines[at : at + 1] + rest[to:]


def _merged(lines: list[bytes], at: int, random: Random) -> list[bytes]:
    glue = random.choice((b"", b" ", b",", b"\r", b"\0"))
    return [*lines[:at], glue.join(lines[at : at + 2]), *lines[at + 2 :]]


def _as_array(lines: list[bytes], at: int, random: Random) -> list[bytes]:
    count = random.choice((1, 2, 5))
    return [*lines[:at], b"[" + b",".join(lines[at : at + count]) + b"]", *lines[at + count :]]


# --- JSON and XML ----------------------------------------------------------------------------


def _changed_value(data: bytes, random: Random) -> bytes:
    """Put something else in the place of one value of the JSON of a line, or of an attribute."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _changed_attribute(data, random)
    lines[at] = _written(_elsewhere(value, random), random)
    return b"\n".join(lines)


def _written(value: Any, random: Random) -> bytes:
    text = json.dumps(value, ensure_ascii=random.random() < 0.8, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _elsewhere(value: Any, random: Random) -> Any:
    """Return a value with one change somewhere in it."""
    if isinstance(value, dict) and value and random.random() < 0.95:
        key = random.choice([*value])
        return _changed_object(value, key, random)
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        match random.random():
            case low if low < 0.15:
                return value[:at] + value[at + 1 :]
            case low if low < 0.3:
                return value[: at + 1] + value[at:]
        return [*value[:at], _elsewhere(value[at], random), *value[at + 1 :]]
    return _other(value, random)


def _changed_object(value: dict[str, Any], key: str, random: Random) -> dict[str, Any]:
    match random.random():
        case low if low < 0.15:
            return {name: value[name] for name in value if name != key}
        case low if low < 0.25:
            return {**value, random.choice([*value, *_TEXTS]): value[key]}
    return {**value, key: _elsewhere(value[key], random)}


def _other(value: Any, random: Random) -> Any:
    kind = random.random()
    if isinstance(value, int) and not isinstance(value, bool) and kind < 0.4:
        return value + random.choice((-1, 1, 100, -1000))
    if kind < 0.55:
        return random.choice(_NUMBERS)
    if kind < 0.75:
        return random.choice(_TEXTS)
    if kind < 0.85:
        return json.dumps(value)  # JSON inside a string
    return random.choice((*_OTHERS, [value], {"a": value}, [value] * 200))


def _changed_attribute(data: bytes, random: Random) -> bytes:
    found = [*_ATTRIBUTE.finditer(data)]
    if not found:
        return _flipped(data, random)
    start, end = random.choice(found).span(1)
    parts = data[start:end].split(b",")
    at = random.randrange(len(parts))
    token = random.choice((*map(str, _NUMBERS), *_TEXTS[:12])).encode()
    match random.random():
        case low if low < 0.15:
            parts = parts[:at] + parts[at + 1 :]
        case low if low < 0.3:
            parts = parts[: at + 1] + parts[at:]
        case low if low < 0.5 and parts[at].lstrip(b"-").isdigit() and len(parts[at]) < 40:
            parts[at] = b"%d" % (int(parts[at]) + random.choice((-4, -1, 1, 4, 36)))
        case _:
            parts[at] = token
    return data[:start] + b",".join(parts) + data[end:]


_CHANGES: Final[dict[str, Callable[[bytes, Random], bytes]]] = {
    "flipped": _flipped,
    "truncated": _truncated,
    "inserted": _inserted,
    "removed": _in_lines(_removed),
    "doubled": _in_lines(_doubled),
    "moved": _in_lines(_moved),
    "merged": _in_lines(_merged),
    "array": _in_lines(_as_array),
    "value": _changed_value,
    "two values": lambda data, random: _changed_value(_changed_value(data, random), random),
    "attribute": _changed_attribute,
}
_NAMES: Final = [*_CHANGES, *["value"] * 8, *["attribute"] * 4, *["moved", "removed", "doubled"]]
"""Valid forms are drawn more often: they get further."""
