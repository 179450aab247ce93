"""The two of a pair as players of a match, with the channel between them."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mjbot.play.client.pair_channel import SECRET_VARIABLE, End
from mjbot.play.match.players import MatchPlayer, free_port
from mjbot.runtime.redaction import conceal
from mjbot.strategy.pair.fair_play import team_names
from mjbot.strategy.pair.session import Side
from mjbot.strategy.pair.socket_link import ChannelAddress, fits_a_socket
from mjbot.strategy.registry import Spec

SECRET_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True)
class Member(MatchPlayer):
    """One of the two; ``more`` are further arguments of ``mjbot play``."""

    ally: Spec
    end: End
    secret: str = field(repr=False)
    more: tuple[str, ...] = ()

    @property
    def environ(self) -> Mapping[str, str]:
        """The shared secret: a command line could be read by every user of this machine."""
        return {SECRET_VARIABLE: self.secret}

    def command(self, url: str, games: int, deadline_s: float | None = None) -> list[str]:
        """Return the command line that plays at ``url`` with its end of the channel."""
        channel = ["--pair", str(self.end), "--ally", str(self.ally)]
        command = super().command(_named(url, self.name), games, deadline_s)
        return [*command, *channel, *self.more]


@dataclass(frozen=True)
class PairChannel:
    """Where the two meet, and what both know."""

    address: ChannelAddress
    secret: str = field(repr=False)


@contextlib.contextmanager
def private_channel() -> Iterator[PairChannel]:
    """Give a channel that only this user can reach, or on loopback where that is not to be had."""
    secret = secrets.token_hex(SECRET_BYTES)
    conceal(secret)
    with tempfile.TemporaryDirectory(prefix="mjbot-pair-") as folder:  # for this user only
        file = Path(folder, "channel")
        yield PairChannel(file if fits_a_socket(file) else free_port(), secret)


def make_members(
    name: str, specs: Sequence[Spec], channel: PairChannel, more: Sequence[Sequence[str]] = ((), ())
) -> tuple[Member, Member]:
    """Return the two of a pair, ``specs`` the top's and the partner's, under their team names."""
    first, second = (
        Member(
            spec=spec,
            name=team_name,
            plays_on=True,
            ally=ally,
            end=End(side, channel.address),
            secret=channel.secret,
            more=tuple(arguments),
        )
        for spec, ally, team_name, side, arguments in zip(
            specs, reversed(specs), team_names(name), (Side.HOST, Side.GUEST), more, strict=True
        )
    )
    return first, second


def _named(url: str, name: str) -> str:
    """Return the URL with the name in it where that is the only way to send it: WebSockets.

    >>> _named("ws://localhost/ws", "crane (team 1/2)")
    'ws://localhost/ws?name=crane+%28team+1%2F2%29'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss"):
        return url
    others = [field for field in parts.query.split("&") if field and not _is_name(field)]
    query = "&".join([*others, urlencode({"name": name})])
    return urlunsplit(parts._replace(query=query))


def _is_name(field: str) -> bool:
    return "name" in dict(parse_qsl(field, keep_blank_values=True))
