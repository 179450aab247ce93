"""Child processes that cannot outlive us, and whose death is noticed at once.

:class:`Child` is one of them; :func:`in_processes` maps a function over many items in several.
:func:`keep_heap_compact` is for a process of our own that stays.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

_PR_SET_PDEATHSIG: Final = 1
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 1 << 16
_GRACE_S: Final = 2.0
_LAST_WORDS_BYTES: Final = 4096


def keep_heap_compact() -> None:
    """Let large blocks be the system's from birth to death, in a process that is meant to stay.

    glibc does so from 128 kB on, but raises that size to any that was freed.  asyncio reads each
    line into 256 kB and shrinks it: on the heap that leaves gaps, 20 to 50 kB of them a game.
    Where the C library is another nothing is done.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Let processes of :mod:`multiprocessing` that are started inside not hear a terminal's Ctrl-C.

    It goes to all of the terminal's processes.  A mask is handed down to who is started under it,
    and holds from its first moment, when Python would tell of the signal with a traceback.
    """
    from multiprocessing import resource_tracker

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else it starts with the first, and unmasks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Child:
    """One running child: its own process group, its output in a log file."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self.log = log

    @classmethod
    async def start(
        cls, command: Sequence[str], log: Path, environ: Mapping[str, str] | None = None
    ) -> "Child":
        """Run ``command`` with stdout and stderr in ``log``; raises ``OSError``.

        ``environ`` is added to our own environment.
        """
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environ or {})},
                start_new_session=True,
                preexec_fn=die_with_parent if sys.platform == "linux" else None,
            )
        return cls(process, log)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._process.pid

    async def wait(self) -> int:
        """Return the exit status once the child has ended (negative: the signal's number)."""
        return await self._process.wait()

    def last_words(self) -> str:
        """Return the last line that the child wrote, or an empty string."""
        with contextlib.suppress(OSError), self.log.open("rb") as output:
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - _LAST_WORDS_BYTES))
            lines = output.read().decode("utf-8", "replace").split("\n")
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ""

    async def stop(self) -> None:
        """End the child and all that it started, gently at first; at once when cancelled."""
        try:
            self._signal_group(signal.SIGTERM)
            await self._wait_a_little()
        finally:
            self._signal_group(signal.SIGKILL)
        await self._wait_a_little()

    def _signal_group(self, number: int) -> None:
        signal_group(self.pid, number)

    async def _wait_a_little(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_S):
                    await self._process.wait()


def signal_group(group: int, number: int) -> None:
    """Send a signal to all processes of a group, which can outlive its leader.

    ``group`` is the id of the process that was started with a session of its own.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def describe_exit(status: int) -> str:
    """Say an exit status in words.

    >>> describe_exit(-9), describe_exit(4)
    ('killed by SIGKILL', 'ended with exit status 4')
    """
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"ended with exit status {status}"


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


Item = TypeVar("Item")
Result = TypeVar("Result")


def in_processes(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int
) -> Iterator[Result]:
    """Yield ``function(item)`` of each item in order, from ``jobs`` processes that end with ours.

    ``function`` is at the top of a module, or a ``functools.partial`` of one that is; what it
    raises is raised here.  Raises ``ChildProcessError`` if a process ends by itself.
    """
    from multiprocessing.connection import wait

    places = iter(range(len(items)))
    found: dict[int, Result] = {}
    busy: dict[Any, tuple[_Worker, int]] = {}
    workers = _started(function, min(jobs, len(items)))
    try:
        for worker, place in zip(workers, places, strict=False):
            busy[worker.give(items[place])] = worker, place
        for next_place in range(len(items)):
            while next_place not in found:
                # a signal that comes just before it falls asleep does not wake it
                for line in wait(list(busy), timeout=1.0):
                    worker, place = busy.pop(line)
                    found[place] = worker.answer()
                    if (place := next(places, -1)) >= 0:
                        busy[worker.give(items[place])] = worker, place
            yield found.pop(next_place)
    finally:
        for worker in workers:
            worker.end()


# A pool of the standard library's would do, but for its semaphores: it complains of them on the
# terminal when the process ends at once.
class _Worker:
    """A process that works on one item after the other, and the line to it."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(function, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, item: object) -> Any:
        """Send an item; return the line on which the answer will come."""
        with contextlib.suppress(OSError):  # a dead one is noticed when its answer is awaited
            self._line.send(item)
        return self._line

    def answer(self) -> Any:
        """Return what the function made of the item."""
        from mjbot.processes import describe_exit

        try:
            result, problem = self._line.recv()
        except (EOFError, OSError):
            self._process.join()
            end = describe_exit(self._process.exitcode or 0)
            raise ChildProcessError(f"a process that worked for us {end}") from None
        if problem is not None:
            raise problem
        return result

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._line.close()


def _started(function: Callable[[Any], Any], n: int) -> list[_Worker]:
    with deaf_to_ctrl_c():
        return [_Worker(function) for _ in range(n)]


def _work(function: Callable[[Any], Any], line: Any) -> None:
    from mjbot.processes import die_with_parent

    die_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while True:
            item = line.recv()
            try:
                result, problem = function(item), None
            except Exception as error:
                result, problem = None, error
            line.send((result, problem))
