"""What the compiler reports: functions that it has made, and when it works."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

from mjbot.runtime.compiler.mode import IS_INTERPRETED

on_compiled: Final[list[Callable[[str], None]]] = []
"""Called with a function's name when its machine code was made, not found."""

_LOCK: Final = "numba:compiler_lock"


class CompilerListener(Protocol):
    """Notes when a thread of this process works in the compiler, or waits for it.

    numba enters its compiler again for each function that is called in the compiled one.
    """

    def start(self) -> None:
        """The calling thread looks into the cache, compiles or saves from now on."""

    def end(self) -> None:
        """It has ended that."""


@contextmanager
def compiler_watched(listener: CompilerListener) -> Iterator[None]:
    """Let ``listener`` note the compiler's work, of which there is none where it is not used."""
    if IS_INTERPRETED:
        yield
        return
    from numba.core import event as _event

    event: Any = _event  # no type hints

    class Adapter(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            listener.start()

        def on_end(self, _: Any) -> None:
            listener.end()

    adapter = Adapter()
    event.register(_LOCK, adapter)
    try:
        yield
    finally:
        event.unregister(_LOCK, adapter)
