"""Strategy A of Nakano 2021."""

from dataclasses import dataclass

from mjbot import DECIDES_TURNS, DECIDES_WINS, Action, View
from mjbot.strategies.evaluation.fast_riichi.steps import FastRiichi


@dataclass
class FastRiichiA(FastRiichi):
    """The first to declare riichi wins: race to tenpai, never call, never fold.

    Each discard is the one after which one more draw makes the most melds and head and leaves
    the most tiles to wait for.  Riichi as soon as a closed tenpai is not furiten.
    """

    decides = DECIDES_TURNS | DECIDES_WINS
    players = (3, 4)

    def decide(self, view: View) -> Action:
        """Win, else riichi, else the fastest discard; pass on everything else."""
        return (
            self.win(view)
            or self.kita(view)
            or self.riichi(view)
            or self.discard(view)
            or view.default_action
        )
