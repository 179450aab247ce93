"""A process's end of a pair's channel: how it is given one, and playing with it.

Where the channel is stands on the command line, which every user of this machine can read; the
secret only in the environment, which is the user's own.
"""

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mjbot.play.client.conversation import Meters, OwnResult
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.client.player import MakeStrategy
from mjbot.play.startup.warm_up import Make, is_ours, warm_up_alone, warm_up_pair
from mjbot.runtime.redaction import conceal
from mjbot.runtime.system import HAS_UNIX_SOCKETS, LONGEST_PATH_BYTES
from mjbot.strategy.pair.member import PairMember
from mjbot.strategy.pair.session import Side
from mjbot.strategy.pair.socket_link import (
    ChannelAddress,
    SocketLink,
    fits_a_socket,
)
from mjbot.strategy.strategy import Strategy

logger = logging.getLogger(__name__)

SECRET_VARIABLE: Final = "MJBOT_PAIR_SECRET"
SHORTEST_SECRET: Final = 16
LAST_PORT: Final = 65535
FORM: Final = "host:PLACE or guest:PLACE, PLACE a Unix domain socket's file or a port"


@dataclass(frozen=True)
class End:
    """Which side of the channel, and where it is."""

    side: Side
    address: ChannelAddress

    @classmethod
    def parse(cls, text: str) -> "End":
        """Read what :meth:`__str__` writes; raises ``ValueError``.

        >>> End.parse("guest:4711")
        End(side=<Side.GUEST: b'guest'>, address=4711)
        """
        match = re.fullmatch(r"(host|guest):(?:(\d{1,5})|(.+))", text)
        if match is None:
            raise ValueError(f"{text!r}: expected {FORM}")
        side, port, file = match.groups()
        return cls(Side(side.encode()), _socket_file(file) if port is None else _port(port))

    def __str__(self) -> str:
        return f"{self.side.value.decode()}:{self.address}"


def _port(text: str) -> int:
    if not 1 <= int(text) <= LAST_PORT:
        raise ValueError(f"port {text} of the pair's channel: expected 1 to {LAST_PORT}")
    return int(text)


def _socket_file(text: str) -> Path:
    if not HAS_UNIX_SOCKETS:
        raise ValueError(f"{text!r}: no Unix domain sockets here, expected a port")
    if not fits_a_socket(Path(text)):
        problem = f"longer than the {LONGEST_PATH_BYTES} bytes that a socket's file may have"
        raise ValueError(f"{text!r}: {problem}; name a shorter one, or a port")
    return Path(text)


def take_secret() -> bytes:
    """Return the shared secret, and leave it to no child.

    Raises ``ValueError`` if it is missing, or so short that a process that receives a proof of
    it could try all secrets of that length.
    """
    secret = os.environ.pop(SECRET_VARIABLE, "")
    conceal(secret)
    if not secret:
        raise ValueError(f"the pair's shared secret is missing: set {SECRET_VARIABLE}")
    if len(secret) < SHORTEST_SECRET:
        problem = f"too short: {SHORTEST_SECRET} characters at least, and random ones"
        raise ValueError(f"{SECRET_VARIABLE}: {problem}")
    return secret.encode()


@dataclass(frozen=True)
class Linked:
    """One of a pair at a table: its end of the channel, and what the game is warmed up with.

    ``timed(seconds, waits)`` receives the duration of each decision, and how many messages of the
    partner it waited for (0 or 1).
    """

    end: End
    secret: bytes = field(repr=False)
    make_ally: Make | None = None
    timed: Callable[[float, int], None] = lambda seconds, waits: None

    async def play(
        self, settings: Settings, make: MakeStrategy, pipes: tuple[int, int] = (0, 1)
    ) -> list[OwnResult]:
        """Play as :func:`mjbot.play.client.play.play` does; without a partner, alone."""
        link = SocketLink(self.end.side, self.end.address, self.secret)
        meters = Meters(timed=_counting(link, self.timed))
        hooks = Hooks(warm_up=lambda: self._warm_up(make), meters=meters)
        async with _open(link):
            return await play(settings, lambda game: _joined(make(game), link), pipes, hooks)

    def _warm_up(self, make: MakeStrategy) -> None:
        warm_up_alone(make(0))
        if self.make_ally is not None and is_ours(make(0)) and is_ours(self.make_ally()):
            warm_up_pair(lambda: make(0), self.make_ally)


def _joined(strategy: Strategy, link: SocketLink) -> Strategy:
    if not isinstance(strategy, PairMember):
        raise TypeError(f"{type(strategy).__name__} is no strategy for a pair")
    strategy.join_pair(link)
    return strategy


def _counting(link: SocketLink, timed: Callable[[float, int], None]) -> Callable[[float], None]:
    plural = 0

    def report(seconds: float) -> None:
        nonlocal plural
        waits, plural = link.waits - plural, link.waits
        timed(seconds, waits)

    return report


@contextlib.asynccontextmanager
async def _open(link: SocketLink) -> AsyncIterator[None]:
    """Keep the channel up; where it cannot be opened, log that and play alone."""
    task = asyncio.create_task(link.run())
    task.add_done_callback(_report)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("pair channel: cannot be opened (%s); playing alone", error)
