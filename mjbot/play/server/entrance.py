"""Who may wait for a table: how many of one address, for how long, and who must pause first.

A player by whose reply a game became void pauses before it may sit down again, each time twice as
long.  It is known by its name (:func:`~mjbot.play.server.names.name_key`) and its address, an
account by its name alone.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from mjbot.play.server.names import name_key
from mjbot.play.server.seats import PlayerSeat
from mjbot.runtime.clock import monotonic_s

PAUSE_S: Final = 30.0
"""The first pause of a player that made a game void."""

LONGEST_PAUSE_S: Final = 3600.0

WAIT_S: Final = 3600.0
"""How long a player may wait for a game."""

CROWD: Final = "Too many players of your address are waiting. Retry after a while."


@dataclass(frozen=True)
class WaitingLimits:
    """``pause_s``: see :data:`PAUSE_S`, 0 for none; ``wait_s``: how long a player may wait.

    ``of_address``: how many of one address may wait in a room (``None``: as many as its tables
    have places).
    """

    pause_s: float = PAUSE_S
    wait_s: float = WAIT_S
    of_address: int | None = None


NO_LIMITS: Final = WaitingLimits(0.0, math.inf)


class Entrance:
    """Applies the limits; ``clock`` returns seconds."""

    def __init__(
        self,
        limits: WaitingLimits = NO_LIMITS,
        clock: Callable[[], float] = monotonic_s,
    ) -> None:
        self.limits: Final = limits
        self._clock: Final = clock
        self._pauses: Final[dict[tuple[str, str], tuple[float, float]]] = {}

    def refusal(self, seat: PlayerSeat, neighbours: Iterable[PlayerSeat], places: int) -> str:
        """Return why a player may not wait now, for the player; "" if it may.

        ``neighbours`` wait in the same room, whose tables have ``places``.
        """
        until, _ = self._pauses.get(_key(seat), (0.0, 0.0))
        if (left_s := until - self._clock()) > 0:
            return f"Your last game became void by your reply. Retry in {math.ceil(left_s)} s."
        network = seat.guest.network
        most = places if self.limits.of_address is None else self.limits.of_address
        if network and sum(other.guest.network == network for other in neighbours) >= most:
            return CROWD
        seat.waits_since = self._clock()
        return ""

    def pause(self, seat: PlayerSeat) -> float:
        """Let a player pause that made a game void; return for how many seconds."""
        now = self._clock()
        for key in [key for key, (until, s) in self._pauses.items() if now > until + s]:
            del self._pauses[key]
        _, before_s = self._pauses.get(_key(seat), (0.0, 0.0))
        pause_s = min(LONGEST_PAUSE_S, 2 * before_s or self.limits.pause_s)
        if pause_s:
            self._pauses[_key(seat)] = now + pause_s, pause_s
        return pause_s

    def overdue(self, waiting: Iterable[PlayerSeat]) -> tuple[list[PlayerSeat], float]:
        """Return the players that have waited for too long, and in how many s the next one has."""
        left = [(seat.waits_since + self.limits.wait_s - self._clock(), seat) for seat in waiting]
        late = [seat for left_s, seat in left if left_s <= 0]
        return late, min([left_s for left_s, _ in left if left_s > 0], default=math.inf)


def _key(seat: PlayerSeat) -> tuple[str, str]:
    return "" if seat.is_account else seat.guest.network, name_key(seat.name)
