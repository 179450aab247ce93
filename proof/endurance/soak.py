"""A table, a pair and an arena at once and for long, with faults on: what they use must stay flat.

* serve: a table server of this process, with a door for lines and one for WebSockets; four clients
  of ours, each behind a proxy that breaks its conversations (:mod:`proof.chaos`), come back for
  every game.
* duo: ``mjbot duo``; now and then one of its four players is killed.
* arena: ``mjbot arena`` with two workers; now and then one of them is killed.

Each is sampled for its memory (what its processes have for themselves, and their share of what
they have together), file handles and threads; serve for its tasks, too.  :mod:`proof.trend` says
what flat means.  Every game must end by the rules or by a named fault, and no process die that we
have not killed.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from proof.chaos import BOTS, HOST, ChaosGame, Proxies, ending_of, problems_of, replayed
from proof.trend import growing

from mjbot.arena.run_folder import read_games
from mjbot.play.client.play import Settings, play
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import PLACES, TableRules
from mjbot.play.server.server import GameResult, TableServer
from mjbot.runtime.errors import EXPECTED_ERRORS, ExitCode
from mjbot.runtime.processes import keep_heap_compact
from mjbot.strategy.registry import make_strategy
from proof.remains import Sample, damage, end_all, left_after, marked, used
from protocol.sessions.request_server import TimeLimits
from protocol.transports.address import parse_address

MARK: Final = "MJBOT_BENCH_SOAK"
GAMES: Final = 1_000_000
REPLY_S: Final = 10.0
SILENCE_S: Final = 60.0
PAUSE_S: Final = 0.2
STOP_S: Final = 5.0
KILL_EVERY_S: Final = {"duo": 60.0, "arena": 30.0}
"""Mean time between two kills."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m bench soak``."""
    parser.add_argument("--minutes", type=float, default=30.0, help="how long (30)")
    parser.add_argument("--seed", type=int, default=0, help="of walls, faults and kills (0)")
    parser.add_argument("--sample-s", type=float, default=10.0, help="between two samples (10)")


def run(args: argparse.Namespace) -> int:
    """Play, sample, and say what stayed flat; return 1 if anything did not, or does not hold."""
    logging.disable(logging.ERROR)
    keep_heap_compact()  # as mjbot serve does
    folder = Path(tempfile.mkdtemp(prefix="mjs-"))
    try:
        return asyncio.run(_Soak(folder, args.seed).run(60 * args.minutes, args.sample_s))
    finally:
        for party in KILL_EVERY_S:
            end_all(MARK, f"{os.getpid()}-{party}")
        shutil.rmtree(folder)


class _Soak:
    def __init__(self, folder: Path, seed: int) -> None:
        self._table: Final = _ServedTable(folder / "serve", seed)
        self._parties: Final = [_Party(name, folder / name, seed) for name in KILL_EVERY_S]
        self._samples: Final[list[tuple[float, Sample]]] = []

    async def run(self, seconds: float, every_s: float) -> int:
        """Run everything for so long, then judge it."""
        start = time.monotonic()
        for party in self._parties:
            await party.start()
        async with asyncio.timeout(seconds + SILENCE_S), self._table:
            while (now := time.monotonic() - start) < seconds and not self._table.has_ended:
                sample = {**self._table.sample()}
                for party in self._parties:
                    sample |= party.look(now)
                self._samples.append((now, sample))
                print(_line(now, sample, self._table.games), flush=True)
                await asyncio.sleep(every_s)
        problems = list(self._table.problems)
        for party in self._parties:
            problems += await party.stop()
        return self._judged(problems)

    def _judged(self, problems: list[str]) -> int:
        for words, count in sorted(self._table.ended.items(), key=lambda item: -item[1]):
            print(f"serve: {count:>6} {words}")
        for party in self._parties:
            print(f"{party.name}: {party.report()}")
        times = [time_s for time_s, _ in self._samples]
        problems += growing(times, [sample for _, sample in self._samples])
        for problem in problems:
            print(f"problem: {problem}")
        print(f"{len(problems)} problems")
        return int(bool(problems))


def _line(now_s: float, sample: Sample, games: int) -> str:
    parts = [f"{name} {value:.0f}" for name, value in sample.items()]
    return f"{now_s:6.0f} s, {games} games served; {', '.join(parts)}"


# --- a table in this process -------------------------------------------------------------------


class _ServedTable:
    """A server that stays, and four clients that come back; an async context manager."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder: Final = folder
        self._random: Final = Random(f"soak {seed}")
        self._rules: Final = TableRules(
            seed=seed,
            rules="tonpu",
            timeout_s=REPLY_S,
            limits=TimeLimits(3000, 7000),
            on_fault=OnFault.DEFAULT,
        )
        self._stack: Final = contextlib.AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._seen: list[int] = [0] * PLACES
        self.ended: Final[Counter[str]] = Counter()
        self.problems: Final[list[str]] = []
        self.games = 0

    async def __aenter__(self) -> None:
        self._server = await self._stack.enter_async_context(
            TableServer(self._rules, log_dir=self._folder)
        )
        lines = await self._server.open_tcp(HOST, 0)
        frames = await self._server.open_websocket(HOST, 0)
        self._proxies = Proxies(self._stack, self._random)
        for place in range(PLACES):
            scheme, port, path = (("mjsonp", lines, "default"), ("ws", frames, "ws"))[place % 2]
            front = await self._proxies.before(port)
            query = "" if scheme == "mjsonp" else f"?name=mjbot-{place}"
            url = f"{scheme}://{HOST}:{front}/{path}{query}"
            self._tasks.append(asyncio.create_task(self._visit(place, url)))
        self._games = asyncio.create_task(self._play())

    async def __aexit__(self, *_: object) -> None:
        tasks = [*self._tasks, self._games]
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if end is not None and not isinstance(end, asyncio.CancelledError):
                self.problems.append(f"serve: {type(end).__name__}: {end}")
        await self._stack.aclose()

    @property
    def has_ended(self) -> bool:
        """Whether anything is over that should go on."""
        return any(task.done() for task in [*self._tasks, self._games])

    def sample(self) -> Sample:
        """Return what this process uses."""
        found = used("serve", [os.getpid()])
        return {**found, "serve tasks": float(len(asyncio.all_tasks()))}

    async def _visit(self, place: int, url: str) -> None:
        """Play game after game; a client that its line has lost comes again."""
        settings = Settings(
            parse_address(url), name=f"mjbot-{place}", silence_s=SILENCE_S, deadline_s=REPLY_S / 2
        )
        while True:
            with contextlib.suppress(*EXPECTED_ERRORS):
                await play(settings, lambda _: make_strategy(BOTS[place]))
            await asyncio.sleep(PAUSE_S)

    async def _play(self) -> None:
        async for result in self._server.play(GAMES):
            self.games += 1
            table = ChaosGame(self.games, (), result, broken=self._broken_since())
            table.kinds = tuple(set().union(*table.broken))
            table.replayed = replayed(result)
            self.ended[_ending(table)] += 1
            self.problems += [f"serve, game {self.games}: {text}" for text in problems_of(table)]
            self._forget(result)

    def _broken_since(self) -> list[set[str]]:
        """Return the faults of each place's line since the game before, and forget them."""
        broken = [{fault.kind for fault in proxy.faults} for proxy in self._proxies.proxies]
        for proxy in self._proxies.proxies:
            self.ended["(proxy faults)"] += len(proxy.faults)
            proxy.faults.clear()
        return broken

    def _forget(self, result: GameResult) -> None:
        if result.log is not None:
            result.log.unlink()


def _ending(table: ChaosGame) -> str:
    return ending_of(table).partition(": ")[2]


# --- commands ----------------------------------------------------------------------------------

_COMMANDS: Final = {
    "duo": (
        *("--top", "yaku-evaluation", "--partner", "combo-partner"),
        *("--rivals", "fast-riichi-a", "tsumogiri", "--length", "tonpu", "--log-dir", "logs"),
    ),
    "arena": (
        *("fast-riichi-a", "fast-riichi-b", "--jobs", "2", "--out", "logs"),
        *("--length", "tonpu"),
    ),
}
_CHILD: Final = {"duo": " play ", "arena": "multiprocessing.spawn"}
"""What the command line of a process that may be killed has in it."""


@dataclass
class _Party:
    """A command, its processes, and which of them were killed."""

    name: str
    folder: Path
    seed: int
    killed: int = 0
    died: int = 0
    games: int = 0
    _children: set[int] = field(default_factory=set)
    _by_us: set[int] = field(default_factory=set)
    _next_kill_s: float = 0.0

    async def start(self) -> None:
        """Run the command."""
        self.folder.mkdir()
        self._random = Random(f"soak {self.name} {self.seed}")
        self._mark = f"{os.getpid()}-{self.name}"
        with (self.folder / "output.txt").open("wb") as output:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mjbot", self.name, *_COMMANDS[self.name]),
                *("--games", str(GAMES), "--seed", str(self.seed)),
                cwd=self.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, MARK: self._mark},
                start_new_session=True,
            )
        self._draw(KILL_EVERY_S[self.name])

    def look(self, now_s: float) -> Sample:
        """Return what its processes use; note who died, and kill one if it is time."""
        found = marked(MARK, self._mark)
        children = {pid for pid, command in found.items() if _CHILD[self.name] in command}
        self.died += len(self._children - children - self._by_us)
        self._children = children
        sample = used(self.name, list(found))
        if now_s > self._next_kill_s and children:
            pid = self._random.choice(sorted(children))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.killed += 1
                self._by_us.add(pid)
            self._draw(now_s)
        return sample

    def _draw(self, now_s: float) -> None:
        self._next_kill_s = now_s + self._random.expovariate(1 / KILL_EVERY_S[self.name])

    async def stop(self) -> list[str]:
        """End the command; return what does not hold of its end, its words and its games."""
        problems = []
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
        status = await self._process.wait()
        if status != ExitCode.INTERRUPTED:
            words = (self.folder / "output.txt").read_text("utf-8", "replace").splitlines()
            problems.append(f"status {status}: {words[-1:]}")
        left = left_after(MARK, self._mark, time.monotonic() + STOP_S)
        problems += [f"left behind: {command}" for command in left.values()]
        problems += [f"{self.died} processes died that nobody killed"] * bool(self.died)
        problems += damage(self.folder)
        problems += _GAMES[self.name](self)
        return [f"{self.name}: {problem}" for problem in problems]

    def report(self) -> str:
        """Say how it went."""
        return f"{self.games} games, {self.killed} processes killed, {self.died} others died"


def _games_of_duo(party: _Party) -> Iterator[str]:
    """Yield games that did not end: none but the last may be unfinished (``damage`` replays)."""
    logs = sorted(party.folder.glob("logs/*/*.mjson"), key=lambda path: path.stat().st_mtime)
    party.games = len(logs)
    for log in logs[:-1]:
        if b'"end_game"' not in log.read_bytes().splitlines()[-1]:
            yield f"{log.name}: has no end"


def _games_of_arena(party: _Party) -> Iterator[str]:
    lines = read_games(party.folder / "logs")
    party.games = len(lines)
    for line in lines:
        if line.void or any(line.faults):
            yield f"wall {line.wall}, seating {line.seating}: {line.void or line.faults}"


_GAMES: Final[dict[str, Callable[[_Party], Iterator[str]]]] = {
    "duo": _games_of_duo,
    "arena": _games_of_arena,
}
