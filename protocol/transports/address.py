"""Where a bot can play, as one URL."""

import ipaddress
import re
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from mjbot.protocol.dialects import Dialect
from mjbot.protocol.tenhou.login import TableType

DEFAULT_PORT: Final = 11600
DEFAULT_ROOM: Final = "default"

FORMS: Final = (
    "mjsonp://HOST:PORT/ROOM, ws://..., wss://..., stdio:, stdio-arrays:,"
    " tenhou://HOST:PORT/LOBBY?type=N or tenhou+ws://..."
)

SECRETS_IN_URLS: Final = frozenset(
    {"token", "access_token", "key", "api_key", "apikey", "secret", "password", "account", "auth"}
)
"""Options of a URL that would be a secret."""
_USER: Final = re.compile(r"[^/?#]*/*[^/?#]*@")

_DIALECTS: Final = {
    "mjsonp": Dialect.TCP,
    "ws": Dialect.RIICHILAB,
    "wss": Dialect.RIICHILAB,
    "stdio": Dialect.STDIO_LINES,
    "stdio-arrays": Dialect.STDIO_ARRAYS,
    "tenhou": Dialect.TENHOU,
    "tenhou+ws": Dialect.TENHOU_WEB,
    "tenhou+wss": Dialect.TENHOU_WEB,
}


@dataclass(frozen=True)
class Address:
    """A server and its dialect; ``host``, ``port`` and ``room`` only over TCP.

    ``table_type`` is the table that is wanted of a Tenhou server, ``origin`` the web page that it
    requires, if any.
    """

    url: str
    dialect: Dialect
    host: str = ""
    port: int = DEFAULT_PORT
    room: str = DEFAULT_ROOM
    table_type: TableType = field(default_factory=TableType)
    origin: str | None = None

    @property
    def is_stdio(self) -> bool:
        """Whether the other side started us and holds our standard input and output."""
        return self.dialect.traits.over == "pipes"

    @property
    def socket_url(self) -> str:
        """The WebSocket's own URL."""
        if not self.dialect.traits.is_tenhou:
            return self.url
        parts = urlsplit(self.url)
        return f"{parts.scheme.removeprefix('tenhou+')}://{parts.netloc}/"

    def with_name(self, name: str) -> "Address":
        """Return the address whose WebSocket URL names the player, as ``mjbot serve`` reads it.

        Other dialects send the name in a message; a name in the URL stays.

        >>> parse_address("ws://localhost:1/ws").with_name("a b").url
        'ws://localhost:1/ws?name=a+b'
        """
        parts = urlsplit(self.url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        if self.dialect is not Dialect.RIICHILAB or "name" in dict(query):
            return self
        query.append(("name", name))
        return replace(self, url=urlunsplit(parts._replace(query=urlencode(query))))


def parse_address(url: str, room: str | None = None) -> Address:
    """Return the address that ``url`` means; ``room`` goes before the URL's own.

    Raises ``ValueError`` naming what is wrong.

    >>> address = parse_address("mjsonp://localhost/lobby")
    >>> address.dialect, address.host, address.port, address.room
    (<Dialect.TCP: 'tcp'>, 'localhost', 11600, 'lobby')
    """
    _refuse_secrets(url)
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
    try:
        host.encode("idna")  # as the system's resolver does
    except UnicodeError:
        raise ValueError(f"URL {url!r}: {host!r} is no name of a host") from None
    if dialect.traits.is_tenhou:
        return _tenhou_address(url, dialect, parts, room)
    chosen = room or parts.path.removeprefix("/") or DEFAULT_ROOM
    return Address(url, dialect, host, DEFAULT_PORT if port is None else port, chosen)


def _refuse_secrets(url: str) -> None:
    """Refuse a URL with a user, password or token, which a message must not quote."""
    names = [unquote(part.partition("=")[0]).lower() for part in re.split("[?&;#]", url)[1:]]
    if _USER.match(url) or SECRETS_IN_URLS.intersection(names):
        raise ValueError(
            "URL: a token or an account has no place in a URL, where everybody can read it;"
            " name the file or variable that has it"
        )


def _tenhou_address(url: str, dialect: Dialect, parts: SplitResult, room: str | None) -> Address:
    """Read ``tenhou://HOST:PORT/LOBBY?type=N``; there is no default host, nor a port.

    >>> parse_address("tenhou://localhost:10080/7000?type=1").table_type
    TableType(lobby=7000, type=1)
    """
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    lobby, rules = room or parts.path.removeprefix("/") or "0", options.pop("type", "9")
    origin = options.pop("origin", None)
    if parts.port is None:
        raise ValueError(f"URL {url!r}: the port is missing")
    if options or not (lobby.isdecimal() and rules.isdecimal()):
        raise ValueError(f"URL {url!r}: expected /LOBBY?type=N, both numbers")
    table_type = TableType(int(lobby), int(rules))
    return Address(url, dialect, parts.hostname or "", parts.port, lobby, table_type, origin)


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is this machine by name or number.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("game.example")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def connectable(host: str) -> tuple[str, ...]:
    """Return where to connect for ``host``, one after the other.

    ``localhost`` is this machine whatever a resolver answers (RFC 6761, section 6.3): fair play and
    proxies are decided by the name.

    >>> connectable("localhost"), connectable("game.example")
    (('127.0.0.1', '::1'), ('game.example',))
    """
    return ("127.0.0.1", "::1") if host == "localhost" else (host,)
