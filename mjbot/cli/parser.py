"""A parser of arguments that refuses in one line, with the nearest word that it has."""

import argparse
import difflib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, NoReturn

from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode

NEAR: Final = 0.7
"""Likeness from which a word is suggested for another: ``--player`` is not near ``--folder``."""


class Parser(argparse.ArgumentParser):
    """Refuses in one line, like everything else; the usage would be a page.

    The line names the argument, and the nearest command, choice or option there is.
    """

    def __init__(self, **how: Any) -> None:
        how.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**how)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)

    def error(self, message: str) -> NoReturn:
        """End the process with the one line."""
        problem = one_line(message)
        self.exit(ExitCode.BAD_ARGUMENTS, f"{self.prog}: error: {problem} (see --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is left over here, where the command and its options are known."""
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            word = rest[0].partition("=")[0]
            problem = "unknown option" if word.startswith("-") else "unexpected argument"
            self.error(f"{problem} {word!r}{self._cure(word)}")
        return parsed, rest

    def _cure(self, word: str) -> str:
        options = self._option_string_actions
        rule = word.removeprefix("--").replace("-", "_")
        if "--rules" in options and rule in Rules.__struct_fields__:
            return f"; it is one of the rules: --rules {rule}=VALUE"
        return _nearest(word, options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            others = f"; expected {' or '.join(choices)}"
            text = f"unknown {value!r}{_nearest(str(value), choices) or others}"
            raise argparse.ArgumentError(action, text)


def _nearest(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), 1, NEAR)
    return f"; did you mean {near[0]!r}?" if near else ""


def _whole_number(text: str) -> int:
    with suppress(ValueError):
        return int(text)
    example = 10
    with suppress(ValueError, OverflowError):
        example = int(float(text))
    raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, such as {example}")


def _number(text: str) -> float:
    with suppress(ValueError):
        return float(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected a number, such as 0.5")
