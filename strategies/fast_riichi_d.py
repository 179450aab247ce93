"""Strategy D of Nakano 2021: A with calls and folding."""

from dataclasses import dataclass
from typing import ClassVar

from mjbot import Action, Strength, View
from mjbot.strategies.evaluation.fast_riichi.calls import (
    call_that_raises_value,
    keep_tenpai,
    pon_value_honour,
)
from mjbot.strategies.evaluation.fast_riichi.steps import DiscardPoints, FastRiichi, Folding


@dataclass
class FastRiichiD(Folding, FastRiichi):
    """Call for speed while the table is quiet, fold as soon as it is not.

    Plays as fast-riichi-b, with the safety of a tile added to the value of its discard.  While
    an opponent is in riichi or the wall runs out, it makes no calls and gives an open tenpai up
    for safety; an own riichi still comes first.
    """

    players: ClassVar[tuple[int, ...]] = (3, 4)
    strength: ClassVar[Strength] = Strength(
        2.235,
        0.039,
        "fast-riichi-a",
        "mjbot arena fold-recognition-plus fast-riichi-b fast-riichi-d fast-riichi-a --format 1v3"
        " --games 6500 --seed 6",
        "2026-11-22",
    )

    def decide(self, view: View) -> Action:
        """Win, else riichi, else call and keep tenpai unless threatened, else discard."""
        return (
            self.win(view)
            or self.kita(view)
            or self.riichi(view)
            or (None if self.threatened(view) else self.call(view))
            or self.discard(view)
            or view.default_action
        )

    def call(self, view: View) -> Action | None:
        """Open and play an open hand as fast-riichi-b does."""
        return (
            pon_value_honour(view) or call_that_raises_value(view, self) or keep_tenpai(view, self)
        )

    def rate(self, view: View) -> DiscardPoints:
        """Return the points of discarding each tile: speed and safety."""
        return super().rate(view) + self.safety(view)
