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
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple, TypeVar

RequestT = TypeVar("RequestT")

_HOW: Final = "argparse"
_SHOWN: Final = "shown"
_KINDS: Final = "kinds"
_WRITES: Final = "writes"

GAMES: Final = ("games",)
"""``writes`` of an output that is a record of games, in whatever file."""


class Subcommand(NamedTuple):
    """A subcommand: its line of help, description, class of requests, and what carries them out.

    ``run`` returns an exit status, or ``None`` if all went well.
    """

    help: str
    summary: str
    request: type
    run: Callable[[Any], int | None]


def argument(help_: str, **how: Any) -> Any:
    """Return a field that is a positional argument; ``how`` is for ``add_argument``.

    ``writes`` among it is as in :func:`option`.
    """
    writes = how.pop("writes", None)
    default = how.get("default", () if how.get("nargs") == "*" else MISSING)
    metadata = {_HOW: (None, {"help": help_, **how}), _SHOWN: True, _WRITES: writes}
    return field(default=default, metadata=metadata)


def option(default: Any, help_: str, **how: Any) -> Any:
    """Return a field ``time_s`` that is the option ``--time-s``.

    Help and default are shown together; a help that names its default in brackets, or an option
    that is off unless named, needs no more.  ``how`` is for ``add_argument``; ``flag`` among it
    is another name than the field's, ``shown=False`` leaves it out of :func:`command_of`, and
    ``writes`` marks a file that the command writes, and has the endings that it may have (empty:
    any).
    """
    shown, flag, writes = how.pop("shown", True), how.pop("flag", "--"), how.pop("writes", None)
    if default is False:
        how = {"action": "store_true", **how}
    elif default is not None and default != () and "(default" not in help_:
        help_ += f" (default: %(default){'g' if isinstance(default, float) else 's'})"
    if how.get("required"):
        default = MISSING
    metadata = {_HOW: (flag, {"help": help_, **how}), _SHOWN: shown, _WRITES: writes}
    return field(default=default, metadata=metadata)


def group(request: type, title: str = "", **defaults: Any) -> Any:
    """Return a field that is a request of its own, with some ``defaults`` other than its class's.

    With a ``title`` it is a group in the help.
    """
    how = {"request": request, "title": title, "defaults": defaults}
    return field(default_factory=partial(request, **defaults), metadata=how)


def subcommand(kinds: Callable[[], Mapping[str, Subcommand]], metavar: str) -> Any:
    """Return a field that is a subcommand's name and its request, as ``(name, request)``."""
    return field(metadata={_KINDS: (kinds, metavar)})


def how_of(option: "Field[Any]") -> Mapping[str, Any] | None:
    """Return what ``add_argument`` is given for a field that is an option, else ``None``."""
    dashes, how = option.metadata.get(_HOW, (None, None))
    return None if dashes is None else how


def is_hidden(option: "Field[Any]") -> bool:
    """Return whether an option is left out of :func:`command_of`, and of profiles."""
    return not option.metadata.get(_SHOWN)


def part_of(option: "Field[Any]") -> type | None:
    """Return the class of a field that is a request of its own."""
    part: type | None = option.metadata.get("request")
    return part


class NamedPath(NamedTuple):
    """A path in a request, by the argument that names it.

    ``writes`` is ``None`` for what is read, else the endings that a written file may have.
    """

    flag: str
    path: Path
    writes: tuple[str, ...] | None


def paths_of(request: Any) -> Iterator[NamedPath]:
    """Yield the paths in a request and its parts."""
    for option in fields(request):
        value = getattr(request, option.name)
        if _KINDS in option.metadata:
            yield from paths_of(value[1])
        elif part_of(option) is not None:
            yield from paths_of(value)
        elif _HOW in option.metadata:
            flag = option.metadata[_HOW][1].get("metavar") or option.name
            flag = _flag(option) if option.metadata[_HOW][0] else flag
            for path in value if isinstance(value, tuple) else (value,):
                if isinstance(path, Path):
                    yield NamedPath(flag, path, option.metadata[_WRITES])


def declare(parser: argparse._ActionsContainer, request: type) -> None:
    """Add the arguments of a request's class; an option that is there already stays one."""
    for option in fields(request):
        if _KINDS in option.metadata:
            _declare_kinds(parser, option.name, *option.metadata[_KINDS])
        elif part := option.metadata.get("request"):
            title = option.metadata["title"]
            declare(parser.add_argument_group(title) if title else parser, part)
            parser.set_defaults(**option.metadata["defaults"])
        elif _HOW in option.metadata:
            dashes, how = option.metadata[_HOW]
            if dashes is None:
                parser.add_argument(option.name, **how)
            elif _flag(option) not in parser._option_string_actions:
                repeats = how.get("action") in ("append", "extend")
                default = [] if repeats else None if how.get("required") else option.default
                parser.add_argument(
                    _flag(option), **{"default": default, "dest": option.name, **how}
                )


def _declare_kinds(
    parser: argparse._ActionsContainer,
    name: str,
    kinds: Callable[[], Mapping[str, Subcommand]],
    metavar: str,
) -> None:
    assert isinstance(parser, argparse.ArgumentParser)
    parts = parser.add_subparsers(dest=name, required=True, metavar=metavar)
    for word, kind in kinds().items():
        own = parts.add_parser(word, help=kind.help, description=kind.summary)
        own.set_defaults(program=own.prog)
        declare(own, kind.request)


def _flag(option: Field[Any]) -> str:
    flag: str = option.metadata[_HOW][0]
    return f"--{option.name.replace('_', '-')}" if flag == "--" else flag


def request_of(request: type[RequestT], args: argparse.Namespace) -> RequestT:
    """Return the request that was parsed; lists become tuples."""
    values: dict[str, Any] = {}
    for option in fields(request):  # type: ignore[arg-type]
        part = option.metadata.get("request")
        if _KINDS in option.metadata:
            name = getattr(args, option.name)
            kind = option.metadata[_KINDS][0]()[name]
            values[option.name] = name, request_of(kind.request, args)
            continue
        if part is None and _HOW not in option.metadata and not hasattr(args, option.name):
            continue  # no argument: its default
        value = request_of(part, args) if part else getattr(args, option.name)
        values[option.name] = tuple(value) if isinstance(value, list) else value
    return request(**values)


def is_given(value: object) -> bool:
    """Return whether an option that is off, empty or ``None`` by default has been given."""
    return value is not None and value is not False and value != ()


def command_of(program: str, request: object, *, whole_paths: bool = False) -> str:
    """Return the command that makes a request again, as ``mjbot train rank FOLDER --nets 2``.

    Unless ``whole_paths``, files are named without their folders: a manifest names no path of the
    machine that made it.
    """
    paths = str if whole_paths else _name_of
    return " ".join([program, *_arguments_of(request, paths)])


def _arguments_of(request: object, paths: Callable[[PurePath], str]) -> Iterator[str]:
    options: list[str] = []
    for option in fields(request):  # type: ignore[arg-type]
        value = getattr(request, option.name)
        if option.metadata.get("request"):
            options += _arguments_of(value, paths)
        elif not option.metadata.get(_SHOWN) or not is_given(value):
            continue
        elif option.metadata[_HOW][0] is None:
            yield _spelled(value, paths)
        else:
            options += [_flag(option), *([] if value is True else [_spelled(value, paths)])]
    yield from options


def _name_of(path: PurePath) -> str:
    return path.name


def _spelled(value: object, paths: Callable[[PurePath], str]) -> str:
    if isinstance(value, list | tuple):
        return " ".join([_spelled(item, paths) for item in value])
    return shlex.quote(paths(value) if isinstance(value, PurePath) else str(value))
