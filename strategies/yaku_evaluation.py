"""The "top AI" of Hamabe 2017: it plays for the nearest of eight yaku."""

from dataclasses import dataclass, field

from mjbot.strategy import Strategy
from mjbot.table.actions import DECLARE_RIICHI, RON, TSUMO, Action
from mjbot.table.view import View
from strategies.evaluation.yaku_play import best_call, best_discard, find


@dataclass
class YakuEvaluation(Strategy):
    """Play for the yaku that is nearest, of eight that can be had with calls.

    Each discard leaves the hand that scores most in its best yaku; a call is made if it raises
    that score.  Dora, danger and points play no part.
    """

    riichi: bool = field(default=True, metadata={"unit": "declare on every closed tenpai"})

    def decide(self, view: View) -> Action:
        """Win, else riichi, else call, else discard for the best yaku."""
        return (
            find(view, TSUMO)
            or find(view, RON)
            or (find(view, DECLARE_RIICHI) if self.riichi else None)
            or best_call(view)
            or best_discard(view)
            or view.default_action
        )
