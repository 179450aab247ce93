"""``mjbot detect RECORDS...``: which players play for each other, as a table, a page and JSON.

With ``--helpers``: which players help one opponent, by public information only.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from rich.console import Console
from rich.table import Table

from mjbot.analysis.collusion.conduct import Conduct, observe
from mjbot.analysis.collusion.evidence import close_games, weightiest
from mjbot.analysis.collusion.games import CountedGame, GameCounts, count_games
from mjbot.analysis.collusion.helpers import LEAST_MET, PairConduct, judge_helpers, judge_targets
from mjbot.analysis.collusion.helpers_report import HEADS as HELPER_HEADS
from mjbot.analysis.collusion.helpers_report import (
    TARGET_HEADS,
    HelpersReport,
    helper_cells,
    helpers_json,
    helpers_page,
    target_cells,
)
from mjbot.analysis.collusion.helpers_report import WARNING as HELPERS_WARNING
from mjbot.analysis.collusion.report import (
    HEADS,
    WARNING,
    DetectionReport,
    Finding,
    cells,
    page,
    report_json,
)
from mjbot.analysis.collusion.verdicts import (
    LEAST_GAMES,
    OF_PLAYERS,
    DetectionWeights,
    judge,
    shipped_weights,
)
from mjbot.analysis.stats.counted_games import each_game
from mjbot.analysis.stats.rule_sets import UnderRules, rule_set_of
from mjbot.analysis.stats.rule_sets import left_out as rules_left_out
from mjbot.cli.arguments import (
    folder_option,
    jobs_option,
    json_option,
    output_option,
)
from mjbot.game.records.copies import Distinct
from mjbot.game.records.game import RecordError
from mjbot.game.records.other_formats import record_path
from mjbot.game.records.sources import list_sources
from mjbot.learning.training.positions import DistinctGames, GameRef, LeftOut
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.argument_types import count
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import write_text
from mjbot.runtime.interruption import keeping
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import argument, option

UnderRulesT = TypeVar("UnderRulesT", bound=UnderRules)

SHOWN: Final = 10
WIDTH: Final = 132
"""Minimum width of the table in columns."""


def _least_games(text: str) -> int:
    games = count(text)
    if games < LEAST_GAMES:
        raise argparse.ArgumentTypeError(
            f"{text}: pairs are judged by {LEAST_GAMES} games together or more"
        )
    return games


@dataclass(frozen=True, kw_only=True)
class DetectRequest:
    """What ``mjbot detect`` is asked for."""

    records: tuple[Path, ...] = argument(
        "records of any kind that is read, folders or zips of them",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
    )
    least: int = option(
        LEAST_GAMES,
        f"games that two players have in common to be judged, at least {LEAST_GAMES}",
        type=_least_games,
        metavar="GAMES",
    )
    shown: int = option(
        SHOWN, "pairs to examine closely, the surest first", type=count, metavar="PAIRS"
    )
    helpers: bool = option(
        False,
        "look for players that help one opponent without knowing its hand, by public information"
        f" only; pairs need {LEAST_MET} games in common",
    )
    under: str | None = option(
        None,
        "rules of the games to report, as tonpu or hanchan,bust=no (default: those of most games;"
        " the others are named)",
        metavar="RULES",
    )
    html: Path | None = output_option(
        "file for a report as a page (default: none)", ".html", ".htm"
    )
    json: bool = json_option()
    folder: Path | None = folder_option(
        "folder that keeps the counts, so that the same command resumes (default: none)"
    )
    jobs: int | None = jobs_option()


def run(request: DetectRequest) -> int:
    """Look for pairs, or helpers; FAILED if something of the records could not be read."""
    if request.helpers:
        return _look_for_helpers(request)
    jobs = request.jobs or worker_count()
    console, left_out, others = Console(stderr=True), LeftOut(), list[str]()

    def choose(games: list[CountedGame]) -> list[CountedGame]:
        chosen, others[:] = _under_one_rule_set(games, request.under)
        return chosen

    weights = {players: shipped_weights(folder) for players, folder in OF_PLAYERS.items()}
    models = {players: of_players.model for players, of_players in weights.items()}
    with progress(console, "looking through the records"):
        refs = DistinctGames(left_out, tuple(weights)).index(request.records)
    left_out.require(refs, request.records, "look for pairs in")
    kept = f"kept in {request.folder}; run the same command to resume" if request.folder else ""
    with keeping(lambda: kept), progress(console, "counting", len(refs), "games") as step:
        games = count_games(refs, models, jobs, request.folder, left_out, step, choose)
    own = weights[games.seats]
    findings = [Finding(verdict) for verdict in judge(games, own, request.least)]
    close = findings[: request.shown]
    with progress(console, "looking closely", len(close), "pairs") as step:
        for finding in close:
            _look_closely(finding, refs, games, own, jobs)
            step()
    report = DetectionReport(
        records=", ".join(map(str, request.records)),
        games=len(games),
        players=len(games.players),
        least=request.least,
        findings=findings,
        left_out=_left_out_text(left_out, others),
        duplicates=left_out.duplicates,
    )
    if request.html:
        write_text(request.html, page(report))
    _print_report(report, request.shown, request.json)
    return ExitCode.FAILED if left_out else ExitCode.OK


def _look_for_helpers(request: DetectRequest) -> int:
    """Look for players that treat one opponent unlike all others."""
    if request.folder:
        raise ArgumentError("--folder keeps counts of hidden hands, which --helpers does not use")
    jobs, console = request.jobs or worker_count(), Console(stderr=True)
    left_out, met = LeftOut(), list[Conduct]()
    copies: Distinct[Conduct | None] = Distinct()
    sources = list(dict.fromkeys(s for path in request.records for s in list_sources(path)))
    with progress(console, "counting", unit="games") as step:
        for batch in each_game(sources, observe, jobs, players=(3, 4)):
            for problem in batch.problems:
                left_out.games += problem.is_game
                left_out.files += not problem.is_game
                error = RecordError(*problem.error)
                console.print(one_line(f"left out: {error}"), markup=False, highlight=False)
            for hand in batch.hands:
                left_out.hands += hand.is_loss
                console.print(one_line(hand.text), markup=False, highlight=False, soft_wrap=True)
            for identity, conduct in batch.games:
                if (new := copies.add(identity, conduct)) is not None:
                    met.append(new)
            step(len(batch.games))
    met += [waited for waited in copies.rest() if waited is not None]
    left_out.duplicates = copies.duplicates
    if not met:
        raise ArgumentError("no game could be counted: nothing to look for helpers in")
    chosen, others = _under_one_rule_set(met, request.under)
    meetings = PairConduct()
    for conduct in chosen:
        meetings.add(conduct)
    least = max(request.least, LEAST_MET)
    with progress(console, "judging"):
        verdicts = judge_helpers(meetings.table(), least)
    report = HelpersReport(
        records=", ".join(map(str, request.records)),
        games=meetings.games,
        players=len(meetings.players),
        least=least,
        verdicts=verdicts,
        targets=judge_targets(verdicts),
        left_out=_left_out_text(left_out, others),
    )
    if request.html:
        write_text(request.html, helpers_page(report))
    _print_helpers(report, request)
    return ExitCode.FAILED if left_out else ExitCode.OK


def _under_one_rule_set(
    games: Sequence[UnderRulesT], under: str | None
) -> tuple[list[UnderRulesT], list[str]]:
    """Return the games of one rule set, and a line for each other one."""
    if not games:
        return [], []
    choice = rule_set_of(games, under)
    return [game for game in games if choice.fits(game)], rules_left_out(games, choice)


def _left_out_text(left_out: LeftOut, others: Sequence[str]) -> str:
    return "; ".join([f"{left_out}{left_out.duplicates_text}", *others])


def _print_helpers(report: HelpersReport, request: DetectRequest) -> None:
    emit: Callable[[str], None] = print
    if request.json:
        emit(json.dumps(helpers_json(report)))
        return
    emit(one_line(report.summary))
    emit(HELPERS_WARNING)
    console = Console(width=max(Console().width, WIDTH))
    table = Table(*HELPER_HEADS)
    for verdict in report.verdicts[: request.shown]:
        table.add_row(*[one_line(cell) for cell in helper_cells(verdict)])
    console.print(table, markup=False)
    if report.conspicuous_targets:
        table = Table(*TARGET_HEADS)
        for target in report.conspicuous_targets:
            table.add_row(*[one_line(cell) for cell in target_cells(target)])
        console.print(table, markup=False)


def _look_closely(
    finding: Finding,
    refs: Sequence[GameRef],
    games: GameCounts,
    weights: DetectionWeights,
    jobs: int,
) -> None:
    verdict = finding.verdict
    by_number = {ref.number: ref for ref in refs}
    seats, chosen = {}, []
    for index in close_games(verdict):
        number = int(games.numbers[verdict.games[index]])
        one, other = verdict.seats[index].tolist()
        seats[number] = (one, other)
        chosen.append(by_number[number])
    finding.positions = weightiest(sorted(chosen), seats, verdict, weights, jobs)


def _print_report(report: DetectionReport, shown: int, as_json: bool) -> None:
    emit: Callable[[str], None] = print
    if as_json:
        emit(json.dumps(report_json(report)))
        return
    emit(one_line(report.summary))
    emit(WARNING)
    table = Table(*HEADS)
    for finding in report.findings[:shown]:
        table.add_row(*[one_line(cell) for cell in cells(finding)])
    Console(width=max(Console().width, WIDTH)).print(table, markup=False)
    for finding in report.findings[:shown]:
        if finding.is_conspicuous:
            emit("")
            emit(one_line(f"{' + '.join(finding.verdict.names)} (not proof):"))
            for position in finding.positions:
                emit(one_line(f"  {position.sentence}"))
                emit(f"    {position.command}")
