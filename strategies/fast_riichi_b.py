"""Strategy B of Nakano 2021: A with calls."""

from dataclasses import dataclass
from typing import ClassVar

from mjbot import Action, Strength, View
from mjbot.strategies.evaluation.fast_riichi.calls import (
    call_that_raises_value,
    keep_tenpai,
    pon_value_honour,
)
from mjbot.strategies.evaluation.fast_riichi.steps import FastRiichi


@dataclass
class FastRiichiB(FastRiichi):
    """Calling is faster than drawing, once a pon of a value honour has secured the yaku.

    Plays as fast-riichi-a until it can pon a value honour that it holds as a pair.  From then on
    it takes every pon and chi that raises the value of its hand, and in tenpai it changes its
    waits only for wider ones.
    """

    players = (3, 4)
    strength: ClassVar[Strength] = Strength(
        2.407,
        0.033,
        "fast-riichi-a",
        "mjbot arena fold-recognition-plus fast-riichi-b fast-riichi-d fast-riichi-a --format 1v3"
        " --games 6500 --seed 6",
        "2026-11-22",
    )

    def decide(self, view: View) -> Action:
        """Win, else riichi, else call, else the fastest discard."""
        return (
            self.win(view)
            or self.kita(view)
            or self.riichi(view)
            or pon_value_honour(view)
            or call_that_raises_value(view, self)
            or keep_tenpai(view, self)
            or self.discard(view)
            or view.default_action
        )
