"""``mjbot run PROFILE``: a bot that plays at a server for days."""

import argparse
import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, Final

from mjbot.cli.arguments import (
    TOKEN_VARIABLE,
    file_option,
    folder_option,
    output_option,
    secret_words,
    secrets_in,
    seed_option,
    strategy_option,
    unannounced_length_option,
    unannounced_players_option,
)
from mjbot.cli.log import DATED, Output, log_to, logger
from mjbot.cli.profile import FieldError, RunProfile
from mjbot.play.client.play import Settings
from mjbot.play.kept_games import Limits
from mjbot.play.match.players import HUMAN
from mjbot.play.server.game_log import require_writable
from mjbot.play.service.bot import BotService
from mjbot.play.service.files import Keeping
from mjbot.play.service.locks import TokenLocks, secrets_of
from mjbot.play.service.log_file import LogFile
from mjbot.play.service.plan import ConnectionPlan, PlayPlan, ServicePlan
from mjbot.play.service.reporting import metrics_server, notify, report
from mjbot.play.service.status import Status
from mjbot.play.service.timing import Timing, time_strategy
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Length
from mjbot.protocol.tenhou.login import GUEST_LOGIN, Login
from mjbot.protocol.transports.address import FORMS, Address, is_loopback, parse_address
from mjbot.runtime.argument_types import count, games, port, seconds
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.interruption import ending_at_once, run_until_signalled
from mjbot.runtime.processes import keep_heap_compact
from mjbot.runtime.requests import argument, group, option
from mjbot.strategy.pair.fair_play import FairPlayError, require_permission
from mjbot.strategy.registry import Spec

DIALECTS: Final = tuple(
    dialect.traits.word for dialect in Dialect if dialect.traits.over in ("tcp", "websocket")
)
CHECK_S: Final = 60.0
"""Longest time that ``--check`` measures decisions."""


def _switch(help_: str) -> Any:
    """Return an option that the command line can also turn off: ``--no-...``."""
    return option(False, help_, action=argparse.BooleanOptionalAction)


@dataclass(frozen=True, kw_only=True)
class ServerKeys:
    """The server, and the bot's name and token there."""

    url: str = option("", "server: mjsonp://HOST:PORT/ROOM, ws://HOST:PORT/PATH, tenhou://...")
    dialect: str | None = option(
        None,
        "protocol that the server must support (default: by the URL's scheme)",
        choices=list(DIALECTS),
    )
    name: str | None = option(None, "name at the table (default: the strategy's)")
    room: str | None = option(None, "room at the server (default: the URL's)")
    length: Length | None = unannounced_length_option()
    players: int | None = unannounced_players_option()
    token_env: str = option(
        TOKEN_VARIABLE, "environment variable with the bearer token; several: one a word"
    )
    token_file: Path | None = file_option(
        "file with the bearer token; several: one a line (default: the variable)"
    )
    token_shared: bool = _switch(
        "one token for all players, as of `mjbot serve --ws-token-file`; only on this machine"
    )
    permitted_by: str | None = option(
        None,
        "operator who permitted the program at a Tenhou server elsewhere, and for which account",
        metavar="WHO",
    )
    account_file: Path | None = file_option("file with the account's ID at a Tenhou server")


@dataclass(frozen=True, kw_only=True)
class BotKeys:
    """What plays."""

    strategy: Spec = strategy_option("tsumogiri", "strategy that plays")
    fallback: Spec | None = strategy_option(
        None, "strategy that decides where the first is late, fails or chooses an illegal action"
    )
    fallback_s: float = option(
        0.5, "time kept for the fallback strategy, in seconds of the decision's own", type=seconds
    )
    seed: int = seed_option()
    deadline_s: float | None = option(
        None, "time for a decision, in seconds (default: the dialect's)", type=seconds
    )
    lenient: bool = _switch("log a contradiction between server and rules, and play on")


@dataclass(frozen=True, kw_only=True)
class LogKeys:
    """What is written, and how much of it is kept."""

    log: Path | None = output_option("file for the log, beside stderr (default: none)")
    log_mb: int = option(10, "size at which a new log is begun, in MB", type=count)
    log_files: int = option(5, "number of old logs that are kept", type=count)
    verbose: bool = _switch("log every detail")
    folder: Path | None = folder_option("folder for a record of each game (default: none)")
    evidence: bool = _switch("keep every frame of each connection beside the game's record")
    keep_games: int = option(0, "number of games kept in the folder; 0: all", type=games)
    keep_mb: int = option(0, "size of the games kept, in MB; 0: without a limit", type=games)
    status: Path | None = output_option("file for the status as JSON (default: none)")
    metrics_port: int | None = option(
        None, "port on 127.0.0.1 for /metrics and /status (default: none)", type=port
    )


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """Arguments of ``mjbot run``."""

    profile: Path = argument("profile as `mjbot init` writes it", type=Path, metavar="PROFILE")
    check: bool = option(
        False, "print what would happen, measure the strategy, and end", shown=False
    )
    server: ServerKeys = group(ServerKeys, "server")
    bot: BotKeys = group(BotKeys, "bot")
    play: PlayPlan = group(PlayPlan, "play")
    connection: ConnectionPlan = group(ConnectionPlan, "connection")
    logs: LogKeys = group(LogKeys, "logs")
    command_line: tuple[str, ...] = ()


@ending_at_once()
def run(request: RunRequest) -> int:
    """Play by the profile."""
    if request.check:
        return _check(request)
    locks = TokenLocks()
    plan = _plan(request)
    locks.hold(_locked(request, plan))
    try:
        _open_logs(request.logs)
        _prepare(request)
        keep_heap_compact()
        main, finish, reload = _service(request, plan, locks)
        return run_until_signalled(main, finish, reload)
    finally:
        locks.keep_only(())


def _service(
    request: RunRequest, plan: ServicePlan, locks: TokenLocks
) -> tuple[Coroutine[Any, Any, int], Callable[[], None], Callable[[], None]]:
    """Return the main coroutine and what is called at SIGTERM and at SIGHUP."""
    from mjbot.cli.main import read_again

    status = Status(time.time)

    locked = _locked(request, plan)

    def reread() -> ServicePlan:
        nonlocal locked
        again = read_again(request, request.command_line)
        plan = _plan(again)
        with locks.holding(_locked(again, plan)):
            _open_logs(again.logs)
        locked = _locked(again, plan)
        notify("READY=1")
        return plan

    service: list[BotService] = []

    async def main() -> int:
        service.append(
            BotService(
                plan,
                status,
                random=Random(),
                reread=reread,
                on_settled=lambda: locks.keep_only(locked),
            )
        )
        return await _reported(service[0], request.logs)

    def finish() -> None:
        logger.info("SIGTERM: games that are played end; a second SIGTERM ends them at once")
        notify("STOPPING=1")
        for bot in service:
            bot.finish()

    def reload() -> None:
        for bot in service:
            bot.reload()

    return main(), finish, reload


async def _reported(service: BotService, logs: LogKeys) -> int:
    status = service.status
    async with contextlib.AsyncExitStack() as stack:
        if logs.metrics_port is not None:
            metrics = metrics_server(status)
            opened = await metrics.open(logs.metrics_port)
            stack.push_async_callback(metrics.close)
            logger.info("metrics at http://127.0.0.1:{}/metrics", opened)

        def summary() -> str:
            return f"{status.state}: {sum(status.ranks)} games, ranks {status.ranks}"

        reporting = asyncio.create_task(report(status, logs.status, summary, logger.error))
        notify("READY=1")
        try:
            return await service.run()
        finally:
            reporting.cancel()
            await asyncio.wait({reporting})


def _open_logs(logs: LogKeys) -> None:
    """Log as the profile requires; raises ``OSError``, and the logs before stay."""
    level = "DEBUG" if logs.verbose else "INFO"
    streams: list[Any] = [sys.stderr]
    if logs.log is not None:
        streams.append(LogFile(logs.log, 1_000_000 * logs.log_mb, logs.log_files))
    log_to(*[Output(stream, level, DATED) for stream in streams])


def _prepare(request: RunRequest) -> None:
    specs = [request.bot.strategy, *filter(None, [request.bot.fallback])]
    prepare(specs, use="client")


# --- what a profile means ------------------------------------------------------------------------


def _plan(request: RunRequest) -> ServicePlan:
    """Return what is to be done.

    Raises :class:`~mjbot.cli.profile.ProfileError` with the profile's line, and ``OSError``.
    """
    profile = RunProfile(request.profile)
    try:
        return _checked_plan(request)
    except FieldError as error:
        problem = str(error).removeprefix(f"{error.key}: ")
        located = profile.error(error.key, problem)
        located.exit_code = error.exit_code
        raise located from None


def _checked_plan(request: RunRequest) -> ServicePlan:
    server, bot, connection = request.server, request.bot, request.connection
    address = _address(server)
    for key, spec in (("bot.strategy", bot.strategy), ("bot.fallback", bot.fallback)):
        if spec is not None:
            _check_strategy(key, spec)
    name = server.name or bot.strategy.name.rpartition(":")[2]
    with _at("server.name"):
        address = address.with_name(name) if server.name else address
    deadline_s = bot.deadline_s or address.dialect.traits.deadline_s
    if bot.fallback is not None and bot.fallback_s > deadline_s / 2:
        problem = f"more than half of a decision's {deadline_s:g} s; name less"
        raise FieldError("bot.fallback_s", problem)
    if connection.longest_pause_s < connection.first_pause_s:
        problem = f"shorter than first_pause_s ({connection.first_pause_s:g})"
        raise FieldError("connection.longest_pause_s", problem)
    fallback = bot.fallback
    seed = bot.seed
    return ServicePlan(
        settings=Settings(
            address=address,
            name=name,
            deadline_s=bot.deadline_s,
            silence_s=connection.silence_s,
            strict=not bot.lenient,
            login=_login(server, address),
            length=server.length,
            players=server.players,
        ),
        make_strategy=lambda game: bot.strategy.make(seed + game),
        make_fallback=None if fallback is None else lambda game: fallback.make(seed + game),
        fallback_s=bot.fallback_s,
        strategy=str(bot.strategy),
        tokens=_tokens(server, address, request.play.at_once),
        play=request.play,
        connection=connection,
        keeping=_keeping(request.profile, request.logs),
    )


@contextlib.contextmanager
def _at(key: str) -> Iterator[None]:
    """Let an error inside be one of a key of the profile."""
    try:
        yield
    except FieldError:
        raise
    except (MjbotError, ValueError) as error:
        raise FieldError(key, str(error)) from None


def _address(server: ServerKeys) -> Address:
    if not server.url:
        raise FieldError("server.url", f"missing: {FORMS}")
    with _at("server.url"):
        address = parse_address(server.url, server.room)
    if address.is_stdio:
        problem = "a profile is for servers that are connected to; use mjbot play for pipes"
        raise FieldError("server.url", problem)
    word = address.dialect.traits.word
    if server.dialect not in (None, word):
        problem = f"{server.dialect!r}, but the URL's scheme is that of {word!r}; change one"
        raise FieldError("server.dialect", problem)
    try:
        require_permission(address, server.permitted_by)
    except FairPlayError as error:
        raise FieldError("server.permitted_by", str(error)) from None
    return address


def _check_strategy(key: str, spec: Spec) -> None:
    if spec.is_external or spec.name == HUMAN:
        problem = f"{spec.name!r} is no strategy of mjbot's kind; mjbot strategies lists them"
        raise FieldError(key, problem)
    with _at(key):
        spec.check()


def _login(server: ServerKeys, address: Address) -> Login:
    if server.account_file is None:
        return GUEST_LOGIN
    if not address.dialect.traits.is_tenhou:
        raise FieldError("server.account_file", "only for a tenhou:// server; remove it")
    with _at("server.account_file"):
        return Login(secrets_in(server.account_file, only_regular=True)[0])


def _tokens(server: ServerKeys, address: Address, at_once: int) -> tuple[str | None, ...]:
    if server.token_file is not None:
        with _at("server.token_file"):
            tokens = secrets_in(server.token_file, only_regular=True)
    else:
        with _at("server.token_env"):
            tokens = secret_words(os.environ.get(server.token_env, ""), "the variable")
        if not tokens and server.token_env != TOKEN_VARIABLE:  # not quoted: it may be the token
            problem = "the variable of that name is not set; export it, or use token_file"
            raise FieldError("server.token_env", problem)
    if server.token_shared:
        if not is_loopback(address.host):
            problem = f"only for a server of this machine, not {address.host}; remove it"
            raise FieldError("server.token_shared", problem)
        return tuple(tokens[:1]) or (None,)
    if not tokens and at_once == 1:
        return (None,)
    if len(set(tokens)) != len(tokens):
        raise FieldError("server.token_file", "a token stands twice; each has one connection")
    if at_once > len(tokens):
        problem = f"{at_once} games need {at_once} tokens, here are {len(tokens)}; add tokens"
        problem += ", or token_shared for a server of this machine that takes one from all"
        raise FieldError("play.at_once", problem)
    return tuple(tokens)


def _locked(request: RunRequest, plan: ServicePlan) -> list[str]:
    """Return the tokens and the account that no other process of this machine may use."""
    tokens = () if request.server.token_shared else plan.tokens[: plan.play.at_once]
    return secrets_of(tokens, plan.settings.login)


def _keeping(profile: Path, logs: LogKeys) -> Keeping:
    if logs.folder is None:
        for key, value in (
            ("evidence", logs.evidence),
            ("keep_games", logs.keep_games),
            ("keep_mb", logs.keep_mb),
        ):
            if value:
                raise FieldError(f"logs.{key}", "lies beside the games' records; name logs.folder")
    else:
        try:
            require_writable(logs.folder)
        except OSError as error:
            problem = f"{logs.folder}: {error.strerror}"
            raise FieldError("logs.folder", problem, ExitCode.UNREACHABLE) from None
    for key, file in (("logs.log", logs.log), ("logs.status", logs.status)):
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            problem = f"{file} is a folder" if file.is_dir() else f"{file.parent} is no folder"
            raise FieldError(key, f"{problem}; name a file in a folder that exists")
    return Keeping(
        folder=logs.folder,
        owner=str(profile.resolve()),
        evidence=logs.evidence,
        limits=Limits(most_games=logs.keep_games, most_mb=logs.keep_mb),
    )


# --- --check -------------------------------------------------------------------------------------


def _check(request: RunRequest) -> int:
    """Print what a profile does, and whether its strategy answers in time; contact nothing."""
    plan = _plan(request)
    print("\n".join(_described(request, plan)), flush=True)
    _prepare(request)
    traits = plan.settings.address.dialect.traits
    limit_s = plan.settings.deadline_s or traits.deadline_s
    if plan.make_fallback is not None:
        limit_s -= plan.fallback_s
    checked = [("strategy", plan.make_strategy, limit_s)]
    if plan.make_fallback is not None:
        checked.append(("fallback", plan.make_fallback, plan.fallback_s))
    in_time = True
    for what, make, most_s in checked:
        timing = time_strategy(make, CHECK_S)
        in_time = in_time and timing.longest_s <= most_s
        print(_timed(what, timing, most_s), flush=True)
    return ExitCode.OK if in_time else ExitCode.FAILED


def _timed(what: str, timing: Timing, limit_s: float) -> str:
    verdict = "in time" if timing.longest_s <= limit_s else "TOO LATE; choose a faster one"
    p99_ms = max(timing.p99_s * 1000, 0.1)
    return (
        f"{what}: {timing.count} decisions on this machine, median {timing.median_s * 1000:.1f} ms,"
        f" 99% below {p99_ms:.1f} ms, longest {timing.longest_s * 1000:.1f} ms;"
        f" limit {limit_s * 1000:.0f} ms: {verdict}"
    )


def _described(request: RunRequest, plan: ServicePlan) -> Iterator[str]:
    server, play, logs = request.server, plan.play, request.logs
    connection, address = plan.connection, plan.settings.address
    machine = "this machine" if is_loopback(address.host) else "another machine"
    yield f"server: {one_line(address.url)} ({address.dialect.traits.word}, {machine})"
    source = f"file {server.token_file}" if server.token_file else f"variable {server.token_env}"
    known = len([token for token in plan.tokens if token])
    yield f"token: {known} from {source}" if known else f"token: none ({source} is empty)"
    yield f"name: {one_line(plan.settings.name)}"
    deadline_s = plan.settings.deadline_s or address.dialect.traits.deadline_s
    yield f"strategy: {request.bot.strategy}, {deadline_s:g} s a decision"
    yield f"fallback: {request.bot.fallback or 'the default action'}"
    number = f"{play.games} games" if play.games else "games without end"
    yield f"play: {number}, {play.at_once} at once, {play.pause_s:g} s between two"
    if play.hours is not None:
        wait_s = play.hours.opens_in_s(datetime.now())
        state = "open now" if not wait_s else f"opens in {wait_s / 60:.0f} minutes"
        yield f"hours: {play.hours}, {state}"
    yield (
        f"after a game: {play.on_game_end}; lost connection: {play.on_disconnect};"
        f" version change: {play.on_version_change}"
    )
    yield (
        f"after a failure: pauses of {connection.first_pause_s:g} to"
        f" {connection.longest_pause_s:g} s, at most {connection.per_hour} attempts an hour"
    )
    evidence = ", with every frame" if logs.evidence else ""
    yield f"records: {f'{logs.folder}{evidence}' if logs.folder else 'none'}"
    yield f"log: stderr{f' and {logs.log}' if logs.log else ''}; status: {logs.status or 'none'}"
    if logs.metrics_port is not None:
        yield f"metrics: http://127.0.0.1:{logs.metrics_port}/metrics"
