"""``mjbot stats RECORDS...``: figures of players over records, as tables, a page, JSON or files."""

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Column, Table

from mjbot.analysis.stats.breakdown import KEYS, PLAYER, VERSION, Breakdown, BreakdownPlan
from mjbot.analysis.stats.counted_games import count_games, list_work, refuse_other_code
from mjbot.analysis.stats.outputs import (
    StatsReport,
    cells,
    comparison_lines,
    comparison_rows,
    heads,
    report_json,
    require_parquet,
    write_csv,
    write_parquet,
)
from mjbot.analysis.stats.page import INTERVAL, page
from mjbot.analysis.stats.periods import ComparedSide, Period
from mjbot.analysis.stats.ratings import EXTRA, Ratings, available
from mjbot.cli.arguments import (
    jobs_option,
    json_option,
    language_option,
    output_option,
    record_rules_option,
)
from mjbot.game.records.other_formats import record_path
from mjbot.game.statistics.origin import origin_of
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.runtime.argument_types import count
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import write_text
from mjbot.runtime.languages import marked, translate
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import argument, option

SHOWN: Final = 20
WIDTH: Final = 168
"""Columns that a table takes at least: cut short it would say nothing."""
DEFAULT_BY: Final = ("week", "seat", "length")
MOST_SHOWN_ROWS: Final = 60
LONGEST_NAME: Final = 30


def _version(text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: not a regular expression ({error})") from None
    if {"player", "version"} - set(pattern.groupindex):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected the groups (?P<player>...) and (?P<version>...)"
        )
    return pattern


def _opponents(text: str) -> tuple[str, re.Pattern[str]]:
    name, equals, pattern = text.partition("=")
    if not (name and equals and pattern):
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=REGEX, such as strong=^mortal")
    try:
        return name, re.compile(pattern)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: not a regular expression ({error})") from None


def _side(text: str) -> ComparedSide:
    try:
        return ComparedSide.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _period(text: str) -> Period:
    try:
        return Period.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class StatsRequest:
    """What ``mjbot stats`` is asked for."""

    records: tuple[Path, ...] = argument(
        "records of any format, folders or zips of them, or folders of arena runs",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
    )
    by: tuple[str, ...] = option(
        (),
        f"break the figures down by these: {', '.join(KEYS)} (default: {' '.join(DEFAULT_BY)})",
        nargs="+",
        choices=list(KEYS),
        metavar="KEY",
    )
    player: tuple[str, ...] = option(
        (), "name of a player to report (default: all)", action="extend", nargs="+", metavar="NAME"
    )
    compare: tuple[ComparedSide, ...] = option(
        (),
        "compare two players, versions or periods, the first less the second; PERIOD is FROM..TO,"
        " each a year, month, week or day (default: no comparison)",
        nargs=2,
        type=_side,
        metavar=("NAME[@PERIOD]", "NAME[@PERIOD]"),
    )
    period: Period | None = option(
        None, "count games of this period only (default: all)", type=_period, metavar="FROM..TO"
    )
    rules: Rules | None = record_rules_option()
    least: int = option(1, "finished games that a row needs", type=count, metavar="GAMES")
    shown: int = option(
        SHOWN, "players shown in tables and on the page, most games first", type=count
    )
    opponent_class: tuple[tuple[str, re.Pattern[str]], ...] = option(
        (),
        "class of opponents whose names match, for --by opponent-class; may be repeated"
        " (default: none)",
        action="append",
        type=_opponents,
        metavar="NAME=REGEX",
    )
    version_pattern: re.Pattern[str] | None = option(
        None,
        "regular expression with the groups player and version that splits a name (default: what"
        " follows an @, or a number such as 1.2 at the end)",
        type=_version,
        metavar="REGEX",
    )
    merge_versions: bool = option(False, "count all versions of a player as one")
    file_dates: bool = option(
        False, "date a game by its file where neither record nor file name has a date"
    )
    html: Path | None = output_option("file for a page with plots (default: none)", ".html", ".htm")
    csv: Path | None = output_option("file for all rows as CSV (default: none)", ".csv")
    parquet: Path | None = output_option(
        f"file for all rows as Parquet, needs {EXTRA} (default: none)", ".parquet"
    )
    json: bool = json_option()
    jobs: int | None = jobs_option()
    language: str | None = language_option()


def run(request: StatsRequest) -> int:
    """Count and report."""
    plan = _plan(request)
    if request.parquet:
        require_parquet()
    breakdown = Breakdown(plan, Ratings() if plan.is_rated and available() else None)
    is_whole = _count(request, breakdown)
    if not breakdown.games:
        raise ArgumentError("no game to count: none has a kyoku and is of the period")
    report = StatsReport(", ".join(map(str, request.records)), breakdown, request.least)
    if request.html:
        origin = origin_of(["mjbot stats", *map(str, request.records)])
        write_text(request.html, page(report, request.shown, origin))
    if request.csv:
        write_csv(request.csv, report)
    if request.parquet:
        write_parquet(request.parquet, report)
    _print(report, request)
    return ExitCode.OK if is_whole else ExitCode.FAILED


def _plan(request: StatsRequest) -> BreakdownPlan:
    by = tuple(dict.fromkeys(request.by or DEFAULT_BY))
    if "opponent-class" in by and not request.opponent_class:
        raise ArgumentError("--by opponent-class needs --opponent-class NAME=REGEX")
    if "opponent-strength" in by and not available():
        raise ArgumentError(f"--by opponent-strength needs OpenSkill: pip install '{EXTRA}'")
    sides = (request.compare[0], request.compare[1]) if request.compare else None
    if sides and sides[0].overlaps(sides[1]):
        raise ArgumentError(f"--compare: {sides[0]} and {sides[1]} have games in common")
    return BreakdownPlan(
        by=by,
        players=frozenset(request.player),
        classes=request.opponent_class,
        version=request.version_pattern or re.compile(VERSION),
        merge_versions=request.merge_versions,
        period=request.period or Period(),
        sides=sides,
    )


def _count(request: StatsRequest, breakdown: Breakdown) -> bool:
    """Take in the records; return whether all hands of the games could be read."""
    is_whole = True
    console, jobs = Console(stderr=True), request.jobs or worker_count()
    with progress(console, marked("listing the records")):
        work = list_work(request.records, request.rules)
    refuse_other_code(work.runs)
    with progress(console, marked("counting"), None, marked("games")) as step:
        for batch in count_games(work, jobs, request.file_dates):
            for error in breakdown.add(batch):
                console.print(
                    one_line(translate("left out: {problem}", problem=error)),
                    markup=False,
                    highlight=False,
                )
            for hand in batch.hands:
                console.print(one_line(hand.text), markup=False, highlight=False, soft_wrap=True)
                is_whole &= not hand.is_loss
            step(len(batch.games))
    breakdown.finish()
    _check_names(request, breakdown)
    return is_whole


def _check_names(request: StatsRequest, breakdown: Breakdown) -> None:
    """Refuse names that no game has."""
    known = {name for name, _, _ in breakdown.tables[PLAYER].groups}
    missing = [name for name in request.player if name not in known]
    missing += [
        str(side) for number, side in enumerate(request.compare) if not breakdown.has_side(number)
    ]
    if missing:
        raise ArgumentError(f"no game of {' or '.join(map(repr, missing))} in the records")
    if request.compare and breakdown.compared_rules is None:
        one, other = request.compare
        raise ArgumentError(f"--compare: {one} and {other} have no games under the same rules")


def _print(report: StatsReport, request: StatsRequest) -> None:
    emit: Callable[[str], None] = print
    if request.json:
        emit(json.dumps(report_json(report), ensure_ascii=False))
        return
    console = Console()
    console = Console(width=max(console.width, WIDTH))
    for name in report.breakdown.tables:
        rows = report.rows(name, request.shown)
        longest = max([len(row.name) for row in rows], default=0)
        if name != PLAYER and len({row.key for row in rows}) < 2 and not request.by:
            continue
        first, *others = heads(report, name)
        table = Table(Column(first, no_wrap=True, min_width=min(LONGEST_NAME, longest)), *others)
        for row in rows[:MOST_SHOWN_ROWS]:
            table.add_row(*[one_line(cell) for cell in cells(report, row)])
        console.print(table, markup=False)
        if len(rows) > MOST_SHOWN_ROWS:
            text = marked("{n} more rows: --csv, --json or --player NAME")
            emit(translate(text, n=len(rows) - MOST_SHOWN_ROWS))
    for line in comparison_lines(report):
        emit(one_line(line))
    if report.breakdown.plan.sides:
        table = Table(translate("figure"), translate("difference ± 95% interval"))
        for label, cell in comparison_rows(report):
            table.add_row(label, cell)
        console.print(table, markup=False)
    emit(one_line(report.summary))
    emit(translate(INTERVAL))
