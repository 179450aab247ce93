"""The four-player player of Mizukami et al. 2013."""

from dataclasses import dataclass, field

import numpy as np

from mjbot.game.table.actions import Action
from mjbot.game.table.state import Phase
from mjbot.game.table.view import View
from mjbot.learning.models.fold import shared_recogniser
from mjbot.protocol.tiles import tile_kind
from mjbot.strategies.evaluation.push_fold.one_player import OnePlayer, TileScores, best_discard
from mjbot.strategies.evaluation.push_fold.push import joint_danger, seats_to_fold_to


@dataclass
class FoldRecognition(OnePlayer):
    """Playing alone is enough but for one thing: knowing when to fold.

    Discards the choice of the one-player hand evaluator, never calls, declares riichi on every
    tenpai; where a support vector machine finds that strong players would fold, discards the
    safest tile instead.
    """

    caution: float = field(
        default=0.0, metadata={"unit": "added to the machine's margin: above 0 folds more"}
    )

    def decide(self, view: View) -> Action:
        """Win, else the evaluator's choice, unless that calls for folding; riichi if it can."""
        if forced := self.win(view) or self.only(view):
            return forced
        scores = self.scores(view)
        wanted = best_discard(view.discards, scores)
        return self.fold(view, wanted, scores) or self.riichi(view, wanted) or wanted

    def fold(self, view: View, wanted: Action, scores: TileScores) -> Action | None:
        """Discard the safest tile if the recogniser decides so; of equals the hand's choice."""
        if view.phase == Phase.RIICHI:
            return None
        margin = shared_recogniser().margin(view.state, view.seat, tile_kind(wanted.tile))
        if margin + self.caution <= 0:
            return None
        danger = joint_danger(view.state, view.seat, seats_to_fold_to(view.state, view.seat))
        discards = view.discards
        least = min(danger[tile_kind(action.tile)] for action in discards)
        return best_discard(discards, np.where(danger == least, scores, -np.inf))
