"""``mjbot completion SHELL``: a script with which a shell completes mjbot's command lines.

The script is made from the parsers and holds all of them: completing starts no program.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mjbot.cli.arguments import strategy
from mjbot.cli.main import make_parser
from mjbot.game.records.other_formats import record_path
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.requests import argument
from mjbot.strategy.registry import built_in_names

SHELLS: Final = ("bash", "zsh", "tcsh")


class MissingShtabError(MjbotError, ImportError):
    """The library that writes the scripts is not installed."""


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """Arguments of ``mjbot completion``."""

    shell: str = argument("shell that is to complete", choices=SHELLS)


def run(request: CompletionRequest) -> int:
    """Print the script."""
    print(script(request.shell))
    return ExitCode.OK


def script(shell: str) -> str:
    """Return the script; raises :class:`MissingShtabError`."""
    try:
        import shtab
    except ModuleNotFoundError:
        text = "mjbot completion needs shtab: pip install 'mjbot[completion]'"
        raise MissingShtabError(text) from None
    names = " ".join(built_in_names())
    strategies = {
        "bash": "_mjbot_strategies",
        "zsh": f"({names})",
        "tcsh": names,
    }
    parser = make_parser()
    _complete(parser, shtab.FILE, strategies)
    preamble = f'_mjbot_strategies() {{ compgen -W "{names}" -- "$1"; }}\n'
    completion: str = shtab.complete(parser, shell, preamble=preamble if shell == "bash" else "")
    return completion


def _complete(parser: argparse.ArgumentParser, file: Any, strategies: dict[str, str]) -> None:
    """Say of each argument of a parser, and of its subcommands, what completes it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.help = None  # what the help of mjbot leaves out would be left out here
            for child in action.choices.values():
                _complete(child, file, strategies)
        elif isinstance(action.choices, dict):
            action.choices = tuple(action.choices)  # the library takes a dict for subcommands
        elif action.type is strategy:
            action.complete = strategies  # type: ignore[attr-defined]
        elif action.type in (Path, record_path):
            action.complete = file  # type: ignore[attr-defined]
