"""``mjbot`` commands as processes: sampled, killed now and then, ended, and judged."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final

from proof.remains import Sample, end_all, left_after, marked, used

MARK: Final = "MJBOT_PROOF_ENDURANCE"
WORKER: Final = "multiprocessing.spawn"
"""What the command line of an arena's worker has in it."""

_marks: Final[list[str]] = []


def end_everything() -> None:
    """End all that was started here: a proof that fails leaves nothing, either."""
    for mark in _marks:
        end_all(MARK, mark)


class Command:
    """A command, its output and all processes that belong to it.

    It has a session of its own; ``folder`` is where it runs and, by default, where its output is.
    """

    process: asyncio.subprocess.Process

    def __init__(self, name: str, folder: Path, output: Path | None = None) -> None:
        self.name: Final = name
        self.folder: Final = folder
        self.output: Final = output or folder / "output.txt"
        self.mark: Final = f"{os.getpid()}-{name}"
        self.killed = 0

    async def run(self, *words: str, environ: Mapping[str, str] | None = None) -> None:
        """Start ``mjbot`` with these words."""
        _marks.append(self.mark)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.output.open("ab") as output:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mjbot", *words),
                cwd=self.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, MARK: self.mark, **(environ or {})},
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        """What it has printed so far."""
        return self.output.read_text("utf-8", "replace") if self.output.exists() else ""

    @property
    def last_line(self) -> str:
        """The last line of that."""
        return "".join(self.text.strip().splitlines()[-1:])

    @property
    def has_ended(self) -> bool:
        """Whether the command's first process has ended."""
        return self.process.returncode is not None

    def processes(self, part: str = "") -> list[int]:
        """Return all of its processes with ``part`` in their command lines."""
        return sorted(pid for pid, line in marked(MARK, self.mark).items() if part in line)

    def sample(self) -> Sample:
        """Return what all of them use together."""
        return used(self.name, self.processes())

    def kill(self, pid: int) -> None:
        """Kill one of its processes, and count that."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.killed += 1

    async def terminate(self, most_s: float) -> int:
        """Return the status after SIGTERM; after ``most_s`` it is killed."""
        if not self.has_ended:
            self.process.terminate()
        try:
            async with asyncio.timeout(most_s):
                return await self.process.wait()
        except TimeoutError:
            self.process.kill()
            return await self.process.wait()

    async def left_behind(self, most_s: float) -> list[str]:
        """Return which of its processes are there after ``most_s`` at most, as problems."""
        until = time.monotonic() + most_s
        left = await asyncio.to_thread(left_after, MARK, self.mark, until)
        return [f"left behind: {command}" for command in left.values()]


class KillTimes:
    """Random moments to kill a process, ``mean_s`` apart; times are seconds of one clock."""

    def __init__(self, random: Random, mean_s: float) -> None:
        self._random: Final = random
        self._mean_s: Final = mean_s
        self._draw(0.0)

    def victim(self, now_s: float, pids: Sequence[int]) -> int | None:
        """Return which of the processes is to be killed now, if one is."""
        if now_s < self._next_s or not pids:
            return None
        self._draw(now_s)
        return self._random.choice(pids)

    def _draw(self, now_s: float) -> None:
        self._next_s = now_s + self._random.expovariate(1 / self._mean_s)
