"""A thread that works for an event loop, which must not stand still meanwhile."""

import queue
import threading
import weakref
from collections.abc import Callable
from typing import Final

_Jobs = queue.SimpleQueue[Callable[[], object] | None]


class Worker:
    """Does one job after the other in a daemon thread: a stuck one cannot keep us from ending.

    A job raises nothing.  The thread ends when it is closed, or when this object is collected.
    """

    def __init__(self, name: str) -> None:
        self._jobs: Final = _Jobs()
        threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
        self._end: Final = weakref.finalize(self, self._jobs.put, None)

    @property
    def is_open(self) -> bool:
        """Whether it takes jobs."""
        return self._end.alive

    def put(self, job: Callable[[], object]) -> None:
        """Let it do a job after those that it has."""
        self._jobs.put(job)

    def close(self) -> None:
        """Let the thread end after the jobs that it has; it takes no more."""
        self._end()


def _work(jobs: _Jobs) -> None:
    """Do jobs until there is a ``None``; between two, nothing of the one before is kept alive."""
    while (job := jobs.get()) is not None:
        job()
        del job
