"""Several tables behind the same endpoints: rooms by name, and in each a queue for its tables.

A client that joins a room waits in its queue.  As soon as a table of the room is free and enough
players wait, :meth:`Hall.seat_players` seats a table: the one that has waited longest, and with it

* by ``first-come``: the next ones in the order of joining;
* by ``rotate``: those that it, and those already chosen, have met least often
  (:mod:`mjbot.play.server.meetings`); ``gather_s`` is how long the queue is given to grow before
  that.

Each table is a :class:`~mjbot.play.server.lobby.Lobby` of its own, as if it were alone.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from mjbot.play.server.entrance import Entrance, WaitingLimits
from mjbot.play.server.lobby import CLOSED, PLACES, BusyError, Lobby
from mjbot.play.server.meetings import Meetings
from mjbot.play.server.seats import PlayerSeat
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.sessions.lockstep_server import BUSY

logger = logging.getLogger(__name__)

TableState = Literal["playing", "waiting", "closed"]
Pairing = Literal["first-come", "rotate"]
ONE_ROOM: Final = "table"
"""The only room of a table's own lobby."""
NO_TABLE: Final = "The tables of this room are closed: their games cannot be recorded. Retry later."
WAITING_PER_TABLE: Final = 8
"""Players that may wait in a room for each of its tables."""


class Hall(Lobby):
    """``rooms`` names the rooms and how many tables each has, all for ``places`` players."""

    def __init__(
        self,
        rooms: Mapping[str, int],
        pairing: Pairing = "first-come",
        gather_s: float = 0.0,
        entrance: Entrance | None = None,
        places: int = PLACES,
    ) -> None:
        super().__init__(dict.fromkeys(rooms, ()), entrance or Entrance(WaitingLimits()))
        self.places = places
        self.tables: Final = {
            room: [TableLobby(self, room) for _ in range(count)] for room, count in rooms.items()
        }
        self._queues: Final[dict[str, list[PlayerSeat]]] = {room: [] for room in rooms}
        self._pairing: Final = pairing
        self._gather_s: Final = gather_s if pairing == "rotate" else 0.0
        self._meetings: Final = Meetings()

    def is_busy(self, room: str) -> bool:
        """Return whether the room's queue is full, or no game begins there."""
        most = WAITING_PER_TABLE * len(self.tables[room])
        return self._closed or self.is_shut(room) or len(self._queues[room]) >= most

    def is_shut(self, room: str) -> bool:
        """Return whether none of the room's tables can write its records."""
        return all(lobby.problem for lobby in self.tables[room])

    def dismiss_room(self, room: str) -> None:
        """Send the room's waiting players away where none of its tables begins a game."""
        if self.is_shut(room):
            self.dismiss(list(self._queues[room]), NO_TABLE)

    def take(self, room: str, player: PlayerSeat) -> int:
        """Let a player wait in the room's queue; raises :class:`BusyError`."""
        if self.is_busy(room):
            raise BusyError(CLOSED if self._closed else NO_TABLE if self.is_shut(room) else BUSY)
        self._admit(player, self._queues[room], self.places * len(self.tables[room]))
        self._queues[room].append(player)
        self._changed.set()
        return len(self._queues[room]) - 1

    def log_join(self, player: PlayerSeat) -> None:
        """Log that a player has joined a queue, or sits at a table already."""
        self._log_queue(player, "joined")

    def _log_queue(self, player: PlayerSeat, event: str) -> None:
        waiting = sum(map(len, self._queues.values()))
        logger.info("%s: %s %s, %d waiting", player.guest, one_line(player.name), event, waiting)

    def leave(self, player: PlayerSeat) -> bool:
        """Free the place of a player that left before its game; return false during it."""
        for queue in self._queues.values():
            if any(other is player for other in queue):
                queue[:] = [other for other in queue if other is not player]
                self._log_queue(player, "left the queue")
                return True
        for lobby in self._lobbies():
            if lobby.has(player):
                return lobby.leave(player)
        return True

    @property
    def waiting(self) -> list[PlayerSeat]:
        """The players that wait for a game."""
        queued = [player for queue in self._queues.values() for player in queue]
        return queued + [player for lobby in self._lobbies() for player in lobby.waiting]

    def queue_length(self, room: str) -> int:
        """Return how many wait in a room's queue."""
        return len(self._queues[room])

    def close(self) -> list[PlayerSeat]:
        """Let no further game begin; return the players that waited for one."""
        waiting = [player for queue in self._queues.values() for player in queue]
        for queue in self._queues.values():
            queue.clear()
        for lobby in self._lobbies():
            waiting += lobby.close()
        self._closed = True
        self._closing.set()
        self._changed.set()
        return waiting

    def notice(self) -> None:
        """Something has changed at a table."""
        self._changed.set()

    async def seat_players(self) -> None:
        """Seat waiting players, as long as the hall is open."""
        while not self._closed:
            self._changed.clear()
            for room in self.rooms:
                while self._gather_s and self._may_seat(room) and not self._is_crowded(room):
                    before = len(self._queues[room])
                    await asyncio.sleep(self._gather_s)
                    if len(self._queues[room]) <= before:
                        break
                while lobby := self._may_seat(room):
                    self._seat_at(lobby, room)
            await self._wait_for_change()

    # --- inside ------------------------------------------------------------------------------

    def _lobbies(self) -> "Iterable[TableLobby]":
        return [lobby for lobbies in self.tables.values() for lobby in lobbies]

    def _may_seat(self, room: str) -> "TableLobby | None":
        """Return a free table for which enough players wait, one that lacks the fewest first."""
        free = [lobby for lobby in self.tables[room] if lobby.missing]
        if self._closed or not free:
            return None
        lobby = min(free, key=lambda each: each.missing)
        return lobby if len(self._queues[room]) >= lobby.missing else None

    def _is_crowded(self, room: str) -> bool:
        """Whether enough players wait for all of the room's free tables."""
        missing = sum(lobby.missing for lobby in self.tables[room])
        return len(self._queues[room]) >= missing

    def _seat_at(self, lobby: "TableLobby", room: str) -> None:
        queue, sitting = self._queues[room], [player.name for player in lobby.waiting]
        while lobby.missing:
            at = 0
            if sitting and self._pairing == "rotate":
                at = self._meetings.choose([player.name for player in queue], sitting)
            player = queue.pop(at)
            sitting.append(player.name)
            lobby.take(ONE_ROOM, player)
        if self._pairing == "rotate":
            self._meetings.note(sitting, [player.name for player in queue])


class TableLobby(Lobby):
    """The lobby of one table of a hall."""

    def __init__(self, hall: Hall, room: str) -> None:
        super().__init__({ONE_ROOM: tuple(range(hall.places))}, hall.entrance)
        self._hall: Final = hall
        self.room: Final = room
        self.problem = ""
        """Why no game begins there at present."""

    @property
    def missing(self) -> int:
        """How many players it still needs for a game; 0 while one is played, or none begins."""
        is_open = not (self._playing or self._closed or self.problem)
        return self.places - len(self._players) if is_open else 0

    @property
    def state(self) -> TableState:
        """What the table does."""
        return "closed" if self.problem else "playing" if self._playing else "waiting"

    @property
    def names(self) -> list[str]:
        """The names of the players at the table."""
        return [player.name for player in self._players.values()]

    def _admit(self, player: PlayerSeat, neighbours: Iterable[PlayerSeat], places: int) -> None:
        """Whoever comes from the queue was admitted there."""

    def has(self, player: PlayerSeat) -> bool:
        """Return whether a player sits there."""
        return any(other is player for other in self._players.values())

    def leave(self, player: PlayerSeat) -> bool:
        """See :meth:`Lobby.leave`."""
        is_free = super().leave(player)
        self._hall.notice()
        return is_free

    def shut(self, problem: str) -> None:
        """Begin no game until :meth:`open_again`; where all of the room are shut none waits."""
        self.problem = problem
        self.reopen()
        self._hall.dismiss_room(self.room)

    def open_again(self) -> None:
        """Begin games again."""
        self.problem = ""
        self._hall.notice()

    def reopen(self) -> None:
        """See :meth:`Lobby.reopen`."""
        super().reopen()
        self._hall.notice()
