"""Proof on known answers: 816 scored wins.

The answers are those of the simulator RiichiEnv, in the shared data folder.  Where its rules differ
from Tenhou's, the difference is counted by its reason.
"""

import argparse
import json
import sys
from pathlib import Path

from proof import riichienv_answers
from proof.answers import Report
from proof.records import shared_folder

RIICHIENV = "riichienv-agari-4p.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof known-answers``."""
    parser.add_argument("--data", type=Path, default=None, help="folder with the known answers")


def run(args: argparse.Namespace) -> int:
    """Compare all answers, print the report, return 1 if a difference is unexplained."""
    try:
        report = check_known_answers(args.data or shared_folder() / "data" / "known-answers")
    except OSError as error:
        print(f"proof: {error.filename}: {error.strerror}; see --data", file=sys.stderr)
        return 3
    for line in report.lines():
        print(line)
    return 1 if report.differences else 0


def check_known_answers(folder: Path) -> Report:
    """Compare every answer in ``folder``."""
    report = Report()
    for case in json.loads((folder / RIICHIENV).read_text(encoding="utf-8"))["cases"]:
        riichienv_answers.check_win(case, report)
    return report
