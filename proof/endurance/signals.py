"""SIGTERM, SIGINT and SIGHUP at random moments of the commands that run for long.

Real processes on loopback.  Each must end within five seconds with status 130, without a
traceback; what it has written until then must be whole, and neither a process nor a temporary file
may be left.  Until its first line runs, Python handles signals in its own way: it is killed by
them, or prints a traceback of its own for a SIGINT; then no work has begun yet.  Half of
the SIGINTs go to the whole process group, as a terminal's Ctrl-C does.
"""

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from mjbot.play.client.play import Settings, play
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import make_strategy
from proof.endurance.commands import Command, end_everything
from proof.remains import catches, damage, lines_in

HOST: Final = "127.0.0.1"
MOST_S: Final = 5.0
"""How long a command may take to end."""
EARLY_S: Final = (0.001, 1.0)
EARLY: Final = 0.3
"""Share of the signals in the first second, drawn by its logarithm."""
OUTPUT: Final = "output.txt"
GAMES: Final = 100_000
BOTS: Final = ("fast-riichi-a", "fast-riichi-b", "tsumogiri", "tsumogiri")

GAME_S: Final = 60.0
"""How long a game may take that `serve` ends after SIGTERM."""

LATEST_S: Final = {"serve": 12.0, "play": 12.0, "duo": 30.0, "match": 30.0, "arena": 15.0}
"""The last moment of each command; by then it is deep in play."""
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass
class SignalTrial:
    """One signal and its effect: ``phase`` is the command's progress."""

    number: int
    command: str
    signal: signal.Signals
    to_group: bool
    after_s: float
    phase: str = ""
    status: int | None = None
    took_s: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def drains(self) -> bool:
        """Whether the running game may end first, and the status is 0 then."""
        return self.command == "serve" and self.signal is signal.SIGTERM

    def __str__(self) -> str:
        whom = " (its group)" if self.to_group else ""
        return (
            f"{self.number:3} {self.command:5} {self.signal.name}{whom} after {self.after_s:.3f} s,"
            f" {self.phase}: status {self.status} within {self.took_s:.2f} s"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof endurance signals``."""
    parser.add_argument("--times", type=int, default=200, help="signals in all (200)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    parser.add_argument("--only", type=int, help="only the trial with this number")
    parser.add_argument("--keep", type=Path, help="folder for the files of trials that failed")


async def endure(args: argparse.Namespace) -> list[str]:
    """Send the signals, print how each ended, return what does not hold."""
    # A shell has what it starts in the background ignore SIGINT, and ``nohup`` SIGHUP: both are
    # handed down.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    start, trials = time.monotonic(), plan(args.times, args.seed)
    if args.only is not None:
        trials = [trials[args.only]]
    for trial in trials:
        await _tried(trial, args.keep)
        print(trial, flush=True)
    for line in report(trials):
        print(line)
    print(f"{len(trials)} signals; {time.monotonic() - start:.0f} s")
    again = f"python -m proof endurance signals --times {args.times} --seed {args.seed} --only"
    return [
        f"{trial}: {problem}; again: {again} {trial.number}"
        for trial in trials
        for problem in trial.problems
    ]


def plan(times: int, seed: int) -> list[SignalTrial]:
    """Return the trials: commands and signals take turns, moments are drawn."""
    names = list(LATEST_S)
    trials = []
    for number in range(times):
        random, command = Random(f"signals {seed} {number}"), names[number % len(names)]
        turn = number // len(names)
        kind = SIGNALS[turn % len(SIGNALS)]
        early, where = random.random() < EARLY, random.random()
        first, last = EARLY_S
        after_s = first * (last / first) ** where if early else LATEST_S[command] * where
        to_group = kind is signal.SIGINT and turn % 2 == 1
        trials.append(SignalTrial(number, command, kind, to_group, after_s))
    return trials


def report(trials: Sequence[SignalTrial]) -> Iterator[str]:
    """Yield how many signals met which phase of which command, and the longest end."""
    for name in LATEST_S:
        ours = [trial for trial in trials if trial.command == name]
        phases = Counter(f"{trial.phase}: {trial.status}" for trial in ours)
        slowest = max((trial.took_s for trial in ours), default=0.0)
        counts = ", ".join([f"{count} {phase}" for phase, count in sorted(phases.items())])
        yield f"{name:5} {len(ours)} signals, the slowest end {slowest:.2f} s: {counts}"


# --- one trial -------------------------------------------------------------------------------


async def _tried(trial: SignalTrial, keep: Path | None) -> None:
    with tempfile.TemporaryDirectory(prefix="mjs-") as name, contextlib.ExitStack() as stack:
        stack.callback(end_everything)
        folder = Path(name)
        (folder / "t").mkdir()
        command = Command(str(trial.number), folder / "work", folder / OUTPUT)
        async with _SITUATIONS[trial.command](command) as arguments:
            await _struck(trial, command, arguments)
        trial.problems += [*_problems(trial, folder, command.text)]
        if trial.problems and keep is not None:
            ignore = shutil.ignore_patterns("channel")  # a socket cannot be copied
            shutil.copytree(folder, keep / str(trial.number), ignore=ignore, dirs_exist_ok=True)


async def _struck(trial: SignalTrial, command: Command, arguments: Sequence[str]) -> None:
    """Run the command, send the signal in its moment, and wait for all that belongs to it."""
    temporary = str(command.folder.with_name("t"))
    start = time.monotonic()
    await command.run(
        *(trial.command, *arguments), environ={"TMPDIR": temporary, "PYTHONUNBUFFERED": "1"}
    )
    process = command.process
    ended = asyncio.create_task(process.wait())
    await asyncio.wait([ended], timeout=max(0.0, start + trial.after_s - time.monotonic()))
    trial.phase = _phase(process.pid, command.folder)
    if ended.done():
        trial.problems.append("it ended by itself")
    else:
        struck = time.monotonic()
        (os.killpg if trial.to_group else os.kill)(process.pid, trial.signal)
        await asyncio.wait([ended], timeout=GAME_S if trial.drains else MOST_S)
        trial.took_s = time.monotonic() - struck
        trial.problems += await command.left_behind(MOST_S)
    if not ended.done():
        trial.problems.append(f"it has not ended within {MOST_S:g} s")
        process.kill()
    trial.status = await ended


def _phase(pid: int, work: Path) -> str:
    if not catches(pid, signal.SIGTERM):
        return STARTING
    return "in play" if lines_in(work) else "getting ready"


STARTING: Final = "Python starting"


def _problems(trial: SignalTrial, folder: Path, text: str) -> Iterator[str]:
    """Yield what must not be: of the status, the output, the files."""
    allowed = {int(ExitCode.INTERRUPTED), *([int(ExitCode.OK)] if trial.drains else [])}
    if trial.phase == STARTING:  # 1: "Fatal Python error", from its own first imports
        allowed |= {-trial.signal} | ({1} if trial.signal is signal.SIGINT else set())
    elif "Traceback" in text:
        yield f"a traceback: {text.strip().splitlines()[-1]}"
    if trial.status not in allowed:
        last = text.strip().splitlines()[-1:]
        yield f"status {trial.status}, last output {last}"
    yield from damage(folder / "work")
    for path in (folder / "t").rglob("*"):
        yield f"left in the folder for temporary files: {path.relative_to(folder / 't')}"


# --- what the commands do meanwhile ----------------------------------------------------------


@contextlib.asynccontextmanager
async def _serving(command: Command) -> AsyncIterator[list[str]]:
    """``serve`` for four clients of ours, which connect as soon as it listens."""
    logs = str(command.folder / "logs")
    clients = asyncio.create_task(_visit(command))
    try:
        yield [
            *("--port", "0", "--ws-port", "0", "--log-dir", logs, "--evidence"),
            *("--games", str(GAMES), "--length", "tonpu", "--seed", "0", "--on-fault", "default"),
        ]
    finally:
        await _ended([clients])


async def _visit(command: Command) -> None:
    """Wait for the listener, and play there until it closes."""
    url = ""
    while not url:
        await asyncio.sleep(0.05)
        url = next((word for word in command.text.split() if word.startswith("mjsonp://")), "")
    await asyncio.gather(*[_client(url, client) for client in range(4)], return_exceptions=True)


async def _client(url: str, client: int) -> None:
    settings = Settings(parse_address(url), name=f"client-{client}", games=GAMES, wait_s=1.0)
    await play(settings, lambda _: make_strategy(BOTS[client]))


@contextlib.asynccontextmanager
async def _at_our_table(command: Command) -> AsyncIterator[list[str]]:
    """``play`` at a table of ours, with three clients of ours."""
    rules = TableRules(seed=0, rules="tonpu", timeout_s=60.0, on_fault=OnFault.DEFAULT)
    async with TableServer(rules) as server:
        url = f"mjsonp://{HOST}:{await server.open_tcp(HOST, 0)}/default"
        tasks = [asyncio.create_task(_client(url, client)) for client in range(1, 4)]
        tasks.append(asyncio.create_task(_games(server)))
        arguments = [url, "--strategy", "fast-riichi-a", "--games", "0"]
        try:
            yield [*arguments, "--log", str(command.folder / "seen.mjson")]
        finally:
            await _ended(tasks)


async def _games(server: TableServer) -> None:
    async for _ in server.play(GAMES):
        pass


async def _ended(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_Situation = Callable[[Command], contextlib.AbstractAsyncContextManager[list[str]]]
"""What surrounds a command while it runs, and its arguments."""


def _with(*arguments: str) -> _Situation:
    @contextlib.asynccontextmanager
    async def alone(command: Command) -> AsyncIterator[list[str]]:
        yield list(arguments)

    return alone


_TABLE: Final = ("--games", str(GAMES), "--length", "tonpu", "--seed", "0", "--log-dir", "logs")
_PAIR: Final = ("--top", "yaku-evaluation", "--partner", "combo-partner")
_SITUATIONS: Final = {
    "serve": _serving,
    "play": _at_our_table,
    "duo": _with(*_PAIR, "--rivals", "tsumogiri", "fast-riichi-a", *_TABLE),
    "match": _with(*BOTS, "--evidence", *_TABLE),
    "arena": _with(
        *("fast-riichi-a", "fast-riichi-b", "--games", "1000000", "--length", "tonpu"),
        *("--jobs", "2", "--record", "--out", "run"),
    ),
}
