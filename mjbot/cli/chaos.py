"""``mjbot chaos URL``: a proxy before a server that breaks conversations, by seed."""

import argparse
import asyncio
import sys
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from mjbot.cli.arguments import reading_arguments, seed_option
from mjbot.play.chaos import FAULTS, HARMLESS, Chaos, ChaosProxy, InjectedFault
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.transports.address import is_loopback, parse_address
from mjbot.runtime.argument_types import port as port_number
from mjbot.runtime.argument_types import seconds
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.interruption import run_until_signalled
from mjbot.runtime.requests import argument, option
from mjbot.strategy.pair.fair_play import FairPlayError

_BYTES: Final = 1000.0
_PORTS: Final = {"ws": 80, "mjsonp": 11600}


def _faults(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in FAULTS:
            raise argparse.ArgumentTypeError(f"{name!r}: expected some of {', '.join(FAULTS)}")
    return names


@dataclass(frozen=True, kw_only=True)
class ChaosRequest:
    """What ``mjbot chaos`` is asked for."""

    url: str = argument("server: mjsonp://, ws://, tenhou://, ...", metavar="URL")
    port: int = option(0, "port to listen on (default: 0, any free port)", type=port_number)
    seed: int = seed_option()
    faults: tuple[str, ...] = option(
        ",".join(FAULTS),
        f"faults to inject; the first {len(HARMLESS)} lose nothing",
        type=_faults,
        metavar="LIST",
    )
    every_kb: float = option(2.0, "mean distance of faults that lose nothing, in kB", type=seconds)
    break_every_kb: float = option(200.0, "mean distance of the others, in kB", type=seconds)
    calm_kb: float = option(0.0, "kB before the first of the others", type=float)
    stall_s: float = option(5.0, "length of a stall, in seconds", type=seconds)

    def chaos(self) -> Chaos:
        """Return what goes wrong when."""
        return Chaos(
            seed=self.seed,
            faults=self.faults,
            every=_BYTES * self.every_kb,
            break_every=_BYTES * self.break_every_kb,
            calm=int(_BYTES * self.calm_kb),
            stall_s=self.stall_s,
        )


def run(request: ChaosRequest) -> int:
    """Stand before the server until a signal comes."""
    with reading_arguments():
        host, port = _server(request.url)
    return run_until_signalled(_stand(request, host, port))


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


async def _stand(request: ChaosRequest, host: str, port: int) -> int:
    async with ChaosProxy(request.chaos(), host, port, _print_fault) as proxy:
        own = await proxy.open(request.port)
        parts = urlsplit(request.url)
        url = urlunsplit(parts._replace(netloc=f"127.0.0.1:{own}"))
        print(one_line(f"connect to {url}"), flush=True)
        await asyncio.Event().wait()
    return ExitCode.OK


def _print_fault(fault: InjectedFault) -> None:
    print(fault, file=sys.stderr, flush=True)
