"""A thread that thinks while the conversation keeps an eye on the clock."""

import asyncio
import logging
import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from mjbot.strategy.faults import error_summary

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
_Jobs = queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]


class LateError(Exception):
    """The job was not finished in time; its answer will be dropped."""


class CrashError(Exception):
    """The job raised something; that is the ``__cause__``, and the text names a line."""


class DecisionThread:
    """Runs one job at a time in a daemon thread, so that a stuck one cannot keep us from ending.

    Jobs wait for the one before even when that one came too late: they may share a strategy.  The
    thread ends when nobody holds this any more.
    """

    def __init__(self) -> None:
        self._jobs: _Jobs = queue.SimpleQueue()
        threading.Thread(target=_work, args=(self._jobs,), name="thread", daemon=True).start()
        weakref.finalize(self, self._jobs.put, None)

    async def think(self, job: Callable[[], Result], limit_s: float | None) -> Result:
        """Return what ``job`` returns.

        Raises :class:`CrashError` if it raises anything, and :class:`LateError` after
        ``limit_s`` seconds: a job that has not begun by then is given up, one that has begun
        runs on and its answer is dropped.
        """
        future: Future[Result] = Future()
        self._jobs.put((future, job))
        answer = asyncio.wrap_future(future)
        done, _ = await asyncio.wait({answer}, timeout=limit_s)
        if not done:
            future.cancel()
            answer.cancel()
            future.add_done_callback(_report_dropped)
            raise LateError
        return answer.result()


def _work(jobs: _Jobs) -> None:
    while (job := jobs.get()) is not None:
        _do(*job)
        del job  # it holds who asked, who would hold this thread


def _do(future: "Future[Any]", job: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = job()
    except BaseException as error:  # the job is foreign code: even SystemExit may come
        crash = CrashError(error_summary(error))
        crash.__cause__ = error
        future.set_exception(crash)
    else:
        future.set_result(result)


def _report_dropped(future: "Future[Any]") -> None:
    if not future.cancelled():
        answer = future.exception() or future.result()
        logger.warning("the answer that came too late was dropped: %s", answer)
