"""``mjbot train WHAT ...``: learn weights from recorded games, or from games of our own."""

import argparse
import importlib
import sys
from types import ModuleType
from typing import Final

from mjbot import exit_codes

KINDS: Final[dict[str, tuple[str, str]]] = {
    "hand": ("mjbot.training.hand", "the hand evaluator, from discards before a riichi"),
    "fold": ("mjbot.training.fold", "when to fold, from records"),
    "danger": ("mjbot.training.danger", "how dangerous a tile is, from records"),
    "greedy": ("mjbot.training.tenpai", "what greedy players hold, from games of our own"),
}
"""What -> its module and help line.  The module has ``SUMMARY``, ``add_arguments(parser)`` and
``run(args) -> int``, and is imported only when it is asked for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be trained; the rest of the line belongs to the kind's own module."""
    told = "; ".join(f"{name}: {summary}" for name, (_, summary) in KINDS.items())
    parser.add_argument("what", choices=KINDS, metavar="WHAT", help=told)
    parser.add_argument(
        "rest",
        nargs=argparse.REMAINDER,
        metavar="...",
        help="its own arguments: mjbot train WHAT --help",
    )


def run(args: argparse.Namespace) -> int:
    """Train, and return the exit code; failures over files are one line."""
    from mjbot.append_log import LogError
    from mjbot.models.weights import WeightsError
    from mjbot.records.game import RecordError

    module = _module(args.what)
    parser = argparse.ArgumentParser(prog=f"mjbot train {args.what}", description=module.SUMMARY)
    module.add_arguments(parser)
    try:
        return int(module.run(parser.parse_args(args.rest)))
    except (WeightsError, RecordError, LogError) as error:
        told = str(error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        told = f"{where}{error.strerror or error}"
    print(f"mjbot train {args.what}: {told}", file=sys.stderr)
    return exit_codes.UNREACHABLE


def _module(what: str) -> ModuleType:
    return importlib.import_module(KINDS[what][0])
