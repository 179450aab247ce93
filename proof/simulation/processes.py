"""Commands as simulated processes: ``mjbot.cli.main.main([...])``, each in a greenlet of its own.

A command runs as it is, from its arguments to its exit status.  Where it would wait in the system
(an event loop that runs, a thread that waits for a condition) its greenlet gives way to the loop,
which all processes share.  Of the system a process has its own signal handlers, standard output
and event-loop runner; the tasks that it starts belong to it.
"""

import asyncio
import contextlib
import contextvars
import signal
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any, Final
from weakref import WeakSet

import greenlet

from proof.simulation.loop import SimulatedLoop

STRATEGY_FAILS: Final = "a strategy that fails"

_current: Final = contextvars.ContextVar["Process | None"]("process", default=None)


def current() -> "Process | None":
    """Return the process whose code runs."""
    return _current.get()


def name_of_current() -> str:
    """Return the name of the process whose code runs, "" if it is none's."""
    process = current()
    return "" if process is None else process.name


class KilledError(BaseException):
    """The process ended at once (``os._exit``)."""


class Process:
    """One command; ``status`` is its exit status once it has ended."""

    def __init__(self, name: str, loop: SimulatedLoop, main: Callable[[], int]) -> None:
        self.name: Final = name
        self.status: int | None = None
        self.crash: BaseException | None = None
        self.printed: Final[list[str]] = []
        self.logged: Final[list[str]] = []
        self.outputs: list[Any] = []
        self.handlers: Final[dict[int, Any]] = dict.fromkeys(signal.Signals, signal.SIG_DFL)
        self.tasks: Final[WeakSet[asyncio.Task[Any]]] = WeakSet()
        self.signals: Final[list[str]] = []
        self.logged_before: Final[dict[str, int]] = {}
        """How many lines it had logged when a signal first came."""
        self.was_killed = False
        self.left_tasks = 0
        """Tasks that were still there when its main coroutine had ended."""
        self.is_serving = False
        """Whether its event loop runs: before that a signal just ends it."""
        self.service: Final[dict[str, Any]] = {}
        """What :mod:`mjbot.runtime.interruption` notes of it as a service."""
        self.on_end: Callable[[Process], None] = lambda process: None
        self.ended: Final[asyncio.Future[None]] = loop.create_future()
        self._loop: Final = loop
        self._main: Final = main
        self._greenlet: Final = greenlet.greenlet(self._run)

    def start(self) -> None:
        """Run it until it first waits; call this in the loop."""
        self._greenlet.switch()

    def _run(self) -> None:
        _current.set(self)
        try:
            self.status = self._main()
        except KilledError as end:
            self.status = int(end.args[0])
        except BaseException as error:
            self.crash = error
        for output in self.outputs:
            getattr(output.stream, "stop", lambda: None)()  # as the logger does at its end
        self.on_end(self)
        for task in list(self.tasks):
            task.cancel()
        self.ended.set_result(None)

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return bool(self._greenlet) and not self._greenlet.dead

    def strike(self, name: str) -> None:
        """Let a signal come now; it counts only while the process serves."""
        number = signal.Signals[name]
        handler = self.handlers[number]
        if self.is_running and self.is_serving and callable(handler):
            self.signals.append(name)
            self.logged_before.setdefault(name, len(self.logged))
            try:
                contextvars.copy_context().run(self._handle, handler, number)
            except KilledError as end:
                self.was_killed = True
                self._greenlet.throw(end)

    def _handle(self, handler: Callable[[int, object], object], number: int) -> None:
        _current.set(self)
        handler(number, None)

    def await_(self, future: "asyncio.Future[Any]") -> None:
        """Give way to the loop until a future is done."""
        give_way(self._loop, future.add_done_callback)


def give_way(
    loop: asyncio.AbstractEventLoop, on_wake: Callable[[Callable[..., object]], object]
) -> None:
    """Let the greenlet wait until what ``on_wake`` receives is called."""
    own, waits = greenlet.getcurrent(), [True]
    assert own.parent is not None

    def wake() -> None:
        if waits:
            own.switch()

    on_wake(lambda *_: loop.call_soon(wake))
    try:
        own.parent.switch()
    finally:
        waits.clear()


class Runner:
    """Stands in for ``asyncio.Runner``: a part of the loop that all processes share."""

    def __init__(self, loop: SimulatedLoop) -> None:
        process = current()
        assert process is not None
        self._loop: Final = loop
        self._process: Final = process

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._process.is_serving = False
        left = {task for task in self._process.tasks if not task.done()}
        if kind is not KilledError:  # ``os._exit`` gives no time to end them
            self._process.left_tasks += len(left)
        if left:
            for task in left:
                task.cancel()
            self._process.await_(self._loop.create_task(_ended(left)))

    def get_loop(self) -> SimulatedLoop:
        """Return the loop."""
        return self._loop

    def run(self, main: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end; it takes signals from its first step on."""

        async def serve() -> Any:
            self._process.is_serving = True
            return await main

        task = self._loop.create_task(serve())
        self._process.await_(task)
        return task.result()


async def _ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks)


class ServiceNotes:
    """Stands in for what ``interruption`` notes of its process: each has notes of its own."""

    def __init__(self, initial: type) -> None:
        self.__dict__["_initial"] = initial

    def __getattr__(self, name: str) -> Any:
        process = current()
        assert process is not None
        return process.service.get(name, getattr(self._initial, name))

    def __setattr__(self, name: str, value: object) -> None:
        process = current()
        assert process is not None
        process.service[name] = value


class SignalModule:
    """Stands in for the module ``signal``: each process has handlers of its own."""

    SIG_IGN, SIG_DFL, Signals = signal.SIG_IGN, signal.SIG_DFL, signal.Signals
    SIGINT, SIGTERM, SIGHUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    default_int_handler = staticmethod(signal.default_int_handler)

    @staticmethod
    def signal(number: int, handler: Any) -> None:
        """Set a handler of this process."""
        process = current()
        assert process is not None
        process.handlers[number] = handler

    @staticmethod
    def getsignal(number: int) -> Any:
        """Return a handler of this process."""
        process = current()
        assert process is not None
        return process.handlers[number]


class Stream:
    """Standard output or error of the process whose code runs."""

    def __init__(self, instead: Any) -> None:
        self._instead: Final = instead

    def write(self, text: str) -> int:
        """Keep it with the process."""
        if (process := current()) is None:
            return int(self._instead.write(text))
        process.printed.append(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        """Return false."""
        return False


class SimulatedWorker:
    """Stands in for :class:`mjbot.runtime.worker.Worker`: each job after a delay, in a greenlet.

    ``delay(name)`` draws the seconds that a job takes until its result; below 0 it fails.
    """

    loop: SimulatedLoop
    delay: Callable[[str], float]

    def __init__(self, name: str) -> None:
        self._name: Final = name
        self._ready_s = 0.0
        self.is_open = True

    def put(self, job: Callable[[], object]) -> None:
        """Do a job after those before it."""
        delay_s = type(self).delay(self._name)
        if delay_s < 0:
            job, delay_s = _failing(job), 0.0
        self._ready_s = max(self._ready_s, self.loop.time()) + delay_s
        hub = greenlet.getcurrent().parent or greenlet.getcurrent()
        worker = greenlet.greenlet(job, hub)
        context = contextvars.copy_context()
        self.loop.call_at(self._ready_s, self._begin, worker, context, context=context)

    @staticmethod
    def _begin(worker: Any, context: contextvars.Context) -> None:
        worker.gr_context = context.copy()
        worker.switch()

    def close(self) -> None:
        """Take no more jobs."""
        self.is_open = False


def _failing(job: Any) -> Callable[[], object]:
    """Return the job of a strategy that raises."""

    def fail() -> object:
        raise ArithmeticError(STRATEGY_FAILS)

    return partial(job.func, job.args[0], fail)


class SimulatedCondition(contextlib.AbstractContextManager["SimulatedCondition"]):
    """Stands in for ``threading.Condition`` between a worker and the loop."""

    loop: SimulatedLoop

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[bool]] = []

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self, timeout: float | None = None) -> bool:
        """Wait; return whether it was notified."""
        future: asyncio.Future[bool] = self.loop.create_future()
        self._waiters.append(future)
        timer = self.loop.call_later(timeout or 0.0, _set, future, False)
        give_way(self.loop, future.add_done_callback)
        timer.cancel()
        return future.result()

    def notify_all(self) -> None:
        """Wake what waits."""
        waiters, self._waiters = self._waiters, []
        for future in waiters:
            _set(future, True)


def _set(future: "asyncio.Future[bool]", value: bool) -> None:
    if not future.done():
        future.set_result(value)


THREADS: Final = SimpleNamespace(Condition=SimulatedCondition)
