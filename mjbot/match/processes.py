"""Child processes that cannot outlive us, and whose death is noticed at once."""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_GRACE_S: Final = 2.0
_LAST_WORDS_BYTES: Final = 4096


class Child:
    """One running child: its own process group, its output in a log file."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self.log = log

    @classmethod
    async def start(
        cls, command: Sequence[str], log: Path, environ: Mapping[str, str] | None = None
    ) -> "Child":
        """Run ``command`` with stdout and stderr in ``log``; raises ``OSError``.

        ``environ`` is added to our own environment.
        """
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environ or {})},
                start_new_session=True,
                preexec_fn=die_with_parent if sys.platform == "linux" else None,
            )
        return cls(process, log)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._process.pid

    async def wait(self) -> int:
        """Return the exit status once the child has ended (negative: the signal's number)."""
        return await self._process.wait()

    def last_words(self) -> str:
        """Return the last line that the child wrote, or an empty string."""
        with contextlib.suppress(OSError), self.log.open("rb") as output:
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - _LAST_WORDS_BYTES))
            lines = output.read().decode("utf-8", "replace").split("\n")
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ""

    async def stop(self) -> None:
        """End the child and all that it started, gently at first; at once when cancelled."""
        try:
            self._signal_group(signal.SIGTERM)
            await self._wait_a_little()
        finally:
            self._signal_group(signal.SIGKILL)
        await self._wait_a_little()

    def _signal_group(self, number: int) -> None:
        # The group can outlive its leader: signal it even if the leader is gone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def _wait_a_little(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_S):
                    await self._process.wait()


def describe_exit(status: int) -> str:
    """Say an exit status in words.

    >>> describe_exit(-9), describe_exit(4)
    ('killed by SIGKILL', 'ended with exit status 4')
    """
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"ended with exit status {status}"


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
