"""Ending long work early, by Ctrl-C or SIGTERM: at once, and with a word on what is kept.

Either signal is a ``KeyboardInterrupt``.  Whoever knows what has been saved puts that into it
(:func:`keeping`), and ``mjbot.cli.main`` prints it.  Work handed to other processes and threads
(:func:`in_processes`, :func:`in_threads`) is not waited for: it ends with this process.
"""

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TypeVar

from mjbot.match.processes import die_with_parent

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextlib.contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Let an interruption say what is kept, unless it says so already."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        if interruption.args:
            raise
        raise KeyboardInterrupt(kept()) from None


def in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int
) -> Iterator[Result]:
    """Yield ``function(item)`` of each item in order, from so many processes.

    Whoever stops early does not wait for those under way.  ``function`` is at the top of a
    module, or a ``functools.partial`` of one that is.
    """
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=die_with_parent)
    return _results(pool, function, items)


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int
) -> Iterator[Result]:
    """Yield ``function(item)`` of each item in order, from so many threads.

    For calls that no signal can end; whoever stops early does not wait for them.
    """
    return _results(ThreadPoolExecutor(jobs), function, items)


def _results(
    pool: Executor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    try:
        # Ctrl-C goes to all processes of a terminal; a mask is handed down to those that start.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            results = pool.map(function, items)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield from results
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
