"""What is played at a table, and how strictly."""

import random
from dataclasses import dataclass, field

from mjbot.rules.ruleset import Length
from mjbot.server.core import OnFault
from mjbot.server.lobby import PLACES
from protocol.request_session import TimeLimits


@dataclass(frozen=True, kw_only=True)
class TableRules:
    """What is played at a table, and how strictly.

    Game ``n`` (from 0) has the walls of ``seed + n`` and, unless ``fixed_seats``, seats shuffled
    by the same number.  ``timeout_s`` is per TCP reply, ``join_timeout_s`` for the join alone
    (a client may have to compile first), ``limits`` are for WebSocket players.
    """

    seed: int
    length: Length = "hanchan"
    fixed_seats: bool = False
    timeout_s: float = 60.0
    join_timeout_s: float = 300.0
    on_fault: OnFault = OnFault.ABORT
    limits: TimeLimits = field(default_factory=TimeLimits)

    def seating(self, game: int) -> list[int]:
        """Return the place (order of joining) of seat 0, 1, 2 and 3 in game ``game``."""
        places = list(range(PLACES))
        if not self.fixed_seats:
            random.Random(f"seats {self.seed + game}").shuffle(places)
        return places
