"""Proof that a long run of the arena stays flat, and comes out alike when workers are killed.

The same games twice, by the command that users give: once undisturbed, where no worker may be
replaced and no process grow, and once with a worker killed at random moments, where the figures
must be the same bytes.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from mjbot.arena.results import FIGURES_FILE, GAMES_FILE
from mjbot.arena.workers.faults import FAULT_FOLDER
from mjbot.errors import ExitCode
from mjbot.processes import die_with_parent
from mjbot.text import plural

STRATEGIES: Final = ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")
LOOK_S: Final = 1.0
MEASURE_S: Final = 10.0
TELL_S: Final = 60.0
MOST_GROWTH: Final = 0.05
"""Of a process that counts as flat, from the second quarter of its time to the last."""
LEAST_MEASURED: Final = 12
"""Measurements of a process before anything is said of its growth."""
MB: Final = 1024.0
"""Of the kilobytes in which Linux tells memory."""


@dataclass
class Watched:
    """What was seen of a run; memory is each process's, in MB, without files that it maps."""

    folder: Path
    memory: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    workers: set[int] = field(default_factory=set)
    kills: int = 0
    seconds: float = 0.0
    status: int = 0

    def growth(self) -> dict[int, float]:
        """Return by how much each process grew, as a part of its size, if it lived so long."""
        grown = {}
        for pid, sizes in self.memory.items():
            if len(sizes) >= LEAST_MEASURED:
                quarter = len(sizes) // 4
                before = statistics.median(sizes[quarter : 2 * quarter])
                grown[pid] = statistics.median(sizes[-quarter:]) / before - 1
        return grown

    def line(self) -> str:
        """Tell of it in one line."""
        most = max((max(sizes) for sizes in self.memory.values()), default=0.0)
        parts = self.growth().values()
        growth = f"{min(parts):+.1%} to {max(parts):+.1%}" if parts else "not known yet"
        return (
            f"{self.folder.name}: {self.seconds:.0f} s, {plural(len(self.workers), 'worker')},"
            f" {plural(self.kills, 'kill')}, largest process {most:.0f} MB, growth"
            f" {growth}, status {self.status}"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof long-arena``."""
    parser.add_argument("--games", type=int, default=50_000, help="hanchan, twice (50,000)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--seed", type=int, default=0, help="of walls and of kills (0)")
    parser.add_argument(
        "--kill-every-s", type=float, default=5.0, help="mean seconds between two kills (5)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("logs", "runs", "long-arena"), help="folder of both runs"
    )


def run(args: argparse.Namespace) -> int:
    """Play both runs, say what was seen, return 1 if anything was not as it must be."""
    calm = _watch(args, "undisturbed", lambda: float("inf"))
    draw = Random(args.seed)
    killed = _watch(args, "killed", lambda: draw.expovariate(1 / args.kill_every_s))
    problems = [*_problems_of_calm(calm, args.jobs), *_problems_of_killed(calm, killed)]
    for line in [calm.line(), killed.line(), *problems]:
        print(line)
    print("the same bytes, flat, no worker replaced" if not problems else "NOT as it must be")
    return int(bool(problems))


def _watch(args: argparse.Namespace, name: str, next_kill_s: Callable[[], float]) -> Watched:
    """Play one run and look at its processes until it ends."""
    seen = Watched(args.out / name)
    seen.folder.mkdir(parents=True, exist_ok=True)
    log = args.out / f"{name}.txt"
    draw = Random(args.seed)
    started_at = told_at = measured_at = time.monotonic()
    kill_at = started_at + next_kill_s()
    with log.open("wb") as output:
        arena = subprocess.Popen(
            _command(args, seen.folder),
            stdout=output,
            stderr=output,
            preexec_fn=die_with_parent,  # noqa: PLW1509  this process has no threads
        )
    while arena.poll() is None:
        time.sleep(LOOK_S)
        now = time.monotonic()
        seen.seconds = now - started_at
        workers = list(_workers(arena.pid))
        seen.workers.update(workers)
        if now >= measured_at:
            measured_at = now + MEASURE_S
            _measure([arena.pid, *workers], seen)
        if workers and now >= kill_at:
            kill_at = now + next_kill_s()
            subprocess.run(["kill", "-KILL", str(draw.choice(workers))], check=False)
            seen.kills += 1
        if now >= told_at:
            told_at = now + TELL_S
            print(f"{_last_line(log)}; {seen.line()}", flush=True)
    seen.status = arena.returncode
    return seen


def _command(args: argparse.Namespace, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "mjbot", "arena", *STRATEGIES, "--format", "each"]
    command += ["--games", str(args.games), "--seed", str(args.seed), "--jobs", str(args.jobs)]
    return [*command, "--deadline-s", "0", "--fresh", "--out", str(folder)]


def _workers(parent: int) -> Iterator[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children")
    for pid in _read(children).split():
        if "spawn_main" in _read(Path(f"/proc/{pid}/cmdline")):
            yield int(pid)


def _measure(pids: Sequence[int], seen: Watched) -> None:
    for pid in pids:
        for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
            if line.startswith("Pss_Anon:"):  # libraries are shared with whoever comes and goes
                seen.memory[pid].append(int(line.split()[1]) / MB)


def _read(path: Path) -> str:
    """Return what the kernel says, or nothing of a process that has ended."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _last_line(log: Path) -> str:
    return (log.read_text("utf-8", "replace").splitlines() or ["starting"])[-1].strip()


def _problems_of_calm(calm: Watched, jobs: int) -> Iterator[str]:
    if calm.status != ExitCode.OK:
        yield f"undisturbed: status {calm.status}: {_last_line(calm.folder.with_suffix('.txt'))}"
    if len(calm.workers) != jobs:
        yield f"undisturbed: {len(calm.workers)} processes played in {jobs} places"
    if not (growth := calm.growth()):
        yield "undisturbed: over too soon to say anything of memory: more --games"
    for pid, part in growth.items():
        if part > MOST_GROWTH:
            yield f"undisturbed: process {pid} grew by {part:.1%}"


def _problems_of_killed(calm: Watched, killed: Watched) -> Iterator[str]:
    if killed.status != ExitCode.OK:
        yield f"killed: status {killed.status}: {_last_line(killed.folder.with_suffix('.txt'))}"
    if not killed.kills:
        yield "killed: over before the first kill: more --games, or a shorter --kill-every-s"
    if _bytes(calm.folder / FIGURES_FILE) != _bytes(killed.folder / FIGURES_FILE):
        yield "killed: other figures"
    if _lines(calm.folder / GAMES_FILE) != _lines(killed.folder / GAMES_FILE):
        yield "killed: other games"
    if (killed.folder / FAULT_FOLDER).exists():
        yield f"killed: a strategy was blamed: {killed.folder / FAULT_FOLDER}"


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _lines(path: Path) -> list[bytes]:
    """Return a run's games in order; which came first is chance."""
    return sorted(_bytes(path).splitlines())
