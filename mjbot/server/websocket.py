"""The WebSocket door: RiichiLab's dialect at ``ws://HOST:PORT/ws``."""

import asyncio
import contextlib
import hmac
from collections.abc import Callable
from typing import Final

from aiohttp import WSMsgType, web

from mjbot.server.core import Answer, Say
from mjbot.server.lobby import BusyError, Lobby
from mjbot.server.seats import FAREWELL_TIMEOUT_S, Seat
from protocol.framing import MAX_LINE_BYTES
from protocol.request_session import RequestSession, TimeLimits

SEND_TIMEOUT_S: Final = 10.0
_GONE: Final = None


class WebSocketSeat(Seat):
    """A player who is asked for every decision; once gone, it plays on by safe actions."""

    def __init__(self, name: str, socket: web.WebSocketResponse, limits: TimeLimits) -> None:
        super().__init__(name)
        self._socket: Final = socket
        self._session: Final = RequestSession(limits)
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._gone = False

    async def pump(self) -> None:
        """Take in frames until the connection ends."""
        async for frame in self._socket:
            if frame.type is WSMsgType.TEXT:
                self._frames.put_nowait(frame.data.encode())
        self._frames.put_nowait(_GONE)

    async def start(self) -> None:
        """See :meth:`Seat.start`; what was said before is forgotten."""
        while not self._frames.empty():
            self._gone = self._frames.get_nowait() is _GONE

    async def exchange(self, say: Say) -> Answer:
        """See :meth:`Seat.exchange`."""
        await self._send(self._session.say(say.message))
        if not say.legal or self._gone:
            return Answer(excused=True)
        await self._send(self._session.request(say.offers()))
        loop = asyncio.get_running_loop()
        asked = loop.time()
        try:
            async with asyncio.timeout_at(asked + self._session.deadline_ms / 1000):
                return await self._decision(say, lambda: round(1000 * (loop.time() - asked)))
        except TimeoutError:
            await self._send(self._session.expire().ack)
            return Answer(excused=True)

    async def farewell(self, say: Say | None) -> None:
        """See :meth:`Seat.farewell`."""
        if say is not None:
            await self._send(self._session.say(say.message))
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(FAREWELL_TIMEOUT_S):
                await self._socket.close()

    async def _decision(self, say: Say, elapsed_ms: Callable[[], int]) -> Answer:
        while (frame := await self._frames.get()) is not _GONE:
            verdict = self._session.receive(frame, elapsed_ms())
            await self._send(verdict.ack)
            if verdict.choice is not None:
                return Answer(action=say.legal[verdict.choice])
            if verdict.status != "stale":
                problem = f"{verdict.status}, {verdict.reason}."
                return Answer(problem=problem, raw=frame.decode("utf-8", "replace"))
        self._gone = True
        return Answer(excused=True)

    async def _send(self, frame: bytes) -> None:
        if self._gone:
            return
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await self._socket.send_str(frame.decode())
        except (OSError, TimeoutError, RuntimeError):
            self._gone = True


def make_app(lobby: Lobby, limits: TimeLimits, token: str | None = None) -> web.Application:
    """Return the aiohttp application whose ``/ws`` seats players in the lobby's first room.

    With a ``token`` only who sends it as ``Authorization: Bearer`` may play.  ``?name=`` gives
    the player's name.
    """

    async def play(request: web.Request) -> web.StreamResponse:
        expected = f"Bearer {token}"
        given = request.headers.get("Authorization", "")
        if token and not hmac.compare_digest(given.encode(), expected.encode()):
            raise web.HTTPUnauthorized(text="wrong or missing bearer token\n")
        return await _play(request, lobby, limits)

    app = web.Application()
    app.router.add_get("/ws", play)
    return app


async def _play(request: web.Request, lobby: Lobby, limits: TimeLimits) -> web.StreamResponse:
    socket = web.WebSocketResponse(max_msg_size=MAX_LINE_BYTES, heartbeat=20)
    await socket.prepare(request)
    seat = WebSocketSeat(request.query.get("name") or "websocket", socket, limits)
    try:
        lobby.take(next(iter(lobby.rooms)), seat)
    except BusyError as error:
        await socket.send_json({"type": "error", "message": str(error)})
        await socket.close()
        return socket
    try:
        await seat.pump()
    finally:
        lobby.leave(seat)
    return socket
