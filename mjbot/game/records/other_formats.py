"""What a file is that holds no game we read: a good file of another kind is not damaged."""

import argparse
import json
import re
from pathlib import Path
from typing import Any, Final, Literal

from mjbot.game.records.json_values import Lines, without_comments
from mjbot.game.records.mahjong_soul.messages import bare_name
from mjbot.protocol.framing import MAX_LINE_BYTES

MAJIANG: Final = "is a game in the format of Majiang (JSON)"
OTHER_JSON: Final = "is JSON, but holds no mjai messages"
RAW_MAHJONG_SOUL: Final = (
    "is a raw record of Mahjong Soul (protobuf);"
    " save it decoded, as JSON with a head and a list of RecordNewRound and so on"
)
SHORT_MAHJONG_SOUL: Final = (
    "is a record of Mahjong Soul in RiichiEnv's short form, which has no payments;"
    " save the decoded record that it was made from"
)
PRINTED_MAHJONG_SOUL: Final = (
    "is a record of Mahjong Soul printed as protobuf text, not JSON;"
    " save it decoded, as JSON with a head and a list of RecordNewRound and so on"
)
RIICHI_CITY: Final = (
    "is a raw record of Riichi City (handRecord), which is not read;"
    " convert it to tenhou.net/6 with the tool you fetched it with"
)
MJAI_LOG: Final = "mjai_log"
"""Key of a review's game, by mjai-reviewer, its descendants, and ``mjbot review --json``."""
MAX_REPORT_BYTES: Final = 1 << 26
"""Reviews of a hanchan have 1 to 10 MB, in one line."""

_PRINTED: Final = re.compile(rb"\s*\w+(?: *\{|: *(?:\"|-?\d|\w))[^\n]*\n\s*(?:\w+(?: *\{|: )|\})")
"""How text that protobuf prints begins: ``name: "text"`` or ``name {``, and another such line."""
_PRINTED_PART: Final = re.compile(
    rb"\.lq\.|^\s*(tiles\d|chang|ju|liqibang|doras|accounts|records)\b", re.M
)
JsonKind = Literal["tenhou6", "mjai"]
_TENHOU6_KEYS: Final = (b"log", b"title", b"name", b"rule", b"ver", b"ref")
_FIRST_KEYS: Final = re.compile(rb'"(type|log|title|name|rule|ver|ref)"\s*:')

_PACKINGS: Final = {
    b"PK": "is a zip inside another file: unpack it",
    b"\x1f\x8b": "is packed with gzip twice: unpack it",
    b"\xfd7zXZ\x00": "is packed with xz: unpack it",
    b"(\xb5/\xfd": "is packed with zstd: unpack it",
    b"BZh": "is packed with bzip2: unpack it",
    b"7z\xbc\xaf": "is packed with 7z: unpack it",
    b"Rar!": "is packed with rar: unpack it",
}
_WEB_PAGE: Final = re.compile(rb"<(!doctype +html|html|head|body)\b", re.I)
_BLANKS: Final = "\ufeff \t\r\n"
_URL: Final = re.compile(r"^\w+://")
_TENHOU_ID: Final = re.compile(r"^\d{10}gm-[0-9a-f]{4}-\d{4,5}-[0-9a-f]{8}$")


def record_path(text: str) -> Path:
    """Return the path of a record as a user named it (a ``type`` of argparse).

    Raises ``argparse.ArgumentTypeError`` for a URL or the id of a Tenhou game.
    """
    path = Path(text)
    kind = "a URL" if _URL.match(text) else "a Tenhou game's id" if _TENHOU_ID.match(text) else ""
    if kind and not path.exists():
        cure = "nothing is fetched; save the game as mjlog and name that file"
        raise argparse.ArgumentTypeError(f"{text} is {kind}: {cure}")
    return path


def other_format(first: bytes) -> str | None:
    """Return what a file is that begins so and is neither an mjlog nor JSON.

    >>> other_format(b"<!DOCTYPE html><html>"), other_format(b"%PDF-1.4")
    ('is a web page', 'is no record of a game')
    >>> other_format(b"<mjloggm ver='2.3'>")
    """
    if first.startswith(b"<"):
        return "is a web page" if _WEB_PAGE.match(first) else None
    if _PRINTED.match(first) and _PRINTED_PART.search(first):
        return PRINTED_MAHJONG_SOUL
    if b".lq." in first:
        return RAW_MAHJONG_SOUL
    packed = [kind for magic, kind in _PACKINGS.items() if first.startswith(magic)]
    return packed[0] if packed else "is no record of a game"


def looks_like_games(head: bytes) -> bool:
    """Return whether a file that begins so is an mjlog, or has mjai messages or a tenhou.net/6 log.

    >>> looks_like_games(b'{"type":"start_game"}'), looks_like_games(b"<mjloggm ver='2.3'>")
    (True, True)
    >>> looks_like_games(b'{"games": 3}'), looks_like_games(b"[server]")
    (False, False)
    """
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<mjloggm"):
        return True
    if re.match(rb'[\[\s]*"(\.lq\.)?Record[A-Z]', text):
        return True
    match = re.match(rb'[\[\s]*\{\s*"(\w+)"\s*:', text)
    known = rb'"log"\s*:\s*\[\s*\[|"(\.lq\.)?RecordNewRound"|"\.lq\.'
    return match is not None and (match[1] == b"type" or re.search(known, text) is not None)


def first_json(stream: Lines) -> Any:
    """Return the first value of a stream of JSON, of an array its first item.

    ``None`` if none is whole within two of the longest lines.
    """
    data, size = b"", 1 << 12
    while len(data) < 2 * MAX_LINE_BYTES and (more := stream.read(size)):
        data += more
        size = len(data)
        text = without_comments(data.decode("utf-8", "replace")).lstrip(_BLANKS)
        try:
            return json.JSONDecoder().raw_decode(text.removeprefix("[").lstrip(_BLANKS))[0]
        except (ValueError, RecursionError):  # of values cut off, or of an endless number
            continue
    return None


def whole_json(stream: Lines) -> Any:
    """Return the one value that a whole stream is; ``None`` if it is none, or too large."""
    data = stream.read(MAX_REPORT_BYTES + 1)
    if len(data) > MAX_REPORT_BYTES:
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def cut_kind(head: bytes) -> JsonKind:
    """Return what JSON is of which no value is whole: a game of tenhou.net/6, else messages.

    >>> cut_kind(b'{"title":["",""],"log":[[[0,'), cut_kind(b'{"type":"tsumo","pai')
    ('tenhou6', 'mjai')
    """
    match = _FIRST_KEYS.search(head)
    return "tenhou6" if match and match[1] in _TENHOU6_KEYS else "mjai"


def is_spread(first_line: bytes) -> bool:
    """Return whether a file whose first line is this has messages that go over many lines.

    >>> is_spread(b'[ // a game'), is_spread(b'{"type":"hello"}'), is_spread(b'{"type":"he')
    (True, False, False)
    """
    line = without_comments(first_line.decode("utf-8", "replace")).strip(_BLANKS)
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return line[-1:] in ("", "[", "{", ",")
    return False


def is_tenhou6(value: Any) -> bool:
    """Return whether a JSON value is a game of tenhou.net/6, good or not."""
    return isinstance(value, dict) and "log" in value and not {"qijia", MJAI_LOG} & value.keys()


def is_report(value: Any) -> bool:
    """Return whether a JSON value is a review that holds its game as mjai messages."""
    return isinstance(value, dict) and MJAI_LOG in value


_MOST_LOOKED_AT: Final = 100
"""Before the first message come clicks, a few."""


def is_mahjong_soul(value: Any) -> bool:
    """Return whether a JSON value is a record of Mahjong Soul, or messages of one.

    >>> is_mahjong_soul({"name": ".lq.RecordNewRound"}), is_mahjong_soul({"head": {}, "data": []})
    (True, True)
    """
    if bare_name(value):
        return True
    if isinstance(value, list):
        return any(map(bare_name, value[:1]))
    if not isinstance(value, dict):
        return False
    lists = [value.get(key) for key in ("actions", "records", "data")]
    inside = [item for each in lists if isinstance(each, list) for item in each[:_MOST_LOOKED_AT]]
    results = [item.get("result", item) if isinstance(item, dict) else item for item in inside]
    is_record = "head" in value and not {"data", "records"}.isdisjoint(value)
    return is_record or any(map(bare_name, results))


def other_json(value: Any) -> str | None:
    """Return what JSON with this first value is, if it is neither mjai messages nor our games."""
    kinds = (is_tenhou6, is_report, is_mahjong_soul, is_message)
    if value is None or any(is_kind(value) for is_kind in kinds):
        return None
    if _is_short_form(value):
        return SHORT_MAHJONG_SOUL
    if _is_riichi_city(value):
        return RIICHI_CITY
    return MAJIANG if isinstance(value, dict) and "log" in value else OTHER_JSON


def _is_short_form(value: Any) -> bool:
    """Return whether hands, a list each, are of messages such as ``{"name": "NewRound", ...}``."""
    inside = value.get("rounds", value.get("data")) if isinstance(value, dict) else value
    for _ in range(2):
        inside = inside[0] if isinstance(inside, list) and inside else inside
    return isinstance(inside, dict) and inside.get("name") == "NewRound"


def _is_riichi_city(value: Any) -> bool:
    """Return whether a value is a game of Riichi City, a hand, or one of its events."""
    keys = {"handRecord", "handEventRecord", "eventPos"}
    inside = value.get("data") if isinstance(value, dict) else None
    return any(isinstance(each, dict) and not keys.isdisjoint(each) for each in (value, inside))


def is_message(value: Any) -> bool:
    """Return whether a JSON value is a message of mjai."""
    return isinstance(value, dict) and ("type" in value or isinstance(value.get("error"), str))
