"""A page that reports what went wrong in it, and servers in a thread of their own."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mjbot.viewer.library import Library, ReadGame
from mjbot.viewer.server import PageServer

LOGS = Path(__file__).parents[2] / "logs"


@dataclass
class Opened:
    """Opens pages and keeps what must not be: errors, lines on the console, foreign requests."""

    browser: Any
    problems: list[str] = field(default_factory=list)
    loses_lines: bool = False
    """Whether the test ends connections: the browser notes that on its console."""

    def open(self, url: str, **options: Any) -> Any:
        home = url.split("?", maxsplit=1)[0].split("#", maxsplit=1)[0]
        context = self.browser.new_context(**options)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("console", lambda output: self.problems.append(f"console: {output.text}"))
        page.on("request", lambda request: self._note(request.url, home))
        page.goto(url)
        return page

    def _note(self, url: str, home: str) -> None:
        if not url.startswith((home, "data:", "blob:")):
            self.problems.append(f"request to {url}")


@pytest.fixture
def opened(browser: Any, serve: Any) -> Iterator[Opened]:  # its pages close before the servers
    opened = Opened(browser)
    yield opened
    for context in browser.contexts:
        context.close()
    problems = [text for text in opened.problems if not opened.loses_lines or "ERR_" not in text]
    assert not problems


@pytest.fixture(scope="session")
def short_game() -> ReadGame:
    return Library(LOGS / "east-extra-round.mjson").game(0)


async def _sit_raw(port: int, name: str, received: list[bytes]) -> None:
    """Play as a client of a few lines that discards what it drew, and keep all it is sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seat, reply = -1, {"type": "join", "name": name, "room": "default"}
    while line := await reader.readline():
        received.append(line)
        event = json.loads(line)
        seat = event["id"] if event["type"] == "start_game" else seat
        if event["type"] != "hello":
            reply = {"type": "none"}
        if event["type"] == "tsumo" and event["actor"] == seat:
            reply = {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
        writer.write(json.dumps(reply).encode() + b"\n")
    writer.close()


@pytest.fixture(scope="session")
def sit_raw() -> Callable[[int, str, list[bytes]], Awaitable[None]]:
    return _sit_raw


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def serve() -> Iterator[Callable[..., Any]]:
    """Open page servers in a thread with a loop of its own; gives what runs a coroutine there."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(coroutine: Any) -> Any:
        # a guard: a hanchan in a browser takes half a minute of a quiet machine
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(240)

    servers: list[PageServer] = []

    def serve(server: Callable[[], PageServer], port: int = 0) -> PageServer:
        async def begin() -> PageServer:
            made = server()
            await made.open(port)
            return made

        servers.append(run(begin()))
        return servers[-1]

    serve.run = run  # type: ignore[attr-defined]
    yield serve
    for server in servers:
        with contextlib.suppress(Exception):
            run(server.__aexit__())
    run(_end_tasks())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
