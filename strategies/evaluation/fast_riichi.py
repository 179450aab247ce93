"""The steps that the strategies fast-riichi-a .. -d are put together from.

Source: Nakano, "Development of a mahjong AI that aims to win quickly", Kindai University 2021,
section 3.2 and the listing in its appendix.  Where the two differ:

* The text rates a discard by the best draw that may follow, the listing by the sum over all
  draws.  The listing is what was run, so it is the default (option ``lookahead``).
* The listing declares riichi before it looks for furiten; the text is followed.
* The listing adds the meld that a call makes to the sum over all draws once, as if it were the
  value of one draw, so that a call hardly ever pays.  Here melds count in each draw's value.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

import numpy as np

from mjbot.compiled import compiled
from mjbot.strategy import Strategy
from mjbot.table.actions import DECLARE_RIICHI, NINE_TERMINALS, RON, TSUMO, Action
from mjbot.table.state import RIICHI
from mjbot.table.view import View
from protocol.tiles import N_KINDS, N_TILES, tile_kind
from strategies.evaluation.draws import Counts, Numbers, discard_values, hand_value
from strategies.evaluation.tenpai import tiles_of, waits_by_discard

ALL_KINDS: Final = range(N_KINDS)

Points = Numbers
"""Points of the 37 tiles, int64."""


@dataclass
class FastRiichi(Strategy):
    """Steps return the action they stand for, or ``None`` to leave it to the next step."""

    worth_unit: ClassVar[str] = "rating points"

    lookahead: Literal["appendix", "text"] = field(
        default="appendix", metadata={"unit": "appendix: sum of all draws, text: best draw"}
    )
    block_points: int = field(default=50, metadata={"unit": "points per meld or head"})
    dora_points: int = field(default=1, metadata={"unit": "points per dora or red five kept"})

    def win(self, view: View) -> Action | None:
        """Tsumo and ron whenever they are legal, and the draw by nine terminals."""
        for action in reversed(view.legal):
            if action.code < DECLARE_RIICHI:  # only discards from here on
                return None
            if action.code in (TSUMO, RON, NINE_TERMINALS):
                return action
        return None

    def riichi(self, view: View, kinds: Collection[int] = ALL_KINDS) -> Action | None:
        """Declare riichi if some discard (of these kinds) leaves tenpai without furiten.

        Then discard the best of them.  At least one copy of the waits must be unseen, as in the
        listing.
        """
        if view.phase == RIICHI:
            return self.discard(view, self._ready(view, kinds) or self._ready(view) or ALL_KINDS)
        for action in reversed(view.legal):
            if action.code <= DECLARE_RIICHI:
                declare = action.code == DECLARE_RIICHI
                return action if declare and self._ready(view, kinds) else None
        return None

    def discard(self, view: View, kinds: Collection[int] = ALL_KINDS) -> Action | None:
        """Discard the tile (of these kinds) that is rated best; of equals the drawn tile."""
        discards = [action for action in view.legal if action.code < DECLARE_RIICHI]
        if kinds is not ALL_KINDS:
            discards = [action for action in discards if tile_kind(action.tile) in kinds]
        if len(discards) < 2:
            return discards[0] if discards else None
        points = self.rate(view).tolist()
        return max(discards, key=lambda action: (points[action.tile], action.tsumogiri))

    def rate(self, view: View) -> Points:
        """Return the points of discarding each tile (0..36); override to weigh other things."""
        return self.discard_points(view, view.hand)

    def discard_worths(self, view: View) -> Sequence[float]:
        """Return the points of discarding each tile (0..36), for ``mjbot explain``."""
        points: list[float] = self.rate(view).tolist()
        return points

    def discard_points(self, view: View, hand: Counts) -> Points:
        """Return the value of a hand (int8[34], 3n+2 tiles) after each discard, less its dora."""
        own, text = view.genbutsu(view.seat), self.lookahead == "text"
        values = discard_values(hand, view.unseen, own, self.block_points, text)
        return less_dora(values, view.dora, self.dora_points)

    def hand_points(self, view: View) -> int:
        """Return the value of the hand of 3n+1 tiles as it stands."""
        own, text = view.genbutsu(view.seat), self.lookahead == "text"
        return hand_value(view.hand, view.unseen, own, self.block_points, text)

    def _ready(self, view: View, kinds: Collection[int] = ALL_KINDS) -> list[int]:
        """Return the kinds whose discard leaves tenpai, no furiten and a wait to draw."""
        own = view.genbutsu(view.seat)
        return [
            kind
            for kind, waits in waits_by_discard(view.hand, view.n_melds).items()
            if kind in kinds and not waits & (own | 1 << kind) and tiles_of(waits, view.unseen)
        ]


@compiled
def less_dora(values: Points, dora: Counts, dora_points: int) -> Points:
    """Return the points of each tile (int64[37]) from those of its kind (int64[34]).

    Dora (int8[34]) cost what they are worth when they are given up, red fives once more.
    """
    points = np.empty(N_TILES, np.int64)
    for tile in range(N_TILES):
        if tile < N_KINDS:
            points[tile] = values[tile] - dora_points * dora[tile]
        else:
            points[tile] = points[9 * (tile - N_KINDS) + 4] - dora_points
    return points
