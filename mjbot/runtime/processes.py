"""Child processes that cannot outlive us, and whose death is noticed at once.

:class:`ChildProcess` runs a command, :class:`WorkerProcess` a function of ours;
:func:`in_processes` maps a function over many items in several, :class:`ProcessMap` over several
lists of them.  :func:`keep_heap_compact` and :func:`keep_responsive` are for long-running
processes.
"""

import asyncio
import contextlib
import gc
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Generic, Self, TypeVar

from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.runtime.streams import escape_unencodable
from mjbot.runtime.system import (
    KILL,
    end_with_parent,
    own_group,
    return_blocks_from,
    signal_group,
    without_ctrl_c,
)

_LARGE_BYTES: Final = 1 << 16
SWITCH_S: Final = 0.0005
"""By trial: 20 tables at full load waited 20 to 45 ms at most while a board was made, not 150."""
_GRACE_S: Final = 2.0
_LOOK_S: Final = 0.02
"""Between two looks at whether a process has ended."""
_LAST_OUTPUT_BYTES: Final = 4096
_SAFE_PATH: Final = "PYTHONSAFEPATH"
_OURS: Final = "set by mjbot for a worker"


def keep_heap_compact() -> None:
    """Let large blocks be the system's from birth to death, in a process that is meant to stay.

    glibc does so from 128 kB on, but raises that size to any that was freed.  asyncio reads each
    line into 256 kB and shrinks it: on the heap that leaves gaps, 20 to 50 kB of them a game.
    Where the C library is another nothing is done.
    """
    return_blocks_from(_LARGE_BYTES)


def keep_responsive() -> None:
    """Let this process answer in milliseconds whatever else it does; call it once all is loaded.

    A full garbage collection visits every object, 70 ms for those of a server's start: they are
    exempt from now on.  And a thread that works (a page being made) keeps the others waiting for
    one switch interval, usually 5 ms, each time that they have sent or read something.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_S)


def own_module(name: str) -> list[str]:
    """Return the command that runs an installed module, whatever the current folder holds.

    Python looks there first for a module that it is to run: a folder ``mjbot``, as of a clone, or
    a ``random.py`` would be run instead.
    """
    return [sys.executable, "-P", "-m", name]


@contextlib.contextmanager
def starting_workers() -> Iterator[None]:
    """Let processes of :mod:`multiprocessing` that are started inside run our code undisturbed.

    They look for no module in the current folder: the variable is taken away again, here and (when
    this module is imported) there, since a bot of the user's that is started later may need it.

    They ignore a terminal's Ctrl-C, which goes to all of its processes, from their first moment,
    when Python would print a traceback of the signal.
    """
    is_set_here = not os.environ.get(_SAFE_PATH)
    if is_set_here:
        os.environ[_SAFE_PATH] = _OURS
    try:
        with without_ctrl_c():
            yield
    finally:
        if is_set_here:
            os.environ.pop(_SAFE_PATH, None)


if os.environ.get(_SAFE_PATH) == _OURS:
    del os.environ[_SAFE_PATH]


class ChildProcess:
    """One running child, the first of a process group of its own that ends with this process.

    ``log`` is where its output is kept, if anywhere.
    """

    def __init__(self, process: Process, log: Path | IO[bytes] | None = None) -> None:
        self.process: Final = process
        self.log: Final = log

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        log: Path | IO[bytes] | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        pipes: bool = False,
    ) -> Self:
        """Run ``command``; raises ``OSError``.

        Standard error is appended to ``log`` (default: our own).  With ``pipes``, standard input
        and output are pipes of ``process``; else the input is empty and the output goes to ``log``,
        too.  ``environ`` is added to our own environment.
        """
        with contextlib.ExitStack() as stack:
            output = stack.enter_context(log.open("ab")) if isinstance(log, Path) else log
            options: dict[str, Any] = {"stdin": DEVNULL, "stdout": output}
            if pipes:
                options = {"stdin": PIPE, "stdout": PIPE, "limit": MAX_LINE_BYTES}
            options |= own_group(ends_with_us=True)
            process = await asyncio.create_subprocess_exec(
                *command,
                **options,
                stderr=output,
                env={**os.environ, **(environ or {})},
            )
        return cls(process, log)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self.process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it is known to have ended."""
        return self.process.returncode is not None

    async def wait(self) -> int:
        """Return the exit status once the child has ended (negative: the signal's number)."""
        return await self.process.wait()

    async def end_within(self, seconds: float) -> int | None:
        """Return the exit status, or ``None`` if the child still runs after ``seconds``.

        asyncio's ``wait`` ends behind the output, which a process that the child started may keep.
        """
        deadline = time.monotonic() + seconds
        while not self.has_ended and time.monotonic() < deadline:
            await asyncio.sleep(_LOOK_S)
        return self.process.returncode

    def last_output(self) -> str:
        """Return the last line that the child wrote to its log, or an empty string."""
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            if isinstance(self.log, Path):
                return last_line(stack.enter_context(self.log.open("rb")))
            return last_line(self.log) if self.log else ""
        return ""

    async def stop(self) -> None:
        """End the child and all that it started, gently at first; at once when cancelled."""
        try:
            self.signal(signal.SIGTERM)
            await self.end_within(_GRACE_S)
        finally:
            self.signal(KILL)
        await self.end_within(_GRACE_S)

    def signal(self, number: int) -> None:
        """Send a signal to the child and all that it started."""
        signal_group(self.pid, number)


async def stop_all(children: Iterable[ChildProcess]) -> None:
    """End children together as :meth:`ChildProcess.stop` ends one."""
    some = list(children)
    try:
        await asyncio.gather(*[child.stop() for child in some])
    finally:
        for child in some:  # a task that is cancelled before it begins ends nothing
            child.signal(KILL)


def last_line(output: IO[bytes]) -> str:
    """Return the last line of a file that is not blank, or an empty string."""
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _LAST_OUTPUT_BYTES))
    lines = output.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def describe_exit(status: int) -> str:
    """Describe an exit status.

    >>> describe_exit(-15), describe_exit(-40), describe_exit(4)
    ('killed by SIGTERM', 'killed by signal 40', 'ended with exit status 4')
    """
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(-status).name}"
        return f"killed by signal {-status}"
    return f"ended with exit status {status}"


class WorkerProcess:
    """A process that runs a function of ours, and the connection to it; it cannot outlive us.

    ``target`` is at the top of a module; it is called with its end of the connection, then
    ``arguments``.  What it sends is received from ``connection``, which ends when the process does.
    """

    start_method = "spawn"
    """As :mod:`multiprocessing` names it."""

    def __init__(self, target: Callable[..., None], *arguments: object) -> None:
        import multiprocessing

        context: Any = multiprocessing.get_context(self.start_method)
        self.connection, theirs = context.Pipe()
        self._process: Final = context.Process(
            target=_run_worker, args=(target, theirs, *arguments), daemon=True
        )
        with starting_workers():
            self._process.start()
        theirs.close()

    def send(self, item: object) -> None:
        """Send an item; that the process is dead is noticed when the connection is read."""
        with contextlib.suppress(OSError):
            self.connection.send(item)

    def kill(self) -> None:
        """End the process at once; the connection then ends, too."""
        self._process.kill()

    def reap(self) -> int:
        """Return the exit status of a process that has ended or is ending."""
        self.connection.close()
        self._process.join()
        return self._process.exitcode or 0


def _run_worker(target: Callable[..., None], *arguments: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    end_with_parent()
    escape_unencodable()
    target(*arguments)


T = TypeVar("T")
R = TypeVar("R")

AHEAD: Final = 2
"""Items a process that :class:`ProcessMap` works on or keeps the results of."""


def in_processes(function: Callable[[T], R], items: Sequence[T], jobs: int) -> Iterator[R]:
    """Yield ``function(item)`` of each item in order, from ``jobs`` processes that end with ours.

    ``function`` and errors are as those of :class:`ProcessMap`.
    """
    with ProcessMap(function, min(jobs, len(items))) as results:
        yield from results(items)


class ProcessMap(Generic[T, R]):
    """A function in ``jobs`` processes, which end with this context manager; one job is done here.

    ``function`` is at the top of a module, or a ``functools.partial`` of one that is; what it
    raises is raised here.
    """

    def __init__(self, function: Callable[[T], R], jobs: int) -> None:
        self._function: Final = function
        n_workers = jobs if jobs > 1 else 0
        self._workers: Final = [_PoolWorker(_work, function) for _ in range(n_workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.kill()
            worker.reap()

    def __call__(self, items: Sequence[T]) -> Iterator[R]:
        """Yield ``function(item)`` of each item in order; take them all before the next call.

        No more than :data:`AHEAD` results a process wait behind one that is late.  Raises
        ``ChildProcessError`` if a process ends by itself.
        """
        from multiprocessing.connection import wait

        if not self._workers:
            yield from map(self._function, items)
            return
        begun, ahead = 0, AHEAD * len(self._workers)
        results: dict[int, R] = {}
        busy: dict[Any, tuple[_PoolWorker, int]] = {}
        idle = [*self._workers]
        for next_index in range(len(items)):
            while True:
                while idle and begun < min(len(items), next_index + ahead):
                    worker = idle.pop()
                    worker.send(items[begun])
                    busy[worker.connection] = worker, begun
                    begun += 1
                if next_index in results:
                    break
                # a signal that comes just before it falls asleep does not wake it
                for connection in wait(list(busy), timeout=1.0):
                    worker, index = busy.pop(connection)
                    results[index] = worker.answer()
                    idle.append(worker)
            yield results.pop(next_index)


# A pool of the standard library's would do, but for its semaphores: it complains of them on the
# terminal when the process ends at once.
class _PoolWorker(WorkerProcess):
    """A process that works on one item after the other."""

    def answer(self) -> Any:
        """Return what the function made of an item that was sent."""
        try:
            result, problem = self.connection.recv()
        except (EOFError, OSError):
            end = describe_exit(self.reap())
            raise ChildProcessError(f"a process that worked for us {end}") from None
        if problem is not None:
            raise problem
        return result


def _work(connection: Any, function: Callable[[Any], Any]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            item = connection.recv()
            try:
                result, problem = function(item), None
            except Exception as error:
                result, problem = None, error
            connection.send((result, problem))
