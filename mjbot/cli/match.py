"""``mjbot match SEAT SEAT ...``: a table and its players, each in a process of its own."""

import asyncio
import contextlib
import datetime
import shlex
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from mjbot.cli.arguments import folder_option, program
from mjbot.cli.log import Output, log_to
from mjbot.cli.table import (
    PAGE,
    TableRequest,
    Take,
    WatchRequest,
    heading,
    table_page,
    table_rules,
)
from mjbot.play.match.match_report import MatchReport, final_table, problems_of_saving
from mjbot.play.match.player_processes import MatchError, fault_lines
from mjbot.play.match.players import HumanSeat, MatchPlayer, human_clock_s, read_players
from mjbot.play.match.remote_table import RemoteTableError
from mjbot.play.match.run import HOST, MatchSettings, play_match, table_fault_lines
from mjbot.play.server.server import GameResult
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.argument_types import count, seconds
from mjbot.runtime.errors import ArgumentError, ExitCode, error_report
from mjbot.runtime.files import plural
from mjbot.runtime.interruption import ending_at_once, run_until_signalled
from mjbot.runtime.languages import translate
from mjbot.runtime.requests import argument, group, option
from mjbot.strategy.registry import Spec
from mjbot.viewer.browser import open_page
from mjbot.viewer.descriptions import pairs_of

RUNS = Path("logs", "runs")
FIRST_BOT: Final = Path(__file__).parents[2] / "docs" / "start" / "first-bot.md"
"""A page that only a checkout has."""
MOST_NAMED: Final = 5
"""Whole games that an error names one by one."""
_POLL_S: Final = 0.1
"""Between two looks whether a person's page is served."""
SEATS = (
    "four players (three with --rules players=3): strategies, NAME or NAME,KEY=VALUE,..."
    " (mjbot strategies lists them);"
    " external:majiang; 'external:COMMAND' for an mjai client, started with"
    " mjsonp://HOST:PORT/ROOM as its last argument; 'external-lines:COMMAND' or"
    " 'external-arrays:COMMAND' for a bot on standard input and output, of Mortal's kind or"
    " mjai.app's ({seat} in COMMAND becomes the seat's number); human or"
    " human,clock_s=SECONDS,hint=STRATEGY for you, in the browser"
)


def join_timeout_option(default: float) -> Any:
    """Return the option ``--join-timeout-s``."""
    return option(default, "time for all players to join, in seconds", type=seconds)


@dataclass(frozen=True, kw_only=True)
class GamesRequest:
    """What ``match`` and ``duo`` have in common."""

    games: int = option(1, "number of games", type=count)
    log_dir: Path = folder_option("folder in which the run makes its own", RUNS)
    join_timeout_s: float = join_timeout_option(180.0)
    table: TableRequest = group(TableRequest)
    page: WatchRequest = group(WatchRequest, PAGE)

    def settings(self, folder: Path) -> MatchSettings:
        """Return the settings of the match, whose games go into ``folder``."""
        return MatchSettings(
            rules=replace(table_rules(self.table), join_timeout_s=self.join_timeout_s),
            games=self.games,
            folder=folder,
            evidence=self.table.evidence,
            join_timeout_s=self.join_timeout_s,
        )


@dataclass(frozen=True, kw_only=True)
class MatchRequest(GamesRequest):
    """What ``mjbot match`` is asked for; ``seats_at_table`` has all players."""

    seats_at_table: tuple[str, ...] = argument(SEATS, nargs="*", metavar="SEAT")

    def __post_init__(self) -> None:
        named, seats = len(self.seats_at_table), self.table.game.players
        if named != seats:
            more = f": {self.seats_at_table[seats]!r} is one too many" if named > seats else ""
            other = {3: "; three players: --rules players=3", 4: "; four: --rules players=4"}
            raise ArgumentError(
                f"a table has {seats} seats, {named} named{more}{other.get(named, '')}"
            )


@ending_at_once()
def run(request: MatchRequest) -> int:
    """Play the match."""
    log_errors()
    players = read_players(request.seats_at_table)
    for player in players:
        player.require_players(len(players))
    require_time(players, request.table.timeout_s)
    for player in players:
        player.command("", request.games)  # a missing Node shows before anything is started
    return _play(request, players, new_folder(request.log_dir))


def log_errors() -> None:
    """Log the table's errors on stderr; players, faults and void games are in the report."""
    log_to(Output(sys.stderr, "ERROR"))


def require_time(players: Sequence[MatchPlayer], timeout_s: float) -> None:
    """Raise ``ArgumentError`` if a person's clock runs longer than the table waits."""
    for player in players:
        if isinstance(player, HumanSeat) and human_clock_s(player.spec) >= timeout_s:
            cure = "use human,clock_s=... or a longer --timeout-s"
            raise ArgumentError(f"{player.spec}: the table waits {timeout_s:g} s; {cure}")


def prepare_players(
    players: Sequence[MatchPlayer],
    console: Console,
    pair: Sequence[Spec] = (),
    *,
    table: bool = True,
) -> bool:
    """Compile what all will need; return whether every strategy can be made."""
    specs = [player.spec for player in players if not isinstance(player, HumanSeat)]
    problems = prepare(specs, console, use="client", pair=pair, table=table)
    return all(problem.is_made for problem in problems)


@contextlib.asynccontextmanager
async def pages(
    page: WatchRequest, title: str, players: Sequence[MatchPlayer], console: Console
) -> AsyncIterator[Take]:
    """Serve the table's page, if one is requested, and show those of the persons at it."""
    async with (
        table_page(page, title) as take,
        showing_seats(players, console, no_browser=page.no_browser),
    ):
        yield take


@contextlib.asynccontextmanager
async def showing_seats(
    players: Sequence[MatchPlayer], console: Console, *, no_browser: bool
) -> AsyncIterator[None]:
    """Print the page of each person, and open it, as soon as its process serves it."""
    shown = [
        asyncio.create_task(_show_seat(number, player, console, no_browser=no_browser))
        for number, player in enumerate(players, 1)
        if isinstance(player, HumanSeat)
    ]
    try:
        yield
    finally:
        for task in shown:
            task.cancel()


async def _show_seat(number: int, player: HumanSeat, console: Console, *, no_browser: bool) -> None:
    while not await _is_served(player.port):
        await asyncio.sleep(_POLL_S)
    print_lines(console, f"player {number}, {player.name}: sit down at {player.url}")
    if not no_browser:
        await asyncio.to_thread(open_page, player.url)  # a browser in the terminal blocks


async def _is_served(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writer.close()
    return True


def _play(request: MatchRequest, players: tuple[MatchPlayer, ...], folder: Path) -> int:
    settings = request.settings(folder)
    console = Console()
    names = " ".join([player.name for player in players])
    print_lines(console, f"{heading(request.games, settings.rules)} {names}")
    if not prepare_players(players, console):
        return ExitCode.FAILED
    report = MatchReport(console, settings.games, settings.rules.game.length)
    try:
        with naming_folder(folder, report.results):
            results = run_until_signalled(_watch(request.page, settings, players, report, console))
    finally:  # whatever ended the match: what was played until then is not lost
        faults = _conclude(report, players, folder, console)
    voids = [result for result in results if result.void]
    return ExitCode.FAILED if voids or faults else ExitCode.OK


@contextlib.contextmanager
def naming_folder(folder: Path, results: Sequence[GameResult] | None) -> Iterator[None]:
    """Let what ends a match name its folder, and on a full disk the games there that are whole.

    ``results`` are those of a table of our own, ``None`` at another's.
    """
    try:
        yield
    except (MatchError, RemoteTableError) as error:
        text = f"{error}; logs in {folder}"
        raise MatchError(text, exit_code=error.exit_code) from error
    except OSError as error:
        if results is None:
            raise
        raise _with_whole_games(error, results, folder) from error


def _with_whole_games(error: OSError, results: Sequence[GameResult], folder: Path) -> MatchError:
    text, code = error_report(error)
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
    faults = [
        *unsaved,
        *fault_lines(folder, players),
        *table_fault_lines(players, report.results),
    ]
    lines = [*report.void_lines(), *faults, f"logs in {folder}"]
    print_lines(console, *lines, *next_commands(folder, players, report.results))
    return faults


def print_lines(console: Console, *lines: str) -> None:
    """Print each text as one line, as it stands."""
    for line in lines:
        console.print(one_line(line), highlight=False, markup=False, soft_wrap=True)


def next_commands(
    folder: Path, players: Sequence[MatchPlayer], results: Sequence[GameResult]
) -> list[str]:
    """Return the commands that show and review the last game.

    Reviewed is the seat of a person, else of the first player who is not one of a pair: the
    reviewer rates for one player alone.
    """
    played = [result for result in results if result.log is not None]
    if not played:
        return []
    last = played[-1]
    people = [index for index, player in enumerate(players) if isinstance(player, HumanSeat)]
    if people:
        seat = last.places.index(people[0])
    else:
        pairs = pairs_of(last.names)
        seat = min(range(len(last.places)), key=lambda seat: (seat in pairs, last.places[seat]))
    game = shlex.quote(str(last.log))
    return [
        f"watch: {program()} watch {shlex.quote(str(folder))}",
        f"review ({last.names[seat]}): {program()} review {game} --seat {seat}",
        *([f"your first bot: {FIRST_BOT}"] if FIRST_BOT.is_file() else []),
    ]


async def _watch(
    page: WatchRequest,
    settings: MatchSettings,
    players: tuple[MatchPlayer, ...],
    report: MatchReport,
    console: Console,
) -> list[GameResult]:
    title = translate("match, seed {n}", n=settings.rules.seed)
    async with pages(page, title, players, console) as take:
        with report:
            watcher = replace(report.watcher(), on_shown=take)
            return await play_match(settings, players, watcher)


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
