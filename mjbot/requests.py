"""Requests: what a command was asked for, as a frozen dataclass from whose fields its parser is
made.

    @dataclass(frozen=True, kw_only=True)
    class DrawRequest:
        game: Path = argument("record to draw", type=record_path)
        size: int = option(1000, "side of a PNG in pixels", type=count)

:func:`declare` adds the arguments of such a class to a parser, :func:`request_of` makes the request
of what was parsed.  ``argparse`` goes no further.
"""

import argparse
from collections.abc import Iterator
from dataclasses import MISSING, field, fields
from functools import partial
from pathlib import PurePath
from typing import Any, Final, TypeVar

Request = TypeVar("Request")

_HOW: Final = "argparse"
_SHOWN: Final = "shown"


def argument(help_: str, **how: Any) -> Any:
    """Return a field that is a positional argument; ``how`` is for ``add_argument``."""
    default = how.get("default", () if how.get("nargs") == "*" else MISSING)
    return field(default=default, metadata={_HOW: (None, {"help": help_, **how})})


def option(default: Any, help_: str, **how: Any) -> Any:
    """Return a field ``time_s`` that is the option ``--time-s``.

    Help and default are shown together; a help that names its default in brackets, or an option
    that is off unless named, needs no more.  ``how`` is for ``add_argument``; ``flag`` among it
    is another name than the field's, ``shown=False`` leaves it out of :func:`command_of`.
    """
    shown = how.pop("shown", True)
    if default is False:
        how = {"action": "store_true", **how}
    elif default is not None and default != () and "(default" not in help_:
        help_ += f" (default: %(default){'g' if isinstance(default, float) else 's'})"
    if how.get("required"):
        return field(metadata={_HOW: ("--", {"help": help_, **how}), _SHOWN: shown})
    return field(default=default, metadata={_HOW: ("--", {"help": help_, **how}), _SHOWN: shown})


def group(request: type, title: str = "", **defaults: Any) -> Any:
    """Return a field that is a request of its own, with some ``defaults`` other than its class's.

    With a ``title`` it is a group in the help.
    """
    how = {"request": request, "title": title, "defaults": defaults}
    return field(default_factory=partial(request, **defaults), metadata=how)


def declare(parser: argparse._ActionsContainer, request: type) -> None:
    """Add the arguments of a request's class."""
    for each in fields(request):
        if part := each.metadata.get("request"):
            title = each.metadata["title"]
            declare(parser.add_argument_group(title) if title else parser, part)
            parser.set_defaults(**each.metadata["defaults"])
        elif _HOW in each.metadata:
            dashes, how = each.metadata[_HOW]
            if dashes is None:
                parser.add_argument(each.name, **how)
            else:
                repeats = how.get("action") == "append"
                default = [] if repeats else None if how.get("required") else each.default
                how = {"default": default, "dest": each.name, **how}
                flag = how.pop("flag", f"--{each.name.replace('_', '-')}")
                parser.add_argument(flag, **how)


def request_of(request: type[Request], args: argparse.Namespace) -> Request:
    """Return the request that was parsed; lists become tuples."""
    values: dict[str, Any] = {}
    for each in fields(request):  # type: ignore[arg-type]
        part = each.metadata.get("request")
        if part is None and _HOW not in each.metadata and not hasattr(args, each.name):
            continue  # no argument: its default
        value = request_of(part, args) if part else getattr(args, each.name)
        values[each.name] = tuple(value) if isinstance(value, list) else value
    return request(**values)


def command_of(program: str, request: object) -> str:
    """Return the command that makes a request again, as ``mjbot train rank FOLDER --nets 2``.

    Files stand by their names alone: a manifest names no path of the machine that made it.
    """
    return " ".join([program, *_words(request)])


def _words(request: object) -> Iterator[str]:
    options: list[str] = []
    for each in fields(request):  # type: ignore[arg-type]
        value = getattr(request, each.name)
        if each.metadata.get("request"):
            options += _words(value)
        elif _HOW in each.metadata and each.metadata.get(_SHOWN, True):
            dashes, how = each.metadata[_HOW]
            if dashes is None:
                yield _spelled(value)
            elif value is True:
                options.append(how.get("flag", f"--{each.name.replace('_', '-')}"))
            elif value is not None and value is not False and value != ():
                options += [f"--{each.name.replace('_', '-')}", _spelled(value)]
    yield from options


def _spelled(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_spelled, value))
    return value.name if isinstance(value, PurePath) else str(value)
