"""Strategy C of Nakano 2021: A with folding."""

from dataclasses import dataclass

from mjbot import DECIDES_TURNS, DECIDES_WINS, Action, View
from mjbot.strategies.evaluation.fast_riichi.steps import DiscardPoints, FastRiichi, Folding


@dataclass
class FastRiichiC(Folding, FastRiichi):
    """A hand that is not tenpai does not justify a deal-in: race to riichi, but fold to one.

    Plays as fast-riichi-a, with the safety of a tile added to the value of its discard.  An own
    riichi comes before folding.
    """

    decides = DECIDES_TURNS | DECIDES_WINS
    players = (3, 4)

    def decide(self, view: View) -> Action:
        """Win, else riichi, else the fastest discard that is safe enough."""
        return (
            self.win(view)
            or self.kita(view)
            or self.riichi(view)
            or self.discard(view)
            or view.default_action
        )

    def rate(self, view: View) -> DiscardPoints:
        """Return the points of discarding each tile: speed and safety."""
        return super().rate(view) + self.safety(view)
