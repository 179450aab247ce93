"""Where a bot can play, as one URL."""

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from protocol.dialects import Dialect

DEFAULT_PORT: Final = 11600
DEFAULT_ROOM: Final = "default"

FORMS: Final = "mjsonp://HOST:PORT/ROOM, ws://..., wss://..., stdio: or stdio-arrays:"

_DIALECTS: Final = {
    "mjsonp": Dialect.TCP,
    "ws": Dialect.RIICHILAB,
    "wss": Dialect.RIICHILAB,
    "stdio": Dialect.STDIO_LINES,
    "stdio-arrays": Dialect.STDIO_ARRAYS,
}


@dataclass(frozen=True)
class Address:
    """A server and the dialect it speaks; ``host``, ``port`` and ``room`` only over TCP."""

    url: str
    dialect: Dialect
    host: str = ""
    port: int = DEFAULT_PORT
    room: str = DEFAULT_ROOM

    @property
    def is_stdio(self) -> bool:
        """Whether the other side started us and holds our standard input and output."""
        return self.dialect.traits.over == "pipes"


def parse_address(url: str, room: str | None = None) -> Address:
    """Return the address that ``url`` means; ``room`` goes before the URL's own.

    Raises ``ValueError`` naming what is wrong.

    >>> parse_address("mjsonp://localhost/lobby")
    Address(url='mjsonp://localhost/lobby', dialect=<Dialect.TCP: 'tcp'>, host='localhost', \
port=11600, room='lobby')
    """
    scheme, _, rest = url.partition(":")
    dialect = _DIALECTS.get(scheme)
    if dialect is None:
        raise ValueError(f"URL {url!r}: expected {FORMS}")
    if scheme.startswith("stdio"):
        if rest:
            raise ValueError(f"URL {url!r}: nothing may follow {scheme}:")
        return Address(url, dialect)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"URL {url!r}: {error}") from None
    if not host:
        raise ValueError(f"URL {url!r}: the host is missing, expected {FORMS}")
    chosen = room or parts.path.removeprefix("/") or DEFAULT_ROOM
    return Address(url, dialect, host, DEFAULT_PORT if port is None else port, chosen)


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is this machine by name or number.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("game.example")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
