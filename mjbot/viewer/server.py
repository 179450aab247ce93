"""The page's server: on loopback only, for its own page only.

Any web page and any user of this machine can reach a port of loopback.  So a request must name this
server as its host, come from this very page or from none, and carry a key for open hands: each key
opens the seats that it was made for, and without one only the information visible to all players is
sent.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final, Self
from urllib.parse import urlencode

import msgspec
from aiohttp import web

from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.net.guests import MOST_GUESTS, GuestLimits
from mjbot.runtime.net.http import HttpListener, page_headers, require_own_page
from mjbot.strategy.registry import Spec
from mjbot.viewer.game import Fold
from mjbot.viewer.library import Library, ReadGame
from mjbot.viewer.pages import FOLDER, MODULES, STYLE, index_page
from mjbot.viewer.thoughts import thoughts_at

logger = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
KEY_BYTES: Final = 16
LINES_AT_ONCE: Final = 40
"""Steps that are folded before they are sent: the first board is there while the rest is folded."""
HEADERS: Final = page_headers("default-src 'self'; img-src data:")
_TYPES: Final = {"js": "text/javascript", "css": "text/css"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def new_key() -> str:
    """Return a text that cannot be guessed."""
    return secrets.token_urlsafe(KEY_BYTES)


class Keys:
    """Which seats' hands a key opens."""

    def __init__(self) -> None:
        self._seats: Final[dict[str, frozenset[int]]] = {}

    def new(self, seats: Collection[int]) -> str:
        """Return a key for the hands of these seats."""
        key = new_key()
        self.add(key, seats)
        return key

    def add(self, key: str, seats: Collection[int]) -> None:
        """Let a key that was made elsewhere open the hands of these seats."""
        self._seats[key] = frozenset(seats)

    def opens(self, key: str) -> frozenset[int]:
        """Return the seats that a key opens: none if it is not one of ours."""
        given = key.encode(errors="surrogateescape")
        opened = [seats for ours, seats in self._seats.items() if _same(ours, given)]
        return opened[0] if opened else frozenset()


def _same(ours: str, given: bytes) -> bool:
    return hmac.compare_digest(ours.encode(), given)


class PageServer:
    """Serves one page; use it as an async context manager and then :meth:`open`.

    ``config`` describes the page: ``title`` (until a kyoku is shown, whose players are then the
    title), ``subject`` (precedes the players), ``seat`` (shown at the bottom), ``by``.
    """

    def __init__(self, config: dict[str, Any], by: Spec | None = None) -> None:
        self.keys: Final = Keys()
        self.port = 0
        self._config: Final = {"seat": 0, **config, "by": str(by) if by else ""}
        self._by: Final = by
        self._thinking: Final = asyncio.Lock()
        self._closers: Final = AsyncExitStack()
        self.app: Final = web.Application(middlewares=[self._guard])
        self.app.router.add_get("/", self._index)
        for name in (*MODULES, STYLE):
            self.app.router.add_get(f"/page/{name}", partial(_asset, name))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closers.aclose()

    async def open(self, port: int = 0) -> int:
        """Listen on loopback; return the port (chosen by the system if 0).  Raises ``OSError``."""
        # All browsers of this machine share its one address.
        listener = HttpListener(
            self.app, "page", limits=GuestLimits(of_address=MOST_GUESTS), shutdown_s=0.5
        )
        self._closers.push_async_callback(listener.close)
        self.port = await listener.open(HOST, port)
        return self.port

    def url(self, key: str = "", place: str = "") -> str:
        """Return a link to the page; ``place`` is ``SEAT/KYOKU/STEP``."""
        query = f"?{urlencode({'key': key})}" if key else ""
        return f"http://{HOST}:{self.port}/{query}" + (f"#{place}" if place else "")

    def seen_by(self, request: web.Request) -> frozenset[int]:
        """Return the seats whose hands the request's key opens."""
        return self.keys.opens(request.query.get("key", ""))

    async def think(self, game: ReadGame, n: int, seat: int) -> web.Response:
        """Query the strategy, one request at a time, in a thread."""
        if self._by is None:
            raise web.HTTPNotFound(text="no strategy to explain with: start with --by")
        by, loop = self._by, asyncio.get_running_loop()
        async with self._thinking:
            message = await loop.run_in_executor(
                None, lambda: thoughts_at(by, game.steps(), n, seat)
            )
        return web.Response(body=msgspec.json.encode(message), content_type="application/json")

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests for other hosts or from other pages; report errors in one line."""
        require_own_page(request, self.port, opens=request.path == "/")  # which holds nothing
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            refusal.headers.update(HEADERS)
            raise
        except (MjbotError, OSError) as problem:
            text = one_line(problem)
            raise web.HTTPUnprocessableEntity(text=text, headers=HEADERS) from None
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    async def _index(self, request: web.Request) -> web.Response:
        return web.Response(text=index_page(self._config), content_type="text/html")


async def _asset(name: str, request: web.Request) -> web.Response:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return web.Response(text=text, content_type=_TYPES[name.rpartition(".")[2]])


def number_in(request: web.Request, name: str) -> int:
    """Return a number of the query; raises ``HTTPBadRequest``."""
    text = request.query.get(name, "0")
    if not (text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 10):
        raise web.HTTPBadRequest(text=f"{name}: expected a number")
    return int(text)


def require_seen(seen: Collection[int], seat: int) -> None:
    """Raise ``HTTPForbidden`` unless the request may see the seat's hand."""
    if seat not in seen:
        raise web.HTTPForbidden(text=f"the hand of seat {seat} is not open: its key is missing")


class RecordServer(PageServer):
    """Shows recorded games, one of them with a ``review`` (:mod:`mjbot.analysis.review.page_data`).

    ``record`` and ``game`` of ``config`` name that game.
    """

    def __init__(
        self,
        library: Library,
        config: dict[str, Any],
        by: Spec | None = None,
        review: dict[str, Any] | None = None,
    ) -> None:
        super().__init__({**config, "mode": "record", "review": review is not None}, by)
        self._library: Final = library
        self._review: Final = review
        self.app.router.add_get("/api/review", self._get_review)
        self.app.router.add_get("/api/records", self._records)
        self.app.router.add_get("/api/game", self._game)
        self.app.router.add_get("/api/explain", self._explain)

    async def _records(self, request: web.Request) -> web.Response:
        names = msgspec.json.encode(self._library.names)
        return web.Response(body=names, content_type="application/json")

    async def _get_review(self, request: web.Request) -> web.Response:
        if self._review is None:
            raise web.HTTPNotFound(text="no review: start with --review")
        require_seen(self.seen_by(request), self._review["seat"])
        body = msgspec.json.encode(self._review)
        return web.Response(body=body, content_type="application/json")

    def _read(self, request: web.Request) -> ReadGame:
        return self._library.game(number_in(request, "record"), number_in(request, "game"))

    async def _game(self, request: web.Request) -> web.StreamResponse:
        """Send a game as lines, as it is folded."""
        loop = asyncio.get_running_loop()
        game = await loop.run_in_executor(None, self._read, request)
        lines = _lines(game, self.seen_by(request))
        first = await loop.run_in_executor(None, next, lines, b"")
        if not first:
            raise web.HTTPUnprocessableEntity(text=f"{one_line(game.name)} holds no game")
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        chunk = first
        while chunk:
            await response.write(chunk)
            chunk = await loop.run_in_executor(None, next, lines, b"")
        await response.write_eof()
        return response

    async def _explain(self, request: web.Request) -> web.Response:
        seat = number_in(request, "seat")
        require_seen(self.seen_by(request), seat)
        loop = asyncio.get_running_loop()
        game = await loop.run_in_executor(None, self._read, request)
        return await self.think(game, number_in(request, "n"), seat)


def _lines(game: ReadGame, seen: Collection[int]) -> Iterator[bytes]:
    """Yield the page's messages of a game, many lines at a time."""
    fold, waiting = Fold(seen), b""
    for count, (step, entry) in enumerate(zip(game.steps(), game.entries, strict=True)):
        for message in fold.add(step, entry.talk):
            waiting += msgspec.json.encode(message) + b"\n"
        if count % LINES_AT_ONCE == 1 and waiting:
            yield waiting
            waiting = b""
    if game.problem:
        waiting += msgspec.json.encode({"type": "problem", "text": one_line(game.problem)}) + b"\n"
    if waiting:
        yield waiting
