"""``mjbot duo [URL]``: two bots that play as a pair, at a table of our own or at another's."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.cli import match as matches
from mjbot.cli.arguments import STRONGEST, program, reading_arguments, strategy_option
from mjbot.cli.play import require_member, team_table_option
from mjbot.cli.table import TableRequest, Take, heading
from mjbot.game.records.game import Talk
from mjbot.play.match.match_report import problems_of_saving
from mjbot.play.match.node import NodeError
from mjbot.play.match.pair import Member, make_members, private_channel
from mjbot.play.match.pair_report import DuoReport, PairScore, labels_of, pair_table
from mjbot.play.match.player_processes import fault_lines
from mjbot.play.match.players import MAJIANG, MatchPlayer, read_players
from mjbot.play.match.remote_table import (
    LogTailer,
    MergedLogs,
    OnRemoteEvent,
    RemoteTable,
)
from mjbot.play.match.run import MatchSettings, play_match, table_fault_lines
from mjbot.play.server.core import OnFault
from mjbot.protocol.messages import Event
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Length
from mjbot.protocol.sessions.lockstep_server import MOST_LETTERS_OF_NAME
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import naming
from mjbot.runtime.interruption import ending_at_once, run_until_signalled
from mjbot.runtime.requests import argument, group, option
from mjbot.strategy.pair.fair_play import require_team_table, team_names
from mjbot.strategy.registry import Spec

STRATEGY: Final = f"combo-partner,base={STRONGEST}"
PAPERS_TOP: Final = "yaku-evaluation"
RIVALS: Final = {3: ("fast-riichi-d",), 4: (MAJIANG, MAJIANG)}
"""Number of players -> who plays against the pair."""
STAND_INS: Final = ("fast-riichi-d", "fast-riichi-d")
FEW_GAMES: Final = 20
LUCK: Final = (
    "so few games are mostly luck: over 300 hanchan the same pair scored 56,134 ± 1,573 points"
    " together against two of the external AI (docs/results/pair.md)"
)
"""For the pair, the rivals and the length that are played by default."""
NOTES: Final = "notes.txt"
SEEN: Final = "seen-by-{}.mjson"


@dataclass(frozen=True, kw_only=True)
class DuoRequest(matches.GamesRequest):
    """What ``mjbot duo`` is asked for; without a URL it opens a table of its own."""

    url: str | None = argument(
        "server to play at (default: a table of its own)", metavar="URL", nargs="?", default=None
    )
    top: Spec = strategy_option(
        STRATEGY, f"strategy of the first; {PAPERS_TOP} is the paper's top AI"
    )
    partner: Spec = strategy_option(STRATEGY, "strategy of the second")
    rivals: tuple[str, ...] | None = option(
        None,
        f"the two others, as `mjbot match` names them (default: {MAJIANG} twice; of three players"
        f" one: {RIVALS[3][0]}; at a URL: the players there)",
        nargs="+",
        metavar="SEAT",
    )
    # Whatever happens to one of the two, the game is to be played to its end.
    table: TableRequest = group(TableRequest, on_fault=OnFault.DEFAULT.value, timeout_s=20.0)
    join_timeout_s: float = matches.join_timeout_option(300.0)
    name: str = option("mjbot", "name of the pair at the table")
    team_table: tuple[str, ...] = team_table_option()

    def __post_init__(self) -> None:
        players = self.table.game.players
        if self.rivals and len(self.rivals) != players - 2:
            given = f"--rivals {' '.join(self.rivals)}"
            raise ArgumentError(f"{given}: expected {players - 2} at a table of {players} players")

    @property
    def roles(self) -> tuple[Spec, Spec]:
        """The strategies of both."""
        return self.top, self.partner


@ending_at_once()
def run(request: DuoRequest) -> int:
    """Play the games."""
    matches.log_errors()
    console = Console()
    with reading_arguments():
        if request.url is not None and require_team_table(request.url, request.team_table).is_stdio:
            raise ArgumentError(f"URL {request.url!r}: two bots do not fit into one pipe")
        _require_short_name(request.name)
        for role in (request.top, request.partner):
            require_member(role, role.make())
            if not request.url or request.table.game.players == 3:  # else the server states it
                role.require_players(request.table.game.players)
        rivals = _rivals(request, console)
        matches.require_time(rivals, request.table.timeout_s)
    settings = request.settings(matches.new_folder(request.log_dir))
    _print_head(request, settings, rivals, console)
    if not matches.prepare_players(rivals, console, request.roles, table=not request.url):
        return ExitCode.FAILED
    return run_until_signalled(_play(request, settings, rivals, console))


def _print_head(
    request: DuoRequest,
    settings: MatchSettings,
    rivals: tuple[MatchPlayer, ...],
    console: Console,
) -> None:
    pair = zip(request.roles, team_names(request.name), strict=True)
    sides = {"the pair": list(pair), "against": [(rival.spec, rival.name) for rival in rivals]}
    at_home = heading(request.games, settings.rules)
    lines = [f"{request.games} games at {request.url}:" if request.url else at_home]
    for word, players in sides.items():
        if players:
            lines.append(f"  {word}: " + " and ".join([f"{a} as {b}" for a, b in players]))
    matches.print_lines(console, *lines)


async def _play(
    request: DuoRequest,
    settings: MatchSettings,
    rivals: tuple[MatchPlayer, ...],
    console: Console,
) -> int:
    with private_channel() as channel:
        more = [_more(request, settings.folder, word) for word in ("top", "partner")]
        members = make_members(request.name, request.roles, channel, more)
        return await _Duo(request, settings, members, rivals, console).play()


def _require_short_name(name: str) -> None:
    """Raise ``ArgumentError`` for a name with which our own table takes neither of the two."""
    surplus = max(map(len, team_names(name))) - MOST_LETTERS_OF_NAME
    if surplus > 0:
        raise ArgumentError(f"--name {name!r}: {surplus} characters too long")


def _rivals(request: DuoRequest, console: Console) -> tuple[MatchPlayer, ...]:
    """Return the others; without the external AI, and none named, two of our own."""
    players = request.table.game.players
    specs = list(request.rivals or (() if request.url else RIVALS[players]))
    names = team_names(request.name)
    rivals = read_players(specs, names)
    try:
        for rival in rivals:
            rival.require_players(players)
            rival.command("", request.games)  # a missing Node shows before anything is started
    except NodeError as error:
        if request.rivals:
            raise
        text = f"playing against our own {STAND_INS[0]}, since {error}"
        matches.print_lines(console, text)
        rivals = read_players(list(STAND_INS), names)
    return rivals


def luck(request: DuoRequest, rivals: Sequence[MatchPlayer], length: Length) -> list[str]:
    """Return a line for those who judge the pair by a few games, if its strength was measured."""
    is_few = request.games <= FEW_GAMES and length == "hanchan" and request.url is None
    pair = [str(spec) for spec in request.roles]
    others = tuple(str(rival.spec) for rival in rivals)
    return [LUCK] if is_few and pair == [STRATEGY, STRATEGY] and others == RIVALS[4] else []


def _more(request: DuoRequest, folder: Path, word: str) -> list[str]:
    declared = [part for url in request.team_table for part in ("--team-table", url)]
    if request.url is None:
        return declared
    if request.table.game.players == 3:
        declared += ["--players", "3"]
    return [*declared, "--log", str(folder / SEEN.format(word))]


def _both(one: OnRemoteEvent, other: OnRemoteEvent) -> OnRemoteEvent:
    def on_event(game: int, event: Event, talk: Talk) -> None:
        one(game, event, talk)
        other(game, event, talk)

    return on_event


def _shown(report: DuoReport, take: Take) -> OnRemoteEvent:
    def show(game: int, event: Event, talk: Talk) -> None:
        report.on_event(game, event)
        take(event, talk)

    return show


@dataclass(frozen=True)
class _Duo:
    request: DuoRequest
    settings: MatchSettings
    members: tuple[Member, Member]
    rivals: tuple[MatchPlayer, ...]
    console: Console

    async def play(self) -> int:
        report = DuoReport(
            self.console, self.request.games, self.settings.rules.game.length, self.members
        )
        partners_score = PairScore([member.name for member in self.members])
        is_whole = False
        try:
            results = None if self.request.url else report.results
            with matches.naming_folder(self.folder, results):
                await self._play_games(report, partners_score)
            is_whole = True
        finally:  # whatever ended it: what was played until then is not lost
            unsaved: list[str] = []
            if not self.request.url:
                unsaved = problems_of_saving(self.folder, self._players, report.results)
            matches.print_lines(self.console, *unsaved)
            # Where the top was lost on the way, the partner has seen more.
            score = max(report.score, partners_score, key=lambda score: len(score.games))
            if is_whole or score.games:
                is_well = self._conclude(report, score)
        return ExitCode.OK if is_well and not unsaved else ExitCode.FAILED

    async def _play_games(self, report: DuoReport, partners_score: PairScore) -> None:
        title = f"duo {self.request.name}"
        async with matches.pages(self.request.page, title, self._players, self.console) as take:
            if self.request.url:
                await self._remote_table(self.request.url, report, partners_score, take)
            else:
                await self._host(report, take)

    def _conclude(self, report: DuoReport, score: PairScore) -> bool:
        self.console.print(pair_table(score, labels_of(self.members)))
        voids = report.void_lines()
        apart = f"{score.apart} games not counted: the two were not both named there"
        faults = fault_lines(self.folder, self._players)
        others = table_fault_lines(self._players, report.results)
        matches.print_lines(
            self.console,
            *([apart] if score.apart else []),
            *voids,
            *faults,
            *others,
            *luck(self.request, self.rivals, self.settings.rules.game.length),
            f"logs in {self.folder}",
            *self._next_commands(report),
        )
        missed = table_fault_lines(self.members, report.results)  # a rival's are its own affair
        return bool(score.games) and not (voids or faults or missed)

    def _next_commands(self, report: DuoReport) -> list[str]:
        if not self.request.url:
            return matches.next_commands(self.folder, self._players, report.results)
        seen = shlex.quote(str(self.folder / SEEN.format("top")))
        first = " --game-number 1" if self.request.games > 1 else ""
        return [f"watch: {program()} watch {seen}", f"review: {program()} review {seen}{first}"]

    @property
    def folder(self) -> Path:
        """The folder of the run's games and its players' output."""
        return self.settings.folder

    @property
    def _players(self) -> tuple[MatchPlayer, ...]:
        return (*self.members, *self.rivals)

    async def _host(self, report: DuoReport, take: Take) -> None:
        """Play at a table of our own; its events are what is counted."""
        with report:
            noter = self._noting(report)
            watcher = replace(report.watcher(), on_note=noter, on_void=noter.on_void, on_shown=take)
            await play_match(self.settings, self._players, watcher)

    async def _remote_table(
        self, url: str, report: DuoReport, partners_score: PairScore, take: Take
    ) -> None:
        """Play at a server; what our two see there is what is counted."""
        names = [member.name for member in self.members]
        table = RemoteTable(self._players, url, self.request.games, self.folder)
        with report:
            tops = MergedLogs(names, _shown(report, take))
            partners = MergedLogs(names[::-1], lambda game, event, talk: partners_score.add(event))
            takers = {
                "top": _both(tops.one, partners.other),
                "partner": _both(partners.one, tops.other),
            }
            players = self.request.table.game.players
            tailers = [
                LogTailer(self.folder / SEEN.format(word), take_in, players)
                for word, take_in in takers.items()
            ]
            await table.play(tailers, self._noting(report))
            tops.finish()
            partners.finish()

    def _noting(self, report: DuoReport) -> "_Noter":
        return _Noter(report, self.folder / NOTES)


@dataclass(frozen=True)
class _Noter:
    """Reports what happened to a player, and logs it next to the games."""

    report: DuoReport
    file: Path

    def __call__(self, text: str) -> None:
        text = one_line(text)
        self.report.on_note(text)
        self._keep(text)

    def on_void(self, text: str) -> None:
        """Report why a game does not count."""
        self.report.on_void(text)
        self._keep(text)

    def _keep(self, text: str) -> None:
        with naming(self.file), self.file.open("a", encoding="utf-8") as notes:
            notes.write(f"{text}\n")
