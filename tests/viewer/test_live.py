"""A table that is being played, followed by spectators."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from mjbot.viewer import live as live_module
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import ReadGame
from mjbot.viewer.live import LiveServer, RelayServer

Told = tuple[str, dict[str, Any]]


async def received(url: str, count: int, after: str = "") -> list[Told]:
    """Return the first ``count`` things that a spectator is told, with their ids."""
    found: list[Told] = []
    headers = {"Last-Event-ID": after} if after else {}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        id_ = ""
        async for line in answer.content:
            field, _, value = line.decode().strip().partition(": ")
            if field == "id":
                id_ = value
            elif field == "data":
                found.append((id_, json.loads(value)))
                if len(found) == count:
                    break
    return found


def at_a_table(conversation: Callable[[LiveServer], Awaitable[None]]) -> None:
    async def talk() -> None:
        async with asyncio.timeout(60), LiveServer({"title": "table"}) as server:
            await server.open()
            await conversation(server)

    asyncio.run(talk())


def live_url(server: Any, key: str = "") -> str:
    return f"http://127.0.0.1:{server.port}/api/live?key={key}"


def test_who_comes_late_or_again_misses_nothing(short_game: ReadGame) -> None:
    events = [entry.event for entry in short_game.entries]

    async def conversation(server: LiveServer) -> None:
        url = live_url(server, server.keys.new(range(4)))
        for event in events[:50]:
            server.add(event)
        first = await received(url, 50)
        for event in events[50:80]:
            server.add(event)
        rest = await received(url, 30, after=first[-1][0])
        assert [report.get("n", 1) for _, report in first + rest] == list(range(1, 81))
        assert len({id_ for id_, _ in first + rest}) == 80
        again = await received(url, 81, after="another-1-7")
        assert [report for _, report in again] == [
            {"type": "restart"},
            *[report for _, report in first + rest],
        ]

    at_a_table(conversation)


def test_a_spectator_is_told_the_same_as_the_reader_of_the_record(short_game: ReadGame) -> None:
    record = fold_steps(short_game.steps())

    async def conversation(server: LiveServer) -> None:
        waiting = asyncio.create_task(
            received(live_url(server, server.keys.new(range(4))), len(short_game.entries))
        )
        for entry in short_game.entries:
            server.add(entry.event)
            await asyncio.sleep(0)
        steps = [report for _, report in await waiting if report["type"] == "step"]
        recorded = [step for kyoku in record["kyoku"] for step in kyoku["steps"]]
        for live, step in zip(steps, recorded, strict=True):
            assert (live["n"], live["text"], live["change"]) == (
                step["n"],
                step["text"],
                step["change"],
            )

    at_a_table(conversation)


def test_hidden_hands_are_not_sent(short_game: ReadGame) -> None:
    async def conversation(server: LiveServer) -> None:
        for entry in short_game.entries[:60]:
            server.add(entry.event)
        report = [report for _, report in await received(live_url(server), 60)]
        text = json.dumps(report[:40])
        assert '"hand": "' not in text
        assert report[1]["board"]["seats"][0]["hand"] is None
        assert {one["text"] for one in report if one.get("kind") == "tsumo"} == {"draws"}

    at_a_table(conversation)


def test_a_relay_shows_on_what_it_was_told(short_game: ReadGame) -> None:
    async def conversation(server: LiveServer) -> None:
        for entry in short_game.entries[:30]:
            server.add(entry.event)
        upstream = live_url(server, server.keys.new([1]))
        async with RelayServer(upstream, {"title": "relay"}) as relay:
            await relay.open()
            relaying = asyncio.create_task(relay.relay())
            mine = live_url(relay, relay.keys.new(range(4)))
            report = [report for _, report in await received(mine, 30)]
            assert report == [report for _, report in await received(upstream, 30)]
            async with aiohttp.ClientSession() as session, session.get(live_url(relay)) as answer:
                assert answer.status == 403
            relaying.cancel()

    at_a_table(conversation)


def test_a_relay_connects_again_and_goes_on_after_the_last_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_module, "RETRY_MS", 1)
    events = [b'id: a-1-%d\ndata: {"type":"step","n":%d}\n\n' % (n, n) for n in range(4)]
    resumed: list[str] = []

    async def two_at_a_time(request: web.Request) -> web.Response:
        resumed.append(request.headers.get("Last-Event-ID", ""))
        first = 2 * (len(resumed) - 1)
        return web.Response(body=b"".join(events[first : first + 2]))

    async def talk() -> None:
        app = web.Application()
        app.router.add_get("/api/live", two_at_a_time)
        async with (
            asyncio.timeout(20),
            TestServer(app) as upstream,
            RelayServer(str(upstream.make_url("/api/live")), {"title": "relay"}) as relay,
        ):
            await relay.open()
            relaying = asyncio.create_task(relay.relay())
            report = await received(live_url(relay, relay.keys.new(range(4))), 4)
            relaying.cancel()
        assert [one["n"] for _, one in report] == [0, 1, 2, 3]
        assert resumed[:2] == ["", "a-1-1"]

    asyncio.run(talk())
