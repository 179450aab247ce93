"""A relay in the middle of a pair's channel, so that it can be cut and stalled from outside."""

import asyncio
import contextlib
from pathlib import Path
from typing import Final

CHUNK: Final = 1 << 16


class ChannelRelay:
    """Passes bytes on between connections to ``front`` and the host at ``back``."""

    def __init__(self, front: Path, back: Path) -> None:
        self._front: Final = front
        self._back: Final = back
        self._pumps: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self._open = True

    async def __aenter__(self) -> "ChannelRelay":
        self._server = await asyncio.start_unix_server(self._serve, self._front)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()

    def cut(self, *, for_good: bool = False) -> None:
        """Break all connections; ``for_good``: and refuse new ones until :meth:`mend`."""
        self._open = not for_good
        for pump in self._pumps:
            pump.cancel()

    def stall(self) -> None:
        """Hold back all bytes, without breaking anything, until :meth:`mend`."""
        self._flows.clear()

    def mend(self) -> None:
        """Let everything through again."""
        self._open = True
        self._flows.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._pumps.add(task)
        far_writer = None
        try:
            if self._open:
                far_reader, far_writer = await asyncio.open_unix_connection(self._back)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pump(reader, far_writer))
                    group.create_task(self._pump(far_reader, writer))
        except* (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            self._pumps.discard(task)
            for end in (writer, far_writer):
                if end is not None:
                    with contextlib.suppress(OSError):
                        end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            await self._flows.wait()
            writer.write(data)
            await writer.drain()
        raise EOFError
