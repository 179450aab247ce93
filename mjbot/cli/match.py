"""``mjbot match SEAT SEAT SEAT SEAT``: a table and four players, each in a process of its own."""

import argparse
import csv
import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.cli.arguments import games_above_0, seconds
from mjbot.cli.records.watch import Take, add_watch_arguments, table_page
from mjbot.cli.serve import add_table_arguments, table_rules
from mjbot.errors import ArgumentError, ExitCode, told
from mjbot.interruption import ending_at_once, run_until_signalled
from mjbot.match.player_processes import MatchError, fault_lines
from mjbot.match.players import HumanSeat, MatchPlayer, human_clock_s, read_players
from mjbot.match.report import MatchReport, final_table
from mjbot.match.run import MatchSettings, Watcher, play_match
from mjbot.precompile import prepare
from mjbot.server.server import GameResult
from mjbot.table.settle import seats_by_rank
from mjbot.text import naming, plural
from mjbot.watch.browser import open_page
from protocol.plain_text import one_line

RUNS = Path("logs", "runs")
MOST_NAMED: Final = 5
"""Whole games that an error names one by one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "seats_at_table",
        nargs=4,
        metavar="SEAT",
        help="a strategy, NAME or NAME,KEY=VALUE,... (mjbot strategies lists them);"
        " external:majiang; 'external:COMMAND' for any mjai client: it is started with"
        " mjsonp://HOST:PORT/ROOM as its last argument; 'external-lines:COMMAND' or"
        " 'external-arrays:COMMAND' for a bot on standard input and output, Mortal's kind or"
        " mjai.app's: {seat} in it becomes the seat's number; human, or"
        " human,clock_s=SECONDS,hint=STRATEGY, plays in a page of the browser",
    )
    add_match_arguments(parser)


def add_match_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``match`` and ``duo`` have in common."""
    parser.add_argument("--games", type=games_above_0, default=1, help="how many (%(default)s)")
    parser.add_argument(
        "--log-dir", type=Path, default=RUNS, help=f"where the run's own folder goes ({RUNS})"
    )
    parser.add_argument(
        "--join-timeout-s",
        type=seconds,
        default=180.0,
        help="seconds for all four to join (%(default)g)",
    )
    add_table_arguments(parser)
    add_watch_arguments(parser)


@ending_at_once()
def run(args: argparse.Namespace) -> int:
    """Play the match."""
    players = read_players(args.seats_at_table)
    require_time(players, args.timeout_s)
    for player in players:
        player.command("", args.games)  # a missing Node shows before anything is started
    return _play(args, players, new_folder(args.log_dir))


def require_time(players: Sequence[MatchPlayer], timeout_s: float) -> None:
    """Raise ``ArgumentError`` if a person's clock runs longer than the table waits."""
    for player in players:
        if isinstance(player, HumanSeat) and human_clock_s(player.spec) >= timeout_s:
            cure = "say human,clock_s=... or a longer --timeout-s"
            raise ArgumentError(f"{player.spec}: the table waits {timeout_s:g} s; {cure}")


def tell_seats(players: Sequence[MatchPlayer], *, no_browser: bool) -> None:
    """Say where each person sits down, and open the pages."""
    for place, player in enumerate(players):
        if isinstance(player, HumanSeat):
            print(f"player {place + 1}, {player.name}: sit down at {player.url}", flush=True)
            if not no_browser:
                open_page(player.url)


def match_settings(args: argparse.Namespace, folder: Path) -> MatchSettings:
    """Return what :func:`add_match_arguments` asks for."""
    return MatchSettings(
        rules=replace(table_rules(args), join_timeout_s=args.join_timeout_s),
        games=args.games,
        folder=folder,
        evidence=args.evidence,
        join_timeout_s=args.join_timeout_s,
    )


def _play(args: argparse.Namespace, players: tuple[MatchPlayer, ...], folder: Path) -> int:
    settings = match_settings(args, folder)
    console = Console()
    names = " ".join([player.name for player in players])
    seed = settings.rules.seed
    start = f"{args.games} x {args.length}, seed {seed}: {names}"
    console.print(one_line(start), highlight=False, markup=False, soft_wrap=True)
    tell_seats(players, no_browser=args.no_browser)
    specs = [player.spec for player in players if not isinstance(player, HumanSeat)]
    if not all(problem.is_made for problem in prepare(specs, console, use="client", table=True)):
        return ExitCode.FAILED
    report = MatchReport(console, settings.games, settings.rules.length)
    try:
        results = run_until_signalled(_watch(args, settings, players, report))
    except MatchError as error:
        raise MatchError(f"{error}; logs in {folder}") from error
    except OSError as error:
        raise with_whole_games(error, report.results, folder) from error
    finally:  # whatever ended the match: what was played until then is not lost
        faults = _conclude(report, players, folder, console)
    voids = [result for result in results if result.void]
    return ExitCode.FAILED if voids or faults else ExitCode.OK


def with_whole_games(error: OSError, results: Sequence[GameResult], folder: Path) -> MatchError:
    """Return what ended a match (a full disk), with the games in its folder that are whole."""
    text, code = told(error)
    logs = [result.log.name for result in results if result.log]
    names = ", ".join(logs if len(logs) <= MOST_NAMED else [logs[0], "...", logs[-1]])
    whole = f"{plural(len(logs), 'whole game')} in {folder}"
    return MatchError(f"{text}; {whole}{': ' if names else ''}{names}", exit_code=code)


def _conclude(
    report: MatchReport, players: tuple[MatchPlayer, ...], folder: Path, console: Console
) -> list[str]:
    """Keep and print what was played; return what the players did wrong, a line each."""
    unsaved = problems_of_saving(folder, players, report.results)
    if report.results:
        console.print(final_table(players, report.results))
    faults = [*unsaved, *fault_lines(folder, players)]
    for line in [*report.void_lines(), *faults, f"logs in {folder}"]:
        console.print(one_line(line), highlight=False, markup=False, soft_wrap=True)
    return faults


async def _watch(
    args: argparse.Namespace,
    settings: MatchSettings,
    players: tuple[MatchPlayer, ...],
    report: MatchReport,
) -> list[GameResult]:
    async with table_page(args, f"match, seed {settings.rules.seed}") as take:
        with report:
            return await play_match(settings, players, showing(report.watcher(), take))


def showing(watcher: Watcher, take: Take) -> Watcher:
    """Return a watcher that also hands on what is shown of the table."""
    return replace(watcher, on_shown=take)


def new_folder(parent: Path) -> Path:
    """Make and return a folder of the run's own; raises ``OSError``."""
    moment = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    number = 1
    while True:
        folder = parent / (moment if number == 1 else f"{moment}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def problems_of_saving(
    folder: Path, players: Sequence[MatchPlayer], results: list[GameResult]
) -> list[str]:
    """Save the results; return what went wrong, which must not hide what ended the match."""
    try:
        save_results(folder, players, results)
    except OSError as error:
        return [told(error)[0]]
    return []


def save_results(folder: Path, players: Sequence[MatchPlayer], results: list[GameResult]) -> None:
    """Write one row per player and game; no JSON, which ``mjbot replay`` would take for a game."""
    path = folder / "results.csv"
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["game", "log", "player", "seat", "score", "rank"])
        for result in results:
            order = seats_by_rank(result.scores)
            log = result.log.name if result.log else ""
            for place, player in enumerate(players):
                seat = result.places.index(place)
                row = [player.spec, seat, result.scores[seat], order.index(seat) + 1]
                writer.writerow([result.game + 1, log, *row])
