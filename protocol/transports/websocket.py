"""Text frames over WebSocket, with a bearer token: RiichiLab's habit."""

import asyncio
import contextlib
import logging
import ssl
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
)
from websockets.uri import parse_uri

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.transports import base as base_
from mjbot.protocol.transports.address import connectable
from mjbot.protocol.transports.tcp import without_linger

# At DEBUG the library writes every header and frame, and with them tokens and accounts.
_silent_on_frames = logging.getLogger("websockets.client.connection")
_silent_on_frames.setLevel(logging.INFO)


class WebSocketTransport(base_.Transport):
    """One WebSocket connection as a client; binary frames are ignored."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return the next text frame; see :class:`Transport`."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._next_text()
        except TimeoutError:
            raise base_.SilenceError(f"the other side was silent for {timeout_s:g} s") from None
        except ConnectionClosed as error:
            raise _ended(error) from None

    async def _next_text(self) -> bytes:
        while True:
            frame = await self._connection.recv()
            if isinstance(frame, str):
                return frame.encode()

    async def send(self, line: bytes) -> None:
        """Send one text frame; see :class:`Transport`."""
        try:
            await self._connection.send(line.decode())
        except ConnectionClosed as error:
            raise _ended(error) from None

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def reset(self) -> None:
        """Break the connection by a reset; see :class:`Transport`."""
        without_linger(self._connection.transport.get_extra_info("socket"))
        self._connection.transport.abort()


def _ended(error: ConnectionClosed) -> Exception:
    if error.sent is not None and error.sent.code == 1009:
        return ProtocolError("line", f"longer than the limit of {MAX_LINE_BYTES} bytes")
    if error.rcvd is not None:
        return base_.ClosedError(error.rcvd.code, error.rcvd.reason)
    return base_.VanishedError("the other side closed the connection")


class _ConnectHere(connect):
    """Connects to the server that was named, and follows none of its redirects.

    The caller has checked that address: whether a pair may play there, or whether it may
    have the token.  Another one he has not seen.
    """

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Return what is raised instead."""
        return exc


async def connect_websocket(
    url: str,
    token: str | None = None,
    *,
    timeout_s: float = 10.0,
    use_proxy: bool = True,
    origin: str | None = None,
) -> WebSocketTransport:
    """Return a connection to a ``ws://`` or ``wss://`` URL; raises :class:`UnreachableError`.

    A server that sends us elsewhere counts as unreachable, and so does one whose certificate is
    not valid (:func:`~mjbot.protocol.transports.base.tls_message`).
    ``token`` is sent as ``Authorization: Bearer``; ``use_proxy`` obeys the system's proxies;
    ``origin`` is the web page named to a server that requires one.
    """
    if token and not (token.isascii() and token.isprintable()):
        # the library would quote the header
        raise base_.RefusedError(f"{url}: the token has characters that a header cannot have")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    options: dict[str, Any] = {
        "max_size": MAX_LINE_BYTES,
        "open_timeout": timeout_s,
        "close_timeout": 2,
        "logger": _silent_on_frames,
    }
    if not use_proxy:
        options["proxy"] = None
    if origin is not None:
        options["origin"] = origin
    try:
        connection = await _connection(url, additional_headers=headers, **options)
    except TimeoutError:
        raise base_.UnreachableError(f"{url}: no answer within {timeout_s:g} s") from None
    except (OSError, UnicodeError) as error:  # the latter: no name of a host
        raise _unreachable(url, error) from None
    except (InvalidHandshake, InvalidURI) as error:
        if isinstance(error, InvalidStatus) and error.response.status_code in _FOR_A_WHILE:
            raise base_.UnreachableError(f"{url}: HTTP {error.response.status_code}") from None
        if isinstance(error.__cause__, EOFError):
            raise base_.HandshakeError(f"{url}: {_NO_RESPONSE}") from None
        raise base_.RefusedError(f"{url}: {_refusal(error)}") from None
    except (InvalidProxy, ImportError) as error:  # the latter: no package for SOCKS
        problem = error.msg if isinstance(error, InvalidProxy) else one_line(error)
        raise base_.RefusedError(f"{url}: {_NO_PROXY}: {problem}") from None
    return WebSocketTransport(connection)


_NO_RESPONSE: Final = (
    "the server closed the connection instead of opening a WebSocket; if it uses TLS at this port,"
    " use wss:// instead of ws://"
)
_NO_PROXY: Final = "the proxy that this machine names (https_proxy, all_proxy) cannot be used"


def _unreachable(url: str, error: OSError | UnicodeError) -> base_.UnreachableError:
    """Return the error of a connection that could not be made."""
    kind: type[base_.UnreachableError] = base_.UnreachableError
    text = base_.system_message(error)
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        kind = base_.HandshakeError
    elif isinstance(error, ssl.SSLError):
        kind = base_.RefusedError
    elif "wss:" in url and isinstance(error, ConnectionResetError | ConnectionAbortedError):
        kind, text = base_.HandshakeError, base_.ENDED_IN_TLS
    return kind(f"{url}: {text}")


_FOR_A_WHILE: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses of servers that are overloaded, restart or still hold our last connection."""

_CURES: Final = {
    401: "the token is missing or wrong",
    403: "the server does not permit this client",
    404: "there is no WebSocket at this path; the path of mjbot serve is /ws",
}


def _refusal(error: Exception) -> str:
    """Return why a handshake failed, with the cure where the status implies it."""
    if not isinstance(error, InvalidStatus):
        return base_.system_message(error)
    if "Location" in error.response.headers:
        there = error.response.headers.get_all("Location")[0]
        return (
            f"the server sends us to {there!r} and we do not follow; name that URL if it is meant"
        )
    status = error.response.status_code
    return f"HTTP {status}: {_CURES[status]}" if status in _CURES else base_.system_message(error)


async def _connection(url: str, **options: Any) -> ClientConnection:
    """Connect to the URL's host; see :func:`~mjbot.protocol.transports.address.connectable`."""
    host = parse_uri(url).host
    *others, last = connectable(host)
    for address in others:
        with contextlib.suppress(ConnectionError):
            return await _ConnectHere(url, host=address, **options)
    if last != host:
        options["host"] = last
    return await _ConnectHere(url, **options)
