"""Proof of the Tenhou listener: games of our clients, over real sockets on loopback.

Two speak Tenhou's wire over TCP (of three players one), one over a WebSocket, one mjai, in another
seat each game.  Each game is played again with the same walls, seats and strategies by mjai clients
alone, and both logs must be equal.  Then
connections are cut at random moments (``--cuts``): the game must still end by the rules, and
each cut client be back in the same hand.  Last (``--habitual``) four clients play with the habits
of a recorded one (:mod:`proof.tenhou_habits`), in no time of the clock.
"""

import argparse
import asyncio
import contextlib
import logging
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from mjbot.game.records.sources import games_of, list_sources
from mjbot.play.client.conversation import OwnResult
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult, TableServer
from mjbot.protocol.messages import Event
from mjbot.protocol.rules import Rules
from mjbot.protocol.tenhou.game_type import game_type
from mjbot.protocol.tenhou.login import guest_named
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.faults import FaultKind
from mjbot.strategy.registry import make_strategy
from proof.records import RecordFindings, print_table
from proof.remains import replay_problems
from proof.tenhou_habits import HABITS, play_habitually

HOST: Final = "127.0.0.1"
MIXED: Final = {
    3: ("tenhou", "tenhou+ws", "mjai"),
    4: ("tenhou", "tenhou", "tenhou+ws", "mjai"),
}
BOTS: Final = ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")
FIRST_CUT: Final = 20
"""Pieces from the server after which the game has surely begun."""

MOST_PIECES: Final = 200
"""Between two cuts of one player, some one or two hands."""

GAME_S: Final = 1800.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof tenhou-door``."""
    parser.add_argument("--games", type=int, default=200, help="mixed games (200)")
    parser.add_argument("--cuts", type=int, default=100, help="cut connections (100)")
    parser.add_argument(
        "--habitual", type=int, default=100, help="games of clients with the recorded habits (100)"
    )
    parser.add_argument(
        "--habits", nargs="+", choices=HABITS, default=list(HABITS), help="which habits (all)"
    )
    parser.add_argument("--players", type=int, choices=[*MIXED], default=4, help="at the table (4)")
    parser.add_argument("--length", choices=["tonpu", "hanchan"], default="hanchan")
    parser.add_argument("--seed", type=int, default=0, help="of the first game's walls (0)")


def run(args: argparse.Namespace) -> int:
    """Play all games, print the table, return 1 if anything does not hold."""
    start, findings = time.monotonic(), RecordFindings()
    proof = ListenerProof(findings, Rules(length=args.length, players=args.players), args.seed)
    for number in range(args.games):
        proof.compare(number)
        print(f"game {number + 1}: {findings.mismatches[-1:] or 'ok'}", flush=True)
    number = args.games
    while findings.checked["connections cut"] < args.cuts:
        proof.cut(number, args.cuts - findings.checked["connections cut"])
        cuts = findings.checked["connections cut"]
        print(f"{cuts} cuts: {findings.mismatches[-1:] or 'ok'}", flush=True)
        number += 1
    for habitual in range(number, number + args.habitual):
        proof.play_habitually(habitual, args.habits)
        print(f"habits, game {habitual + 1}: {findings.mismatches[-1:] or 'ok'}", flush=True)
    print_table(findings, time.monotonic() - start)
    return 1 if findings.mismatches else 0


class ListenerProof:
    """Plays and judges; ``seed`` is that of game 0's walls."""

    def __init__(self, findings: RecordFindings, rules: Rules, seed: int) -> None:
        self._found: Final = findings
        self._rules: Final = rules
        self._seed: Final = seed
        self._dealt: Final = rules.players * rules.start_points

    def compare(self, number: int) -> None:
        """Play game ``number`` mixed and over mjai alone."""
        mixed_listeners = MIXED[self._rules.players]
        first = number % self._rules.players
        listeners = [*mixed_listeners[first:], *mixed_listeners[:first]]
        with tempfile.TemporaryDirectory() as folder:
            mixed = asyncio.run(self._play(number, listeners, Path(folder)))
            plain = asyncio.run(self._play(number, ["mjai"] * len(listeners), Path(folder)))
            events = self._check(number, mixed)
            if events != self._check(number, plain):
                self._wrong(number, "the game through the mjai listener differs")
            self._found.checked["events the same as through the mjai listener"] += len(events)
        self._found.checked["mixed games"] += 1
        if mixed.warnings:
            self._wrong(number, "; ".join(mixed.warnings))

    def cut(self, number: int, most: int) -> None:
        """Play a game in which the Tenhou clients' connections are cut, ``most`` times at most."""
        cuts = Cuts(random.Random(f"cuts {self._seed + number}"), most)
        with tempfile.TemporaryDirectory() as folder:
            table = asyncio.run(self._play(number, MIXED[self._rules.players], Path(folder), cuts))
            self._check(number, table, excused="absent")
        self._found.checked["games with cuts"] += 1
        self._found.checked["connections cut"] += cuts.made
        self._found.checked["of these inside a tag"] += cuts.inside
        self._found.checked["back in the same hand"] += len(table.hands_back)
        there, back = sorted(table.hands_gone), sorted(table.hands_back)
        if len(there) != cuts.made or back != there:
            self._wrong(number, f"{cuts.made} cuts, gone in hands {there}, back in {back}")

    def play_habitually(self, number: int, habits: Sequence[str] = HABITS) -> None:
        """Play a game of Tenhou clients with habits of the recorded one."""
        rules = TableRules(seed=self._seed + number, rules=self._rules, fixed_seats=True)
        table, counted = Watched(), Counter[str]()
        with tempfile.TemporaryDirectory() as folder, table.serving():
            bots = BOTS[: self._rules.players]
            table.result, table.ends = play_habitually(rules, habits, bots, Path(folder), counted)
            self._check(number, table)
        self._found.checked["games with habits: " + " ".join(habits)] += 1
        for name, count in counted.items():
            self._found.checked[name] += count
        if table.warnings:
            self._wrong(number, "; ".join(table.warnings))
        if not counted["starts"] == counted["of these in one piece"] == self._rules.players:
            self._wrong(number, f"starts: {dict(counted)}")
        if counted["last results shown to the end"] != self._rules.players:
            self._wrong(number, "a connection was closed while the last result was shown")

    async def _play(
        self,
        number: int,
        listeners: Sequence[str],
        folder: Path,
        cuts: "Cuts | None" = None,
    ) -> "Watched":
        rules = TableRules(seed=self._seed + number, rules=self._rules, fixed_seats=True)
        table = Watched()
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(asyncio.timeout(GAME_S))
            stack.enter_context(table.serving())
            server = await stack.enter_async_context(TableServer(rules, log_dir=folder))
            urls = await _open(server, game_type(self._rules), stack, cuts)
            tasks: list[asyncio.Task[list[OwnResult]]] = []
            for client, listener in enumerate(listeners):
                tasks.append(asyncio.create_task(_seated(client, urls[listener])))
                while len(server.lobby.waiting) <= client:
                    await asyncio.sleep(0.01)
                    if tasks[-1].done():
                        tasks[-1].result()
            results = [result async for result in server.play(1)]
            table.result, table.ends = results[0], [end for (end,) in await asyncio.gather(*tasks)]
        return table

    def _check(
        self, number: int, table: "Watched", excused: FaultKind | None = None
    ) -> list[Event]:
        """Judge how a game ended, but for faults that are ``excused``; return its log."""
        result = table.result
        assert result is not None
        assert result.log is not None
        faults = [fault for fault in result.faults if fault.kind != excused]
        if result.void or faults or sum(result.scores) != self._dealt:
            self._wrong(number, f"void, or with faults: {result}")
        for end in table.ends:
            if end.void or end.scores != result.scores:
                self._wrong(number, f"seat {end.seat} received {end.void or end.scores}")
        for problem in replay_problems(result.log):
            self._wrong(number, problem)
        self._found.checked["logs replayed strictly"] += 1
        return [
            entry.event
            for source in list_sources(result.log)
            for game in games_of(source, players=(3, 4))
            for entry in game.entries
        ]

    def _wrong(self, number: int, problem: str) -> None:
        self._found.mismatches.append(f"seed {self._seed + number}: {problem}")


class Watched(logging.Handler):
    """A table and its log: the hands in which a player was lost and came back, and warnings."""

    def __init__(self) -> None:
        super().__init__()
        self.result: GameResult | None = None
        self.ends: list[OwnResult] = []
        self.hands_gone: list[tuple[str, str]] = []
        self.hands_back: list[tuple[str, str]] = []
        self.warnings: list[str] = []

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        """Receive what the server logs."""
        logger = logging.getLogger("mjbot.play.server")
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Note a line of the server's log."""
        text = record.getMessage()
        if match := re.search(r": (\S+) \(.+?\) is (gone|back) in (.+)$", text):
            hands = self.hands_gone if match[2] == "gone" else self.hands_back
            hands.append((match[1], match[3]))
        elif record.levelno >= logging.WARNING:
            self.warnings.append(text)


class Cuts:
    """When connections are cut: after a random number of pieces, often inside one."""

    def __init__(self, rng: random.Random, most: int) -> None:
        self.made = self.inside = 0
        self._rng: Final = rng
        self._left = most

    def next(self) -> int | None:
        """Return how many more pieces one connection carries; ``None``: all."""
        return FIRST_CUT + self._rng.randrange(MOST_PIECES) if self.made < self._left else None

    def part(self, data: bytes) -> bytes | None:
        """Return what of the last piece still gets through; ``None``: there are cuts enough."""
        if self.made >= self._left:
            return None
        self.made += 1
        part = data[: self._rng.randrange(len(data) + 1)]
        self.inside += 0 < len(part) < len(data)
        return part


async def _open(
    server: TableServer, rules: int, stack: contextlib.AsyncExitStack, cuts: Cuts | None
) -> dict[str, str]:
    ports = {
        "tenhou": await server.open_tenhou(HOST, 0),
        "tenhou+ws": await server.open_tenhou_websocket(HOST, 0),
    }
    if cuts is not None:
        for scheme, port in ports.items():
            ports[scheme] = await _open_relay(port, cuts, stack)
    urls = {scheme: f"{scheme}://{HOST}:{port}/0?type={rules}" for scheme, port in ports.items()}
    return {"mjai": f"mjsonp://{HOST}:{await server.open_tcp(HOST, 0)}/default", **urls}


async def _seated(client: int, url: str) -> list[OwnResult]:
    name = f"bot{client}"
    settings = Settings(parse_address(url), name=name, login=guest_named(name))
    strategy = make_strategy(BOTS[client])
    return await play(settings, lambda _: strategy, hooks=Hooks(warm_up=lambda: None))


async def _open_relay(port: int, cuts: Cuts, stack: contextlib.AsyncExitStack) -> int:
    """Relay bytes, and now and then cut the connection."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(HOST, port)
        pump = asyncio.create_task(_pump(reader, far_writer))
        try:
            await _pump(far_reader, writer, cuts)
        finally:
            pump.cancel()
            for end in (writer, far_writer):
                end.transport.abort()

    server = await stack.enter_async_context(await asyncio.start_server(relay, HOST, 0))
    return int(server.sockets[0].getsockname()[1])


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cuts: Cuts | None = None
) -> None:
    left = cuts.next() if cuts else None
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            if cuts and left == 0 and (part := cuts.part(data)) is not None:
                writer.write(part)
                await writer.drain()
                return
            left = None if left is None else left - 1
            writer.write(data)
            await writer.drain()
        writer.write_eof()
