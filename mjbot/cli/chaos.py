"""``mjbot chaos URL``: a proxy before a server that breaks conversations, by seed."""

import argparse
import asyncio
import sys
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from mjbot.chaos import FAULTS, HARMLESS, Chaos, ChaosProxy, Fault
from mjbot.cli.arguments import port as port_number
from mjbot.cli.arguments import reading_arguments, seconds
from mjbot.errors import ArgumentError, ExitCode
from mjbot.interruption import run_until_signalled
from mjbot.pair.fair_play import FairPlayError
from protocol.plain_text import one_line
from protocol.transports.address import is_loopback, parse_address

_BYTES: Final = 1000.0
_PORTS: Final = {"ws": 80, "mjsonp": 11600}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("url", metavar="URL", help="the server: mjsonp://, ws://, tenhou://, ...")
    parser.add_argument(
        "--port", type=port_number, default=0, help="where to listen; 0: any (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of what goes wrong (%(default)s)")
    parser.add_argument(
        "--faults",
        default=",".join(FAULTS),
        metavar="LIST",
        help=f"which; the first {len(HARMLESS)} lose nothing (%(default)s)",
    )
    parser.add_argument(
        "--every-kb", type=seconds, default=2.0, help="between two that lose nothing (%(default)g)"
    )
    parser.add_argument(
        "--break-every-kb", type=seconds, default=200.0, help="between two others (%(default)g)"
    )
    parser.add_argument(
        "--calm-kb", type=float, default=0.0, help="before the first of the others (%(default)g)"
    )
    parser.add_argument(
        "--stall-s", type=seconds, default=5.0, help="how long a stall lasts (%(default)g)"
    )


def run(args: argparse.Namespace) -> int:
    """Stand before the server until a signal comes."""
    with reading_arguments():
        host, port = _server(args.url)
    return run_until_signalled(_stand(args, _chaos(args), host, port))


def _server(url: str) -> tuple[str, int]:
    """Return where a server is; raises ``ValueError``."""
    address = parse_address(url)
    parts = urlsplit(url)
    if address.is_stdio or parts.scheme.endswith("wss"):
        raise ArgumentError(f"{url}: a proxy goes before a TCP connection that is not encrypted")
    if not is_loopback(address.host):
        problem = "would stand as a server of this machine for one elsewhere"
        cure = "run the server here, or chaos where the server runs"
        raise FairPlayError(f"{url}: a proxy {problem}, past the checks of fair play; {cure}")
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 80)


def _chaos(args: argparse.Namespace) -> Chaos:
    faults = tuple(args.faults.split(","))
    for name in faults:
        if name not in FAULTS:
            raise ArgumentError(f"--faults {name}: expected some of {', '.join(FAULTS)}")
    return Chaos(
        seed=args.seed,
        faults=faults,
        every=_BYTES * args.every_kb,
        break_every=_BYTES * args.break_every_kb,
        calm=int(_BYTES * args.calm_kb),
        stall_s=args.stall_s,
    )


async def _stand(args: argparse.Namespace, chaos: Chaos, host: str, port: int) -> int:
    async with ChaosProxy(chaos, host, port, _tell) as proxy:
        own = await proxy.open(args.port)
        parts = urlsplit(args.url)
        url = urlunsplit(parts._replace(netloc=f"127.0.0.1:{own}"))
        print(one_line(f"connect to {url}"), flush=True)
        await asyncio.Event().wait()
    return ExitCode.OK


def _tell(fault: Fault) -> None:
    print(fault, file=sys.stderr, flush=True)
