"""The open connections of one endpoint: limits in all and per address, with places in reserve.

A :class:`Guest` is one accepted connection.  It is *unnamed* until its client joins or logs in.
A full endpoint closes the oldest unnamed connection for each new one: a client that connects and
sends nothing never keeps others out.  Clients that log in cannot fill an endpoint: ``RESERVED``
places of each share stay for new connections, such as that of a player who returns to a seat.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple

logger = logging.getLogger(__name__)

MOST_GUESTS: Final = 64
"""Connections of an endpoint, all addresses together."""

MOST_OF_ADDRESS: Final = 16
"""Connections of an endpoint from one IPv4 address, or one /64 network of IPv6."""

RESERVED: Final = 4
"""Places of either share that clients cannot fill by logging in."""


class GuestLimits(NamedTuple):
    """Connections of an endpoint: ``most`` in all, ``of_address`` from one address."""

    most: int = MOST_GUESTS
    of_address: int = MOST_OF_ADDRESS


USUAL: Final = GuestLimits()

CROWDED: Final = "Too many connections. Retry after a while."


def address_text(peername: object) -> str:
    """Return a socket's ``peername`` for the log.

    >>> address_text(("127.0.0.1", 5000)), address_text(("::1", 5000, 0, 0)), address_text("")
    ('127.0.0.1:5000', '[::1]:5000', 'local')
    """
    match peername:
        case (str(host), int(port), *_):
            return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return "local"


def network_of(peername: object) -> str:
    """Return what shares the limit of one address: an IPv4 address, a /64 network of IPv6.

    A household or a machine has a whole /64 network to choose its addresses from.

    >>> network_of(("10.0.0.1", 5000)), network_of(("::ffff:10.0.0.1", 5000, 0, 0))
    ('10.0.0.1', '10.0.0.1')
    >>> network_of(("2001:db8::1", 5000, 0, 0)), network_of(("2001:db8::2:3", 9, 0, 0))
    ('2001:db8::/64', '2001:db8::/64')
    """
    match peername:
        case (str(host), int(), *_):
            address = ip_address(host.partition("%")[0])
            if not isinstance(address, IPv6Address):
                return str(address)
            mapped = address.ipv4_mapped
            return str(mapped or ip_network((address, 64), strict=False))
    return ""


def _ignore() -> None:
    """Close nothing: a connection in memory."""


class Guest:
    """One connection; ``close`` is called when its place is given to another.

    ``text`` names endpoint, address and port in the log.
    """

    def __init__(
        self,
        text: str = "memory",
        network: str = "",
        guests: "Guests | None" = None,
    ) -> None:
        self.text: Final = text
        self.network: Final = network
        self.is_named = False
        self.was_evicted = False
        self.close: Callable[[], object] = _ignore
        self._guests: Final = guests

    def __str__(self) -> str:
        return self.text

    def log_in(self) -> bool:
        """Name the connection; return false where the others have left no place for it."""
        self.is_named = self.is_named or self._guests is None or self._guests.may_log_in(self)
        return self.is_named

    def sit(self) -> None:
        """Name the connection of a player with a seat, whatever the limits."""
        self.is_named = True

    def leave(self) -> None:
        """Free the place; the connection is closed or is counted elsewhere."""
        if self._guests is not None:
            self._guests.forget(self)


class Guests:
    """The connections of the endpoint ``endpoint`` (a scheme such as ``mjsonp``, for the log)."""

    def __init__(self, endpoint: str, limits: GuestLimits = USUAL) -> None:
        self._endpoint: Final = endpoint
        self._limits: Final = limits
        self._guests: Final[dict[Guest, None]] = {}  # in the order of their coming

    def __len__(self) -> int:
        return len(self._guests)

    def admit(self, peername: object) -> Guest | None:
        """Return a place for a new connection from a socket's ``peername``.

        ``None`` where every place is a named client's: close the connection.
        """
        network = network_of(peername)
        neighbours = [guest for guest in self._guests if guest.network == network]
        if len(neighbours) >= self._limits.of_address:
            crowd: Iterable[Guest] = neighbours
        elif len(self._guests) >= self._limits.most:
            crowd = self._largest_crowd()
        else:
            return self._add(peername)
        return self._add(peername) if self._evict(crowd) else None

    def may_log_in(self, guest: Guest) -> bool:
        """Return whether one more named client leaves the reserved places free."""
        named = [other for other in self._guests if other.is_named]
        neighbours = [other for other in named if other.network == guest.network]
        return (
            len(named) < self._limits.most - RESERVED
            and len(neighbours) < self._limits.of_address - RESERVED
        )

    def forget(self, guest: Guest) -> None:
        """Free the place of a connection."""
        self._guests.pop(guest, None)

    def _add(self, peername: object) -> Guest:
        text = f"{self._endpoint} {address_text(peername)}"
        guest = Guest(text, network_of(peername), self)
        self._guests[guest] = None
        return guest

    def _largest_crowd(self) -> list[Guest]:
        """Return the unnamed connections of the address that has the most of them."""
        unnamed = [guest for guest in self._guests if not guest.is_named]
        crowds = Counter([guest.network for guest in unnamed]).most_common(1)
        return [guest for guest in unnamed if (guest.network, crowds[0][1]) == crowds[0]]

    def _evict(self, crowd: Iterable[Guest]) -> bool:
        """Close the oldest unnamed connection of these; return false if there is none."""
        for guest in crowd:
            if not guest.is_named:
                logger.info("%s: closed before it logged in, to make room", guest)
                guest.was_evicted = True
                self.forget(guest)
                guest.close()
                return True
        return False
