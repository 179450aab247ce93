"""A server that we start ourselves, so that it can be ended and started again."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from mjbot.check.lines import LEAVE_S, START_S, CannotStartError, Running
from protocol.transports.base import Transport, TransportError

_AGAIN_S: Final = 0.05


class ServerProcess:
    """A command that serves at ``connect``; use it as an async context manager."""

    def __init__(self, command: Sequence[str], connect: Callable[[], Awaitable[Transport]]) -> None:
        self._command: Final = tuple(command)
        self._connect: Final = connect
        self._running: Running | None = None

    async def __aenter__(self) -> "ServerProcess":
        try:
            if problem := await self._start():
                raise CannotStartError(problem)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._running is not None:
            await self._running.kill()

    async def restart(self) -> str:
        """End the server by SIGTERM and start it again; return what went wrong.

        A server may first play its running game to the end: it then gets a second SIGTERM.
        """
        assert self._running is not None
        for _ in range(2):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._running.pid, signal.SIGTERM)  # not to what it started
            if await self._running.end_within(LEAVE_S) is not None:
                break
        else:
            return f"it did not end within {LEAVE_S:g} s of a second SIGTERM"
        await self._running.kill()
        return await self._start()

    async def _start(self) -> str:
        """Start it and wait until it takes connections; return what went wrong."""
        self._running = await Running.run(self._command, pipes=False)
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._running.has_ended:
                return await self._running.ending("the server")
            try:
                await (await self._connect()).close()
            except TransportError:
                await asyncio.sleep(_AGAIN_S)
            else:
                return ""
        return f"no answer within {START_S:g} s of its start"
