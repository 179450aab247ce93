"""The WebSocket endpoints: RiichiLab's dialect at ``ws://HOST:PORT/ws``, Tenhou's at any path."""

import asyncio
import contextlib
import hmac
import logging
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec
from aiohttp import WSCloseCode, WSMsgType, web

from mjbot.play.server.accounts import TAKEN, Accounts
from mjbot.play.server.core import EXCUSED, Outgoing, SeatReply
from mjbot.play.server.lobby import BusyError, Lobby
from mjbot.play.server.seats import FINAL_MESSAGE_TIMEOUT_S, PlayerSeat
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.plain_text import is_name
from mjbot.protocol.sessions.lockstep_server import BLANK_NAME, LONG_NAME, MOST_LETTERS_OF_NAME
from mjbot.protocol.sessions.request_server import RequestSession, TimeLimits
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.transports.base import SilenceError, Transport, VanishedError, system_message
from mjbot.runtime.net.guests import Guest
from mjbot.runtime.net.http import guest_of

logger = logging.getLogger(__name__)

MOST_UNREAD: Final = 1 << 18
"""Bytes that may wait to be sent to a player, about as many as two hanchan have."""

MOST_FRAMES: Final = 64
"""How many frames of a player may wait to be read: it owes one per request."""

MOST_BYTES: Final = MAX_LINE_BYTES
"""How long these may be together; a real reply is below 1 kB."""

HEARTBEAT_S: Final = 20.0

_GONE: Final = None


class WebSocketSeat(PlayerSeat):
    """A player that is asked for every decision; once gone, it plays safe actions."""

    def __init__(
        self,
        name: str,
        socket: web.WebSocketResponse,
        transport: asyncio.Transport,
        limits: TimeLimits,
    ) -> None:
        super().__init__(name)
        self.socket: Final = socket
        self._transport: Final = transport
        self._unsent: Final[list[bytes]] = []
        self._session: Final = RequestSession(limits)
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._waiting_bytes = 0
        self._closing: Final = asyncio.Lock()
        self._gone = False
        self._is_over = False

    async def pump(self) -> None:
        """Take in frames until the connection ends or the client floods us."""
        async for frame in self.socket:
            if frame.type is WSMsgType.TEXT:
                self._put(frame.data.encode())
            if self._frames.qsize() > MOST_FRAMES or self._waiting_bytes > MOST_BYTES:
                await self._cut_off("more was sent than asked for")
                break
        self._frames.put_nowait(_GONE)
        self._lose()
        async with self._closing:  # or aiohttp closes first, with its own code and no reason
            pass

    async def dismiss(self, reason: str) -> None:
        """See :meth:`PlayerSeat.dismiss`."""
        self._send(msgspec.json.encode({"type": "error", "message": reason}))
        await self._close(WSCloseCode.GOING_AWAY, reason)

    async def start(self) -> None:
        """See :meth:`PlayerSeat.start`; what was sent before is forgotten."""
        while not self._frames.empty():
            self._gone = self._take(self._frames.get_nowait()) is _GONE

    async def exchange(self, outgoing: Outgoing) -> SeatReply:
        """See :meth:`PlayerSeat.exchange`."""
        self._send(self._session.send(outgoing.message))
        if not outgoing.legal or self._gone:
            return EXCUSED
        self._send(self._session.request(outgoing.offers()))
        self._flush()
        asked = asyncio.get_running_loop().time()
        dropped: list[bytes] = []
        try:
            async with asyncio.timeout_at(asked + self._session.deadline_ms / 1000):
                return await self._decision(outgoing, asked, dropped)
        except TimeoutError:
            self._send(self._session.expire().ack)
            return SeatReply(excused=True, kind="late", dropped=tuple(dropped))

    async def final_message(self, outgoing: Outgoing | None) -> None:
        """See :meth:`PlayerSeat.final_message`."""
        self._is_over = True
        if outgoing is not None:
            self._send(self._session.send(outgoing.message))
        await self._close()

    def _put(self, frame: bytes) -> None:
        self._waiting_bytes += len(frame)
        self._frames.put_nowait(frame)

    def _take(self, frame: bytes | None) -> bytes | None:
        self._waiting_bytes -= len(frame or b"")
        return frame

    async def _cut_off(self, reason: str) -> None:
        self.log(f"is cut off: {reason}", logging.WARNING)
        await self._close(WSCloseCode.POLICY_VIOLATION, reason)

    async def _close(self, code: int = WSCloseCode.OK, reason: str = "") -> None:
        self._flush()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(FINAL_MESSAGE_TIMEOUT_S), self._closing:
                await self.socket.close(code=code, message=reason.encode())

    async def _decision(self, outgoing: Outgoing, asked: float, dropped: list[bytes]) -> SeatReply:
        """Return what is chosen; ``dropped`` takes the frames that answer earlier requests."""
        loop = asyncio.get_running_loop()
        while (frame := self._take(await self._frames.get())) is not _GONE:
            verdict = self._session.receive(frame, round(1000 * (loop.time() - asked)))
            self._send(verdict.ack)
            came = tuple(dropped)
            if verdict.choice is not None:
                action = outgoing.legal[verdict.choice]
                return SeatReply(action=action, line=frame, dropped=came)
            if verdict.status != "stale":
                raw = frame.decode("utf-8", "replace")
                problem = f"{verdict.status}, {verdict.reason}."
                return SeatReply(problem=problem, raw=raw, line=frame, dropped=came)
            dropped.append(frame)
        self._gone = True
        return replace(EXCUSED, dropped=tuple(dropped))

    def _send(self, frame: bytes) -> None:
        """Send a frame together with others of this turn of the loop."""
        if self._gone:
            return
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(text_frame(frame))

    def _flush(self) -> None:
        """Write the frames that are still to be sent; cut off a player that reads none."""
        if not self._unsent:
            return
        data = b"".join(self._unsent)
        self._unsent.clear()
        if self._transport.is_closing():
            self._gone = True
            self._lose()
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > MOST_UNREAD:
            self.log("is cut off: it does not read", logging.WARNING)
            self._transport.abort()

    def _lose(self) -> None:
        """The connection is lost, or closed after the game."""
        if not self._is_over:
            self._log_loss()
        self._notify_others(is_there=False)


def text_frame(payload: bytes) -> bytes:
    r"""Return a text message of a server as one frame (RFC 6455, section 5.2).

    >>> text_frame(b"{}"), text_frame(bytes(300))[:4], text_frame(bytes(1 << 16))[:5]
    (b'\x81\x02{}', b'\x81~\x01,', b'\x81\x7f\x00\x00\x00')
    """
    size = len(payload)
    if size < 126:
        return bytes((0x81, size)) + payload
    form, code = ("!BBH", 126) if size < 1 << 16 else ("!BBQ", 127)
    return struct.pack(form, 0x81, code, size) + payload


def make_app(
    lobby: Lobby, limits: TimeLimits, token: str | None = None, accounts: Accounts | None = None
) -> web.Application:
    """Return the aiohttp application whose ``/ws`` seats players in the lobby's first room.

    ``/ws/ROOM`` is another room.  With a ``token`` or ``accounts`` a player must send its token as
    ``Authorization: Bearer``.  ``?name=`` gives the player's name; an account has its own.
    """

    async def play(request: web.Request) -> web.StreamResponse:
        expected, guest = f"Bearer {token}", guest_of(request)
        header = request.headers.get("Authorization", "")
        account = accounts.name_of(header) if accounts is not None else None
        given = header.encode(errors="surrogateescape")
        is_known = account or not token or hmac.compare_digest(given, expected.encode())
        if not is_known or (accounts is not None and not token and account is None):
            raise web.HTTPUnauthorized(text=_refused(guest, "wrong or missing bearer token"))
        if not _may_come_from(request.headers.get("Origin")):
            raise web.HTTPForbidden(text=_refused(guest, FOREIGN_PAGE))
        name = account or request.query.get("name") or "websocket"
        if account is None and accounts is not None and name in accounts:
            raise web.HTTPForbidden(text=_refused(guest, f"the name {TAKEN}; send its token"))
        if len(name) > MOST_LETTERS_OF_NAME:
            raise web.HTTPBadRequest(text=_refused(guest, LONG_NAME))
        if not is_name(name):
            raise web.HTTPBadRequest(text=_refused(guest, BLANK_NAME))
        room = request.match_info.get("room") or next(iter(lobby.rooms))
        if room not in lobby.rooms:
            raise web.HTTPNotFound(text=_refused(guest, "there is no such room"))
        with _connected(accounts, account, guest):
            socket = _socket(stays=not lobby.is_busy(room))
            await socket.prepare(request)
            if request.transport is not None:
                seat = WebSocketSeat(name, socket, request.transport, limits)
                seat.guest, seat.is_account = guest, account is not None
                await _play(seat, lobby, room)
            return socket

    async def other(request: web.Request) -> web.StreamResponse:
        raise web.HTTPNotFound(text=_refused(guest_of(request), "players connect to /ws"))

    app = web.Application()
    app.router.add_get("/ws", play)
    app.router.add_get("/ws/{room}", play)
    app.router.add_get("/{path:.*}", other)
    return app


@contextlib.contextmanager
def _connected(accounts: Accounts | None, account: str | None, guest: Guest) -> Iterator[None]:
    """Let an account have one connection."""
    if accounts is None or account is None:
        yield
        return
    if not accounts.connect(account):
        raise web.HTTPConflict(text=_refused(guest, f"account {account} is already connected"))
    try:
        yield
    finally:
        accounts.leave(account)


FOREIGN_PAGE: Final = "no web page of another machine may play here"


def _refused(guest: Guest, reason: str) -> str:
    """Log why a connection is refused; return the text of the response."""
    logger.info("%s: refused: %s", guest, reason)
    return f"{reason}\n"


TENHOU_PAGE: Final = "https://tenhou.net"
"""What programs name as their web page, as Tenhou's server requires."""


class _Frames(Transport):
    """An accepted WebSocket as the Tenhou endpoint uses it; frames of text."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket: Final = socket

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return the next frame; see :class:`Transport`."""
        try:
            async with asyncio.timeout(timeout_s):
                frame = await self._socket.receive()
        except TimeoutError:
            raise SilenceError(f"the other side was silent for {timeout_s:g} s") from None
        if frame.type is WSMsgType.TEXT:
            return str(frame.data).encode()
        if frame.type is WSMsgType.BINARY:
            raise ProtocolError("frame", "binary, expected text")
        if frame.type is WSMsgType.ERROR:
            raise ProtocolError("frame", system_message(frame.data))
        raise VanishedError("the other side closed the connection")

    async def send(self, line: bytes) -> None:
        """Send one frame; see :class:`Transport`."""
        try:
            await self._socket.send_str(line.decode())
        except (OSError, RuntimeError) as error:
            raise VanishedError(f"the connection broke: {system_message(error)}") from None

    async def close(self) -> None:
        """Close the connection."""
        await self._socket.close()


Begin = Callable[[Transport, Spelling, Guest], asyncio.Task[None]]


def make_tenhou_app(begin: Begin) -> web.Application:
    """Return the application that hands every WebSocket to ``begin``, whatever its path."""

    async def play(request: web.Request) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if origin != TENHOU_PAGE and not _may_come_from(origin):
            raise web.HTTPForbidden(text=_refused(guest_of(request), FOREIGN_PAGE))
        socket = _socket()
        await socket.prepare(request)
        await asyncio.wait({begin(_Frames(socket), Spelling.JSON, guest_of(request))})
        return socket

    app = web.Application()
    app.router.add_get("/{path:.*}", play)
    return app


def _may_come_from(origin: str | None) -> bool:
    """Return whether this is no web page, or one of this machine: any page can reach loopback.

    >>> _may_come_from(None), _may_come_from("http://localhost:8000"), _may_come_from("null")
    (True, True, False)
    >>> _may_come_from("https://game.example"), _may_come_from("http://127.0.0.1.game.example")
    (False, False)
    """
    if origin is None:
        return True
    try:
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _socket(*, stays: bool = True) -> web.WebSocketResponse:
    """Return a socket; a refused client needs no heartbeat, whose timer would keep it.

    aiohttp sets that timer once more when the closing of a socket is answered.
    """
    heartbeat = HEARTBEAT_S if stays else None
    # A compressor would take a quarter of a megabyte for lines of 200 bytes.
    return web.WebSocketResponse(max_msg_size=MAX_LINE_BYTES, heartbeat=heartbeat, compress=False)


async def _play(seat: WebSocketSeat, lobby: Lobby, room: str) -> None:
    try:
        lobby.take(room, seat)
    except BusyError as error:
        await seat.dismiss(str(error))
        return
    seat.guest.sit()
    lobby.log_join(seat)
    try:
        await seat.pump()
    finally:
        lobby.leave(seat)
