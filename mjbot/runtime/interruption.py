"""How a program ends early: by SIGINT (Ctrl-C), SIGTERM or SIGHUP, at once, saying what is kept.

No handler of ours raises anything.  An exception raised by a handler is lost where no Python frame
takes it: in a callback that compiled code calls (numba's compiler makes many), in ``__del__``,
in a bare ``except``; and the program would stay.  While there is nothing to tidy, since
files of ours appear whole or grow by whole lines, the process just ends; a loop with something to
tidy looks between two steps; while an event loop runs its main task is cancelled.  A second signal
ends the process.  What the process was started to
ignore (``nohup``) stays ignored.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any, Final, TypeVar

from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import EXPECTED_ERRORS, ExitCode
from mjbot.runtime.streams import encoded
from mjbot.runtime.system import ENDING_SIGNALS, HANGUP, TERMINATIONS

logger = logging.getLogger(__name__)

T = TypeVar("T")
SignalHandler = Callable[[int, FrameType | None], Any]

_SHOW_CURSOR: Final = "\r\x1b[2K\x1b[?25h"
"""Takes a progress bar's line away, and brings back the cursor that it hides."""

_kept: Final[list[Callable[[], str]]] = []


class _Service:
    """What signals do before a service serves, if this process is one."""

    terminated: int | None = ExitCode.INTERRUPTED
    """The status after SIGTERM; ``None``: its work has ended, and has a status of its own."""
    hangups: int = 0
    """How many SIGHUP came that are still to be obeyed."""


@contextlib.contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Let an interruption inside report what is kept: ``kept()``, a line without a full stop."""
    _kept.append(kept)
    try:
        yield
    except KeyboardInterrupt as interruption:
        interruption.args = interruption.args or (kept(),)
        raise
    finally:
        _kept.remove(kept)


def take_signals_for_ctrl_c(*, hangup: bool) -> None:
    """Let SIGTERM and, with ``hangup``, SIGHUP do what Ctrl-C would do just then, from now on.

    Unless noted otherwise that is Python's ``KeyboardInterrupt``, also where a shell has
    this process ignore Ctrl-C.
    """
    for number in TERMINATIONS:
        signal.signal(number, _as_ctrl_c)
    if hangup and HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        signal.signal(HANGUP, _as_ctrl_c)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def take_signals_of_a_service(*, reloads: bool) -> None:
    """Let SIGTERM end the process with status 0 from now on, and not with 130.

    With ``reloads`` SIGHUP ends nothing: what comes before :func:`run_until_signalled` is obeyed
    there.
    """
    _Service.terminated = ExitCode.OK
    for number in TERMINATIONS:
        signal.signal(number, _terminate)
    if reloads and HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        signal.signal(HANGUP, _note_hangup)


def _terminate(number: int, frame: FrameType | None) -> None:
    if (status := _status_after(number)) is not None:
        os._exit(status)


def _status_after(number: int) -> int | None:
    """Return with which status a signal ends the process; ``None``: with that of its work."""
    if number not in TERMINATIONS:
        return ExitCode.INTERRUPTED
    status = _Service.terminated
    if status is None:
        _Service.terminated = ExitCode.INTERRUPTED  # the next one is obeyed
    return status


def _note_hangup(number: int, frame: FrameType | None) -> None:
    _Service.hangups += 1


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(number, frame)


@contextlib.contextmanager
def ending_at_once(command: str = "") -> Iterator[None]:
    """Let a signal end the process with status 130, for as long as there is nothing to tidy.

    ``command``, if given, is then reported as interrupted, with what is kept.  Of a service SIGTERM
    is no failure: :func:`take_signals_of_a_service`.
    """

    def end(number: int, frame: FrameType | None) -> None:
        if (status := _status_after(number)) is None:
            return
        with contextlib.suppress(Exception):  # it may be in the middle of writing
            sys.stdout.flush()
        text = _SHOW_CURSOR if os.isatty(2) else ""
        if command:
            text += "; ".join([f"{command}: interrupted", *[kept() for kept in _kept[-1:]]]) + "\n"
        with contextlib.suppress(OSError):
            os.write(2, encoded(text, sys.stderr))
        os._exit(status)

    with _handled_by(end):
        yield


@contextlib.contextmanager
def stopping_between_steps() -> Iterator[Callable[[], None]]:
    """For a loop of short steps with something to tidy: give what it calls after each.

    The call raises ``KeyboardInterrupt`` if a signal came; a second signal ends the process.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if came:
            os._exit(ExitCode.INTERRUPTED)
        came.append(number)

    def stop_if_signalled() -> None:
        if came:
            raise KeyboardInterrupt

    with _handled_by(note):
        yield stop_if_signalled


def run_until_signalled(
    main: Coroutine[Any, Any, T],
    on_sigterm: Callable[[], object] | None = None,
    on_sighup: Callable[[], object] | None = None,
) -> T:
    """Run ``main`` as ``asyncio.run`` does and return its result.

    The first signal cancels it; once it has ended, however it does, ``KeyboardInterrupt`` is
    raised; an error of its end is logged, unless it is the loss of a connection, which ends as
    well.  A second signal ends the process.  With ``on_sigterm`` the first SIGTERM calls that in
    the event loop instead, and what follows is up to ``main``; with ``on_sighup`` so does every
    SIGHUP.  The first SIGTERM after the work of a service leaves it its status.
    """
    came: list[int] = []
    try:
        with asyncio.Runner() as runner:
            runner.get_loop().set_default_executor(_Unawaited())
            result = runner.run(_cancelled_by_signals(main, came, on_sigterm, on_sighup))
    except asyncio.CancelledError:
        if not came:
            raise
    except Exception as error:
        if not came:
            raise
        if not isinstance(error, ConnectionError):
            is_ours = not isinstance(error, EXPECTED_ERRORS)
            logger.error("at the end after a signal: %s", one_line(error), exc_info=is_ours)
    if came:
        raise KeyboardInterrupt
    return result


async def _cancelled_by_signals(
    main: Coroutine[Any, Any, T],
    came: list[int],
    on_sigterm: Callable[[], object] | None,
    on_sighup: Callable[[], object] | None,
) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    gentle = [] if on_sigterm is None else [on_sigterm]

    def cancel(number: int, frame: FrameType | None) -> None:
        if number in TERMINATIONS and gentle:
            loop.call_soon_threadsafe(gentle.pop())
            return
        if on_sighup is not None and number == HANGUP:
            loop.call_soon_threadsafe(on_sighup)
            return
        if came:
            os._exit(ExitCode.INTERRUPTED)
        came.append(number)
        loop.call_soon_threadsafe(task.cancel)

    with _waking(loop), _handled_by(cancel, reloads=on_sighup is not None):
        if on_sighup is not None and _Service.hangups:
            _Service.hangups = 0
            loop.call_soon(on_sighup)
        try:
            return await main
        finally:
            if _Service.terminated == ExitCode.OK:
                _Service.terminated = None


async def to_its_end(work: Awaitable[T]) -> T:
    """Await work that must not stop half-way, such as the closing of connections.

    A cancellation that comes meanwhile is raised once the work has ended.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


@contextlib.contextmanager
def _waking(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wake the loop for handlers: a signal may come just before it falls asleep."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, the_signals = socket.socketpair()
    with ours, the_signals:
        ours.setblocking(False)
        the_signals.setblocking(False)
        try:
            loop.add_reader(ours, ours.recv, 1 << 12)
        except NotImplementedError:  # Windows' loop wakes by itself
            yield
            return
        before = signal.set_wakeup_fd(the_signals.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(ours)


@contextlib.contextmanager
def _handled_by(handler: SignalHandler, *, reloads: bool = False) -> Iterator[None]:
    before = {}
    try:
        for number in _heeded():
            if not reloads and signal.getsignal(number) is _note_hangup:
                continue
            before[number] = signal.getsignal(number)
            signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _heeded() -> list[signal.Signals]:
    if threading.current_thread() is not threading.main_thread():
        return []  # handlers are the main thread's
    return [number for number in ENDING_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


class _Unawaited(ThreadPoolExecutor):
    """Its threads (the system looks up a name in one) do not keep the program from ending."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)
