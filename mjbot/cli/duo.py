"""``mjbot duo [URL]``: two bots that play as a pair, at a table of our own or at another's."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot import exit_codes
from mjbot.cli.match import (
    add_match_arguments,
    end_on_signals,
    match_settings,
    new_folder,
    require_positive,
    save_results,
)
from mjbot.cli.play import option_pair
from mjbot.cli.play_pair import add_team_table_argument, require_member
from mjbot.duo.members import Member, Role, make_members, private_channel
from mjbot.duo.report import DuoReport, labels_of, pair_table
from mjbot.duo.score import PairScore
from mjbot.duo.visit import Eyes, OnEvent, PairOfEyes, Visit, VisitError
from mjbot.external.node import NodeError
from mjbot.match.faults import fault_lines
from mjbot.match.players import MAJIANG, Player, SeatError, read_players
from mjbot.match.run import MatchSettings, Watcher, play_match
from mjbot.match.team import MatchError
from mjbot.pair.fair_play import FairPlayError, require_team_table, team_names
from mjbot.preparation import prepare
from mjbot.registry import make_strategy
from mjbot.server.core import OnFault
from mjbot.server.server import GameResult
from mjbot.strategy_options import StrategyError
from protocol.messages import Event

STRATEGY: Final = "combo-partner"
PAPERS_TOP: Final = "yaku-evaluation"
RIVALS: Final = (MAJIANG, MAJIANG)
STAND_INS: Final = ("fast-riichi-d", "fast-riichi-d")
NOTES: Final = "notes.txt"
SEEN: Final = "seen-by-{}.mjson"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "url", metavar="URL", nargs="?", help="somebody's table (default: one of our own)"
    )
    for role, hint in (("top", f"; {PAPERS_TOP}: the paper's pair"), ("partner", "")):
        parser.add_argument(
            f"--{role}", default=STRATEGY, metavar="NAME", help=f"strategy ({STRATEGY}{hint})"
        )
        parser.add_argument(
            f"--{role}-option",
            action="append",
            default=[],
            type=option_pair,
            metavar="KEY=VALUE",
            help="of that strategy (may be repeated)",
        )
    parser.add_argument(
        "--rivals",
        nargs=2,
        metavar="SEAT",
        help=f"the two others, as `mjbot match` names them (default: {MAJIANG} twice;"
        " at another's table: whoever comes)",
    )
    parser.add_argument("--name", default="mjbot", help="the pair's name at the table (mjbot)")
    add_team_table_argument(parser)
    add_match_arguments(parser)
    # Whatever happens to one of the two, the game is to be played to its end.
    parser.set_defaults(on_fault=OnFault.DEFAULT.value, timeout_s=20.0, join_timeout_s=300.0)


def run(args: argparse.Namespace) -> int:
    """Play; every failure is one line."""
    console = Console()
    try:
        require_positive(args)
        if args.url is not None and require_team_table(args.url, args.team_table).is_stdio:
            raise ValueError(f"URL {args.url!r}: two bots do not fit into one pipe")
        roles = [_role(args.top, args.top_option), _role(args.partner, args.partner_option)]
        rivals = _rivals(args, console)
        folder = new_folder(args.log_dir)
    except (SeatError, StrategyError, FairPlayError, ValueError) as error:
        return _fail(str(error), exit_codes.BAD_ARGUMENTS)
    except NodeError as error:
        return _fail(str(error), exit_codes.UNREACHABLE)
    except OSError as error:
        return _fail(f"{args.log_dir}: {error.strerror or error}", exit_codes.UNREACHABLE)
    with private_channel() as channel:
        more = [_more(args, folder, word) for word in ("top", "partner")]
        members = make_members(args.name, roles, channel, more)
        return _Duo(args, match_settings(args, folder), members, rivals, console).run()


def _role(strategy: str, options: Sequence[tuple[str, str]]) -> Role:
    """Return a role that can be played; raises ``StrategyError`` and ``ValueError``."""
    require_member(strategy, make_strategy(strategy, dict(options)))
    return Role(strategy, tuple([f"{key}={value}" for key, value in options]))


def _rivals(args: argparse.Namespace, console: Console) -> tuple[Player, ...]:
    """Return the other two; without the external AI, and none named, two of our own."""
    specs = list(args.rivals or (() if args.url else RIVALS))
    names = team_names(args.name)
    rivals = read_players(specs, names)
    try:
        for rival in rivals:
            rival.command("", args.games)  # a missing Node shows before anything is started
    except NodeError as error:
        if args.rivals:
            raise
        text = f"playing against our own {STAND_INS[0]}, since {error}"
        console.print(text, highlight=False, markup=False, soft_wrap=True)
        rivals = read_players(list(STAND_INS), names)
    return rivals


def _more(args: argparse.Namespace, folder: Path, word: str) -> list[str]:
    """Return what one of the two is told besides its strategy and channel."""
    declared = [part for url in args.team_table for part in ("--team-table", url)]
    if args.url is None:
        return declared
    return [*declared, "--log", str(folder / SEEN.format(word))]


def _both(one: OnEvent, other: OnEvent) -> OnEvent:
    def tell(game: int, event: Event) -> None:
        one(game, event)
        other(game, event)

    return tell


@dataclass(frozen=True)
class _Duo:
    """One run of the command."""

    args: argparse.Namespace
    settings: MatchSettings
    members: tuple[Member, Member]
    rivals: tuple[Player, ...]
    console: Console

    def run(self) -> int:
        self._say_head()
        if not self._prepare():
            return exit_codes.FAILED
        try:
            score = asyncio.run(self._visit() if self.args.url else self._host())
        except MatchError as error:
            return _fail(f"{error}; logs in {self.folder}", exit_codes.FAILED)
        except VisitError as error:
            return _fail(f"{error}; logs in {self.folder}", max(error.status, exit_codes.FAILED))
        except NodeError as error:
            return _fail(str(error), exit_codes.UNREACHABLE)
        except asyncio.CancelledError:
            return exit_codes.INTERRUPTED
        self.console.print(pair_table(score, labels_of(self.members)))
        if score.apart:
            self._say(f"{score.apart} games not counted: the two were not both named there")
        faults = fault_lines(self.folder, self._players)
        for line in [*faults, f"logs in {self.folder}"]:
            self._say(line)
        return exit_codes.OK if score.games and not faults else exit_codes.FAILED

    def _say_head(self) -> None:
        rules = self.settings.rules
        at_home = f"{self.args.games} x {rules.length}, seed {rules.seed}:"
        self._say(f"{self.args.games} games at {self.args.url}:" if self.args.url else at_home)
        self._say_who("the pair", self.members)
        if self.rivals:
            self._say_who("against", self.rivals)

    def _prepare(self) -> bool:
        """Compile what all will need; return whether every strategy can be made."""
        pair = [member.role.spec for member in self.members]
        rivals = [rival.spec for rival in self.rivals]
        problems = prepare(rivals, self.console, use="client", pair=pair, table=not self.args.url)
        return all(problem.is_made for problem in problems)

    @property
    def folder(self) -> Path:
        """Where the run's games and its players' words go."""
        return self.settings.folder

    @property
    def _players(self) -> tuple[Player, ...]:
        return (*self.members, *self.rivals)

    async def _host(self) -> PairScore:
        """Play at a table of our own; its events are what is counted."""
        end_on_signals()
        with self._report() as report:
            noter = self._noting(report)
            watcher = Watcher(report.on_event, noter.on_result, on_note=noter)
            results: list[GameResult] = await play_match(self.settings, self._players, watcher)
        save_results(self.folder, self._players, results)
        return report.score

    async def _visit(self) -> PairScore:
        """Play at somebody's table; what our two see of it is what is counted."""
        end_on_signals()
        names = [member.name for member in self.members]
        partners_score = PairScore(names)
        visit = Visit(self._players, self.args.url, self.args.games, self.folder)
        with self._report() as report:
            tops = PairOfEyes(names, report.on_event)
            partners = PairOfEyes(names[::-1], lambda game, event: partners_score.add(event))
            eyes = [
                Eyes(self.folder / SEEN.format("top"), _both(tops.one, partners.other)),
                Eyes(self.folder / SEEN.format("partner"), _both(partners.one, tops.other)),
            ]
            await visit.play(eyes, self._noting(report))
            tops.finish()
            partners.finish()
        # Where the top was lost on the way, the partner has seen more.
        return max(report.score, partners_score, key=lambda score: len(score.games))

    def _report(self) -> DuoReport:
        return DuoReport(self.console, self.args.games, self.args.length, self.members)

    def _noting(self, report: DuoReport) -> "_Noter":
        return _Noter(report, self.folder / NOTES)

    def _say_who(self, word: str, players: Sequence[Player]) -> None:
        who = " and ".join([f"{player.spec} as {player.name}" for player in players])
        self._say(f"  {word}: {who}")

    def _say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True)
class _Noter:
    """Says what happened to a player or went wrong in a game, and keeps it beside the games."""

    report: DuoReport
    file: Path

    def on_result(self, result: GameResult) -> None:
        self.report.on_result(result)
        for fault in result.faults:
            self(f"game {result.game + 1}, {result.names[fault.seat]}: {fault.text}")

    def __call__(self, text: str) -> None:
        self.report.on_note(text)
        with self.file.open("a", encoding="utf-8") as notes:
            notes.write(f"{text}\n")


def _fail(text: str, code: int) -> int:
    one_line = " ".join(text.split())
    print(f"mjbot duo: {one_line}", file=sys.stderr)
    return code
