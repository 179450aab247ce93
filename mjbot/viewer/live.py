"""A table that is being played: its events as they happen, for spectators.

Spectators receive the same messages as for a record, as server-sent events with ids.  A browser
that reconnects names the last id that it received and resumes after it.  The messages to a
spectator are folded for the hands that its key opens: other hands are never sent.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import msgspec
from aiohttp import web

from mjbot.game.records.choices import ReplayStep
from mjbot.game.records.game import Entry, Talk
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.messages import Event, StartGame
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.net.guests import CROWDED
from mjbot.runtime.net.http import guest_of
from mjbot.strategy.registry import Spec
from mjbot.viewer.game import Fold
from mjbot.viewer.library import ReadGame
from mjbot.viewer.server import HEADERS, PageServer, number_in, require_seen

HEARTBEAT_S: Final = 5.0
"""After so long without an event a comment shows that the line still stands."""
RETRY_MS: Final = 500
ARRIVAL_S: Final = 10.0
"""How long a browser that was just opened may take to request a game that has ended."""
RESTART: Final = b'{"type":"restart"}'


class EventStream:
    """Messages of the newest game for all spectators with the same open hands, kept for late ones.

    Older games are forgotten, so that a long match needs no more memory than a short one.
    """

    def __init__(self) -> None:
        self._sent: list[bytes] = []
        self._name: Final = secrets.token_hex(4)
        self._game = 0
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """A new game begins."""
        self._sent = []
        self._game += 1

    def add(self, message: bytes) -> None:
        """Send one more message."""
        self._sent.append(message)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def follow(self, after: str) -> AsyncIterator[bytes]:
        """Yield server-sent events, from the one after the id ``after`` on; never ends."""
        game, sent = self._place(after)
        if after and game != self._game:
            yield b"data: %s\n\n" % RESTART
        while True:
            if game != self._game:
                game, sent = self._game, 0
            changed, message = self._changed, self._sent
            for text in message[sent:]:
                sent += 1
                yield b"id: %s-%d-%d\ndata: %s\n\n" % (self._name.encode(), game, sent, text)
            if message is not self._sent or sent < len(message):
                continue
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await changed.wait()
            except TimeoutError:
                yield b": still there\n\n"

    def _place(self, after: str) -> tuple[int, int]:
        """Return the game of an id of ours, and how much of it was got."""
        name, *numbers = after.split("-")
        if name != self._name or len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
            return -1, 0
        return int(numbers[0]), int(numbers[1])


class _Line:
    """Folds events for the seats in ``seen`` into a channel."""

    def __init__(self, seen: frozenset[int]) -> None:
        self.channel: Final = EventStream()
        self._fold: Final = Fold(seen)
        self._table = Mirror(strict=False)

    def add(self, number: int, event: Event, talk: Talk) -> None:
        if isinstance(event, StartGame):
            self._table = Mirror(strict=False)
            self.channel.begin()
        self._table.apply(event)
        for message in self._fold.add(ReplayStep(number, event, self._table, ()), talk):
            self.channel.add(msgspec.json.encode(message))


class SpectatedServer(PageServer):
    """What pages of running tables share; :meth:`_channel` selects the messages of a request."""

    def __init__(self, config: dict[str, Any], by: Spec | None = None) -> None:
        super().__init__({**config, "mode": "live"}, by)
        self.spectators = 0
        self._had_any = False
        self.app.router.add_get("/api/live", self._live)

    def channel(self, seen: frozenset[int]) -> EventStream:
        """Return the messages for requests that may see these hands."""
        raise NotImplementedError

    async def arrival(self) -> None:
        """Return when there is a spectator."""
        while not self.spectators:
            await asyncio.sleep(0.1)

    async def stay(self, expects_browser: bool) -> None:
        """Return when there are no spectators left."""
        if expects_browser and not self._had_any:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ARRIVAL_S):
                    while not self._had_any:
                        await asyncio.sleep(0.1)
        gone = 0
        while gone < 2:  # reloading a page disconnects for a moment
            gone = 0 if self.spectators else gone + 1
            await asyncio.sleep(1.0 if self._had_any else 0.0)

    async def _live(self, request: web.Request) -> web.StreamResponse:
        headers = {**HEADERS, "Content-Type": "text/event-stream"}
        response = web.StreamResponse(headers=headers)
        channel = self.channel(self.seen_by(request))
        guest = guest_of(request)
        if not guest.log_in():
            raise web.HTTPServiceUnavailable(text=CROWDED)
        self._had_any = True
        self.spectators += 1
        try:
            await response.prepare(request)
            await response.write(b"retry: %d\n\n" % RETRY_MS)
            async for text in channel.follow(request.headers.get("Last-Event-ID", "")):
                await response.write(text)
        except ConnectionError:
            pass  # the spectator has left
        finally:
            self.spectators -= 1
            guest.is_named = False
        return response


class LiveServer(SpectatedServer):
    """Shows a running table; give its events to :meth:`add`, in the loop that serves."""

    def __init__(self, config: dict[str, Any], by: Spec | None = None) -> None:
        super().__init__(config, by)
        self._entries: Final[list[Entry]] = []
        self._lines: Final[dict[frozenset[int], _Line]] = {}
        self.app.router.add_get("/api/explain", self._explain)

    def add(self, event: Event, talk: Talk = ()) -> None:
        """Add one event and the remarks on it; cheap without spectators."""
        if isinstance(event, StartGame):
            self._entries.clear()
        self._entries.append(Entry(len(self._entries) + 1, event, talk=talk))
        for channel in self._lines.values():
            channel.add(len(self._entries), event, talk)

    def channel(self, seen: frozenset[int]) -> EventStream:
        """See :meth:`SpectatedServer.channel`."""
        if seen not in self._lines:
            channel = self._lines[seen] = _Line(seen)
            for entry in self._entries:
                channel.add(entry.number, entry.event, entry.talk)
        return self._lines[seen].channel

    async def _explain(self, request: web.Request) -> web.Response:
        seat = number_in(request, "seat")
        require_seen(self.seen_by(request), seat)
        if number_in(request, "game"):
            raise web.HTTPNotFound(text="only the running game can be explained")
        return await self.think(ReadGame("", list(self._entries)), number_in(request, "n"), seat)


class RelayServer(SpectatedServer):
    """Relays the messages of another page's server, and keeps them when that is gone.

    ``url`` is that page's address with its key; spectators need a key of this server.
    """

    def __init__(self, url: str, config: dict[str, Any]) -> None:
        super().__init__(config)
        self._url: Final = url
        self._channel: Final = EventStream()

    def channel(self, seen: frozenset[int]) -> EventStream:
        """See :meth:`SpectatedServer.channel`."""
        if not seen:
            raise web.HTTPForbidden(text="the key of this page is missing")
        return self._channel

    async def relay(self) -> None:
        """Follow the table, connecting again and again.

        Raises :class:`~mjbot.runtime.errors.MjbotError` if there is none at first.
        """
        last = ""
        async with aiohttp.ClientSession() as session:
            while True:
                try:
                    async for id_, message in _receive(session, self._url, last):
                        last = id_ or last
                        self._take(message)
                except (aiohttp.ClientError, TimeoutError) as problem:
                    if not last:
                        address = urlsplit(self._url).netloc  # the rest is the key
                        text = f"http://{address}: shows no table: {one_line(problem)}"
                        raise MjbotError(text, exit_code=ExitCode.UNREACHABLE) from None
                await asyncio.sleep(RETRY_MS / 1000)

    def _take(self, message: bytes) -> None:
        if message == RESTART or message.startswith(b'{"type":"game"'):
            self._channel.begin()
        if message != RESTART:
            self._channel.add(message)


async def _receive(
    session: aiohttp.ClientSession, url: str, last: str
) -> AsyncIterator[tuple[str, bytes]]:
    """Yield id and text of the events that a server sends, as long as it does."""
    id_, text = "", b""
    headers = {"Last-Event-ID": last} if last else {}
    timeout = aiohttp.ClientTimeout(total=None, sock_read=3 * HEARTBEAT_S)
    async with session.get(
        url, headers=headers, raise_for_status=True, timeout=timeout, read_bufsize=MAX_LINE_BYTES
    ) as answer:
        async for line in answer.content:
            field, _, value = line.rstrip(b"\n").partition(b": ")
            if field == b"id":
                id_ = value.decode()
            elif field == b"data":
                text = value
            elif not line.strip() and text:
                yield id_, text
                id_, text = "", b""
