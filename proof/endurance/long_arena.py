"""A long run of the arena with no process replaced and flat memory; the same with processes killed.

The second run has the same games, while workers are killed at random moments drawn by seed; its
figures must be those of the first, to the byte.  Both resume after an interruption: run the
same command again.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from proof.trend import growing

from mjbot.arena.run_folder import FIGURES_FILE, GAMES_FILE, read_games
from mjbot.runtime.errors import MjbotError
from proof.remains import marked, used

MARK: Final = "MJBOT_PROOF_LONG_ARENA"
POLL_S: Final = 0.2
REPORT_S: Final = 60.0
WORKER: Final = "multiprocessing.spawn"
SAMPLES: Final = "samples.jsonl"
REPLACED: Final = re.compile(r"processes lost: (\d+)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof long-arena``."""
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


def run(args: argparse.Namespace) -> int:
    """Play both, print the results, return 1 if anything does not hold."""
    args.out.mkdir(parents=True, exist_ok=True)
    problems = [*_Run(args, "quiet", kills=False).run(), *_Run(args, "killed", kills=True).run()]
    figures = [args.out / name / FIGURES_FILE for name in ("quiet", "killed")]
    if not all(file.exists() for file in figures):
        problems.append("not both runs have figures")
    elif figures[0].read_bytes() != figures[1].read_bytes():
        problems.append("the figures differ")
    else:
        print(f"the figures are the same: {figures[0].stat().st_size} bytes")
    for problem in problems:
        print(f"problem: {problem}")
    print(f"{len(problems)} problems")
    return int(bool(problems))


class _Run:
    """One run of the arena, watched from outside."""

    def __init__(self, args: argparse.Namespace, name: str, *, kills: bool) -> None:
        self._args: Final = args
        self._name: Final = name
        self._kills: Final = kills
        self._folder: Final = args.out / name
        self._output: Final = args.out / f"{name}.txt"
        self._random: Final = Random(f"long arena {args.seed}")
        self._killed = 0

    def run(self) -> Iterator[str]:
        """Play what is missing; yield what does not hold."""
        mark = f"{os.getpid()}-{self._name}"
        before, start = self._lines(), time.monotonic()
        with self._output.open("ab") as output:
            process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, MARK: mark},
            )
        self._watch(process, mark, start)
        took_s, games = time.monotonic() - start, self._lines() - before
        pace = f", {games / took_s:.1f} games a second" if games else ""
        print(f"{self._name}: {games} games in {took_s:.0f} s{pace}; {self._killed} killed")
        yield from [f"{self._name}: {text}" for text in self._judged(process.returncode)]

    def _command(self) -> list[str]:
        args = self._args
        return [
            *(sys.executable, "-m", "mjbot", "arena", *args.strategies),
            *("--games", str(args.games), "--length", args.length, "--seed", str(args.seed)),
            *("--jobs", str(args.jobs), "--out", str(self._folder)),
        ]

    def _watch(self, process: "subprocess.Popen[bytes]", mark: str, start: float) -> None:
        next_sample, next_kill = start, start + self._until_kill_s()
        next_report = start + REPORT_S
        while process.poll() is None:
            time.sleep(POLL_S)
            if time.monotonic() >= next_report:
                next_report += REPORT_S
                print(f"{self._name}: {self._lines()} games, {self._killed} killed", flush=True)
            if (now := time.monotonic()) >= min(next_sample, next_kill):
                found = marked(MARK, mark)
                workers = sorted(pid for pid, command in found.items() if WORKER in command)
                if now >= next_sample and process.pid in found:
                    self._note(now - start, process.pid, workers)
                    next_sample = now + self._args.sample_s
                if now >= next_kill and workers:
                    self._kill(self._random.choice(workers))
                    next_kill = now + self._until_kill_s()

    def _until_kill_s(self) -> float:
        return self._random.expovariate(1 / self._args.kill_every_s) if self._kills else 1e12

    def _kill(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self._killed += 1

    def _note(self, at_s: float, parent: int, workers: list[int]) -> None:
        sample = {**used("parent", [parent]), **used("workers", workers)}
        with (self._args.out / f"{self._name}-{SAMPLES}").open("a", encoding="ascii") as file:
            file.write(json.dumps({"at": at_s, "games": self._lines(), **sample}) + "\n")

    def _lines(self) -> int:
        file = self._folder / GAMES_FILE
        return max(0, file.read_bytes().count(b"\n") - 1) if file.exists() else 0

    def _judged(self, status: int) -> Iterator[str]:
        text = self._output.read_text("utf-8", "replace")
        if status:
            yield f"status {status}: {text.strip().splitlines()[-1:]}"
        replaced = sum(map(int, REPLACED.findall(text)))
        print(f"{self._name}: {replaced} processes replaced")
        if replaced and not self._kills:
            yield f"{replaced} processes were replaced without a kill"
        try:
            games = read_games(self._folder)
        except (OSError, MjbotError) as error:
            yield str(error)
            return
        yield from [f"wall {game.wall} is void: {game.void}" for game in games if game.void]
        if not self._kills:
            yield from self._grown()

    def _grown(self) -> Iterator[str]:
        """Print the trends of a run that was played in one go; yield what grows."""
        lines = (self._args.out / f"{self._name}-{SAMPLES}").read_text("ascii").splitlines()
        rows = [json.loads(line) for line in lines]
        times = [row.pop("at") for row in rows]
        if times != sorted(times):
            print("resumed: no trends over the break")
            return
        samples = [{name: row[name] for name in row if name != "games"} for row in rows]
        yield from growing(times, samples)
