"""An event loop whose clock advances to the next deadline when all of its tasks wait."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

Result = TypeVar("Result")
IsBusy = Callable[[], bool]
_LOOK_S: Final = 0.02


class LeapingTime(selectors.DefaultSelector):
    """A selector that waits ``sockets_s`` seconds for sockets, and for no deadline.

    With connections in memory 0 is right.  Real sockets of this machine need a few hundredths of
    a second at most before what one end sends is ready at the other.  While ``is_busy`` (a thread
    works for the loop) no time passes.
    """

    def __init__(self, sockets_s: float = 0.0, is_busy: IsBusy = lambda: False) -> None:
        super().__init__()
        self.now_s = 0.0
        self._sockets_s: Final = sockets_s
        self._is_busy: Final = is_busy

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; if nothing is, move the time on by ``timeout``."""
        longest = self._sockets_s if timeout is None else min(timeout, self._sockets_s)
        ready = super().select(longest)
        while not ready and timeout != 0 and self._is_busy():  # 0: the loop has other work
            ready = super().select(_LOOK_S)
        if not ready:
            assert timeout is not None, "all tasks wait for each other"
            self.now_s += timeout
        return ready


def in_leaping_time(
    main: Coroutine[Any, Any, Result],
    sockets_s: float = 0.0,
    is_busy: IsBusy = lambda: False,
) -> Result:
    """Run ``main`` to its end without waiting; return its result."""
    clock = LeapingTime(sockets_s, is_busy)
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now_s  # type: ignore[method-assign]
    try:
        return loop.run_until_complete(main)
    finally:
        loop.close()
