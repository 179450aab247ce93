"""Proof on known answers: 10,000 + 816 scored wins and 40,000 shanten.

The answers are those of the simulators majiang-core and RiichiEnv, in the shared data folder.
Where their rules differ from Tenhou's, the difference is counted by its reason.
"""

import argparse
import json
import sys
import zipfile
from pathlib import Path

from proof import majiang_answers, riichienv_answers
from proof.answers import Report
from proof.records import shared_folder

MAJIANG = "majiang-core.zip"
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
    with zipfile.ZipFile(folder / MAJIANG) as archive:
        for number in range(1, 5):
            for case in json.loads(archive.read(f"xiangting_{number}.json")):
                majiang_answers.check_shanten(case, report)
        for case in json.loads(archive.read("hule.json")):
            majiang_answers.check_win(case, report)
    for case in json.loads((folder / RIICHIENV).read_text(encoding="utf-8"))["cases"]:
        riichienv_answers.check_win(case, report)
    return report
