"""``mjbot serve``: open a table for clients of mjai or Tenhou's wire."""

import argparse
import asyncio
import contextlib
import errno
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from mjbot.cli.arguments import file_option, folder_option, reading_arguments, token
from mjbot.cli.log import Output, log_to, logger
from mjbot.cli.table import (
    PAGE,
    TableRequest,
    Take,
    WatchRequest,
    heading,
    table_page,
    table_rules,
)
from mjbot.game.table.settle import seats_by_rank
from mjbot.play.kept_games import Limits
from mjbot.play.server.accounts import Accounts, Admission
from mjbot.play.server.core import OnFault
from mjbot.play.server.entrance import PAUSE_S, WAIT_S, Entrance, WaitingLimits
from mjbot.play.server.game_log import require_writable
from mjbot.play.server.hall import Hall, Pairing
from mjbot.play.server.reply_faults import fault_of_void, fault_summary
from mjbot.play.server.server import (
    Bookkeeping,
    GameResult,
    SeatRemarks,
    TableServer,
    one_room,
    talk_of,
)
from mjbot.play.server.tables import OnTableEvent, Tables
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.messages import EndGame, Error, Event, StartGame
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.tenhou.game_type import game_type
from mjbot.runtime.argument_types import count, patience, seconds
from mjbot.runtime.argument_types import games as games_kept
from mjbot.runtime.argument_types import port as port_number
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.interruption import ending_at_once, run_until_signalled
from mjbot.runtime.languages import translate
from mjbot.runtime.net.guests import MOST_GUESTS, MOST_OF_ADDRESS, GuestLimits
from mjbot.runtime.net.log import LineLimit, LoopErrors
from mjbot.runtime.processes import keep_heap_compact, keep_responsive
from mjbot.runtime.requests import group, option

if TYPE_CHECKING:
    import loguru

DEFAULT_PORT = 11600
NUMBERS = {3: "three", 4: "four"}
LAST_PORT = 65535
WS_TOKEN_VARIABLE = "MJBOT_WS_TOKEN"


def _rooms(text: str) -> tuple[str, ...]:
    names = tuple([name.strip() for name in text.split(",")])
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,32}", name) or names.count(name) > 1:
            problem = f"room {name!r}: expected different names of letters, digits, _ . -"
            raise argparse.ArgumentTypeError(problem)
    return names


@dataclass(frozen=True, kw_only=True)
class HallRequest:
    """Several tables in one process, accounts and limits."""

    tables: int = option(1, "number of tables that the queue of --room fills", type=count)
    more_rooms: tuple[str, ...] = option(
        (), "further rooms, each with a table of its own", type=_rooms, metavar="NAME,..."
    )
    pairing: Pairing = option(
        "first-come",
        "players of a table; rotate: those that have met least often",
        choices=["first-come", "rotate"],
    )
    gather_s: float = option(
        2.0, "time in which rotate lets the queue grow, in seconds", type=seconds
    )
    accounts: Path | None = file_option(
        "file with a line NAME SHA-256-OF-TOKEN for each WebSocket player (default: none)"
    )
    tables_port: int | None = option(
        None,
        "port on 127.0.0.1 for the page of tables and results (default: none)",
        type=port_number,
    )
    connections: int = option(MOST_GUESTS, "most connections of an endpoint", type=count)
    per_address: int = option(
        MOST_OF_ADDRESS, "most connections of an endpoint from one address", type=count
    )

    waiting_per_address: int | None = option(
        None,
        "most players of one address that wait in a room (default: the places of its tables)",
        type=count,
    )
    void_pause_s: float = option(
        PAUSE_S,
        "first pause of a player whose reply made a game void, in seconds; 0: none",
        type=patience,
    )
    wait_s: float = option(WAIT_S, "most time that a player may wait, in seconds", type=seconds)

    @property
    def has_hall(self) -> bool:
        """Whether there is more than one table, or the page of tables."""
        return self.has_several or self.tables_port is not None

    @property
    def has_several(self) -> bool:
        """Whether there is more than one table."""
        return self.tables > 1 or bool(self.more_rooms)

    def admission(self) -> Admission:
        """Return accounts and limits; raises ``OSError`` and ``ArgumentError``."""
        accounts = None if self.accounts is None else Accounts.read(self.accounts)
        limits = GuestLimits(self.connections, self.per_address)
        return Admission(limits=limits, accounts=accounts, entrance=self.entrance())

    def entrance(self) -> Entrance:
        """Return the limits of waiting players."""
        most = self.waiting_per_address
        return Entrance(WaitingLimits(self.void_pause_s, self.wait_s, most))


@dataclass(frozen=True, kw_only=True)
class ServeRequest:
    """What ``mjbot serve`` is asked for."""

    profile: Path | None = file_option("profile with these options as keys", shown=False)
    host: str = option("127.0.0.1", "address to listen on")
    allow_remote: bool = option(False, "permit a --host that other machines reach")
    port: int = option(DEFAULT_PORT, "TCP port; 0: any free port", type=port_number)
    ws_port: int | None = option(None, "WebSocket port (default: --port + 1)", type=port_number)
    no_ws: bool = option(False, "open no WebSocket port")
    tenhou: int | None = option(
        None, "TCP port for Tenhou clients (default: none)", type=port_number, metavar="PORT"
    )
    tenhou_ws: int | None = option(
        None, "WebSocket port for Tenhou clients (default: none)", type=port_number, metavar="PORT"
    )
    ws_token_file: Path | None = file_option(
        "file with the bearer token that WebSocket players of --ws-port must send"
        f" (default: the variable {WS_TOKEN_VARIABLE}, else none)"
    )
    ws_token: str | None = option(
        None, "the token itself: every user of this machine can read a command line", shown=False
    )
    room: str = option("default", "room that TCP players must name")
    games: int = option(
        1, "number of games, after which the server exits; void ones do not count", type=count
    )
    log_dir: Path | None = folder_option("folder for one .mjson file per game (default: none)")
    keep_games: int = option(
        0, "records that stay for each table, the newest; 0: all", type=games_kept
    )
    keep_mb: int = option(0, "megabytes that they may take together; 0: any", type=games_kept)
    watch_for_pairs: bool = option(
        False,
        "warn of two players that play as if they saw each other's hands, and of players that help"
        " one opponent (not a proof)",
    )
    table: TableRequest = group(TableRequest)
    hall: HallRequest = group(HallRequest, "several tables, accounts and limits")
    page: WatchRequest = group(WatchRequest, PAGE)

    def __post_init__(self) -> None:
        if self.port == LAST_PORT and self.ws_port is None and not self.no_ws:
            cure = "name one, or --no-ws"
            raise ArgumentError(f"--port {self.port}: no port is left for --ws-port; {cure}")
        if self.ws_token is not None and self.ws_token_file is not None:
            raise ArgumentError("--ws-token: not allowed with --ws-token-file")
        if self.table.evidence and self.log_dir is None:
            raise ArgumentError(
                "--evidence: is written next to the games' logs; name their --log-dir"
            )
        if not self.room:
            raise ArgumentError("--room: must not be empty")
        if self.tenhou is not None or self.tenhou_ws is not None:
            self._check_tenhou()
        if self.hall.has_hall:
            self._check_hall()
        if not self.allow_remote and not _is_loopback(self.host):
            cure = "add --allow-remote to permit it"
            raise ArgumentError(f"--host {self.host}: other machines could join; {cure}")

    @property
    def keep(self) -> Limits:
        """How many records stay."""
        return Limits(most_games=self.keep_games, most_mb=self.keep_mb)

    def _check_hall(self) -> None:
        if self.page.watch and self.hall.has_several:
            cure = "leave --tables and --more-rooms out, or use --tables-port"
            raise ArgumentError(f"--watch: shows a single table; {cure}")
        if self.room in self.hall.more_rooms:
            raise ArgumentError(f"--more-rooms: {self.room!r} is the room of --room already")

    def _check_tenhou(self) -> None:
        if self.table.on_fault == OnFault.CHOMBO.value:
            problem = "a chombo cannot be sent to Tenhou clients; choose abort or default"
            raise ArgumentError(f"--on-fault chombo: {problem}")
        with reading_arguments():
            game_type(self.table.game)


@ending_at_once()
def run(request: ServeRequest) -> int:
    """Serve until all games are played, or after SIGTERM until the running one is."""
    _log_to_stderr()
    ws_token = token(request.ws_token_file, WS_TOKEN_VARIABLE, request.ws_token)
    if request.log_dir is not None:
        require_writable(request.log_dir)
    prepare([], table=True)
    keep_heap_compact()
    with reading_arguments():  # a token that cannot be
        ending = asyncio.Event()
        return run_until_signalled(_serve(request, ws_token, ending), ending.set)


def _log_to_stderr() -> None:
    """Log with time stamps, so many lines at most."""
    limit = LineLimit()

    def may_write(record: "loguru.Record") -> bool:
        writes, left_out = limit.next()
        if left_out:
            record["message"] += f" ({left_out} lines before this one were left out)"
        return writes

    form = "{time:YYYY-MM-DD HH:mm:ss} {level} {message}"
    log_to(Output(sys.stderr, form=form, filter=may_write))


def _is_loopback(host: str) -> bool:
    try:
        addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ip_address(address.partition("%")[0]).is_loopback for address in addresses)


async def _serve(request: ServeRequest, ws_token: str | None, ending: asyncio.Event) -> int:
    asyncio.get_running_loop().set_exception_handler(LoopErrors())
    serve = _serve_tables if request.hall.has_hall else _serve_table
    return await serve(request, ws_token, ending)


async def _serve_table(request: ServeRequest, ws_token: str | None, ending: asyncio.Event) -> int:
    rules = table_rules(request.table)
    rooms = one_room(rules.game.players, request.room)
    async with contextlib.AsyncExitStack() as stack:
        take = await stack.enter_async_context(
            table_page(request.page, translate("table {name}", name=request.room), ending)
        )

        on_event = _on_event(request, rules.game.players, take)
        table = TableServer(
            rules,
            rooms,
            log_dir=request.log_dir,
            on_event=lambda _, event, logs: on_event("", event, logs),
            evidence=request.table.evidence,
            admission=request.hall.admission(),
            bookkeeping=Bookkeeping(keep=request.keep),
        )
        server = await stack.enter_async_context(table)
        await _open_endpoints(server, request, ws_token)
        await _open_tenhou(server, request)
        number = NUMBERS[rules.game.players]
        _print_line(f"{heading(request.games, rules)} waiting for {number} players")
        keep_responsive()
        results = server.play(request.games, counts_void=False)
        games = ((describe(result), result.void) async for result in results)
        return await _play(
            server, games, ending, lambda: f"{len(server.lobby.waiting)} players wait"
        )


async def _open_endpoints(server: TableServer, request: ServeRequest, ws_token: str | None) -> None:
    with _free("--port", request.port, "0 for any"):
        port = await server.open_tcp(request.host, request.port)
    _print_line(f"listening on mjsonp://{_bracketed(request.host)}:{port}/{request.room}")
    if request.no_ws:
        return
    wanted = request.ws_port
    if wanted is None:
        wanted = port + 1 if request.port else 0
    with _free("--ws-port", wanted, "--no-ws"):
        ws_port = await server.open_websocket(request.host, wanted, ws_token)
    _print_line(f"listening on ws://{_bracketed(request.host)}:{ws_port}/ws")


async def _serve_tables(request: ServeRequest, ws_token: str | None, ending: asyncio.Event) -> int:
    from mjbot.play.server.tables_page import tables_server

    rules, hall = table_rules(request.table), request.hall
    rooms = {request.room: hall.tables, **dict.fromkeys(hall.more_rooms, 1)}
    async with contextlib.AsyncExitStack() as stack:
        take = await stack.enter_async_context(
            table_page(request.page, translate("table {name}", name=request.room), ending)
        )
        tables = Tables(
            rules,
            Hall(rooms, hall.pairing, hall.gather_s, hall.entrance(), rules.game.players),
            hall.admission(),
            log_dir=request.log_dir,
            evidence=request.table.evidence,
            keep=request.keep,
            on_event=_on_event(request, rules.game.players, take),
        )
        await stack.enter_async_context(tables.front)
        await _open_endpoints(tables.front, request, ws_token)
        await _open_tenhou(tables.front, request)
        if hall.tables_port is not None:
            page = tables_server(tables)
            stack.push_async_callback(page.close)
            with _free("--tables-port", hall.tables_port, "0 for any"):
                opened = await page.open(hall.tables_port)
            _print_line(f"tables at http://127.0.0.1:{opened}/")
        names = ", ".join([f"{room} ({number})" for room, number in rooms.items()])
        _print_line(f"{heading(request.games, rules)} rooms and tables: {names}")
        results = tables.play(request.games, keep_responsive)
        games = (
            (f"{played.table}, {describe(played.result)}", played.result.void)
            async for played in results
        )
        return await _play(tables, games, ending, tables.summary)


async def _play(
    server: TableServer | Tables,
    games: AsyncIterator[tuple[str, bool]],
    ending: asyncio.Event,
    summary: Callable[[], str],
) -> int:
    """Print each game, and report to systemd until the last that clients may connect.

    ``games`` yields how each ended, and whether it is void; after SIGTERM no further one begins.
    """
    from mjbot.play.service.reporting import keep_notifying, notify

    status = ExitCode.OK
    draining = asyncio.create_task(_drain(server, ending))
    notify("READY=1")
    notifying = asyncio.create_task(keep_notifying(summary))
    try:
        async for text, is_void in games:
            _print_line(text)
            status = ExitCode.FAILED if is_void else status
        if ending.is_set():
            await draining
    finally:
        draining.cancel()
        notifying.cancel()
    return status


async def _drain(server: TableServer | Tables, ending: asyncio.Event) -> None:
    """After SIGTERM begin no further game, so that :meth:`TableServer.play` ends."""
    await ending.wait()
    logger.info("SIGTERM: no further game begins; a second SIGTERM ends a running game at once")
    await server.drain()


def _on_event(request: ServeRequest, players: int, take: Take) -> OnTableEvent:
    """Return what takes the events of all tables: for the page of one table, and for pairs."""
    look = _pair_watch(players) if request.watch_for_pairs else None

    def on_event(table: str, event: Event | Error, logs: SeatRemarks) -> None:
        if not isinstance(event, Error):
            take(event, talk_of(logs))
            if look is not None:
                look(table, event)

    return on_event


def _pair_watch(players: int) -> Callable[[str, Event], None]:
    """Return what takes the tables' events, and after each game warns of pairs and helpers.

    Players meet at several tables: each game is judged as a whole, one after another.
    """
    from mjbot.analysis.collusion.live import HelperWatch, PairWatch
    from mjbot.analysis.collusion.verdicts import OF_PLAYERS, shipped_weights

    def warn(text: str) -> None:
        logger.warning(one_line(text))

    pairs, helpers = PairWatch(shipped_weights(OF_PLAYERS[players]), warn), HelperWatch(warn)

    games: dict[str, list[Event]] = {}

    def add(table: str, event: Event) -> None:
        if isinstance(event, StartGame):
            games[table] = []
        games.setdefault(table, []).append(event)
        if isinstance(event, EndGame):
            for each in games.pop(table):
                pairs.add(each)
                helpers.add(each)

    return add


async def _open_tenhou(server: TableServer, request: ServeRequest) -> None:
    for flag, scheme, port_wanted, opens in (
        ("--tenhou", "tenhou", request.tenhou, server.open_tenhou),
        ("--tenhou-ws", "tenhou+ws", request.tenhou_ws, server.open_tenhou_websocket),
    ):
        if port_wanted is not None:
            with _free(flag, port_wanted, "0 for any"):
                port = await opens(request.host, port_wanted)
            address = f"{_bracketed(request.host)}:{port}"
            _print_line(
                f"listening on {scheme}://{address}/0?type={int(game_type(request.table.game))}"
            )


@contextlib.contextmanager
def _free(option: str, port: int, way_out: str) -> Iterator[None]:
    """Report a port in use by its option, with the cure."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        text = f"{option} {port} is in use: name another, or {way_out}"
        raise OSError(error.errno, text) from None


def describe(result: GameResult) -> str:
    """Format in one line how a game ended, and whose replies were replaced."""
    if result.void:
        return f"game {result.number}: void by {fault_of_void(result.names, result.faults)}"
    order = seats_by_rank(result.scores)
    scores = " ".join([f"{result.names[seat]}:{result.scores[seat]}" for seat in order])
    faults = []
    for seat, name in enumerate(result.names):
        if own := [fault for fault in result.faults if fault.seat == seat]:
            faults.append(f"{name} (seat {seat}): {fault_summary(own)}")
    return f"game {result.number}: {scores}" + (f" ({'; '.join(faults)})" if faults else "")


def _print_line(text: str) -> None:
    print(one_line(text), flush=True)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
