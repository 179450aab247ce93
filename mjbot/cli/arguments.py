"""What several commands read from their command lines: options, rules, tokens.

A type's ``ArgumentTypeError`` becomes the one line with which the command refuses
(:mod:`mjbot.runtime.argument_types` has numbers and times).
"""

import argparse
import contextlib
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mjbot.game.records.other_formats import record_path
from mjbot.protocol.rules import LAST_ROUND, RANKED, RULE_SETS, SET, Length, Rules
from mjbot.protocol.transports.base import system_message
from mjbot.runtime.argument_types import count
from mjbot.runtime.errors import ArgumentError, ExitCode, MjbotError, error_report
from mjbot.runtime.languages import LANGUAGES, VARIABLES, language_named
from mjbot.runtime.redaction import conceal
from mjbot.runtime.requests import argument, option
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec

if TYPE_CHECKING:
    from mjbot.game.records.positions import RecordPosition

STRONGEST: Final = "strongest"
"""The default strategy for questions about records."""
PRINTABLE: Final = "expected one token a line, in letters, digits and signs of ASCII"
TOKEN_VARIABLE: Final = "MJBOT_TOKEN"
"""Where the bearer token for a server is looked for."""


def seat(text: str) -> int:
    """Return a seat's number."""
    if text not in ("0", "1", "2", "3"):
        raise argparse.ArgumentTypeError(f"seat {text!r}: expected 0, 1, 2 or 3")
    return int(text)


def players(text: str) -> int:
    """Return a number of players."""
    if text not in ("3", "4"):
        raise argparse.ArgumentTypeError(f"players {text!r}: expected 3 or 4")
    return int(text)


def position(text: str) -> "RecordPosition":
    """Return a position of a game."""
    from mjbot.game.records.positions import RecordPosition  # reads all kinds of records

    try:
        return RecordPosition.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def strategy(text: str) -> Spec:
    """Return a strategy as ``NAME`` or ``NAME,KEY=VALUE,...`` names it.

    >>> strategy("fast-riichi-a,block-points=40")
    Spec(name='fast-riichi-a', options={'block_points': '40'})
    """
    try:
        return Spec.read(text)
    except StrategyError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def rules(text: str, players: Collection[int] = (4,)) -> Rules:
    """Return the rule set of a TOML file, or of ``[SET,]NAME=VALUE,...``.

    ``players`` are the numbers of players that the command implements.

    >>> rules("tonpu,bust=no,uma=15000/5000/-5000/-15000")
    ... # doctest: +ELLIPSIS
    Rules(length='tonpu', red_fives=True, open_tanyao=True, bust=False, ...)
    """
    try:
        if text.endswith(".toml"):
            return Rules.read(tomllib.loads(Path(text).read_text(encoding="utf-8")), players)
        return Rules.read(dict(map(_rule, text.split(","))), players)
    except (OSError, ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {system_message(error)}") from None


def _rule(text: str) -> tuple[str, Any]:
    if text in LAST_ROUND:
        return "length", text
    if text in RULE_SETS:
        return SET, text
    name, equals, value = text.partition("=")
    if not equals:
        sets = ", ".join(RULE_SETS)
        raise ValueError(f"{text!r} is no rule set ({sets}) and not NAME=VALUE, such as bust=no")
    if value in ("yes", "no"):
        return name, value == "yes"
    numbers = value.split("/")
    if all(number.removeprefix("-").isdecimal() for number in numbers):
        return name, [int(n) for n in numbers] if len(numbers) > 1 else int(value)
    return name, value


# --- options of several commands: fields of their requests ---------------------------------------


def record_argument(
    help_: str = "record: mjai, mjlog, tenhou.net/6 or Mahjong Soul", **how: Any
) -> Any:
    """Return the argument that names a record of games."""
    return argument(help_, metavar="GAME", **{"type": record_path, **how})


def seat_option(default: str) -> Any:
    """Return the option ``--seat``."""
    help_ = f"seat that is evaluated or shown, 0 to 3 (default: {default})"
    return option(None, help_, type=seat)


def at_option(default: str, also: str = "", **how: Any) -> Any:
    """Return the option ``--at``."""
    help_ = (
        "position: E2-1:5, the fifth choice of --seat in East 2 honba 1, or the number of an event,"
        f" start_game being 1{also} (default: {default})"
    )
    return option(None, help_, metavar="POSITION", **{"type": position, **how})


def no_browser_option() -> Any:
    """Return the option ``--no-browser``."""
    return option(False, "print the page's address and open no browser")


def language_option() -> Any:
    """Return the option ``--language``; :mod:`mjbot.cli.main` reads it."""
    names = ", ".join(LANGUAGES)
    help_ = f"language of pages and reviews: {names} (default: that of {', '.join(VARIABLES)})"
    return option(None, help_, type=language_name, metavar="NAME", shown=False)


def language_name(text: str) -> str:
    """Return the language of a name or a locale."""
    try:
        return language_named(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def json_option() -> Any:
    """Return the option ``--json`` of commands that print a report."""
    return option(False, "print the report as JSON", shown=False)


def strategy_option(default: str | None, help_: str) -> Any:
    """Return the option that names a strategy with its options."""
    spec = None if default is None else Spec.read(default)
    return option(spec, help_, type=strategy, metavar="NAME,KEY=VALUE,...")


def seed_option(default: int | None = 0) -> Any:
    """Return the option ``--seed``; without a default the seed is drawn."""
    drawn = " (default: random)" if default is None else ""
    help_ = f"random seed: the same seed gives the same walls, seats and draws{drawn}"
    return option(default, help_, type=int)


def rules_option(players: Collection[int] = (4,)) -> Any:
    """Return the option ``--rules`` of a command for so many ``players``."""
    help_ = "rules of the games (default: Tenhou's ranked rules; the names: docs/rules.md)"
    return option(
        None, help_, type=partial(rules, players=players), metavar="FILE.toml|SET,NAME=VALUE,..."
    )


def record_rules_option() -> Any:
    """Return the option ``--rules`` of commands that read records."""
    help_ = "rules of the recorded games (default: those that a record names)"
    return option(
        None, help_, type=partial(rules, players=(3, 4)), metavar="FILE.toml|SET,NAME=VALUE,..."
    )


def length_option(
    help_: str = "length of a game (default: hanchan, or that of --rules)",
) -> Any:
    """Return the option ``--length``."""
    return option(None, help_, choices=list(LAST_ROUND))


def unannounced_length_option() -> Any:
    """Return the option ``--length`` of a client."""
    return length_option("length of a game that the server does not announce (default: hanchan)")


def unannounced_players_option() -> Any:
    """Return the option ``--players`` of a client."""
    help_ = "number of players of a table that does not show it (default: 4)"
    return option(None, help_, type=players, metavar="3|4")


def rules_with(rules: Rules | None, length: Length | None) -> Rules:
    """Return the rules that ``--rules`` and ``--length`` ask for."""
    found = rules or RANKED
    return found if length is None else msgspec.structs.replace(found, length=length)


def jobs_option() -> Any:
    """Return the option ``--jobs``."""
    return option(None, "number of processes (default: one per processor)", type=count)


def file_option(help_: str, **how: Any) -> Any:
    """Return an option that names a file."""
    return option(None, help_, type=Path, metavar="FILE", **how)


def output_option(help_: str, *endings: str, **how: Any) -> Any:
    """Return an option that names a file to write; see :mod:`mjbot.cli.outputs`."""
    return file_option(help_, writes=endings, **how)


def number_option(help_: str, **how: Any) -> Any:
    """Return an option that is one of several things by its number, the first being 0."""
    return option(0, f"{help_}, the first being 0", type=int, metavar="N", **how)


def folder_option(help_: str, default: Path | None = None) -> Any:
    """Return an option that names a folder."""
    return option(default, help_, type=Path, metavar="FOLDER")


def program() -> str:
    """Return how this program is started from the current folder, for commands that are printed.

    That is ``mjbot`` where a shell finds it, else its path, as ``.venv/bin/mjbot``.
    """
    beside = Path(sys.executable).with_name("mjbot")
    if shutil.which("mjbot") or not beside.is_file():
        return "mjbot"
    is_below = beside.is_relative_to(Path.cwd())
    return shlex.quote(str(beside.relative_to(Path.cwd()) if is_below else beside))


@contextlib.contextmanager
def reading_arguments() -> Iterator[None]:
    """Let a ``ValueError`` inside be an :class:`~mjbot.runtime.errors.ArgumentError`."""
    try:
        yield
    except MjbotError:
        raise
    except ValueError as error:
        raise ArgumentError(str(error)) from error


def token(file: Path | None, variable: str, given: str | None = None) -> str | None:
    """Return the token ``given``, else that in ``file``, else in the environment's ``variable``.

    Raises :class:`~mjbot.runtime.errors.ArgumentError`, which quotes no token.
    """
    if given is not None:
        return secret_words(given, "--ws-token")[0]
    words = (
        secrets_in(file)
        if file is not None
        else secret_words(os.environ.get(variable, ""), variable)
    )
    if len(words) > 1:
        raise ArgumentError(f"{file or variable}: expected one token, here are {len(words)} words")
    return words[0] if words else None


def secrets_in(file: Path, *, only_regular: bool = False) -> list[str]:
    """Return the secrets in a file, one a line; raises ``ArgumentError``."""
    try:
        if only_regular and file.exists() and not file.is_file():
            raise ArgumentError(f"{file} is a pipe or a device; name a file with the token")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        problem = f"{error_report(error)[0]}; name a file with the token"
        raise ArgumentError(problem, exit_code=ExitCode.UNREACHABLE) from None
    except UnicodeError:
        raise ArgumentError(f"{file}: not UTF-8; {PRINTABLE}") from None
    words = secret_words(text, str(file))
    if not words:
        raise ArgumentError(f"{file}: no token there; {PRINTABLE}")
    return words


def secret_words(text: str, source: str) -> list[str]:
    """Return the words of a text as secrets of this process, which no output shows from now on.

    A header can have printable ASCII alone, and a library that receives another character quotes
    the whole header.  Raises :class:`~mjbot.runtime.errors.ArgumentError`, which quotes none.
    """
    words = text.split()
    for word in words:
        conceal(word)
    if not all(word.isascii() and word.isprintable() for word in words):
        raise ArgumentError(f"{source}: a character that a token cannot have; {PRINTABLE}")
    return words
