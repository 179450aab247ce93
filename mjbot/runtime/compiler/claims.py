"""Which process compiles what, where several compile at once: no function is compiled twice.

Each function, with the types it is called with, has a lock file, which is held while it is
compiled.  A process that finds it held waits, and then finds the code on disk.  Functions call
each other in no circle, hence neither do those who wait; a process that ends loses its locks.
"""

import contextlib
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from mjbot.runtime.system import lock_file

MOST_WAIT_S: Final = 300.0
"""After so long a waiting process compiles, too: the other may have failed and keep its lock."""

_LOOK_S: Final = 0.02


class Claims:
    """The claims of this process; ``folder`` is common to all that share the work.

    ``on_waiting`` is called again and again while another process is waited for.
    """

    def __init__(self, folder: Path, on_waiting: Callable[[], None] = lambda: None) -> None:
        self._folder: Final = folder
        self._on_waiting: Final = on_waiting
        self._held: Final[dict[str, IO[str]]] = {}

    def take(self, name: str) -> bool:
        """Claim what is called ``name``; return whether another process was waited for."""
        if name in self._held:
            return False
        try:
            path = self._folder / hashlib.sha256(name.encode()).hexdigest()[:16]
            file = path.open("a", encoding="utf-8")
        except OSError:
            return False
        has_waited, until = False, time.monotonic() + MOST_WAIT_S
        while not lock_file(file):
            has_waited = True
            self._on_waiting()
            if time.monotonic() >= until:
                break
            time.sleep(_LOOK_S)
        self._held[name] = file
        return has_waited

    def give_up(self, name: str) -> None:
        """Let others have what was claimed, if it was."""
        with contextlib.suppress(KeyError, OSError):
            self._held.pop(name).close()
