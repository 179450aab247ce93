"""The simulated machine: one loop, network, disk and clock, and the commands that run on them."""

import argparse
import asyncio
import contextlib
import functools
import importlib
import io
import os
import pkgutil
import random
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from aiohttp.web_app import _cached_build_middleware

import mjbot.cli
import mjbot.play.client
import mjbot.play.server
import mjbot.play.service
from mjbot.cli import log as cli_log
from mjbot.cli import main as command_line
from mjbot.cli.main import _subparser, main, make_parser, take_signals
from mjbot.game.statistics import origin
from mjbot.play.startup.precompile import prepare
from mjbot.play.startup.warm_up import warm_up_alone, warm_up_pair
from mjbot.runtime import interruption
from mjbot.runtime.compiler.cache import locks_folder
from mjbot.runtime.processes import keep_heap_compact, keep_responsive
from mjbot.runtime.worker import Worker
from mjbot.strategy.pair import socket_link
from proof.simulation import processes as p
from proof.simulation.disk import Disk, DiskFault
from proof.simulation.loop import EndlessError, SimulatedLoop
from proof.simulation.network import LinkFault, Network, Plan, Transport
from proof.simulation.schedule import ATTEMPT, DISK, LINK, SIGNALS, Fault, Schedule

for _package in (mjbot.play.server, mjbot.play.service, mjbot.play.client, mjbot.cli):
    for _module in pkgutil.iter_modules(_package.__path__, f"{_package.__name__}."):
        importlib.import_module(_module.name)  # what is imported later would not be simulated

OURS: Final = "mjbot"
EPOCH_S: Final = 1_790_000_000.0
"""The time of day at which each schedule begins, in seconds since the epoch."""
MOST_S: Final = 20_000.0
MOST_LEFT: Final = 4
"""Tasks that a program may leave whose closing a second signal cuts short."""
_RANDOM: Final = random.Random
_SHARED_MEMORY: Final = Path("/dev/shm")

Place = tuple[str, str]
"""A kind of fault, and where in our code it struck."""


@dataclass
class Outcome:
    """What a schedule showed: ``problems`` is what does not hold."""

    problems: list[str] = field(default_factory=list)
    places: set[Place] = field(default_factory=set)
    steps: int = 0
    operations: int = 0
    simulated_s: float = 0.0
    connections: int = 0
    trace: int = 0
    """A digest of what happened: equal where a schedule is run again."""


class World:
    """Runs one schedule: start processes in a scenario's coroutine, and judge them afterwards."""

    def __init__(self, schedule: Schedule, folder: Path) -> None:
        self.schedule: Final = schedule
        self.folder: Final = folder
        self.processes: Final[dict[str, p.Process]] = {}
        self.ended: Final[list[p.Process]] = []
        """All that were started, those that have ended too."""
        self.struck: Final[list[Fault]] = []
        self.outcome: Final = Outcome()
        self.foreign: dict[str, bytes] = {}
        self.blamed: Final[set[str]] = set()
        """Processes to whose connections or decisions something has happened."""
        self.departed: Final[set[str]] = set()
        """Players that left before any game, which the server's end of their connection knew."""
        self._random: Final = _RANDOM(f"world {schedule}")
        self._jobs = 0
        self._signals: Final = {
            fault.at: fault for fault in schedule.faults if fault.kind in SIGNALS
        }
        self.network: Final = Network(
            _plan(schedule), f"net {schedule.seed}", self._on_network, p.name_of_current
        )
        disk_faults = [
            DiskFault(fault.kind, fault.at, int(fault.amount))
            for fault in schedule.faults
            if fault.kind in DISK
        ]
        self.disk: Final = Disk(folder, disk_faults, self._on_disk)
        self.loop: Final = SimulatedLoop(self.network, MOST_S, self._on_step, _own)

    # --- for scenarios -----------------------------------------------------------------------

    def process(
        self, name: str, *words: object, environ: Mapping[str, str] | None = None
    ) -> p.Process:
        """Start a command and return its process; ``environ`` is what it reads at its start."""
        arguments = [str(word) for word in words]
        process = p.Process(name, self.loop, lambda: _command(arguments))
        process.on_end = self._end
        self.processes[name] = process
        self.ended.append(process)
        os.environ.update(environ or {})
        process.start()
        for variable in environ or {}:
            os.environ.pop(variable, None)
        return process

    def _end(self, process: p.Process) -> None:
        """Note what a process has left open, and close it, as the system does."""
        left = [*self.network.kill(process.name), *self.disk.kill(process.name)]
        if not process.was_killed:
            self.outcome.problems += [f"{process.name} has left open: {name}" for name in left]

    def problem(self, text: str) -> None:
        """Note what does not hold."""
        self.outcome.problems.append(text)

    async def end(self, *processes: p.Process, within_s: float = 20_000.0) -> bool:
        """Wait until processes have ended; return whether they have."""
        _, running = await asyncio.wait({one.ended for one in processes}, timeout=within_s)
        return not running

    def blame_if_it_left(self, client: p.Process) -> None:
        """Blame a client that gave up waiting for a game: silence is its own limit of time.

        A game may begin in that moment, and is then void by it: on a real machine as well no server
        can see that the client goes before its FIN has come.  Who has received more than a
        greeting knows of a game, and is not excused.
        """
        if any("silent for" in line for line in client.printed):
            ends = [end for end, _ in self.network.connections if end.process == client.name]
            if ends[-1].received == len(ends[-1].peer.first_bytes):
                self.blamed.add(client.name)

    def has(self, *kinds: str) -> bool:
        """Return whether a fault of these kinds has struck."""
        return any(fault.kind in kinds for fault in self.struck)

    # --- faults ------------------------------------------------------------------------------

    def _note(self, kind: str, place: str) -> None:
        self.outcome.places.add((kind, place))

    def _strike(self, kind: str, process: str = "") -> None:
        self.struck.extend([fault for fault in self.schedule.faults if fault.kind == kind][:1])
        self.blamed.update({process} - {""})

    def excuses(self, server: p.Process) -> bool:
        """Return whether the server itself had a reason to give up games."""
        return bool(server.signals) or self.has(*DISK)

    def _on_network(self, kind: str, end: Transport | None) -> None:
        self._strike(kind, p.name_of_current() if end is None else end.owner)
        if end is None:
            self._note(kind, "connect")
            return
        port = min(end.get_extra_info("sockname")[1], end.get_extra_info("peername")[1])
        side = "client" if end.is_client else "server"
        self._note(kind, f"{side} {port} {end.sent.bit_length()}")

    def _on_disk(self, kind: str, operation: str) -> None:
        self._strike(kind)
        self._note(kind, f"{operation} {_caller()}")

    def _on_step(self, step: int, handle: asyncio.Handle) -> None:
        if fault := self._signals.get(step):
            process = self.processes.get(fault.target)
            if process is not None and process.is_running and process.is_serving:
                self._strike(fault.kind, fault.target)
                self._note(fault.kind, _named(handle))
                process.strike(fault.kind)

    def delay(self, name: str) -> float:
        """Return how long a job of a worker takes; below 0: it fails."""
        number, self._jobs = self._jobs, self._jobs + 1
        for fault in self.schedule.faults:
            if fault.kind == "slow" and fault.at == number and name == "decisions":
                self._strike("slow", p.name_of_current())
                self._note("slow", name)
                return fault.amount
            if fault.kind == "fails" and fault.at == number and name == "decisions":
                self._strike("fails", p.name_of_current())
                self._note("fails", name)
                return -1.0
        return 0.0005 if self.schedule.is_calm else self._random.choice((0.0002, 0.001, 0.01))

    def clock_s(self) -> float:
        """Return the time of day, as far as it was set."""
        jumps = sum(
            fault.amount
            for fault in self.schedule.faults
            if fault.kind == "jump" and self.loop.now_s >= fault.at
        )
        return EPOCH_S + self.loop.now_s + jumps

    # --- the run -----------------------------------------------------------------------------

    def run(self, scenario: Callable[["World"], Any]) -> Outcome:
        """Run the schedule; return what does not hold."""
        problems = self.outcome.problems
        with self._replaced():
            asyncio.set_event_loop(self.loop)
            try:
                task = self.loop.create_task(scenario(self))
                self.loop.run_until_complete(task)
                problems += task.result() or []
            except EndlessError as error:
                running = [name for name, one in self.processes.items() if one.is_running]
                problems.append(f"{error}; running: {', '.join(running) or 'none'}")
            else:
                self.loop.run_until_complete(asyncio.sleep(RETIRED_S))
            finally:
                self._close()
        problems += self._judged()
        outcome = self.outcome
        outcome.steps, outcome.operations = self.loop.steps, self.disk.operations
        outcome.simulated_s, outcome.connections = self.loop.now_s, len(self.network.connections)
        logged = [line for process in self.ended for line in process.logged]
        outcome.trace = hash((outcome.steps, outcome.operations, *logged))
        return outcome

    def _judged(self) -> Iterator[str]:
        """Yield what holds of no program of ours, whatever happens."""
        yield from self.network.doubles
        for context in self.loop.errors:
            error = context.get("exception")
            yield f"not handled: {context['message']}: {error!r}"
        for process in self.ended:
            if process.crash is not None:
                yield f"{process.name}: {type(process.crash).__name__}: {process.crash}"
            if process.left_tasks > (MOST_LEFT if len(process.signals) > 1 else 0):
                yield f"{process.name} has left tasks: {process.left_tasks}"
            for line in (*process.logged, *process.printed):
                if p.STRATEGY_FAILS in line:  # its traceback is meant for its author
                    continue
                if "Traceback" in line or "\n" in line.rstrip("\n"):
                    yield f"{process.name} printed more than a line: {line[:1500]}"

    def _close(self) -> None:
        with contextlib.suppress(Exception):
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            for _ in range(50):
                self.loop.call_soon(self.loop.stop)
                self.loop.run_forever()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        self.loop.close()
        _cached_build_middleware.cache_clear()  # it keeps a thousand servers, each with its loop

    @contextlib.contextmanager
    def _replaced(self) -> Iterator[None]:
        """Put the simulated machine in the place of the real one."""
        p.SimulatedWorker.loop = p.SimulatedCondition.loop = self.loop
        p.SimulatedWorker.delay = staticmethod(self.delay)
        drawn = self._random
        _DrawnRandom.draw = staticmethod(lambda: drawn.getrandbits(64))
        fixed: list[tuple[Any, str, Any]] = [
            (time, "monotonic", self.loop.time), (time, "perf_counter", self.loop.time),
            (time, "time", self.clock_s), (asyncio, "Runner", lambda: p.Runner(self.loop)),
            (interruption, "signal", p.SignalModule), (socket_link, "threading", p.THREADS),
            (interruption, "_waking", lambda loop: contextlib.nullcontext()),
            (interruption, "os", _SYSTEM),
            (interruption, "_Service", p.ServiceNotes(interruption._Service)),
            (command_line, "make_parser", _parser),
            (sys, "stdout", p.Stream(sys.stdout)), (sys, "stderr", p.Stream(sys.stderr)),
            (secrets, "token_bytes", lambda size=32: drawn.randbytes(size)),
            (secrets, "token_hex", lambda size=32: drawn.randbytes(size).hex()),
            (origin, "_git", lambda *_: ""), (random, "Random", _DrawnRandom),
            *self.disk.replacements(),
        ]  # fmt: skip
        nothing: Any = lambda *_, **__: None  # noqa: E731
        wherever = [
            (keep_responsive, nothing), (keep_heap_compact, nothing), (prepare, nothing),
            (warm_up_alone, nothing), (warm_up_pair, nothing),
            (Worker, p.SimulatedWorker), (locks_folder, lambda: self.folder / "locks"),
            (cli_log.log_to, _log_to), (_RANDOM, _DrawnRandom), (io.FileIO, self.disk.file_io),
        ]  # fmt: skip
        for original, instead in wherever:
            fixed += [(module, name, instead) for module, name in _uses(original)]
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in fixed]
        _keep_routing()
        try:
            for owner, name, instead in fixed:
                setattr(owner, name, instead)
            yield
        finally:
            for owner, name, original in reversed(before):
                setattr(owner, name, original)


@functools.cache
def _parser_of(command: str) -> tuple[argparse.ArgumentParser, Callable[[], None]]:
    parser = make_parser([command])
    options = _subparser(parser, command)
    before, defaults = dict(options._defaults), [(one, one.default) for one in options._actions]

    def forget() -> None:
        options._defaults = dict(before)
        for action, default in defaults:
            action.default = default

    return parser, forget


def _parser(declared: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a command, made once, without the values of an earlier profile."""
    parser, forget = _parser_of(*declared)
    forget()
    return parser


class _DrawnRandom(random.Random):
    """Stands in for ``random.Random``: without a seed of its own it has one of the schedule's."""

    draw: Callable[[], int]

    def __init__(self, *seed: Any) -> None:
        super().__init__(*(seed or (type(self).draw(),)))


RETIRED_S: Final = 30.0
"""After the last process its peers' connections may still be closing."""

_found: Final[dict[int, list[tuple[ModuleType, str]]]] = {}


def _uses(original: object) -> list[tuple[ModuleType, str]]:
    """Return the names under which our modules have an object."""
    if id(original) not in _found:
        modules = [module for name, module in sorted(sys.modules.items()) if name.startswith(OURS)]
        _found[id(original)] = [
            (module, name)
            for module in modules
            for name, value in list(vars(module).items())
            if value is original
        ]
    return _found[id(original)]


def _plan(schedule: Schedule) -> Plan:
    plan = Plan(is_calm=schedule.is_calm)
    for fault in schedule.faults:
        number, _, end = fault.target.partition(" ")
        if fault.kind in LINK:
            strikes = LinkFault(fault.kind, end == "client", fault.at, fault.amount)
            plan.faults.setdefault(int(number), []).append(strikes)
        elif fault.kind in ATTEMPT:
            plan.refused[int(number)] = fault.kind
    for strikes_of in plan.faults.values():
        strikes_of.sort(key=lambda strikes: strikes.at)
    return plan


def _own(task: asyncio.Task[Any]) -> None:
    process = p.current()
    if process is not None:
        process.tasks.add(task)


def _command(arguments: list[str]) -> int:
    take_signals(arguments[:1])
    return main(arguments)


def _exit(status: int) -> None:
    raise p.KilledError(status)


def _write(_: int, data: bytes) -> int:
    return sys.stderr.write(data.decode())


_SYSTEM: Final = SimpleNamespace(_exit=_exit, isatty=lambda _: False, write=_write)
"""What a signal's handler uses of ``os``."""


def _log_to(*outputs: cli_log.Output) -> None:
    """Stand in for ``log_to``: each process has outputs of its own."""
    process = p.current()
    assert process is not None
    for output in process.outputs:
        if hasattr(output.stream, "stop"):
            output.stream.stop()
    process.outputs = list(outputs)


_sinks: Final[list[int]] = []
_others: Final[list[int]] = []


def _keep_routing() -> None:
    """Let loguru pass lines of processes to :func:`_route` alone.

    The sink is added for each schedule: code that has removed it (the tests do, after each) would
    leave every judge of logged lines without lines.
    """
    for sink in _sinks:
        with contextlib.suppress(ValueError):
            cli_log.logger.remove(sink)
    if not _others or cli_log._added != _others:  # a command has run without a simulation
        cli_log.log_to(cli_log.Output(sys.stderr, "DEBUG", filter=lambda _: p.current() is None))
        _others[:] = cli_log._added
    sink = cli_log.logger.add(
        _route, level="DEBUG", format="{message}", catch=False, diagnose=False
    )
    _sinks[:] = [sink]


def _route(message: Any) -> None:
    process = p.current()
    if process is None:
        return
    process.logged.append(str(message))
    for output in process.outputs:
        if hasattr(output.stream, "stop"):  # a log file
            output.stream.write(str(message))


def _caller() -> str:
    """Return the innermost function of ours that is called."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(OURS):
            return f"{name}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "?"


def _named(handle: asyncio.Handle) -> str:
    """Return where the task is that a callback resumes."""
    task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
    if not isinstance(task, asyncio.Task):
        return getattr(handle._callback, "__qualname__", "callback")  # type: ignore[attr-defined]
    coroutine: Any = task.get_coro()
    while getattr(coroutine, "cr_await", None) is not None:
        if not hasattr(coroutine.cr_await, "cr_frame"):
            break
        coroutine = coroutine.cr_await
    line = coroutine.cr_frame.f_lineno if getattr(coroutine, "cr_frame", None) else 0
    return f"{coroutine.__qualname__}:{line}"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder in memory that is removed afterwards."""
    parent = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="mjbot-simulation-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
