"""The page as it is sent, and as one file that needs nothing else.

The page's modules and style are plain files in ``page/``.  A file for one game has all of them
inside: the modules one after the other with their imports and exports taken out, so that no name
may stand in two of them, and the game packed.
"""

import base64
import hashlib
import re
import zlib
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

import msgspec

from mjbot.runtime.languages import catalogue, language
from mjbot.viewer.drawing.tiles import sprite

FOLDER: Final = Path(__file__).with_name("page")
MODULES: Final = (
    "text.js", "draw.js", "panel.js", "source.js", "ask.js", "timeline.js", "review.js", "main.js",
)  # fmt: skip
"""In the order in which they need each other."""
STYLE: Final = "style.css"
ABSENT: Final = {"$": 0}
"""Stands where a row lacks a field."""
LEAST_FILLED: Final = 0.5
"""Share of the fields that rows must have, for objects to be written as columns."""

_MARK: Final = re.compile("@(TITLE|CONFIG|DATA|VERDICT|SUMMARY)@")
_TEXT: Final = re.compile(r"\[\[(.+?)\]\]")
_IMPORT: Final = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_COMMENT: Final = re.compile(r"^ *//.*\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ", re.MULTILINE)


def index_page(config: dict[str, Any]) -> str:
    """Return the page for a server that also gives its modules and style."""
    return _filled(_index(language()), config, {})


def _filled(page: str, config: dict[str, Any], parts: dict[str, str]) -> str:
    """Return the page with its parts, each of which may hold the mark of another."""
    parts = {
        "TITLE": escape(config.get("title", "mjbot")),
        "CONFIG": _script_safe({**config, "texts": dict(catalogue(language()))}),
        "DATA": "",
        "VERDICT": "",
        "SUMMARY": "",
        **parts,
    }
    return _MARK.sub(lambda mark: parts[mark[1]], page)


def game_page(
    game: dict[str, Any], config: dict[str, Any], summary: str = "", verdict: str = ""
) -> str:
    """Return a whole game as one HTML file.

    ``game`` is that of :func:`mjbot.viewer.game.fold_steps`, with ``thoughts`` and a ``review`` if
    requested; ``verdict`` is HTML for the place above the board, ``summary`` for that below it.
    """
    script, style = _all_modules(), _text(STYLE)
    policy = (
        "default-src 'none'; img-src data:;"
        f" style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    link = '<link rel="stylesheet" href="/page/style.css">'
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    packed = base64.b64encode(zlib.compress(msgspec.json.encode(by_column(game)), 9)).decode()
    page = _index(language()).replace(
        '<meta charset="utf-8">', f'<meta charset="utf-8">\n{meta}', 1
    )
    page = page.replace(link, f"<style>{style}</style>", 1)
    source = '<script type="module" src="/page/main.js"></script>'
    page = page.replace(source, f'<script type="module">{script}</script>', 1)
    config = {"seat": 0, "by": "", **config, "mode": "file"}
    parts = {"DATA": packed, "VERDICT": verdict, "SUMMARY": summary}
    if game.get("kyoku"):
        titles = [config.get("subject"), game["kyoku"][0]["title"]]
        parts["TITLE"] = escape(" · ".join(filter(None, titles)))
    return _filled(page, config, parts)


def game_of_page(page: str) -> Any:
    """Return the game that a page holds, the inverse of :func:`game_page`."""
    (data,) = re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)
    return by_row(msgspec.json.decode(zlib.decompress(base64.b64decode(data))))


def by_column(value: Any) -> Any:
    """Return JSON in which equal fields of many objects lie together, for they compress better.

    A list of objects is an object of lists, ``{"$rows": 2, "n": [1, 2]}``, where rows may lack
    fields (:data:`ABSENT`), but not most of them.  Lists in a list are one, ``{"$lists": [1, 2],
    "$of": [5, 6, 7]}``.  :func:`by_row` undoes it, in the page ``byRow`` of ``source.js``.

    >>> by_column([{"n": 1}, {"n": 2}]), by_column([[5], [6, 7]])
    ({'$rows': 2, 'n': [1, 2]}, {'$lists': [1, 2], '$of': [5, 6, 7]})
    """
    if isinstance(value, dict):
        return {key: by_column(item) for key, item in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) > 1 and all(isinstance(item, dict) for item in value):
        keys = dict.fromkeys(key for item in value for key in item)
        if sum(map(len, value)) >= LEAST_FILLED * len(keys) * len(value):
            columns = {key: by_column([item.get(key, ABSENT) for item in value]) for key in keys}
            return {"$rows": len(value), **columns}
    elif len(value) > 1 and all(isinstance(item, list | tuple) for item in value):
        flat = [inner for item in value for inner in item]
        return {"$lists": [len(item) for item in value], "$of": by_column(flat)}
    return [by_column(item) for item in value]


def by_row(value: Any) -> Any:
    """Return the JSON that :func:`by_column` was given.

    >>> by_row(by_column([{"n": [1]}, {"n": [], "of": {}}]))
    [{'n': [1]}, {'n': [], 'of': {}}]
    """
    if isinstance(value, list):
        return [by_row(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$lists" in value:
        flat = iter(by_row(value["$of"]))
        return [[next(flat) for _ in range(length)] for length in value["$lists"]]
    columns = {key: by_row(item) for key, item in value.items() if key != "$rows"}
    if "$rows" not in value:
        return columns
    return [
        {key: column[row] for key, column in columns.items() if column[row] != ABSENT}
        for row in range(value["$rows"])
    ]


@cache
def _index(name: str) -> str:
    """Return the page in a language, the marks of its parts still in it."""
    texts = catalogue(name)
    page = _TEXT.sub(lambda match: escape(texts.get(match[1], match[1])), _text("index.html"))
    return page.replace("SPRITE", sprite(), 1).replace('lang="en"', f'lang="{name}"', 1)


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def _all_modules() -> str:
    """Return the modules as one script, without their lines of comment."""
    parts = [_EXPORT.sub("", _IMPORT.sub("", _text(name))) for name in MODULES]
    return _COMMENT.sub("", "".join(parts))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _script_safe(value: dict[str, Any]) -> str:
    """Return JSON in which no markup can end the element it stands in."""
    text = msgspec.json.encode(value).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
