"""The options of a strategy: its dataclass fields, read from text such as ``lookahead=text``."""

import dataclasses
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.strategy.strategy import Strategy

TRUE: Final = ("yes", "true", "on", "1")
FALSE: Final = ("no", "false", "off", "0")


class StrategyError(MjbotError, ValueError):
    """Unknown strategy or option; the message is one line for the user."""

    exit_code = ExitCode.BAD_ARGUMENTS


@dataclass(frozen=True)
class Option:
    """One option of a strategy.

    ``unit`` is the field's metadata of that name, or empty: what the option counts.
    """

    name: str
    default: object
    type: Any
    unit: str

    def __str__(self) -> str:
        return f"{self.name}={_spelled(self.default)}" + (f" ({self.unit})" if self.unit else "")


def switch(what: str, *, default: bool = True) -> bool:
    """Return a dataclass field that turns a part of a strategy on or off; ``what`` names it."""
    enabled: bool = field(default=default, metadata={"unit": what})
    return enabled


def options_of(cls: type[Strategy]) -> tuple[Option, ...]:
    """Return the options of a strategy class in the order of its fields."""
    key: Any = cls  # mypy: its instances have no hash, hence it has none itself
    return _options_of(key)


@cache
def _options_of(cls: type[Strategy]) -> tuple[Option, ...]:
    hints = get_type_hints(cls)
    return tuple(
        Option(
            option.name,
            _default(option),
            hints[option.name],
            option.metadata.get("unit", ""),
        )
        for option in dataclasses.fields(cls)
        if option.init
    )


def split_options(texts: Iterable[str]) -> dict[str, str]:
    """Split ``KEY=VALUE`` texts.  Raises :class:`StrategyError`.

    >>> split_options(["lookahead=text", "block-points=40"])
    {'lookahead': 'text', 'block_points': '40'}
    """
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise StrategyError(f"option {text!r}: expected KEY=VALUE")
        options[name.strip().replace("-", "_")] = value.strip()
    return options


def read_options(cls: type[Strategy], texts: Mapping[str, str]) -> dict[str, object]:
    """Return the values of options given as texts, by the types of the class's fields.

    Raises :class:`StrategyError` naming the option and what it may be.
    """
    known = {option.name: option for option in options_of(cls)}
    values: dict[str, object] = {}
    for name, text in texts.items():
        if name not in known:
            has = "only " + ", ".join(known) if known else "no options"
            raise StrategyError(f"option {name!r}: {cls.__name__} has {has}")
        values[name] = _read(known[name], text)
    return values


def _spelled(value: object) -> str:
    """Return a value as it may be given on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _default(option: dataclasses.Field[Any]) -> object:
    if option.default_factory is not dataclasses.MISSING:
        return option.default_factory()
    return None if option.default is dataclasses.MISSING else option.default


def _read(option: Option, text: str) -> object:
    for type_ in _alternatives(option.type):
        value = _value(type_, text)
        if value is not dataclasses.MISSING:
            return value
    allowed = " or ".join(_allowed(type_) for type_ in _alternatives(option.type))
    raise StrategyError(f"option {option.name!r}: {text!r} is not {allowed}")


def _alternatives(type_: Any) -> tuple[Any, ...]:
    return get_args(type_) if get_origin(type_) in (Union, types.UnionType) else (type_,)


def _value(type_: Any, text: str) -> object:
    """Return the text as a value of the type, or ``MISSING`` if it is none."""
    if get_origin(type_) is Literal:
        return next((x for x in get_args(type_) if str(x) == text), dataclasses.MISSING)
    if type_ is bool:
        known = text.lower() in TRUE + FALSE
        return text.lower() in TRUE if known else dataclasses.MISSING
    if type_ is type(None):
        return None if text.lower() == "none" else dataclasses.MISSING
    try:
        return type_(text) if type_ in (int, float, str) else dataclasses.MISSING
    except ValueError:
        return dataclasses.MISSING


def _allowed(type_: Any) -> str:
    if get_origin(type_) is Literal:
        return "one of " + ", ".join(str(value) for value in get_args(type_))
    descriptions = {
        bool: "yes or no",
        int: "a whole number",
        float: "a number",
        type(None): "none",
    }
    return descriptions.get(type_, "something that can be given on the command line")
