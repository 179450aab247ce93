"""What every transport can do, and how it fails.

No ``asyncio.wait_for`` here or anywhere above: Python 3.11's swallows a cancellation that comes in
the same turn of the loop as the result.  ``asyncio.timeout`` does not.
"""

import abc
import errno
import os
import re
import socket
import ssl
from types import TracebackType
from typing import Final, Self

from mjbot.protocol.plain_text import one_line


class TransportError(ConnectionError):
    """The line to the other side is not there; the text is one clear line."""


class UnreachableError(TransportError):
    """Nothing answers at that address, or it refuses us."""


class RefusedError(UnreachableError):
    """The server there refuses us: waiting is no use."""


class HandshakeError(UnreachableError):
    """A server closed the connection in the middle of its set-up.

    It is another kind of endpoint, as one without TLS, or a server that starts: only one to which
    a connection was made before is likely to be there again.
    """


class VanishedError(TransportError):
    """The other side closed the connection."""


class ClosedError(VanishedError):
    """The other side closed a WebSocket with a ``code`` and a ``reason`` (RFC 6455, section 7.4).

    >>> str(ClosedError(1013, "maintenance"))
    'the other side closed the connection: 1013 (try again later), maintenance'
    >>> str(ClosedError(4001, "no such token")), str(ClosedError(1000, ""))
    ('the server refuses us: 4001, no such token', 'the other side closed the connection')
    """

    def __init__(self, code: int, reason: str) -> None:
        self.code: Final = code
        self.closing: Final = _closing(code, one_line(reason))
        """Code and reason as one line; empty for an ordinary end."""
        did = "the server refuses us" if self.is_refusal else "the other side closed the connection"
        super().__init__(f"{did}: {self.closing}" if self.closing else did)

    @property
    def is_refusal(self) -> bool:
        """Whether another attempt is likely to end in the same way: 1008, and a server's own."""
        return self.code == _POLICY_VIOLATION or 4000 <= self.code <= 4999

    @property
    def invites_return(self) -> bool:
        """Whether the server asks us to come back: a restart, or too much load."""
        return self.code in (1012, 1013)


_POLICY_VIOLATION: Final = 1008
_CLOSE_CODES: Final = {
    1001: "going away",
    1002: "protocol error",
    1003: "unsupported data",
    1007: "invalid data",
    _POLICY_VIOLATION: "policy violation",
    1009: "message too big",
    1010: "extension missing",
    1011: "internal error",
    1012: "service restart",
    1013: "try again later",
    1014: "bad gateway",
}


def _closing(code: int, reason: str) -> str:
    if code in (1000, 1005):  # an ordinary end, or one without a code
        return reason
    name = f" ({_CLOSE_CODES[code]})" if code in _CLOSE_CODES else ""
    return f"{code}{name}, {reason}" if reason else f"{code}{name}"


class SilenceError(TransportError):
    """The other side was silent for too long."""


class Transport(abc.ABC):
    """Carries whole lines (or frames) in both directions."""

    @abc.abstractmethod
    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return the next line, without its line end.

        Raises :class:`SilenceError` after ``timeout_s`` seconds, :class:`VanishedError` at the
        end of the stream and :class:`mjbot.protocol.errors.ProtocolError` for a line that is too
        long or cut off.
        """

    @abc.abstractmethod
    async def send(self, line: bytes) -> None:
        """Send one line (without line end); raises :class:`VanishedError`."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Close both directions; harmless when already closed."""

    async def reset(self) -> None:
        """Break the line at once and without a word, as a crash does."""
        await self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def system_message(error: BaseException) -> str:
    """Return why a connection or another system call failed; asyncio's text names a "connect call".

    Of an error that wraps another (aiohttp's) it is the other's; it is never empty.

    >>> system_message(ConnectionResetError())
    'connection reset'
    >>> system_message(socket.gaierror(8, "Name or service not known"))
    'Name or service not known'
    """
    inner = getattr(error, "os_error", None) or getattr(error, "certificate_error", None)
    if isinstance(inner, Exception):
        return system_message(inner)
    if isinstance(error, ssl.SSLError):
        return tls_message(error)
    text = getattr(error, "strerror", None) or str(error)
    number = getattr(error, "errno", None)
    if isinstance(error, socket.gaierror | socket.herror):  # their numbers are the resolver's
        return text or "the name of the host cannot be resolved"
    if isinstance(number, int) and number in errno.errorcode:
        return os.strerror(number)
    if numbers := dict.fromkeys(map(int, _NUMBERS.findall(text))):  # of several addresses
        return ", ".join([os.strerror(number) for number in numbers])
    return text or _words(error)


_NUMBERS: Final = re.compile(r"\[Errno (\d+)\]")


def _words(error: BaseException) -> str:
    name = type(error).__name__.removesuffix("Error").removesuffix("Exception")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() if name != "OS" else "system error"


def tls_message(error: ssl.SSLError) -> str:
    """Return why TLS failed, with the cure where there is one."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_message(error)
    reason = (getattr(error, "reason", None) or "").upper()
    if reason in _NO_TLS:
        return "the server does not use TLS at this port; use ws:// instead of wss://"
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return ENDED_IN_TLS
    text = error.strerror or " ".join(map(str, error.args)) or "no cause was given"
    return f"TLS failed: {reason.lower().replace('_', ' ') or text}"


ENDED_IN_TLS: Final = (
    "the server closed the connection during the TLS handshake; if it does not use TLS at this"
    " port, use ws:// instead of wss://"
)
_NO_TLS: Final = frozenset(
    {
        "WRONG_VERSION_NUMBER",
        "UNKNOWN_PROTOCOL",
        "HTTP_REQUEST",
        "PACKET_LENGTH_TOO_LONG",
        "RECORD_LAYER_FAILURE",
        "UNEXPECTED_MESSAGE",
    }
)
"""What OpenSSL's versions call an answer that is not TLS."""
_OWN_CERTIFICATE: Final = (
    "; if that certificate is meant, set SSL_CERT_FILE to the file of its issuer (of a self-signed"
    " one: its own file, in PEM)"
)
_VERIFY: Final = {
    9: "is not valid yet; check the clock of this machine",
    10: "has expired; the server needs a new one (or the clock of this machine is wrong)",
    18: f"is self-signed{_OWN_CERTIFICATE}",
    19: f"has a self-signed issuer that this machine does not know{_OWN_CERTIFICATE}",
    20: f"has an issuer that this machine does not know{_OWN_CERTIFICATE}",
    21: f"has an issuer that this machine does not know{_OWN_CERTIFICATE}",
    23: "was revoked",
}
"""What is wrong with a certificate, by OpenSSL's ``X509_V_ERR``."""
_OTHER_HOST: Final = (62, 64)


def _certificate_message(error: ssl.SSLCertVerificationError) -> str:
    code = getattr(error, "verify_code", None)
    text = str(getattr(error, "verify_message", "")) or error.strerror or "cannot be verified"
    if code in _OTHER_HOST:
        problem = f"is for another host ({text.rstrip('.')}); name a host of the certificate"
    else:
        problem = _VERIFY.get(code or 0, f"is not valid: {text}")
    file = os.environ.get("SSL_CERT_FILE", "")
    if file and not os.path.isfile(file):
        problem += f"; SSL_CERT_FILE is {file}, which is no file"
    return f"the TLS certificate {problem}"
