"""Games through proxies that break conversations: how each ends, and by which fault.

Four of our clients at our table, every one behind a proxy of its own, over TCP and WebSocket; in
one game of ten two of them are a pair, whose channel goes through a proxy, too.  A game must end by
the rules, or by a fault of a client whose line was broken; no client may send an illegal action
unless its bytes were changed on the way; and every client must end with a line, not with a
traceback.
"""

import argparse
import asyncio
import contextlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from mjbot.play.chaos import FAULTS, HARMLESS, Chaos, ChaosProxy
from mjbot.play.client.pair_channel import End, Linked
from mjbot.play.client.play import Settings, play
from mjbot.play.match.players import free_port
from mjbot.play.server.core import OnFault, TableFault
from mjbot.play.server.lobby import PLACES, TableRules
from mjbot.play.server.server import GameResult, TableServer
from mjbot.runtime.errors import EXPECTED_ERRORS
from mjbot.strategy.pair.session import Side
from mjbot.strategy.registry import make_strategy
from proof.remains import replay_problems
from protocol.sessions.request_server import TimeLimits
from protocol.transports.address import parse_address

HOST: Final = "127.0.0.1"
GAME_S: Final = 600.0
REPLY_S: Final = 10.0
SILENCE_S: Final = 60.0
STALL_S: Final = 1.0
CALM: Final = 1_000
"""Bytes of each direction before anything breaks: a game needs four that have joined."""

BOTS: Final = ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")
PAIR: Final = ("yaku-evaluation", "combo-partner")
PAIR_EVERY: Final = 10
HARMLESS_EVERY: Final = 4
ON_FAULT: Final = (OnFault.ABORT, OnFault.DEFAULT, OnFault.CHOMBO)
CHANGES: Final = frozenset({"corrupt", "duplicate"})
"""After these a client may send an illegal action: it or the table received other bytes."""
ENDS: Final = frozenset({"half-close", "cut", "stall"})


@dataclass
class ChaosGame:
    """The result of one game: ``broken`` are the faults of each place's proxy."""

    number: int
    kinds: Sequence[str]
    result: GameResult | None = None
    ends: list[Any] = field(default_factory=list)
    broken: list[set[str]] = field(default_factory=list)
    faults: int = 0
    replayed: list[str] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof endurance chaos``."""
    parser.add_argument("--games", type=int, default=1000, help="games to play (1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first game (0)")
    parser.add_argument("--at-once", type=int, default=3, help="games at once (3)")
    parser.add_argument("--seed", type=int, default=0, help="of walls, seats and faults (0)")


async def endure(args: argparse.Namespace) -> list[str]:
    """Play the games, print how they ended, return what does not hold."""
    start, ended, problems = time.monotonic(), Counter[str](), list[str]()
    numbers = range(args.first, args.first + args.games)
    free = asyncio.Semaphore(args.at_once)

    async def play_one(number: int) -> ChaosGame:
        async with free:
            return await _played(number, args.seed)

    for count, played in enumerate(asyncio.as_completed(map(play_one, numbers)), 1):
        table = await played
        ended[ending_of(table)] += 1
        ended["(proxy faults)"] += table.faults
        ended["(games of a pair)"] += table.number % PAIR_EVERY == 0
        problems += [f"game {table.number}: {problem}" for problem in problems_of(table)]
        if count % 10 == 0:
            print(f"{count} games, {time.monotonic() - start:.0f} s", flush=True)
    print_endings(ended)
    print(f"{time.monotonic() - start:.0f} s, {os.times().user:.0f} s user")
    return problems


def print_endings(ended: Counter[str]) -> None:
    """Print how often games ended how, the most frequent first."""
    for ending, count in ended.most_common():
        print(f"{count:>7} {ending}")


# --- a game ----------------------------------------------------------------------------------


def rules_of(seed: int, on_fault: OnFault) -> TableRules:
    """Return the rules of a table whose players are behind proxies."""
    limits = TimeLimits(3000, 7000)
    return TableRules(seed=seed, rules="tonpu", timeout_s=REPLY_S, limits=limits, on_fault=on_fault)


async def _played(number: int, seed: int) -> ChaosGame:
    random = Random(f"chaos {seed} {number}")
    kinds = HARMLESS if number % HARMLESS_EVERY == 0 else FAULTS
    table = ChaosGame(number, kinds)
    rules = rules_of(seed + number, random.choice(ON_FAULT))
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GAME_S), contextlib.AsyncExitStack() as stack:
            server = await stack.enter_async_context(TableServer(rules, log_dir=Path(folder)))
            ports = {
                "mjsonp": (await server.open_tcp(HOST, 0), "default"),
                "ws": (await server.open_websocket(HOST, 0), "ws"),
            }
            chaos = Proxies(stack, random, kinds)
            tasks = [asyncio.create_task(one) for one in await _clients(number, ports, chaos)]
            try:
                results = [result async for result in server.play(1)]
                table.ends = await asyncio.gather(*tasks, return_exceptions=True)
                table.result = results[0]
                table.replayed = problems_of_replay(results[0])
            finally:
                for task in tasks:
                    task.cancel()
                table.broken = [{fault.kind for fault in one.faults} for one in chaos.proxies]
                table.faults = sum(len(one.faults) for one in chaos.proxies)
    return table


class Proxies:
    """Opens proxies that end with ``stack``; those of the four places come first."""

    def __init__(
        self,
        stack: contextlib.AsyncExitStack,
        random: Random,
        kinds: Sequence[str] = FAULTS,
    ) -> None:
        self._stack: Final = stack
        self._random: Final = random
        self._kinds: Final = tuple(kinds)
        self.proxies: list[ChaosProxy] = []

    async def before(self, port: int, calm: int = CALM) -> int:
        """Return the port of a new proxy before a port of ours."""
        chaos = Chaos(
            seed=self._random.getrandbits(32),
            faults=self._kinds,
            every=3_000.0,
            break_every=self._random.choice((20_000.0, 100_000.0)),
            calm=calm,
            longest_delay_s=0.005,
            stall_s=self._random.choice((STALL_S, 1.5 * REPLY_S)),
        )
        proxy = await self._stack.enter_async_context(ChaosProxy(chaos, HOST, port))
        self.proxies.append(proxy)
        return await proxy.open()


async def _clients(number: int, ports: dict[str, tuple[int, str]], chaos: Proxies) -> list[Any]:
    """Return the four players' conversations, not yet begun."""
    settings = []
    for client in range(PLACES):
        # The names and servers of a pair are fixed; others join in any order.
        scheme = "mjsonp" if number % PAIR_EVERY == 0 or (number >> client) % 2 else "ws"
        port, path = ports[scheme]
        name = f"mjbot-{client}"
        query = f"?name={name}" if scheme == "ws" else ""
        url = f"{scheme}://{HOST}:{await chaos.before(port)}/{path}{query}"
        settings.append(settings_of(url, name))
    if number % PAIR_EVERY:
        return [_alone(one, bot) for one, bot in zip(settings, BOTS, strict=True)]
    host_port = free_port()
    front = await chaos.before(host_port, calm=0)
    ends = (End(Side.HOST, host_port), End(Side.GUEST, front))
    secret = b"chaos" * 8
    pair = [
        Linked(end, secret).play(one, lambda _, name=name: make_strategy(name))
        for end, one, name in zip(ends, settings[:2], PAIR, strict=True)
    ]
    return [*pair, *[_alone(one, bot) for one, bot in zip(settings[2:], BOTS[2:], strict=True)]]


def settings_of(url: str, name: str) -> Settings:
    """Return how a client plays behind a proxy."""
    return Settings(parse_address(url), name=name, silence_s=SILENCE_S, deadline_s=REPLY_S / 2)


def _alone(settings: Settings, bot: str) -> Any:
    return play(settings, lambda _: make_strategy(bot))


def problems_of_replay(result: GameResult) -> list[str]:
    """Return what a strict replay finds in a game that ended by the rules."""
    return [] if result.void or result.log is None else [*replay_problems(result.log)]


# --- how it ended ----------------------------------------------------------------------------


def ending_of(table: ChaosGame) -> str:
    """Describe in a few words how a game ended."""
    result = table.result
    if result is None:
        return "hang"
    rules = "all faults" if len(table.kinds) > len(HARMLESS) else "harmless faults"
    if result.void:
        return f"{rules}: void, by one named fault: {_kind(result.faults[-1])}"
    if result.faults:
        return f"{rules}: by the rules, with named faults"
    return f"{rules}: by the rules"


def _kind(fault: TableFault) -> str:
    if fault.kind == "absent":
        return "left"
    for fragment, kind in (
        ("Timeout", "too late"), ("line:", "no line"), ("JSON", "no JSON"),
        ("Validation", "no message"),
    ):  # fmt: skip
        if fragment in fault.text:
            return kind
    return "not allowed"


def problems_of(table: ChaosGame) -> list[str]:
    """Return what must not be."""
    result = table.result
    if result is None:
        return [f"hang: no end within {GAME_S:g} s"]
    problems = []
    for fault in result.faults:
        client = int(result.names[fault.seat].rpartition("-")[2])
        broken = table.broken[client] & (CHANGES | ENDS)
        kind = _kind(fault)
        allowed = broken if kind in ("too late", "left", "no line") else broken & CHANGES
        if not allowed:
            problems.append(f"its line was whole: {fault.text}")
    if not result.void and sum(result.scores) != 100_000:
        problems.append(f"scores {result.scores}")
    problems += table.replayed
    for client, end in enumerate(table.ends):
        if isinstance(end, BaseException) and not isinstance(end, EXPECTED_ERRORS):
            problems.append(f"client {client}: {type(end).__name__}: {end}")
        whole = not table.broken[client] & (CHANGES | ENDS)
        if isinstance(end, BaseException) and whole and not result.void:
            problems.append(f"client {client}, its line was whole: {end}")
    return problems
