"""The baseline of Mizukami et al. 2013: fold-recognition without the recogniser."""

from dataclasses import dataclass

from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.strategies.evaluation.push_fold.one_player import OnePlayer, best_discard


@dataclass
class FoldRecognitionOff(OnePlayer):
    """Playing alone is enough: the one-player player at a table of four, never folding.

    Discards the choice of the one-player hand evaluator, never calls, declares riichi on every
    tenpai.
    """

    def decide(self, view: View) -> Action:
        """Win, else riichi, else the hand evaluator's choice."""
        if forced := self.win(view) or self.only(view):
            return forced
        wanted = best_discard(view.discards, self.scores(view))
        return self.riichi(view, wanted) or wanted
