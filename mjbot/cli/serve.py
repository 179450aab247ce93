"""``mjbot serve``: open a table for four clients that speak mjai or Tenhou's wire."""

import argparse
import asyncio
import contextlib
import errno
import socket
import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger
from rich.console import Console

from mjbot.cli.arguments import games_above_0, reading_arguments, token
from mjbot.cli.arguments import port as port_number
from mjbot.cli.table import PAGE, TableRequest, WatchRequest, table_page, table_rules
from mjbot.errors import ArgumentError, ExitCode
from mjbot.interruption import ending_at_once, run_until_signalled
from mjbot.listeners.log import LineLimit, LoopErrors
from mjbot.precompile import prepare
from mjbot.processes import keep_heap_compact
from mjbot.requests import declare
from mjbot.server.core import OnFault
from mjbot.server.game_log import require_writable
from mjbot.server.server import GameResult, Logs, TableServer, talk_of
from mjbot.table.settle import seats_by_rank
from protocol.messages import Error, Event
from protocol.plain_text import one_line
from protocol.tenhou.rules import GENERAL_HANCHAN, GENERAL_TONPUU

if TYPE_CHECKING:
    import loguru

DEFAULT_PORT = 11600
LAST_PORT = 65535
WS_TOKEN_VARIABLE = "MJBOT_WS_TOKEN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument(
        "--allow-remote", action="store_true", help="permit a --host that other machines reach"
    )
    parser.add_argument(
        "--port", type=port_number, default=DEFAULT_PORT, help=f"TCP port; 0: any ({DEFAULT_PORT})"
    )
    parser.add_argument("--ws-port", type=port_number, help="WebSocket port (default: --port + 1)")
    parser.add_argument("--no-ws", action="store_true", help="no WebSocket door")
    parser.add_argument(
        "--tenhou", type=port_number, metavar="PORT", help="TCP port for Tenhou clients (none)"
    )
    parser.add_argument(
        "--tenhou-ws",
        type=port_number,
        metavar="PORT",
        help="WebSocket port for Tenhou clients (none)",
    )
    tokens = parser.add_mutually_exclusive_group()
    tokens.add_argument(
        "--ws-token-file",
        type=Path,
        metavar="FILE",
        help="file with the bearer token that WebSocket players of --ws-port must send"
        f" (else the variable {WS_TOKEN_VARIABLE}, else none)",
    )
    tokens.add_argument(
        "--ws-token",
        metavar="TOKEN",
        help="the token itself: everybody on this machine can read a command line",
    )
    parser.add_argument(
        "--room", default="default", help="room that TCP players must name (default: default)"
    )
    parser.add_argument(
        "--games", type=games_above_0, default=1, help="games to play, then exit (1)"
    )
    parser.add_argument("--log-dir", type=Path, help="folder for one .mjson file per game (none)")
    parser.add_argument(
        "--watch-for-pairs",
        action="store_true",
        help="warn of two who play as if they knew each other's hands (not proof)",
    )
    declare(parser, TableRequest)
    declare(parser.add_argument_group(PAGE), WatchRequest)


@ending_at_once(terminated=ExitCode.OK)
def run(args: argparse.Namespace) -> int:
    """Serve until all games are played, or after SIGTERM until the running one is."""
    _log_to_stderr()
    _check(args)
    ws_token = args.ws_token or token(args.ws_token_file, WS_TOKEN_VARIABLE)
    if args.log_dir is not None:
        require_writable(args.log_dir)
    prepare([], Console(stderr=True), table=True)
    keep_heap_compact()
    with reading_arguments():  # a token that cannot be
        ending = asyncio.Event()
        return run_until_signalled(_serve(args, ws_token, ending), ending.set)


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


def _check(args: argparse.Namespace) -> None:
    if args.port == LAST_PORT and args.ws_port is None and not args.no_ws:
        cure = "name one, or --no-ws"
        raise ArgumentError(f"--port {args.port}: no port is left for --ws-port; {cure}")
    if args.evidence and args.log_dir is None:
        raise ArgumentError("--evidence: lies beside the games' logs; name their --log-dir")
    if not args.room:
        raise ArgumentError("--room: must not be empty")
    no_tenhou = args.tenhou is None and args.tenhou_ws is None
    if args.on_fault == OnFault.CHOMBO.value and not no_tenhou:
        problem = "a chombo cannot be told to Tenhou clients; choose abort or default"
        raise ArgumentError(f"--on-fault chombo: {problem}")
    if not args.allow_remote and not _is_loopback(args.host):
        cure = "say --allow-remote to permit it"
        raise ArgumentError(f"--host {args.host}: other machines could join; {cure}")


def _is_loopback(host: str) -> bool:
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ip_address(address.partition("%")[0]).is_loopback for address in found)


async def _serve(args: argparse.Namespace, ws_token: str | None, ending: asyncio.Event) -> int:
    asyncio.get_running_loop().set_exception_handler(LoopErrors())
    rules = table_rules(args)
    rooms = {args.room: (0, 1, 2, 3)}
    status = ExitCode.OK
    async with contextlib.AsyncExitStack() as stack:
        take = await stack.enter_async_context(table_page(args, f"table {args.room}", ending))

        look = _pair_watch() if args.watch_for_pairs else None

        def on_event(game: int, event: Event | Error, logs: Logs) -> None:
            if not isinstance(event, Error):
                take(event, talk_of(logs))
                if look is not None:
                    look(event)

        table = TableServer(
            rules, rooms, log_dir=args.log_dir, on_event=on_event, evidence=args.evidence
        )
        server = await stack.enter_async_context(table)
        with _free("--port", args.port, "0 for any"):
            port = await server.open_tcp(args.host, args.port)
        _say(f"listening on mjsonp://{_bracketed(args.host)}:{port}/{args.room}")
        if not args.no_ws:
            wanted = args.ws_port if args.ws_port is not None else (port + 1 if args.port else 0)
            with _free("--ws-port", wanted, "--no-ws"):
                ws_port = await server.open_websocket(args.host, wanted, ws_token)
            _say(f"listening on ws://{_bracketed(args.host)}:{ws_port}/ws")
        await _open_tenhou(server, args)
        _say(f"{args.games} x {rules.length}, seed {rules.seed}: waiting for four players")
        draining = asyncio.create_task(_drain(server, ending))
        stack.callback(draining.cancel)
        async for result in server.play(args.games):
            _say(describe(result))
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
    """Return what takes the table's events and warns of pairs."""
    from mjbot.detection.live import PairWatch
    from mjbot.detection.verdicts import shipped_weights

    return PairWatch(shipped_weights(), lambda text: logger.warning(one_line(text))).add


async def _open_tenhou(server: TableServer, args: argparse.Namespace) -> None:
    rules = GENERAL_HANCHAN if args.length == "hanchan" else GENERAL_TONPUU
    for option, scheme, wanted, open_door in (
        ("--tenhou", "tenhou", args.tenhou, server.open_tenhou),
        ("--tenhou-ws", "tenhou+ws", args.tenhou_ws, server.open_tenhou_websocket),
    ):
        if wanted is not None:
            with _free(option, wanted, "0 for any"):
                port = await open_door(args.host, wanted)
            _say(f"listening on {scheme}://{_bracketed(args.host)}:{port}/0?type={int(rules)}")


@contextlib.contextmanager
def _free(option: str, port: int, way_out: str) -> Iterator[None]:
    """Let a port in use be told as an option, with the cure."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        text = f"{option} {port} is in use: name another, or {way_out}"
        raise OSError(error.errno, text) from None


def describe(result: GameResult) -> str:
    """Say in one line how a game ended."""
    if result.void:
        return f"game {result.game + 1}: void. {result.faults[-1].text}"
    order = seats_by_rank(result.scores)
    scores = " ".join([f"{result.names[seat]}:{result.scores[seat]}" for seat in order])
    faults = f" ({len(result.faults)} faults)" if result.faults else ""
    return f"game {result.game + 1}: {scores}{faults}"


def _say(text: str) -> None:
    print(one_line(text), flush=True)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
