"""Profiles: a request read from a TOML file, by the same fields as from the command line.

A field ``pause_s`` of the group ``play`` is ``pause_s`` in the table ``[play]``, a field of the
request itself stands at the top.  A value is checked by what checks the option.  Errors are one
line that names the file's line, the key and the cure; no value of an unknown key is quoted, since
it may be a secret.  A key without a default may be the empty text: it is then not set.
"""

import argparse
import difflib
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.requests import how_of, is_hidden, part_of

SECRETS: Final = ("token", "ws_token", "secret", "password", "key", "account")
"""Keys that ask for a secret, which has no place in a profile."""
NAME: Final = "name"
"""The key of a strategy's name where its options stand beside it."""
WIDTH: Final = 100
_HEADER: Final = re.compile(r"^\s*\[+\s*([^\]]*?)\s*\]+")
_KEY: Final = re.compile(r"""^\s*["']?([A-Za-z0-9_-]+)["']?\s*[=.]""")
_SHOWN_BELOW: Final = re.compile(r" \(default: %\(default\)[sg]\)")
_TOML_PLACE: Final = re.compile(r"^(.*) \(at (?:line (\d+), column \d+|(end of document))\)$", re.S)


class ProfileError(ArgumentError):
    """A profile that cannot be used; the text names the file, the line, the key and the cure."""


class FieldError(ArgumentError):
    """Values that do not fit together; ``key`` is the field at fault, as ``server.url``."""

    def __init__(self, key: str, problem: str, exit_code: int | None = None) -> None:
        super().__init__(f"{key}: {problem}", exit_code=exit_code)
        self.key: Final = key


@dataclass(frozen=True)
class Key:
    """A key of a profile: its table ("" at the top), name, type and ``add_argument``'s options."""

    table: str
    name: str
    type: Any
    how: Mapping[str, Any]
    default: Any

    def __str__(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name

    @property
    def repeats(self) -> bool:
        """Whether its value is a list."""
        return self.how.get("action") in ("append", "extend")

    @property
    def is_unset(self) -> bool:
        """Whether it has no value unless one is given; an empty text leaves it so."""
        return self.default in (None, "", ()) and not self.repeats

    @property
    def kinds(self) -> tuple[type, ...]:
        """The TOML types that are allowed."""
        if get_origin(self.type) is tuple and not self.repeats:
            return (str,)  # "A,B", as on the command line
        alternatives = get_args(self.type) or (self.type,)
        if bool in alternatives:
            return (bool,)
        if any(getattr(alternative, "__name__", "") == "Spec" for alternative in alternatives):
            return (str, dict)  # a strategy, with its options
        if float in alternatives:
            return (int, float)
        if int in alternatives:
            return (int,)
        return (str,)


_KINDS: Final = {
    bool: "true or false",
    int: "a number without quotes",
    float: "a number without quotes",
    str: 'a text in quotes ("...")',
    dict: f'{{ {NAME} = "NAME", KEY = VALUE }}',
}


def keys_of(request: type) -> Iterator[Key]:
    """Yield the keys that a profile of a class of requests may have."""
    for table, part in _tables(request):
        types = get_type_hints(part)
        for field in fields(part):
            how = how_of(field)
            if how is not None and not is_hidden(field) and part_of(field) is None:
                yield Key(table, field.name, types[field.name], how, field.default)


def _tables(request: type) -> Iterator[tuple[str, type]]:
    yield "", request
    for field in fields(request):
        if (part := part_of(field)) is not None:
            yield field.name, part


class RunProfile:
    """A profile's file, read but not yet understood."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        if path.exists() and not path.is_file() and not path.is_dir():
            cure = "write it to a file, which can be read again"
            raise ProfileError(f"{path} is a pipe or a device; {cure}")
        try:
            self.text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            line = path.read_bytes()[: error.start].count(b"\n") + 1
            raise ProfileError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None
        try:
            self._tables: dict[str, Any] = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise ProfileError(self._broken(str(error))) from None
        except RecursionError:
            raise ProfileError(f"{path}: nested too deeply") from None

    def values(self, request: type) -> dict[str, Any]:
        """Return the values of the fields that the profile sets, by name, for a parser's defaults.

        Raises :class:`ProfileError`.
        """
        keys = list(keys_of(request))
        tables = {key.table for key in keys}
        given: dict[str, Any] = {}
        for name, value in self._tables.items():
            if isinstance(value, dict) and name in tables:
                entries = {f"{name}.{key}": one for key, one in value.items()}
            else:
                entries = {name: value}
            for entry, content in entries.items():
                key = self._key(entry, keys, is_table=isinstance(content, dict))
                if not (key.is_unset and content == ""):
                    given[key.name] = self._value(key, content)
        return given

    def error(self, key: str, problem: str) -> ProfileError:
        """Return an error at a key, with its line if the profile has it."""
        line = self.line_of(key)
        source = f"{self.path}, line {line}" if line else str(self.path)
        return ProfileError(f"{source}: {key}: {problem}")

    def line_of(self, key: str) -> int:
        """Return the line of a key such as ``games.pause_s``, or of its table, from 1; 0: none."""
        wanted, name = key.rpartition(".")[::2]
        table, header = "", 0
        for number, line in enumerate(self.text.splitlines(), 1):
            if match := _HEADER.match(line):
                table = match[1].strip().strip("\"'")
                if table == key:
                    return number
                header = number if table == wanted else header
            elif (match := _KEY.match(line)) and (
                (table == wanted and match[1].replace("-", "_") == name.replace("-", "_"))
                or (not table and match[1] in (wanted, key))
            ):
                return number
        return header

    def _broken(self, text: str) -> str:
        match = _TOML_PLACE.match(text)
        if match is None:
            return f"{self.path}: not TOML: {text}"
        line = int(match[2]) if match[2] else max(1, len(self.text.splitlines()))
        problem = match[1][:1].lower() + match[1][1:]
        cure = "write KEY = VALUE, texts in quotes, one key a line"
        return f"{self.path}, line {line}: not TOML: {problem}; {cure}"

    def _key(self, entry: str, keys: list[Key], *, is_table: bool) -> Key:
        plain = entry.replace("-", "_")
        for key in keys:
            if str(key) == plain:
                return key
        name = plain.rpartition(".")[2]
        if name in SECRETS:
            cure = "name the variable or file that has it, as token_file"
            raise self.error(entry, f"a secret has no place in a profile; {cure}")
        raise self.error(entry, _unknown(plain, keys, is_table=is_table))

    def _value(self, key: Key, value: Any) -> Any:
        if key.repeats:
            if not isinstance(value, list):
                raise self.error(str(key), "expected a list, as [A, B]")
            return [self._single(key, item) for item in value]
        return self._single(key, value)

    def _single(self, key: Key, value: Any) -> Any:
        kinds = key.kinds
        if type(value) not in kinds:
            expected = " or ".join(dict.fromkeys(_KINDS[kind] for kind in kinds))
            raise self.error(str(key), f"expected {expected}")
        if isinstance(value, bool):
            return value
        text = self._spec(key, value) if isinstance(value, dict) else str(value)
        choices = key.how.get("choices")
        if choices is not None and text not in map(str, choices):
            near = difflib.get_close_matches(text, map(str, choices), 1)
            cure = f"did you mean {near[0]!r}?" if near else f"expected {' or '.join(choices)}"
            raise self.error(str(key), f"unknown {text!r}; {cure}")
        try:
            return key.how.get("type", str)(text)
        except (argparse.ArgumentTypeError, ValueError) as error:
            raise self.error(str(key), str(error)) from None

    def _spec(self, key: Key, value: dict[str, Any]) -> str:
        """Return a strategy's table of name and options as the text that names it."""
        name = value.get(NAME)
        if not isinstance(name, str):
            raise self.error(str(key), f"the strategy's name is missing: {_KINDS[dict]}")
        words = [name]
        for option, item in value.items():
            if option == NAME:
                continue
            if not isinstance(item, str | int | float):
                raise self.error(str(key), f"option {option!r}: expected a text or a number")
            spelled = ("no", "yes")[item] if isinstance(item, bool) else str(item)
            if "," in spelled:
                raise self.error(str(key), f"option {option!r}: no comma may stand in an option")
            words.append(f"{option}={spelled}")
        return ",".join(words)


def _unknown(entry: str, keys: list[Key], *, is_table: bool) -> str:
    """Return the problem of an unknown key or table, with the nearest known one."""
    table, _, name = entry.rpartition(".")
    tables = sorted({key.table for key in keys if key.table})
    if is_table and not table:
        near = difflib.get_close_matches(entry, tables, 1)
        return f"unknown table; {_meant(near) or 'the tables: ' + ', '.join(tables)}"
    own = [key.name for key in keys if key.table == table]
    near = difflib.get_close_matches(name, own, 1)
    if near:
        return f"unknown key; {_meant(near)}"
    elsewhere = [str(key) for key in keys if key.name == name]
    if elsewhere:
        at, _, key = elsewhere[0].rpartition(".")
        return f"unknown key here; {key!r} belongs in " + (f"[{at}]" if at else "no table")
    all_names = {key.name: str(key) for key in keys}
    near = [
        all_names[near_name] for near_name in difflib.get_close_matches(name, list(all_names), 1)
    ]
    listed = "the keys here: " + ", ".join(own) if own else "mjbot init writes all keys"
    return f"unknown key; {_meant(near) or listed}"


def _meant(near: list[str]) -> str:
    return f"did you mean {near[0]!r}?" if near else ""


def template(request: type, title: str, given: Mapping[str, str]) -> str:
    """Return a commented profile with all keys; those ``given`` (as TOML) are set.

    The others stand with their defaults, commented out, and work as they stand.
    """
    lines, table = [f"# {title}"], None
    for key in keys_of(request):
        if key.table != table:
            table = key.table
            lines += ["", f"[{table}]"] if table else [""]
        lines += ["", *_comment(key)]
        value = given.get(str(key))
        lines.append(f"{key.name} = {value}" if value else f"# {key.name} = {_shown(key)}")
    return "\n".join(lines) + "\n"


def table(request: type) -> str:
    """Return the keys as a table in Markdown, for the documentation."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for key in keys_of(request):
        shown = "" if key.default is None or key.default in ("", ()) else f"`{_shown(key)}`"
        lines.append(f"| `{key}` | {shown} | {_help(key).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def _help(key: Key) -> str:
    text = _SHOWN_BELOW.sub("", key.how["help"]).replace("%%", "%")
    if choices := key.how.get("choices"):
        text += f"; one of {', '.join(choices)}"
    return text


def _comment(key: Key) -> list[str]:
    return textwrap.wrap(_help(key), WIDTH - 2, initial_indent="# ", subsequent_indent="# ")


def _shown(key: Key) -> str:
    """Return a default as TOML; an empty text or list where there is none."""
    default = key.default
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, int | float):
        return f"{default:g}" if isinstance(default, float) else str(default)
    if key.repeats:
        return "[]"
    return '""' if key.is_unset else f'"{default}"'
