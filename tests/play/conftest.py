"""Whole games, and a command in this process for a coroutine that meets it from outside."""

import asyncio
import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from mjbot.cli.main import main
from mjbot.game.referee import Referee
from mjbot.play.server import server

GUARD_S = 300


@pytest.fixture
def whole_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let them play whole games where ``short_games`` is used by all around."""
    monkeypatch.setattr(server, "Referee", Referee)


class Command:
    """What a coroutine sees of a command that runs in the main thread: as asyncio's ``Process``.

    A process of its own takes seconds to import what this one has imported already.
    """

    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(self) -> None:
        self._signals: list[int] = []
        self._is_running = True

    def send_signal(self, number: int) -> None:
        self._signals.append(number)
        os.kill(os.getpid(), number)

    async def communicate(self) -> tuple[bytes, bytes]:
        """Return what else it prints, once it has ended."""
        return await self.stdout.read(), await self.stderr.read()

    def end(self) -> None:
        """Interrupt it if nothing has: a second signal would end this process."""
        if self._is_running and set(self._signals) <= {signal.SIGTERM}:
            self.send_signal(signal.SIGINT)

    def ended(self) -> None:
        self._is_running = False


@contextlib.contextmanager
def _printing_into(pipes: list[int]) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = [
        io.TextIOWrapper(os.fdopen(pipe, "wb"), "utf-8", line_buffering=True) for pipe in pipes
    ]
    try:
        yield
    finally:
        if loguru := sys.modules.get("loguru"):
            loguru.logger.remove()
        for stream in (sys.stdout, sys.stderr):
            stream.close()
        sys.stdout, sys.stderr = before


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(pipe, "rb"))
    return reader


def run_beside(
    scenario: Callable[[Command], Awaitable[Any]], *arguments: str
) -> tuple[int | str | None, Any]:
    """Run a command, and ``scenario`` in another thread; return its status and their result."""
    (from_stdout, stdout), (from_stderr, stderr) = os.pipe(), os.pipe()
    command = Command()
    results: list[Any] = []
    errors: list[BaseException] = []

    async def meet() -> None:
        command.stdout, command.stderr = await _reader(from_stdout), await _reader(from_stderr)
        async with asyncio.timeout(GUARD_S):
            results.append(await scenario(command))

    def meeting() -> None:
        try:
            asyncio.run(meet())
        except BaseException as error:
            errors.append(error)
            command.end()

    thread = threading.Thread(target=meeting)
    thread.start()
    try:
        with _printing_into([stdout, stderr]):
            try:
                status = main(arguments)
            finally:
                command.ended()  # before the pipes do, which the scenario may take for a failure
    finally:
        thread.join()
    if errors:
        raise errors[0]
    return status, results[0]


@pytest.fixture
def beside() -> Callable[..., tuple[int | str | None, Any]]:
    """Run a command here: ``beside(scenario, *arguments)`` returns its status and the result."""
    return run_beside
