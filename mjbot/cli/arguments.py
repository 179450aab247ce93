"""What several commands read from their command lines: numbers, options, tokens.

A type's ``ArgumentTypeError`` becomes the one line with which the command refuses.
"""

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from mjbot.errors import ArgumentError, MjbotError
from mjbot.strategy.options import StrategyError, split_options
from mjbot.strategy.registry import Spec
from protocol.plain_text import one_line

STRONGEST: Final = "strongest"
"""Who is asked about records unless another is named."""
TOKEN_VARIABLE: Final = "MJBOT_TOKEN"
"""Where the bearer token for a server is looked for."""


def seat(text: str) -> int:
    """Return a seat's number."""
    if text not in ("0", "1", "2", "3"):
        raise argparse.ArgumentTypeError(f"seat {text!r}: expected 0, 1, 2 or 3")
    return int(text)


def games(text: str) -> int:
    """Return a number of games, or 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of games, or 0")
    return int(text)


def games_above_0(text: str) -> int:
    """Return a number of games."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of games above 0")
    return int(text)


def seconds(text: str) -> float:
    """Return a time in seconds, above 0 and finite."""
    try:
        time_s = float(text)
    except ValueError:
        time_s = 0.0
    if not 0 < time_s < 1e6:  # neither is nan
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of seconds above 0")
    return time_s


def patience(text: str) -> float:
    """Return a time in seconds, or 0."""
    return 0.0 if text == "0" else seconds(text)


def port(text: str) -> int:
    """Return a TCP port, or 0."""
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a port, 1 to 65535, or 0 for any")
    return int(text)


def strategy(text: str) -> Spec:
    """Return a strategy as ``NAME`` or ``NAME,KEY=VALUE,...`` names it.

    >>> strategy("fast-riichi-a,block-points=40")
    Spec(name='fast-riichi-a', options={'block_points': '40'})
    """
    try:
        return Spec.read(text)
    except StrategyError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_strategy_argument(
    parser: argparse.ArgumentParser, name: str, option: str, default: str, help_: str
) -> None:
    """Declare how a strategy is named; ``option`` is how its options were named before."""
    parser.add_argument(
        name, default=Spec.read(default), type=strategy, metavar="NAME,KEY=VALUE,...", help=help_
    )
    parser.add_argument(
        option,
        action="append",
        default=[],
        type=option_pair,
        metavar="KEY=VALUE",
        help=f"goes away: name options behind the name, {name} NAME,KEY=VALUE",
    )


def with_options(spec: Spec, options: Sequence[tuple[str, str]], name: str, option: str) -> Spec:
    """Return a strategy with what was said by the old ``option``; tell the new way on stderr."""
    if not options:
        return spec
    if any("," in value for _, value in options):
        raise ArgumentError(f"{option}: no value may have a comma")
    spec = replace(spec, options={**spec.options, **dict(options)})
    print(f"mjbot: {option} goes away; say {name} {one_line(spec)}", file=sys.stderr)
    return spec


def option_pair(text: str) -> tuple[str, str]:
    """Return the two halves of ``KEY=VALUE``.

    >>> option_pair("block-points=40")
    ('block_points', '40')
    """
    try:
        ((key, value),) = split_options([text]).items()
    except StrategyError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return key, value


@contextlib.contextmanager
def reading_arguments() -> Iterator[None]:
    """Let a ``ValueError`` inside be an :class:`~mjbot.errors.ArgumentError`."""
    try:
        yield
    except MjbotError:
        raise
    except ValueError as error:
        raise ArgumentError(str(error)) from error


def token(file: Path | None, variable: str) -> str | None:
    """Return the bearer token in ``file``, else in the environment's ``variable``, if any.

    Raises ``OSError`` and :class:`~mjbot.errors.ArgumentError`.
    """
    if file is None:
        return os.environ.get(variable, "").strip() or None
    with reading_arguments():
        text = file.read_text(encoding="utf-8").strip()
    if not text or not text.isprintable():
        raise ArgumentError(f"{file}: expected a token, one line that can be printed")
    return text
