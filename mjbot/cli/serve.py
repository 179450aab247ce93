"""``mjbot serve``: open a table for four mjai clients."""

import argparse
import asyncio
import contextlib
import errno
import random
import signal
import socket
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

from rich.console import Console

from mjbot import exit_codes
from mjbot.preparation import prepare
from mjbot.server.core import OnFault
from mjbot.server.server import GameResult, TableServer
from mjbot.server.table_rules import TableRules

DEFAULT_PORT = 11600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument(
        "--allow-remote", action="store_true", help="permit a --host that other machines reach"
    )
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"TCP port; 0: any ({DEFAULT_PORT})"
    )
    parser.add_argument("--ws-port", type=int, help="WebSocket port (default: --port + 1)")
    parser.add_argument("--no-ws", action="store_true", help="no WebSocket door")
    parser.add_argument("--ws-token", help="bearer token that WebSocket players must send (none)")
    parser.add_argument(
        "--room", default="default", help="room that TCP players must name (default: default)"
    )
    parser.add_argument("--games", type=int, default=1, help="games to play, then exit (1)")
    parser.add_argument("--log-dir", type=Path, help="folder for one .mjson file per game (none)")
    add_table_arguments(parser)


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``serve`` and ``match`` have in common."""
    parser.add_argument(
        "--length", choices=["tonpu", "hanchan"], default="hanchan", help="of a game (%(default)s)"
    )
    parser.add_argument("--seed", type=int, help="seed of walls and seats (default: random)")
    parser.add_argument(
        "--seats",
        choices=["shuffled", "fixed"],
        default="shuffled",
        help="fixed: first come, East (%(default)s)",
    )
    parser.add_argument(
        "--timeout-s", type=float, default=60.0, help="seconds per reply (%(default)g)"
    )
    parser.add_argument(
        "--on-fault",
        choices=[kind.value for kind in OnFault],
        default=OnFault.ABORT.value,
        help="what an illegal, late or broken reply costs: the game, a mangan, nothing"
        " (default: %(default)s)",
    )


def table_rules(args: argparse.Namespace) -> TableRules:
    """Return the rules that the arguments of :func:`add_table_arguments` ask for."""
    seed = random.SystemRandom().randrange(1 << 31) if args.seed is None else args.seed
    return TableRules(
        seed=seed,
        length=args.length,
        fixed_seats=args.seats == "fixed",
        timeout_s=args.timeout_s,
        on_fault=OnFault(args.on_fault),
    )


def run(args: argparse.Namespace) -> int:
    """Serve until all games are played."""
    if problem := _objection(args):
        print(f"mjbot serve: {problem}", file=sys.stderr)
        return exit_codes.BAD_ARGUMENTS
    prepare([], Console(stderr=True), table=True)
    try:
        return asyncio.run(_serve(args))
    except OSError as error:
        print(f"mjbot serve: {error.strerror or error}", file=sys.stderr)
        return exit_codes.UNREACHABLE
    except asyncio.CancelledError:
        return exit_codes.INTERRUPTED


def _objection(args: argparse.Namespace) -> str | None:
    if args.games < 1:
        return f"--games {args.games}: at least one"
    if args.timeout_s <= 0:
        return f"--timeout-s {args.timeout_s:g}: must be above 0"
    if not 0 <= args.port < 65536:
        return f"--port {args.port}: not a port"
    if not args.room:
        return "--room: must not be empty"
    if not args.allow_remote and not _is_loopback(args.host):
        return f"--host {args.host}: other machines could join; say --allow-remote to permit it"
    return None


def _is_loopback(host: str) -> bool:
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ip_address(address.partition("%")[0]).is_loopback for address in found)


async def _serve(args: argparse.Namespace) -> int:
    _stop_on_sigterm()
    rules = table_rules(args)
    rooms = {args.room: (0, 1, 2, 3)}
    status = exit_codes.OK
    async with TableServer(rules, rooms, log_dir=args.log_dir) as server:
        with _free("--port", args.port, "0 for any"):
            port = await server.open_tcp(args.host, args.port)
        _say(f"listening on mjsonp://{_bracketed(args.host)}:{port}/{args.room}")
        if not args.no_ws:
            wanted = args.ws_port if args.ws_port is not None else (port + 1 if args.port else 0)
            with _free("--ws-port", wanted, "--no-ws"):
                ws_port = await server.open_websocket(args.host, wanted, args.ws_token)
            _say(f"listening on ws://{_bracketed(args.host)}:{ws_port}/ws")
        _say(f"{args.games} x {rules.length}, seed {rules.seed}: waiting for four players")
        async for result in server.play(args.games):
            _say(describe(result))
            status = exit_codes.FAILED if result.void else status
    return status


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
    order = sorted(range(4), key=lambda seat: (-result.scores[seat], seat))
    scores = " ".join([f"{result.names[seat]}:{result.scores[seat]}" for seat in order])
    faults = f" ({len(result.faults)} faults)" if result.faults else ""
    return f"game {result.game + 1}: {scores}{faults}"


def _say(text: str) -> None:
    print(text, flush=True)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _stop_on_sigterm() -> None:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
