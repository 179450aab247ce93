"""A thread that thinks while the conversation keeps an eye on the clock."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, TypeVar

from mjbot.runtime.worker import Worker
from mjbot.strategy.faults import AbsentError, FaultKind, error_summary

logger = logging.getLogger(__name__)

T = TypeVar("T")
ReportFault = Callable[[FaultKind, str, BaseException | None], None]
"""Receives the kind of a fault, what is wrong, and an exception whose traceback is of use."""


class LateError(Exception):
    """The job was not finished in time; its answer will be dropped."""


class CrashError(Exception):
    """The job raised something; that is the ``__cause__``, and the text names a line."""


class DecisionThread:
    """Runs one job at a time in a daemon thread, so that a stuck one cannot keep us from ending.

    Jobs wait for the one before even when that one came too late: they may share a strategy.
    """

    def __init__(self) -> None:
        self._worker: Final = Worker("decisions")

    def close(self) -> None:
        """Let the thread end after the jobs that it has; it takes no more."""
        self._worker.close()

    async def think(self, job: Callable[[], T], limit_s: float | None) -> T:
        """Return what ``job`` returns.

        Raises :class:`CrashError` if it raises anything, and :class:`LateError` after
        ``limit_s`` seconds: a job that has not begun by then is given up, one that has begun
        runs on and its answer is dropped.
        """
        assert self._worker.is_open, "the thread was closed"
        future: Future[T] = Future()
        self._worker.put(partial(_do, future, job))
        answer = asyncio.wrap_future(future)
        done, _ = await asyncio.wait({answer}, timeout=limit_s)
        if not done:
            future.cancel()
            answer.cancel()
            future.add_done_callback(_report_dropped)
            raise LateError
        return answer.result()

    async def attempt(
        self, job: Callable[[], T], limit_s: float | None, instead: T, report: ReportFault
    ) -> T:
        """Return what ``job`` returns; ``instead`` if it fails or is late, which is reported."""
        try:
            return await self.think(job, limit_s)
        except LateError:
            report("late", f"not ready after {limit_s:g} s", None)
        except CrashError as error:
            cause = error.__cause__
            if isinstance(cause, AbsentError):
                report("absent", str(cause), None)
            else:
                report("crash", str(error), cause)
        return instead


def _do(future: Future[Any], job: Callable[[], Any]) -> None:
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
