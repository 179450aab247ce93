"""``mjbot check CMD-OR-URL``: check a bot or server for protocol compliance."""

import abc
import contextlib
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.cli import arguments as a
from mjbot.game.statistics.markdown import head, row
from mjbot.play.check import report as r
from mjbot.play.check.bots import BotSettings, check_bot, included
from mjbot.play.check.catalogue import BOT_CHECKS, CHECKS, FAMILIES, SERVER_CHECKS, Check
from mjbot.play.check.four_clients import ServerEndpoint
from mjbot.play.check.lines import CheckedBot, bot_of
from mjbot.play.check.servers import ServerProcess, ServerSettings, check_server
from mjbot.play.match.players import read_players, require_program
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS, Dialect
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import RANKED
from mjbot.protocol.transports.address import Address, parse_address
from mjbot.protocol.transports.base import Transport
from mjbot.protocol.transports.tcp import connect_tcp
from mjbot.protocol.transports.websocket import connect_websocket
from mjbot.runtime.argument_types import games, seconds
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import write_text
from mjbot.runtime.interruption import ending_at_once, run_until_signalled
from mjbot.runtime.progress import progress
from mjbot.runtime.redaction import redacted
from mjbot.runtime.requests import argument, command_of, option
from mjbot.strategy.pair.fair_play import require_permission_to_check

_DIALECTS: Final = {"tcp": LOCKSTEP, "lines": LINES, "arrays": ARRAYS, "requests": REQUESTS}
_PREFIXES: Final = {"external-lines": LINES, "external-arrays": ARRAYS}
_MANY_GAMES: Final = 1000


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """Arguments of ``mjbot check``."""

    target: str = argument(
        "a server: mjsonp://HOST:PORT/ROOM or ws://HOST:PORT/PATH, which must play at least eight"
        " games; or a bot: a seat as in a match ('external:COMMAND', 'external-lines:COMMAND',"
        " 'external-arrays:COMMAND', a strategy), or with --dialect a command",
        nargs="?",
        default="",
        metavar="CMD-OR-URL",
    )
    dialect: str | None = option(
        None,
        "dialect of the command; tcp and requests: our URL takes the place of {url}, or comes last;"
        " lines and arrays: {seat} becomes its seat (default: that of the seat)",
        choices=list(_DIALECTS),
    )
    list: bool = option(False, "print all checks and end", shown=False)
    only: tuple[str, ...] = option(
        (), "this check alone; may be repeated", action="append", metavar="ID", shown=False
    )
    strict: bool = option(False, "fail for SHOULD and for NON-STRICT, too", shown=False)
    timeout_s: float | None = option(
        None, "longest time for a reply, in seconds (default: the dialect's)", type=seconds
    )
    at_once: int | None = option(
        None, "games that the target claims to play at once (default: not checked)", type=games
    )
    players: int | None = option(
        None, "number of players at a bot's tables (default: 4)", type=a.players, metavar="3|4"
    )
    start: str | None = option(
        None, "command that starts the server; it is also ended and restarted", metavar="COMMAND"
    )
    permitted_by: str | None = option(
        None,
        "operator who permitted the check; required for servers on other machines",
        metavar="WHO",
    )
    token_file: Path | None = a.file_option(
        f"bearer token for a ws:// server (default: the variable {a.TOKEN_VARIABLE})"
    )
    json: bool = a.json_option()
    junit: Path | None = a.output_option("file for the report as JUnit's XML", ".xml", shown=False)


@ending_at_once("mjbot check")
def run(request: CheckRequest) -> int:
    """Check, report, and fail where a MUST failed."""
    if request.list:
        print(listing())
        return ExitCode.OK
    if not request.target:
        raise ArgumentError("name a bot or a server to check, or add --list")
    if (request.start or request.permitted_by) and "://" not in request.target:
        flag = "--start" if request.start else "--permitted-by"
        raise ArgumentError(f"{flag}: is for servers; name the URL where it serves")
    if request.players == 3 and "://" in request.target:
        raise ArgumentError("--players: servers are checked with four players only")
    ids = _ids(request.only)
    checking: _CheckRun
    with a.reading_arguments():
        if "://" in request.target:
            checking = _ServerChecking(_address(request.target, request.permitted_by), ids, request)
        else:
            bot = _bot(request.target, request.dialect, request.players or RANKED.players)
            checking = _BotCheckRun(bot, ids, request)
    prepare([], table=True)
    findings = _until_signalled(checking, request.target)
    repeat = command_of("mjbot check", request, whole_paths=True)
    results = r.results(included(checking.checks, ids), findings, repeat)
    return _report(request, checking.dialect, results, findings)


class _CheckRun(abc.ABC):
    """What is checked; ``count`` is the number of its scenes, of which each begins by a call."""

    checks: Sequence[Check]
    dialect: Dialect
    count: int

    @abc.abstractmethod
    async def run(self, findings: r.CheckFindings, on_scene: Callable[[str], None]) -> object:
        """Play all scenes; what is noticed is in ``findings`` at once."""


class _BotCheckRun(_CheckRun):
    checks = BOT_CHECKS

    def __init__(self, bot: CheckedBot, ids: frozenset[str], request: CheckRequest) -> None:
        self._bot: Final = bot
        self.dialect = bot.dialect
        at_once = request.at_once or 0
        self._settings: Final = BotSettings(
            ids=ids,
            limit_s=request.timeout_s,
            at_once=at_once,
            players=request.players or RANKED.players,
        )
        self.count = self._settings.scene_count(bot.dialect)

    async def run(self, findings: r.CheckFindings, on_scene: Callable[[str], None]) -> object:
        async with self._bot:
            return await check_bot(self._bot, replace(self._settings, on_scene=on_scene), findings)


class _ServerChecking(_CheckRun):
    checks = SERVER_CHECKS

    def __init__(self, address: Address, ids: frozenset[str], request: CheckRequest) -> None:
        self._bearer: Final = a.token(request.token_file, a.TOKEN_VARIABLE)
        self._address: Final = address
        self.dialect = address.dialect
        self._door: Final = ServerEndpoint(self._connect, address.dialect, address.room)
        settings = ServerSettings(ids=ids, at_once=request.at_once or 0)
        self._process: ServerProcess | None = None
        if request.start is not None:
            self._process = ServerProcess(_runnable(request.start, "--start"), self._connect)
            settings = replace(settings, restart=self._process.restart)
        self._settings: Final = settings
        self.count = settings.scene_count(address.dialect)

    async def _connect(self) -> Transport:
        if self._address.dialect is LOCKSTEP:
            return await connect_tcp(self._address.host, self._address.port)
        return await connect_websocket(self._address.url, self._bearer)

    async def run(self, findings: r.CheckFindings, on_scene: Callable[[str], None]) -> object:
        settings = replace(self._settings, on_scene=on_scene)
        async with self._process or contextlib.nullcontext():
            return await check_server(self._door, settings, findings)


def _until_signalled(checking: _CheckRun, target: str) -> r.CheckFindings:
    findings, begun = r.CheckFindings(), 0
    title = f"checking {one_line(target)}"
    try:
        with progress(Console(stderr=True), title, checking.count, "scenes") as step:

            def on_scene(name: str) -> None:
                nonlocal begun
                step(min(begun, 1), one_line(name))
                begun += 1

            run_until_signalled(checking.run(findings, on_scene))
    except KeyboardInterrupt:
        findings.interrupt(checking.checks, f"in scene {begun} of {checking.count}")
    return findings


def _report(
    request: CheckRequest, dialect: Dialect, results: Sequence[r.Result], findings: r.CheckFindings
) -> ExitCode:
    """Write and print what was found; return the exit status."""
    stopped = findings.interrupted
    if request.junit:
        report = r.junit_report(request.target, dialect, results, stopped, strict=request.strict)
        write_text(request.junit, redacted(report))
    form = r.json_report if request.json else r.text_report
    print(form(request.target, dialect, results, stopped))
    if request.json:
        print(f"mjbot check: {r.summary(results)}", file=sys.stderr)
    if stopped:
        print(f"mjbot check: interrupted {stopped}; the report is partial", file=sys.stderr)
        return ExitCode.INTERRUPTED
    if findings.lost:
        print(f"mjbot check: {findings.lost}", file=sys.stderr)
        return ExitCode.FAILED
    faults = any(result.is_fault(strict=request.strict) for result in results)
    return ExitCode.FAILED if faults else ExitCode.OK


def _address(url: str, permitted_by: str | None) -> Address:
    """Return a server's address; raises ``ValueError`` and ``FairPlayError``."""
    address = parse_address(url)
    if address.dialect not in (LOCKSTEP, REQUESTS):
        raise ArgumentError(f"{url}: only servers of mjsonp://, ws:// or wss:// can be checked")
    require_permission_to_check(address, permitted_by)
    if permitted_by is not None:
        print(f"mjbot check: permitted by: {one_line(permitted_by)}", file=sys.stderr)
    return address


def listing() -> str:
    """Return all checks, one a line: id, level, families, title, document."""
    head = "families: " + ", ".join(
        f"{FAMILIES[family]} {family.traits.word}" for family in FAMILIES
    )
    return "\n".join([head, *[_listed(check) for check in (*BOT_CHECKS, *SERVER_CHECKS)]])


def table() -> str:
    """Return the same as a table in Markdown, for the documentation."""
    lines = [*head(["id", "level", "families", "what", "rests on"])]
    for check in CHECKS.values():
        lines.append(row([check.id, check.level, check.families, check.title, check.document]))
    return "\n".join(lines) + "\n"


def _listed(check: Check) -> str:
    return f"{check.id} {check.level:<6} {check.families:<4} {check.title} [{check.document}]"


def _ids(texts: Sequence[str]) -> frozenset[str]:
    ids = {id_.strip().upper() for text in texts for id_ in text.split(",")}
    for id_ in sorted(ids):
        if id_ not in CHECKS:
            raise ArgumentError(f"--only {id_}: there is no such check; --list prints them")
    return frozenset(ids)


def _bot(target: str, dialect: str | None, players: int) -> CheckedBot:
    """Return the bot that is meant; raises ``ValueError``."""
    if dialect is not None:
        return bot_of(_runnable(target, target), _DIALECTS[dialect], target)
    prefix, _, rest = target.partition(":")
    if prefix in _PREFIXES:
        return bot_of(_runnable(rest, target), _PREFIXES[prefix], target)
    (player,) = read_players([target])
    player.require_players(players)
    command = player.command("{url}", _MANY_GAMES if player.plays_on else 1)
    return bot_of(command, LOCKSTEP, target)


def _runnable(text: str, target: str) -> list[str]:
    parts = shlex.split(text)
    require_program(parts, target)
    return parts
