"""Where two bots may play as a pair: only at tables whose operator allows teams.

Everybody at a table must know that two of the players help each other.  So the channel opens on
servers on this machine and on those that their operator has declared, never on a public ladder,
and the pair's names identify them.

What is behind a pipe (``stdio:``) cannot be seen: it counts as a server elsewhere, where a pair may
play only if it is declared by that very name.  That stays, as it does for a declared host: the
declaration is the user's word, and a relay to a ladder would break it either way.  No tool of ours
is such a relay: ``mjbot chaos`` stands only before servers of this machine.

Tenhou's operator allows a program only after having been asked.  So over that wire even one bot
plays elsewhere than on this machine only where the user names who has permitted it.  The same holds
for ``mjbot check`` at every server: its clients disconnect, stay silent and send illegal actions.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from mjbot.protocol.dialects import Dialect
from mjbot.protocol.plain_text import has_letters
from mjbot.protocol.transports.address import Address, is_loopback, parse_address
from mjbot.runtime.errors import ExitCode, MjbotError

TEAM_MARK: Final = "team"


class FairPlayError(MjbotError):
    """A pair may not play there; the text is one line for the user."""

    exit_code = ExitCode.BAD_ARGUMENTS


def require_team_table(url: str, declared: Iterable[str] = ()) -> Address:
    """Return the address of a table at which a pair may play.

    ``declared`` are the URLs of servers whose operator allows teams, host and port of which must
    match.  Raises :class:`FairPlayError` for every other server and ``ValueError`` for what is
    no URL.

    >>> require_team_table("mjsonp://localhost:11600/duo").host
    'localhost'
    >>> require_team_table("wss://game.example/ranked")
    Traceback (most recent call last):
    mjbot.strategy.pair.fair_play.FairPlayError: no pair at wss://game.example/ranked: live \
servers rate single players, --team-table or not; play there with one bot, or as a pair over \
mjsonp://
    """
    address = parse_address(url)
    if address.dialect.traits.rates_players and not is_loopback(address.host):
        problem = "live servers rate single players, --team-table or not"
        cure = "play there with one bot, or as a pair over mjsonp://"
        raise FairPlayError(f"no pair at {url}: {problem}; {cure}")
    if is_loopback(address.host) or _place(address) in map(_place, map(parse_address, declared)):
        return address
    problem = "it is not on this machine and its operator has not declared that teams may play"
    raise FairPlayError(f"no pair at {url}: {problem}")


def require_permission(address: Address, permitted_by: str | None) -> None:
    """Raise :class:`FairPlayError` if a program may not play there without permission.

    ``permitted_by`` is the user's text: who gave permission, to which account.

    >>> require_permission(parse_address("tenhou://localhost:10080"), None)
    >>> require_permission(parse_address("tenhou://game.example:10080"), None)
    Traceback (most recent call last):
    mjbot.strategy.pair.fair_play.FairPlayError: no program at tenhou://game.example:10080 without \
its operator's permission: ask there first, then add --permitted-by "who gave it, and to which \
account"
    """
    if not address.dialect.traits.is_tenhou:
        if permitted_by is not None:
            raise FairPlayError("--permitted-by: only for a tenhou:// server")
        return
    _require_operator("program", address, permitted_by, "who gave it, and to which account")


def require_permission_to_check(address: Address, permitted_by: str | None) -> None:
    """Raise :class:`FairPlayError` unless a server is on this machine or its operator permits it.

    >>> require_permission_to_check(parse_address("ws://[::1]:8000/ws"), None)
    >>> require_permission_to_check(parse_address("ws://game.example/ws"), None)
    Traceback (most recent call last):
    mjbot.strategy.pair.fair_play.FairPlayError: no check at ws://game.example/ws without its \
operator's permission: ask there first, then add --permitted-by "who gave it"
    """
    _require_operator("check", address, permitted_by, "who gave it")


def _require_operator(what: str, address: Address, permitted_by: str | None, who: str) -> None:
    if is_loopback(address.host) or has_letters(permitted_by or ""):
        return
    problem = f"no {what} at {address.url} without its operator's permission"
    raise FairPlayError(f'{problem}: ask there first, then add --permitted-by "{who}"')


def team_names(name: str) -> tuple[str, str]:
    """Return the names under which the two of a pair sit down.

    >>> team_names("crane")
    ('crane (team 1/2)', 'crane (team 2/2)')
    """
    return f"{name} ({TEAM_MARK} 1/2)", f"{name} ({TEAM_MARK} 2/2)"


def require_team_name(name: str, source: str) -> None:
    """Raise :class:`FairPlayError` if a name at the table does not contain *team*.

    ``source`` is the option that sets it.

    >>> require_team_name("crane (team 1/2)", "--name")
    >>> require_team_name("crane", "--name")
    Traceback (most recent call last):
    mjbot.strategy.pair.fair_play.FairPlayError: --name 'crane': the name of one of a pair must \
show that it is of a team, as 'crane (team 1/2)' does
    """
    # An invisible character would split a word here that players read as one.
    if name.isprintable() and TEAM_MARK in re.findall(r"[^\W\d_]+", name.lower()):
        return
    visible = "".join(filter(str.isprintable, name))
    example = team_names(visible or "crane")[0]
    problem = f"the name of one of a pair must show that it is of a team, as {example!r} does"
    raise FairPlayError(f"{source} {repr(name) if name else 'is missing'}: {problem}")


def require_team_name_in(url: str) -> None:
    """Do as :func:`require_team_name` for WebSockets, where the table reads ``?name=``."""
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    for name in [value for key, value in pairs if key == "name"] or [""]:
        require_team_name(name, f"URL {url!r}, ?name=")


def _place(address: Address) -> tuple[Dialect, str, int]:
    return address.dialect, address.host, address.port
