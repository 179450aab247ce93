"""A pair and an arena at once and for long, with faults on: what they use must stay flat.

* duo: ``mjbot duo``; now and then one of its four players is killed.
* arena: ``mjbot arena`` with two workers; now and then one of them is killed.

Each is sampled for its memory (what its processes have for themselves, and their share of what
they have together), file handles and threads.  Every game must end by the rules, and no process die
that we have not killed.  A server and its bots: :mod:`proof.endurance.service`.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

from mjbot.arena.run_folder import read_games
from mjbot.runtime.errors import ExitCode
from proof.endurance.commands import WORKER, Command, KillTimes
from proof.endurance.trend import growing
from proof.remains import Sample, damage

GAMES: Final = 1_000_000
PAUSE_S: Final = 0.2
STOP_S: Final = 5.0
END_S: Final = 600.0
KILL_EVERY_S: Final = {"duo": 60.0, "arena": 30.0}
"""Mean time between two kills."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof endurance soak``."""
    parser.add_argument("--minutes", type=float, default=30.0, help="how long (30)")
    parser.add_argument("--seed", type=int, default=0, help="of walls, faults and kills (0)")
    parser.add_argument("--sample-s", type=float, default=10.0, help="between two samples (10)")


async def endure(args: argparse.Namespace) -> list[str]:
    """Play, sample, print what stayed flat, return what did not, or does not hold."""
    with tempfile.TemporaryDirectory(prefix="mjs-") as folder:
        return await _Soak(Path(folder), args.seed).run(60 * args.minutes, args.sample_s)


class _Soak:
    def __init__(self, folder: Path, seed: int) -> None:
        self._parties: Final = [_Party(name, folder / name, seed) for name in KILL_EVERY_S]

    async def run(self, seconds: float, every_s: float) -> list[str]:
        """Run everything for so long, then judge it."""
        times, samples, start = [], [], time.monotonic()
        for party in self._parties:
            await party.start()
        while (now := time.monotonic() - start) < seconds:
            sample: Sample = {}
            for party in self._parties:
                sample |= party.look(now)
            times.append(now)
            samples.append(sample)
            print(_line(now, sample), flush=True)
            await asyncio.sleep(every_s)
        problems = []
        for party in self._parties:
            problems += await party.stop()
        for party in self._parties:
            print(party)
        return [*problems, *growing(times, samples)]


def _line(now_s: float, sample: Sample) -> str:
    parts = [f"{name} {value:.0f}" for name, value in sample.items()]
    return f"{now_s:6.0f} s: {', '.join(parts)}"


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
_CHILD: Final = {"duo": " play ", "arena": WORKER}
"""What the command line of a process that may be killed has in it."""


class _Party(Command):
    """A command, its processes, and which of them were killed."""

    def __init__(self, name: str, folder: Path, seed: int) -> None:
        super().__init__(name, folder)
        self._seed: Final = seed
        self._kills: Final = KillTimes(Random(f"soak {name} {seed}"), KILL_EVERY_S[name])
        self._children: set[int] = set()
        self._by_us: set[int | None] = set()
        self._died = 0
        self.games = 0

    async def start(self) -> None:
        """Run the command."""
        words = _COMMANDS[self.name]
        await self.run(self.name, *words, "--games", str(GAMES), "--seed", str(self._seed))

    def look(self, now_s: float) -> Sample:
        """Return what its processes use; note which died, and kill one if it is time."""
        children = self.processes(_CHILD[self.name])
        self._died += len(self._children - {*children} - self._by_us)
        self._children = {*children}
        sample = self.sample()
        if (pid := self._kills.victim(now_s, children)) is not None:
            self._by_us.add(pid)
            self.kill(pid)
        return sample

    async def stop(self) -> list[str]:
        """End the command; return what does not hold of its end, its output and its games."""
        status = await self.terminate(END_S)
        problems = []
        if status != ExitCode.INTERRUPTED:
            problems.append(f"status {status}: {self.last_line}")
        problems += await self.left_behind(STOP_S)
        problems += [f"{self._died} processes died that nobody killed"] * bool(self._died)
        problems += damage(self.folder)
        problems += _GAMES[self.name](self)
        return [f"{self.name}: {problem}" for problem in problems]

    def __str__(self) -> str:
        ended = f"{self.killed} processes killed, {self._died} others died"
        return f"{self.name}: {self.games} games, {ended}"


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
