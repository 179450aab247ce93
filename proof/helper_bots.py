"""Bots that help one player without a channel: they see what every opponent sees.

Each is `fast-riichi-d` wherever the player ``ally`` does not sit; the ally itself plays as always.
They are what :mod:`proof.helpers` measures the detector of helpers with.
"""

from dataclasses import dataclass, field

import numpy as np

from mjbot import Action, View
from mjbot.game.table.actions import ACTIONS
from mjbot.game.table.assume import assume_harmless
from mjbot.game.table.state import Phase
from mjbot.protocol.tiles import FIRST_HONOUR, tile_kind
from mjbot.strategies.evaluation.fast_riichi.steps import DiscardPoints, dangers
from mjbot.strategies.fast_riichi_d import FastRiichiD

OPEN_MELDS = 2
"""From so many calls on the ally is taken to be about to win."""
LATE_TILES = 30
"""With fewer tiles to draw a hand with any call is taken to be about to win."""


@dataclass
class Helper(FastRiichiD):
    """Knows at which seat its ally sits, and whether it threatens to win."""

    ally: str = field(default="", metadata={"unit": "name of the player that is helped"})

    def __post_init__(self) -> None:
        self.seat_of_ally = -1

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Find the ally."""
        others = [other for other, name in enumerate(names) if name == self.ally and other != seat]
        self.seat_of_ally = others[0] if others else -1

    def ally_threatens(self, view: View) -> bool:
        """Whether the ally is in riichi, has called twice, or once when the wall runs out."""
        seat = self.seat_of_ally
        if seat < 0:
            return False
        calls = len(view.melds(seat)) if view.is_open(seat) else 0
        late = view.wall_left < LATE_TILES
        return view.riichi(seat) or calls >= OPEN_MELDS or (calls > 0 and late)

    def wins_from_ally(self, view: View) -> bool:
        """Whether the tile on offer is the ally's."""
        return view.phase is not Phase.TURN and view.turn == self.seat_of_ally


@dataclass
class FoldsFor(Helper):
    """Stops competing as soon as its ally threatens to win, and never wins off its ally."""

    def decide(self, view: View) -> Action:
        """Choose, with regard to the ally."""
        if not self.ally_threatens(view):
            if self.seat_of_ally >= 0 and self.wins_from_ally(view):
                return view.default_action
            return super().decide(view)
        if not view.discards:
            return view.default_action
        return self.discard(view) or view.default_action

    def rate(self, view: View) -> DiscardPoints:
        """Return the points of discarding each tile, with regard to the ally."""
        if not self.ally_threatens(view):
            return super().rate(view)
        return self.safety(view)


@dataclass
class DealsInLate(Helper):
    """Discards what its ally may need most once that threatens to win; else plays as always."""

    def decide(self, view: View) -> Action:
        """Choose, with regard to the ally."""
        if not self.ally_threatens(view):
            return super().decide(view)
        if not view.discards:
            return view.default_action if self.wins_from_ally(view) else super().decide(view)
        return self.win(view) or self.discard(view) or view.default_action

    def rate(self, view: View) -> DiscardPoints:
        """Return the points of discarding each tile, with regard to the ally."""
        if not self.ally_threatens(view):
            return super().rate(view)
        safe, seat = view.genbutsu(self.seat_of_ally), self.seat_of_ally
        points = np.zeros(37, np.int64)
        for tile in {ACTIONS[code].tile for code in view.discard_codes}:
            kind = tile_kind(tile)
            middle = 2 - abs(kind % 9 - 4) // 2 if kind < FIRST_HONOUR else 0
            needed = 0 if safe >> kind & 1 else 4 + middle
            others = sum(
                view.riichi(other) and not view.genbutsu(other) >> kind & 1
                for other in range(4)
                if other not in (view.seat, seat)
            )
            points[tile] = 10 * needed - 100 * others
        return points


@dataclass
class HalfAgainst(Helper):
    """Values half its own points, and half what the two others lose; the ally's count for nothing.

    What it deals in to its ally costs its own half; to another, both halves: dangers count half
    towards the ally and double towards the others.  It passes an ally's cheap discard only if
    another player leads, whom the ally may overtake.
    """

    def decide(self, view: View) -> Action:
        """Choose, with regard to the ally."""
        if self.seat_of_ally >= 0 and self.wins_from_ally(view) and self.rival_leads(view):
            return view.default_action
        return super().decide(view)

    def rival_leads(self, view: View) -> bool:
        """Whether one of the two others is first."""
        scores = view.scores.tolist()
        return int(np.argmax(scores)) not in (view.seat, self.seat_of_ally)

    def threatened(self, view: View) -> bool:
        """Whether one of the two others is in riichi, or the wall is running out."""
        if self.seat_of_ally < 0:
            return super().threatened(view)
        rivals = [seat for seat in range(4) if seat not in (view.seat, self.seat_of_ally)]
        return any(map(view.riichi, rivals)) or view.wall_left < self.late_tiles

    def safety(self, view: View) -> DiscardPoints:
        """Return the points of each tile for its safety: towards the ally half, others double."""
        if self.seat_of_ally < 0:
            return super().safety(view)
        late = self.late_factor if view.wall_left < self.late_tiles else 1
        whole = dangers(view.state, view.seat, view.unseen, late, late * self.riichi_factor)
        state = view.state.copy()
        for seat in range(4):
            if seat not in (view.seat, self.seat_of_ally):
                assume_harmless(state, seat)
        of_ally = dangers(state, view.seat, view.unseen, 0, late * self.riichi_factor)
        points: DiscardPoints = self.safest - 2 * whole + 3 * of_ally // 2
        return points
