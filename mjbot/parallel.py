"""The same function of many items, in processes that end with ours."""

import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

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
        from mjbot.match.processes import describe_exit

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
    """Start workers that do not hear a terminal's Ctrl-C, which goes to all its processes.

    A mask is handed down to who is started under it.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # else it starts with the first, and unmasks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return [_Worker(function) for _ in range(n)]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(function: Callable[[Any], Any], line: Any) -> None:
    from mjbot.match.processes import die_with_parent

    die_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while True:
            item = line.recv()
            try:
                result, problem = function(item), None
            except Exception as error:
                result, problem = None, error
            line.send((result, problem))
