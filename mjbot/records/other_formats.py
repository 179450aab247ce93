"""What a file is that holds no game we read: a good file of another kind is not damaged."""

import argparse
import re
from pathlib import Path
from typing import Any, Final

import msgspec

from mjbot.records.mjai_log import Lines
from protocol.framing import MAX_LINE_BYTES

TENHOU_6: Final = "is a game in the format of tenhou.net/6 (JSON)"
MAJIANG: Final = "is a game in the format of Majiang (JSON)"
OTHER_JSON: Final = "is JSON, but holds no mjai messages"

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
    packed = [kind for magic, kind in _PACKINGS.items() if first.startswith(magic)]
    return packed[0] if packed else "is no record of a game"


def other_json(stream: Lines) -> str | None:
    """Return what a stream of JSON is if its first value is whole, but no mjai message.

    Reads up to two of the longest lines from the stream.
    """
    text = b""
    while not text.strip() and (text := stream.readline(MAX_LINE_BYTES)):
        pass
    first = _decoded(text)
    if first is None:
        first = _decoded(text + stream.read(MAX_LINE_BYTES))
    if isinstance(first, list):
        first = first[0] if first else None
    if first is None or (isinstance(first, dict) and _is_message(first)):
        return None
    keys = first.keys() if isinstance(first, dict) else set()
    if "log" in keys:
        return MAJIANG if "qijia" in keys else TENHOU_6
    return OTHER_JSON


def _is_message(value: dict[str, Any]) -> bool:
    return "type" in value or isinstance(value.get("error"), str)


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
