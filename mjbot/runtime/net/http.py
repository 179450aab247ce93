"""An HTTP endpoint of ours: an aiohttp application behind limits of connections and times.

aiohttp itself accepts any number of connections, and waits an hour for a request.  Each open socket
is a file of this process: enough of them, and no other endpoint, log or record can be opened.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from mjbot.runtime.interruption import to_its_end
from mjbot.runtime.net.guests import USUAL, Guest, GuestLimits, Guests

logger = logging.getLogger(__name__)

HttpHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LOOPBACK: Final = "127.0.0.1"
REQUEST_S: Final = 10.0
"""How long a connection may stay open without a request that is being answered."""


class HttpListener:
    """Serves ``app`` for the endpoint ``endpoint``, whose name is for the log.

    ``shutdown_s`` is how long :meth:`close` waits for requests that are being answered.
    """

    def __init__(
        self,
        app: web.Application,
        endpoint: str,
        *,
        limits: GuestLimits = USUAL,
        shutdown_s: float = 1.0,
    ) -> None:
        app[_LISTENER] = self
        app.middlewares.append(self._answer)
        log = logging.getLogger(__name__)
        log.addFilter(_short)
        self.guests: Final = Guests(endpoint, limits)
        self._runner: Final = web.AppRunner(
            app, access_log=None, logger=log, shutdown_timeout=shutdown_s
        )
        self._connections: Final[dict[web.RequestHandler, _HttpConnection]] = {}
        self._listener: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> int:
        """Listen; return the port (chosen by the system if 0).  Raises ``OSError``."""
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(self._accept, host, port)
        return int(self._listener.sockets[0].getsockname()[1])

    def refuse_more(self) -> None:
        """Stop listening; the connections that are open stay."""
        if self._listener is not None:
            self._listener.close()

    async def close(self) -> None:
        """Stop listening and close all connections."""
        self.refuse_more()
        await to_its_end(self._runner.cleanup())

    def guest(self, request: web.Request) -> Guest:
        """Return the connection of a request."""
        connection = self._connections.get(request.protocol)
        return Guest() if connection is None else connection.guest

    def _accept(self) -> asyncio.Protocol:
        assert self._runner.server is not None
        return _HttpConnection(self._runner.server(), self.guests, self._connections)

    @web.middleware
    async def _answer(self, request: web.Request, handler: HttpHandler) -> web.StreamResponse:
        """Stop the clock of a connection while its request is answered."""
        connection = self._connections.get(request.protocol)
        if connection is None:
            return await handler(request)
        connection.stop_clock()
        try:
            return await handler(request)
        finally:
            connection.start_clock()


_LISTENER: Final = web.AppKey("listener", HttpListener)


def guest_of(request: web.Request) -> Guest:
    """Return the connection of a request that an :class:`HttpListener` serves."""
    return request.app[_LISTENER].guest(request)


class _HttpConnection(asyncio.Protocol):
    """Stands between a socket and aiohttp: counts the connection, and closes it when idle."""

    guest: Guest

    def __init__(
        self,
        handler: web.RequestHandler,
        guests: Guests,
        connections: "dict[web.RequestHandler, _HttpConnection]",
    ) -> None:
        self._handler: Final = handler
        self._guests: Final = guests
        self._connections: Final = connections
        self._transport: asyncio.Transport | None = None
        self._clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the connection, or close it at once."""
        assert isinstance(transport, asyncio.Transport)
        guest = self._guests.admit(transport.get_extra_info("peername"))
        if guest is None:
            transport.abort()
            return
        guest.close = transport.abort
        self.guest, self._transport = guest, transport
        self._connections[self._handler] = self
        self._handler.connection_made(transport)
        self.start_clock()

    def start_clock(self) -> None:
        """Close the connection unless a request comes in time."""
        self.stop_clock()
        if self._transport is not None:
            loop = asyncio.get_running_loop()
            self._clock = loop.call_later(REQUEST_S, self._transport.abort)

    def stop_clock(self) -> None:
        """A request is being answered."""
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the place."""
        if self._transport is None:
            return
        self._transport = None
        self.stop_clock()
        self._connections.pop(self._handler, None)
        self.guest.leave()
        self._handler.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on what came."""
        if self._transport is not None:
            self._handler.data_received(data)

    def eof_received(self) -> None:
        """Pass on that no more will come; the transport then closes."""
        if self._transport is not None:
            self._handler.eof_received()

    def pause_writing(self) -> None:
        """Pass on that the peer does not read fast enough."""
        if self._transport is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the peer reads again."""
        if self._transport is not None:
            self._handler.resume_writing()


def _short(record: logging.LogRecord) -> bool:
    """Log an error of a client's by its kind: its text quotes the request, which has tokens."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.msg, record.args = f"{record.getMessage()}: {error.code} {type(error).__name__}", ()
        record.exc_info = None
    return True


Page = tuple[str, str]
"""A response: its text, and its content type."""
Respond = Callable[[Mapping[str, str]], Awaitable[Page | None]]
"""Returns the page for what stands in a path's ``{name}``; ``None``: there is none."""

NO_CONTENT_POLICY: Final = "default-src 'none'"
_NO_FRAMES: Final = "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_POLICY_OF_PAGE: Final = re.compile(
    r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">'
)


def page_headers(policy: str) -> dict[str, str]:
    """Return the headers of a page of ours: what it may load, and that no other page holds it."""
    return {
        "Content-Security-Policy": f"{policy}; {_NO_FRAMES}",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def require_own_page(request: web.Request, port: int, *, opens: bool) -> None:
    """Raise ``HTTPForbidden`` for a request that names another host or comes from another page.

    Any web page can reach a port of loopback through a browser.  ``opens`` is whether a link on
    another page may open this path in a tab of its own, where that page cannot read it.
    """
    headers, own = page_headers(NO_CONTENT_POLICY), {f"{name}:{port}" for name in _OWN_NAMES}
    if request.headers.get("Host", "") not in own:
        text = f"this server has another name: 127.0.0.1:{port}\n"
        raise web.HTTPForbidden(text=text, headers=headers)
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site", "none")
    is_ours = origin is None or origin.removeprefix("http://") in own
    may_come = site in ("none", "same-origin") or (opens and _opens_tab(request))
    if not (is_ours and may_come):
        raise web.HTTPForbidden(text="requests from other pages are refused\n", headers=headers)


_OWN_NAMES: Final = (LOOPBACK, "localhost")


def _opens_tab(request: web.Request) -> bool:
    fetched = request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Dest")
    return request.method == "GET" and fetched == ("navigate", "document")


class LoopbackServer:
    """Serves pages on loopback alone; ``routes`` has what responds to each path.

    Requests of other pages are refused (:func:`require_own_page`), links to a page are not.  A
    page's policy, if it has one, is sent as a header too.
    """

    def __init__(self, endpoint: str, routes: Mapping[str, Respond]) -> None:
        self._port = 0
        app = web.Application(middlewares=[self._guard])
        for path, respond in routes.items():
            app.router.add_get(path, self._handler(respond))
        self._listener: Final = HttpListener(app, endpoint)

    async def open(self, port: int) -> int:
        """Listen; return the port (chosen by the system if 0).  Raises ``OSError``."""
        self._port = await self._listener.open(LOOPBACK, port)
        return self._port

    async def close(self) -> None:
        """Stop listening."""
        await self._listener.close()

    @web.middleware
    async def _guard(self, request: web.Request, handler: HttpHandler) -> web.StreamResponse:
        require_own_page(request, self._port, opens=True)
        try:
            return await handler(request)
        except web.HTTPException as refusal:
            refusal.headers.update(page_headers(NO_CONTENT_POLICY))
            raise

    def _handler(self, respond: Respond) -> HttpHandler:
        async def handle(request: web.Request) -> web.Response:
            page = await respond(request.match_info)
            if page is None:
                raise web.HTTPNotFound(text="there is no such page\n")
            text, content_type = page
            policy = _POLICY_OF_PAGE.search(text) if content_type == "text/html" else None
            headers = page_headers(policy[1] if policy else NO_CONTENT_POLICY)
            headers["Content-Type"] = f"{content_type}; charset=utf-8"
            return web.Response(body=text.encode("utf-8", "replace"), headers=headers)

        return handle
