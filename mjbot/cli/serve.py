"""``mjbot serve``: open a table for four clients of mjai or Tenhou's wire."""

import asyncio
import contextlib
import errno
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger
from rich.console import Console

from mjbot.cli.arguments import count, file_option, folder_option, reading_arguments, token
from mjbot.cli.arguments import port as port_number
from mjbot.cli.table import PAGE, TableRequest, WatchRequest, table_page, table_rules
from mjbot.errors import ArgumentError, ExitCode
from mjbot.interruption import ending_at_once, run_until_signalled
from mjbot.listeners.log import LineLimit, LoopErrors
from mjbot.precompile import prepare
from mjbot.processes import keep_heap_compact
from mjbot.requests import group, option
from mjbot.server.core import OnFault
from mjbot.server.game_log import require_writable
from mjbot.server.server import GameResult, SeatRemarks, TableServer, talk_of
from mjbot.table.settle import seats_by_rank
from protocol.messages import Error, Event
from protocol.plain_text import one_line
from protocol.tenhou.rules import game_type

if TYPE_CHECKING:
    import loguru

DEFAULT_PORT = 11600
LAST_PORT = 65535
WS_TOKEN_VARIABLE = "MJBOT_WS_TOKEN"


@dataclass(frozen=True, kw_only=True)
class ServeRequest:
    """What ``mjbot serve`` is asked for."""

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
        None, "the token itself: every user of this machine can read a command line"
    )
    room: str = option("default", "room that TCP players must name")
    games: int = option(1, "number of games, after which the server exits", type=count)
    log_dir: Path | None = folder_option("folder for one .mjson file per game (default: none)")
    watch_for_pairs: bool = option(
        False,
        "warn of two players that play as if they saw each other's hands, and of players that help"
        " one opponent (not a proof)",
    )
    table: TableRequest = group(TableRequest)
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
        if not self.allow_remote and not _is_loopback(self.host):
            cure = "add --allow-remote to permit it"
            raise ArgumentError(f"--host {self.host}: other machines could join; {cure}")

    def _check_tenhou(self) -> None:
        if self.table.on_fault == OnFault.CHOMBO.value:
            problem = "a chombo cannot be sent to Tenhou clients; choose abort or default"
            raise ArgumentError(f"--on-fault chombo: {problem}")
        with reading_arguments():
            game_type(self.table.game)


@ending_at_once(terminated=ExitCode.OK)
def run(request: ServeRequest) -> int:
    """Serve until all games are played, or after SIGTERM until the running one is."""
    _log_to_stderr()
    ws_token = request.ws_token or token(request.ws_token_file, WS_TOKEN_VARIABLE)
    if request.log_dir is not None:
        require_writable(request.log_dir)
    prepare([], Console(stderr=True), table=True)
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

    logger.remove()
    form = "{time:YYYY-MM-DD HH:mm:ss} {level} {message}"
    logger.add(sys.stderr, level="INFO", format=form, filter=may_write)


def _is_loopback(host: str) -> bool:
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ip_address(address.partition("%")[0]).is_loopback for address in found)


async def _serve(request: ServeRequest, ws_token: str | None, ending: asyncio.Event) -> int:
    asyncio.get_running_loop().set_exception_handler(LoopErrors())
    rules = table_rules(request.table)
    rooms = {request.room: (0, 1, 2, 3)}
    status = ExitCode.OK
    async with contextlib.AsyncExitStack() as stack:
        take = await stack.enter_async_context(
            table_page(request.page, f"table {request.room}", ending)
        )

        look = _pair_watch() if request.watch_for_pairs else None

        def on_event(game: int, event: Event | Error, logs: SeatRemarks) -> None:
            if not isinstance(event, Error):
                take(event, talk_of(logs))
                if look is not None:
                    look(event)

        table = TableServer(
            rules,
            rooms,
            log_dir=request.log_dir,
            on_event=on_event,
            evidence=request.table.evidence,
        )
        server = await stack.enter_async_context(table)
        with _free("--port", request.port, "0 for any"):
            port = await server.open_tcp(request.host, request.port)
        _print_line(f"listening on mjsonp://{_bracketed(request.host)}:{port}/{request.room}")
        if not request.no_ws:
            port_wanted = (
                request.ws_port
                if request.ws_port is not None
                else (port + 1 if request.port else 0)
            )
            with _free("--ws-port", port_wanted, "--no-ws"):
                ws_port = await server.open_websocket(request.host, port_wanted, ws_token)
            _print_line(f"listening on ws://{_bracketed(request.host)}:{ws_port}/ws")
        await _open_tenhou(server, request)
        _print_line(f"{request.games} x {rules.game}, seed {rules.seed}: waiting for four players")
        draining = asyncio.create_task(_drain(server, ending))
        stack.callback(draining.cancel)
        async for result in server.play(request.games):
            _print_line(describe(result))
            status = ExitCode.FAILED if result.void else status
        if ending.is_set():
            await draining
    return status


async def _drain(server: TableServer, ending: asyncio.Event) -> None:
    """After SIGTERM begin no further game, so that :meth:`TableServer.play` ends."""
    await ending.wait()
    logger.info("SIGTERM: no further game begins; a second SIGTERM ends a running game at once")
    await server.drain()


def _pair_watch() -> Callable[[Event], None]:
    """Return what takes the table's events and warns of pairs and helpers."""
    from mjbot.detection.live import HelperWatch, PairWatch
    from mjbot.detection.verdicts import shipped_weights

    def warn(text: str) -> None:
        logger.warning(one_line(text))

    pairs, helpers = PairWatch(shipped_weights(), warn), HelperWatch(warn)

    def add(event: Event) -> None:
        pairs.add(event)
        helpers.add(event)

    return add


async def _open_tenhou(server: TableServer, request: ServeRequest) -> None:
    for flag, scheme, port_wanted, opens in (
        ("--tenhou", "tenhou", request.tenhou, server.open_tenhou),
        ("--tenhou-ws", "tenhou+ws", request.tenhou_ws, server.open_tenhou_websocket),
    ):
        if port_wanted is not None:
            with _free(flag, port_wanted, "0 for any"):
                port = await opens(request.host, port_wanted)
            place = f"{_bracketed(request.host)}:{port}"
            _print_line(
                f"listening on {scheme}://{place}/0?type={int(game_type(request.table.game))}"
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
    """Describe in one line how a game ended."""
    if result.void:
        return f"game {result.game + 1}: void. {result.faults[-1].text}"
    order = seats_by_rank(result.scores)
    scores = " ".join([f"{result.names[seat]}:{result.scores[seat]}" for seat in order])
    faults = f" ({len(result.faults)} faults)" if result.faults else ""
    return f"game {result.game + 1}: {scores}{faults}"


def _print_line(text: str) -> None:
    print(one_line(text), flush=True)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
