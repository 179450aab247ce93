"""A long run of the arena with no process replaced and flat memory; the same with processes killed.

The second run has the same games, while workers are killed at random moments drawn by seed; its
figures must be those of the first, to the byte.  Both resume after an interruption: run the
same command again.
"""

import argparse
import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from mjbot.arena.run_folder import FIGURES_FILE, GAMES_FILE, read_games
from mjbot.runtime.errors import MjbotError
from proof.endurance.commands import WORKER, Command, KillTimes
from proof.endurance.trend import growing
from proof.remains import Sample, used

POLL_S: Final = 0.2
REPORT_S: Final = 60.0
NEVER_S: Final = 1e12
REPLACED: Final = re.compile(r"processes lost: (\d+)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof endurance long-arena``."""
    parser.add_argument("strategies", nargs="*", default=["fast-riichi-d", "fast-riichi-b"])
    parser.add_argument("--games", type=int, default=50_000, help="of each of the two runs (50000)")
    parser.add_argument("--length", choices=["tonpu", "hanchan"], default="hanchan")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--seed", type=int, default=0, help="of walls and kills (0)")
    parser.add_argument("--kill-every-s", type=float, default=60.0, help="mean seconds (60)")
    parser.add_argument("--sample-s", type=float, default=10.0, help="between two samples (10)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("logs", "runs", "long-arena"),
        help="folder of the two runs; what it holds is not played again",
    )


async def endure(args: argparse.Namespace) -> list[str]:
    """Play both runs, print the results, return what does not hold."""
    problems = []
    for name, kill_every_s in (("quiet", NEVER_S), ("killed", args.kill_every_s)):
        problems += [f"{name}: {text}" for text in await _Run(args, name, kill_every_s).play()]
    figures = [args.out / name / FIGURES_FILE for name in ("quiet", "killed")]
    if not all(file.exists() for file in figures):
        problems.append("not both runs have figures")
    elif figures[0].read_bytes() != figures[1].read_bytes():
        problems.append("the figures differ")
    else:
        print(f"the figures are the same: {figures[0].stat().st_size} bytes")
    return problems


class _Run(Command):
    """One run of the arena, watched from outside."""

    def __init__(self, args: argparse.Namespace, name: str, kill_every_s: float) -> None:
        super().__init__(name, Path.cwd(), args.out / f"{name}.txt")
        self._args: Final = args
        self._is_quiet: Final = kill_every_s == NEVER_S
        self._kills: Final = KillTimes(Random(f"long arena {args.seed}"), kill_every_s)
        self._games: Final = args.out / name / GAMES_FILE
        self._begun: Final = self._lines()
        self._samples: Final[list[tuple[float, Sample]]] = []

    async def play(self) -> list[str]:
        """Play what is missing; return what does not hold."""
        args = self._args
        args.out.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        await self.run(
            *("arena", *args.strategies, "--games", str(args.games), "--length", args.length),
            *("--seed", str(args.seed), "--jobs", str(args.jobs)),
            *("--out", str(self._games.parent)),
        )
        await self._watch(start)
        took_s, games = time.monotonic() - start, self._lines() - self._begun
        pace = f", {games / took_s:.1f} games a second" if games else ""
        print(f"{self.name}: {games} games in {took_s:.0f} s{pace}; {self.killed} killed")
        return list(self._judged(await self.process.wait()))

    async def _watch(self, start: float) -> None:
        next_sample, next_report = 0.0, REPORT_S
        while not self.has_ended:
            await asyncio.sleep(POLL_S)
            now = time.monotonic() - start
            workers = self.processes(WORKER)
            if now >= next_report:
                next_report += REPORT_S
                print(f"{self.name}: {self._lines()} games, {self.killed} killed", flush=True)
            if now >= next_sample and not self.has_ended:
                sample = {**used("parent", [self.process.pid]), **used("workers", workers)}
                self._samples.append((now, sample))
                next_sample = now + self._args.sample_s
            if (pid := self._kills.victim(now, workers)) is not None:
                self.kill(pid)

    def _lines(self) -> int:
        data = self._games.read_bytes() if self._games.exists() else b""
        return max(0, data.count(b"\n") - 1)

    def _judged(self, status: int) -> Iterator[str]:
        if status:
            yield f"status {status}: {self.last_line}"
        replaced = sum(map(int, REPLACED.findall(self.text)))
        print(f"{self.name}: {replaced} processes replaced")
        if replaced and self._is_quiet:
            yield f"{replaced} processes were replaced without a kill"
        try:
            games = read_games(self._games.parent)
        except (OSError, MjbotError) as error:
            yield str(error)
            return
        yield from [f"wall {game.wall} is void: {game.void}" for game in games if game.void]
        if self._begun:
            print("resumed: no trends over the break")
        elif self._is_quiet:
            times, samples = zip(*self._samples, strict=True)
            yield from growing(times, samples)
