"""Where players wait for a table: the rooms, their players, and their games."""

import asyncio
import contextlib
import logging
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from mjbot.play.server.core import OnFault
from mjbot.play.server.entrance import Entrance
from mjbot.play.server.seats import PlayerSeat
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import RANKED, Length, Rules
from mjbot.protocol.sessions.lockstep_server import BUSY
from mjbot.protocol.sessions.request_server import TimeLimits

logger = logging.getLogger(__name__)

PLACES: Final = RANKED.players
"""How many play at a table, unless its rules name another number."""
CLOSED: Final = "The table is closed."


class BusyError(ValueError):
    """All places of the room are taken, or the table is closed; the text is for the client."""


class Lobby:
    """The places of a table (0, 1, ..., in the order of joining), each in one room.

    An ordinary table has one room with all of them; a match gives every player a room of its own,
    and so identifies it.
    """

    def __init__(
        self, rooms: Mapping[str, tuple[int, ...]], entrance: Entrance | None = None
    ) -> None:
        self.rooms: Final = dict(rooms)
        self.places = sum(map(len, rooms.values()))
        """How many play at a table."""
        self.entrance: Final = entrance or Entrance()
        self._dismissals: Final[set[asyncio.Task[None]]] = set()
        self._players: dict[int, PlayerSeat] = {}
        self._playing = False
        self._closed = False
        self._changed = asyncio.Event()
        self._closing: Final = asyncio.Event()

    def is_busy(self, room: str) -> bool:
        """Return whether the room has no free place."""
        taken = all(place in self._players for place in self.rooms[room])
        return self._closed or self._playing or taken

    def take(self, room: str, player: PlayerSeat) -> int:
        """Give the player the room's first free place; raises :class:`BusyError`."""
        if self.is_busy(room):
            raise BusyError(CLOSED if self._closed else BUSY)
        self._admit(player, (), self.places)
        place = next(place for place in self.rooms[room] if place not in self._players)
        self._players[place] = player
        self._changed.set()
        return place

    def _admit(self, player: PlayerSeat, neighbours: Iterable[PlayerSeat], places: int) -> None:
        """Raise :class:`BusyError` where a player may not wait now."""
        if refusal := self.entrance.refusal(player, neighbours, places):
            raise BusyError(refusal)

    def log_join(self, player: PlayerSeat) -> None:
        """Log that a player has taken a place."""
        self._log(player, "joined")

    def _log(self, player: PlayerSeat, event: str) -> None:
        count = f"{len(self._players)} of {self.places} players"
        logger.info("%s: %s %s, %s", player.guest, one_line(player.name), event, count)

    def leave(self, player: PlayerSeat) -> bool:
        """Free the place of a player that left before the game; return false during it."""
        if not self._playing and any(other is player for other in self._players.values()):
            self._players = {
                at: other for at, other in self._players.items() if other is not player
            }
            self._log(player, "left before the game")
        return not self._playing

    @property
    def waiting(self) -> list[PlayerSeat]:
        """The players of a game that has not begun."""
        return [] if self._playing else list(self._players.values())

    @property
    def is_closed(self) -> bool:
        """Whether no further game begins."""
        return self._closed

    def close(self) -> list[PlayerSeat]:
        """Let no further game begin; return the players that waited for one."""
        waiting = self.waiting
        self._closed = True
        self._closing.set()
        if waiting:
            self._players = {}
        self._changed.set()
        return waiting

    async def closes_within(self, seconds: float) -> bool:
        """Wait for so long; return whether the lobby is closed, as soon as it is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        return self._closed

    async def gather(self) -> list[PlayerSeat]:
        """Wait for all players; return them by place, none once the lobby is closed."""
        while len(self._players) < self.places and not self._closed:
            self._changed.clear()
            await self._wait_for_change()
        if self._closed:
            return []
        self._playing = True
        return [self._players[place] for place in range(self.places)]

    async def _wait_for_change(self) -> None:
        """Wait until something changes; meanwhile dismiss who has waited for too long."""
        _, left_s = self.entrance.overdue(self.waiting)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if left_s == math.inf else left_s):
                await self._changed.wait()
        late, _ = self.entrance.overdue(self.waiting)
        self.dismiss(late, f"No game began within {self.entrance.limits.wait_s:g} s.")

    def dismiss(self, players: Iterable[PlayerSeat], reason: str) -> None:
        """Send waiting players away, without waiting for them to go."""
        for player in players:
            self.leave(player)
            task = asyncio.create_task(player.dismiss(reason))
            self._dismissals.add(task)
            task.add_done_callback(self._dismissals.discard)

    def reopen(self) -> None:
        """Free all places for the next game."""
        self._players = {}
        self._playing = False


@dataclass(frozen=True, kw_only=True)
class TableRules:
    """What is played at a table, and how strictly.

    ``rules`` may be a length alone, all else by the default rules.
    Game ``n`` (from 0) has the walls of ``seed + n`` and, unless ``fixed_seats``, seats shuffled
    by the same number.  ``timeout_s`` is per TCP reply, ``join_timeout_s`` for the join
    after a connection, ``limits`` are for WebSocket players, ``tenhou_limits``
    for Tenhou clients (``None``: as the table that they ask for has them).
    """

    seed: int
    rules: Rules | Length = RANKED
    fixed_seats: bool = False
    timeout_s: float = 60.0
    join_timeout_s: float = 60.0
    on_fault: OnFault = OnFault.ABORT
    limits: TimeLimits = field(default_factory=TimeLimits)
    tenhou_limits: TimeLimits | None = None

    @property
    def game(self) -> Rules:
        """The rules of a game."""
        return self.rules if isinstance(self.rules, Rules) else Rules(length=self.rules)

    def seating(self, game: int) -> list[int]:
        """Return the place (order of joining) of seat 0, 1, 2, ... in game ``game``."""
        places = list(range(self.game.players))
        if not self.fixed_seats:
            random.Random(f"seats {self.seed + game}").shuffle(places)
        return places
