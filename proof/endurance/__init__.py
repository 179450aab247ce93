"""Programs of ours for long and with faults: what holds at the start must hold at the end.

``python -m proof endurance SUBJECT``: each subject is a module here with ``add_arguments(parser)``
and ``endure(args)``, which returns what does not hold.  What a process uses is sampled
(:func:`proof.remains.used`) and must stay flat (:mod:`proof.endurance.trend`).
"""

import argparse
import asyncio
import importlib
import logging
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from mjbot.runtime.errors import ExitCode
from proof.endurance.commands import end_everything

SUBJECTS: Final = {
    "soak": "a pair and an arena at once, with killed processes",
    "service": "six bots as services for hours, each behind a fault-injection proxy",
    "long-arena": "50,000 hanchan with flat memory, and again with workers killed at random",
    "signals": "200 signals at random moments of serve, play, duo, match and arena",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof endurance``."""
    subparsers = parser.add_subparsers(dest="subject", required=True, metavar="SUBJECT")
    for name, summary in SUBJECTS.items():
        _module(name).add_arguments(subparsers.add_parser(name, help=summary, description=summary))


def run(args: argparse.Namespace) -> int:
    """Play the subject, print what does not hold, return 1 if anything does not."""
    if not sys.platform.startswith("linux"):
        print("proof endurance: needs /proc, which only Linux has")
        return int(ExitCode.UNREACHABLE)
    logging.disable(logging.ERROR)  # messages about killed processes
    try:
        problems: Sequence[str] = asyncio.run(_module(args.subject).endure(args))
    finally:
        end_everything()
    for problem in problems:
        print(f"problem: {problem}")
    print(f"{len(problems)} problems")
    return int(bool(problems))


def _module(subject: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{subject.replace('-', '_')}")
