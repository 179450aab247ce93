"""``mjbot detect RECORDS...``: which players play for each other, as a table, a page and JSON."""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from mjbot.cli.arguments import games_above_0
from mjbot.detection.evidence import close_games, weightiest
from mjbot.detection.games import Games, count_games
from mjbot.detection.page import page
from mjbot.detection.report import HEADS, WARNING, Finding, Report, cells, report_json
from mjbot.detection.verdicts import (
    LEAST_GAMES,
    Weights,
    judge,
    shipped_weights,
)
from mjbot.errors import ArgumentError, ExitCode
from mjbot.interruption import keeping
from mjbot.progress import progress
from mjbot.records.other_formats import record_path
from mjbot.training.positions import DistinctGames, GameRef, LeftOut
from protocol.plain_text import one_line

SHOWN: Final = 10
WIDTH: Final = 132
"""Columns that the table takes at least: cut short it would say nothing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "records",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
        help="records of any kind that is read, folders or zips of them",
    )
    parser.add_argument(
        "--least",
        type=_least_games,
        default=LEAST_GAMES,
        metavar="GAMES",
        help="games together from which on a pair is judged, 5 or more (default: %(default)s)",
    )
    parser.add_argument(
        "--shown",
        type=games_above_0,
        default=SHOWN,
        metavar="PAIRS",
        help="how many are looked at closely, the surest first (%(default)s)",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page (not written)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument(
        "--folder",
        type=Path,
        help="keep what is counted there, so that the same command goes on (not kept)",
    )
    parser.add_argument("--jobs", type=int, help="processes (one per processor)")


def _least_games(text: str) -> int:
    games = games_above_0(text)
    if games < LEAST_GAMES:
        raise argparse.ArgumentTypeError(
            f"{text}: pairs are judged by {LEAST_GAMES} games together or more"
        )
    return games


def run(args: argparse.Namespace) -> int:
    """Look for pairs."""
    jobs = os.cpu_count() or 1 if args.jobs is None else args.jobs
    if jobs < 1:
        raise ArgumentError("--jobs: at least 1")
    console, left_out = Console(stderr=True), LeftOut()
    weights = shipped_weights()
    with progress(console, "looking through the records"):
        refs = DistinctGames(left_out, by_players=True).index(args.records)
    kept = f"kept in {args.folder}; the same command goes on" if args.folder else ""
    with keeping(lambda: kept), progress(console, "counting", len(refs), "games") as tell:
        games = count_games(refs, weights.model, jobs, args.folder, left_out, tell)
    findings = [Finding(verdict) for verdict in judge(games, weights, args.least)]
    close = findings[: args.shown]
    with progress(console, "looking closely", len(close), "pairs") as tell:
        for finding in close:
            _look_closely(finding, refs, games, weights, jobs)
            tell()
    report = Report(
        records=", ".join(map(str, args.records)),
        games=len(games),
        players=len(games.players),
        least=args.least,
        findings=findings,
        left_out=f"{left_out}{left_out.duplicates_text}",
        duplicates=left_out.duplicates,
    )
    if args.html:
        args.html.write_text(page(report), encoding="utf-8")
    _tell(report, args.shown, args.json)
    return ExitCode.OK


def _look_closely(
    finding: Finding, refs: Sequence[GameRef], games: Games, weights: Weights, jobs: int
) -> None:
    """Find the positions that weigh most."""
    verdict = finding.verdict
    by_number = {ref.number: ref for ref in refs}
    seats, chosen = {}, []
    for place in close_games(verdict):
        number = int(games.numbers[verdict.games[place]])
        one, other = verdict.seats[place].tolist()
        seats[number] = (one, other)
        chosen.append(by_number[number])
    finding.positions = weightiest(sorted(chosen), seats, verdict, weights, jobs)


def _tell(report: Report, shown: int, as_json: bool) -> None:
    say: Callable[[str], None] = print
    if as_json:
        say(json.dumps(report_json(report)))
        return
    table = Table(*HEADS)
    for finding in report.findings[:shown]:
        table.add_row(*[one_line(cell) for cell in cells(finding)])
    Console(width=max(Console().width, WIDTH)).print(table, markup=False)
    for finding in report.findings[:shown]:
        if finding.is_conspicuous:
            say("")
            say(one_line(f"{' + '.join(finding.verdict.names)} (not proof):"))
            for position in finding.positions:
                say(one_line(f"  {position.sentence}"))
                say(f"    {position.command}")
    say("")
    say(one_line(report.told))
    say(WARNING)
