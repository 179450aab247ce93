"""An event loop whose time is simulated: one callback after the other, and no waiting.

It is asyncio's own loop without a selector.  When nothing is ready the clock leaps to the next
timer.  Callbacks run in asyncio's order: what the loop promises to a program is not drawn by lot;
what is drawn (when bytes come, when a thread is ready, when a signal strikes) comes from the
network, the workers and the faults.
"""

import asyncio
import heapq
from asyncio import events
from collections.abc import Callable
from typing import Any, Final, Protocol

from proof.simulation.network import Network

MOST_STEPS: Final = 600_000
"""Callbacks of one schedule; a game has some 20,000."""


MOST_CANCELLED: Final = 32
"""So many timers that no longer count may stay in their heap."""


class EndlessError(Exception):
    """The schedule has no end: all wait for each other, or one waits for too long."""


class OnStep(Protocol):
    """Is called between two callbacks."""

    def __call__(self, step: int, handle: asyncio.Handle, /) -> None:
        """Take note of the next callback; a signal may come here."""


class SimulatedLoop(asyncio.BaseEventLoop):
    """``most_s`` seconds after its start the time is up."""

    def __init__(
        self,
        network: Network,
        most_s: float,
        on_step: OnStep,
        on_task: Callable[[asyncio.Task[Any]], None],
    ) -> None:
        super().__init__()
        self.now_s = 0.0
        self.steps = 0
        self.network: Final = network
        self.errors: Final[list[dict[str, Any]]] = []
        self._most_s: Final = most_s
        self._on_step: Final = on_step
        self.on_task: Final = on_task
        self._timer_cancelled_count: int

    def time(self) -> float:
        """Return the simulated time."""
        return self.now_s

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """Start a task, which belongs to the process that starts it."""
        task = super().create_task(coro, **options)
        self.on_task(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what no code of the program has taken."""
        self.errors.append(context)

    def run_in_executor(  # type: ignore[override]
        self, executor: object, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Do the work of a thread here and now; its result comes a moment later."""
        future = self.create_future()
        try:
            result = func(*args)
        except Exception as error:
            self.call_soon(_unless_done, future.set_exception, future, error)
        else:
            self.call_soon(_unless_done, future.set_result, future, result)
        return future

    def set_default_executor(self, executor: object) -> None:
        """No threads are needed."""

    def _write_to_self(self) -> None:
        """No selector sleeps."""

    def _run_once(self) -> None:
        """Run one callback; where there is none move the time on to the next timer."""
        ready: Any = self._ready  # type: ignore[attr-defined]
        if not ready and not self._stopping:  # type: ignore[attr-defined]
            self._leap(ready)
        if not ready:
            return
        handle = ready.popleft()
        if not handle._cancelled:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise EndlessError(f"no end after {MOST_STEPS} steps, {self.now_s:.0f} s")
            self._on_step(self.steps, handle)
            handle._run()

    def _leap(self, ready: Any) -> None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        if self._timer_cancelled_count > len(timers) // 2 > MOST_CANCELLED:
            timers[:] = [timer for timer in timers if not timer._cancelled]
            heapq.heapify(timers)
            self._timer_cancelled_count = 0
        while timers and timers[0]._cancelled:
            self._timer_cancelled_count -= 1
            heapq.heappop(timers)._scheduled = False
        if not timers:
            raise EndlessError("all tasks wait for each other")
        self.now_s = max(self.now_s, timers[0].when())
        if self.now_s > self._most_s:
            raise EndlessError(f"no end after {self._most_s:g} s")
        while timers and timers[0].when() <= self.now_s:
            timer = heapq.heappop(timers)
            timer._scheduled = False
            if not timer._cancelled:
                ready.append(timer)

    # --- network -----------------------------------------------------------------------------

    async def create_connection(  # type: ignore[override]
        self, factory: Callable[[], asyncio.BaseProtocol], host: str, port: int, **_: Any
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Connect to a listener of this loop; raises ``ConnectionRefusedError``."""
        return await self.network.connect(self, factory, port)

    async def create_server(  # type: ignore[override]
        self, factory: Callable[[], asyncio.BaseProtocol], host: str, port: int, **_: Any
    ) -> events.AbstractServer:
        """Listen; raises ``OSError`` if the port is taken."""
        return self.network.listen(factory, port)


def _unless_done(set_: Callable[[Any], None], future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        set_(value)
