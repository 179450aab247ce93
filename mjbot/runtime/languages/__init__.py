"""Texts that players read, in their language: catalogues of PO files next to this module.

The key of a text is its English; a text that a catalogue lacks stays English.  Placeholders have
names, ``{tile}``, so that each language orders them as its grammar requires.  One language holds
for the whole process: a command sets it once (``--language``), before threads start.

    set_language("ja")
    translate("{tiles} tiles left", tiles=12)      # 残り12枚

A text is written in the call of :func:`translate`; one that is chosen or kept first is marked where
it stands (:func:`marked`) and translated where it is shown.  ``tests/runtime/languages`` extracts
the keys from the sources (with Babel, as ``pybabel extract -k marked -k translate`` does) and
compares the catalogues.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from mjbot.runtime.errors import ArgumentError

TextT = TypeVar("TextT", bound=str)

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "ja", "zh-Hans", "zh-Hant")
VARIABLES: Final = ("MJBOT_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables that set the language, the first that is set counts."""
FOLDER: Final = Path(__file__).parent

_TRADITIONAL: Final = ("hant", "tw", "hk", "mo")
_LINE: Final = re.compile(r'(msgid_plural|msgid|msgstr)(?:\[0\])? (".*")|(".*")')

_current = [ENGLISH]


def language() -> str:
    """Return the language of this process, one of :data:`LANGUAGES`."""
    return _current[0]


def set_language(name: str) -> None:
    """Set the language of this process."""
    _current[0] = language_named(name)


@contextmanager
def using_language(name: str) -> Iterator[None]:
    """Set the language for a block."""
    before = language()
    set_language(name)
    try:
        yield
    finally:
        set_language(before)


def language_named(text: str) -> str:
    """Return the language that a name or a locale asks for; raises :class:`ArgumentError`.

    >>> language_named("zh_TW.UTF-8"), language_named("zh-CN"), language_named("JA")
    ('zh-Hant', 'zh-Hans', 'ja')
    """
    parts = re.split(r"[-_.@]", text.lower())
    if parts[0] == "zh":
        return "zh-Hant" if any(part in _TRADITIONAL for part in parts) else "zh-Hans"
    if parts[0] in LANGUAGES:
        return parts[0]
    raise ArgumentError(f"language {text!r}: expected one of {', '.join(LANGUAGES)}")


def default_language(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the environment: English where it names none that there is.

    >>> default_language({"LANG": "ja_JP.UTF-8"}), default_language({"LANG": "C.UTF-8"})
    ('ja', 'en')
    """
    for name in VARIABLES:
        if value := environment.get(name, ""):
            try:
                return language_named(value)
            except ArgumentError:
                return ENGLISH
    return ENGLISH


def translate(text: str, **values: object) -> str:
    """Return a text in the language of the process, with its placeholders filled in.

    >>> translate("{tiles} tiles left", tiles=3)
    '3 tiles left'
    """
    translated = catalogue(language()).get(text, text)
    return translated.format_map(values) if values else translated


def translate_count(one: str, many: str, n: int) -> str:
    """Return a text with a count, ``{n}``.

    >>> translate_count("{n} decision", "{n} decisions", 1)
    '1 decision'
    """
    translated = catalogue(language()).get(one, one if n == 1 else many)
    return translated.format(n=n)


def marked(text: TextT) -> TextT:
    """Return the text itself: it is translated where it is shown."""
    return text


@cache
def catalogue(name: str) -> Mapping[str, str]:
    """Return the texts of a language by their English; none for English."""
    if name == ENGLISH:
        return {}
    return read_catalogue((FOLDER / f"{name}.po").read_text(encoding="utf-8"))


def read_catalogue(text: str) -> dict[str, str]:
    """Return the translations in a PO file, without its header; empty ones are left out.

    Of a plural the first form counts, for the languages here have one.
    """
    texts: dict[str, str] = {}
    fields: dict[str, str] = {}
    key = ""
    for line in [*text.splitlines(), 'msgid ""']:
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        if match[1] == "msgid":
            if fields.get("msgid") and fields.get("msgstr"):
                texts[fields["msgid"]] = fields["msgstr"]
            fields = {}
        key = match[1] or key
        fields[key] = fields.get(key, "") + str(json.loads(match[2] or match[3]))
    return texts
