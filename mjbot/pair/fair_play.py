"""Where two bots may play as a pair: only at tables whose operator allows teams.

Everybody at a table must know that two of the players help each other.  So the channel opens on
servers on this machine and on those that their operator has declared, never on a public ladder,
and the pair's names say what they are.
"""

from collections.abc import Iterable
from typing import Final

from mjbot.client.address import Address, is_loopback, parse_address
from protocol.dialects import Dialect

TEAM_MARK: Final = "team"


class FairPlayError(Exception):
    """A pair may not play there; the text is one line for the user."""


def require_team_table(url: str, declared: Iterable[str] = ()) -> Address:
    """Return the address of a table at which a pair may play.

    ``declared`` are the URLs of servers whose operator allows teams, host and port of which must
    match.  Raises :class:`FairPlayError` for every other server and ``ValueError`` for what is
    no URL.

    >>> require_team_table("mjsonp://localhost:11600/duo").host
    'localhost'
    >>> require_team_table("wss://game.example/ranked")
    Traceback (most recent call last):
    mjbot.pair.fair_play.FairPlayError: no pair at wss://game.example/ranked: live servers rate \
single players; play there with one bot
    """
    address = parse_address(url)
    if address.dialect is Dialect.RIICHILAB and not is_loopback(address.host):
        problem = "live servers rate single players; play there with one bot"
        raise FairPlayError(f"no pair at {url}: {problem}")
    if is_loopback(address.host) or _place(address) in map(_place, map(parse_address, declared)):
        return address
    problem = "it is not on this machine and its operator has not declared that teams may play"
    raise FairPlayError(f"no pair at {url}: {problem}")


def team_names(name: str) -> tuple[str, str]:
    """Return the names under which the two of a pair sit down.

    >>> team_names("crane")
    ('crane (team 1/2)', 'crane (team 2/2)')
    """
    return f"{name} ({TEAM_MARK} 1/2)", f"{name} ({TEAM_MARK} 2/2)"


def _place(address: Address) -> tuple[Dialect, str, int]:
    return address.dialect, address.host, address.port
