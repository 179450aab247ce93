"""The one-player player in a game of four: wins, riichi, and the hand evaluator's discard.

Source: Mizukami et al. 2013, section 8.  What it leaves open:
docs/strategies/fold-recognition.md.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import waits
from mjbot.game.table.actions import DECIDES_TURNS, DECIDES_WINS, Action
from mjbot.game.table.view import View
from mjbot.learning.models.fold import FEATURE_SET
from mjbot.learning.models.hand import HandEvaluator
from mjbot.protocol.tiles import RED_FIVES, tile_kind
from mjbot.runtime.languages import marked
from mjbot.strategies.evaluation.facts import hand_facts
from mjbot.strategies.evaluation.push_fold.push import joint_danger, seats_to_fold_to
from mjbot.strategy.explanation import Rated, Term
from mjbot.strategy.strategy import Strategy

TileScores = NDArray[np.float64]


@cache
def shared_evaluator() -> HandEvaluator:
    """Return the evaluator with the weights that ship, one for the whole process."""
    return HandEvaluator.load(FEATURE_SET)


@dataclass
class OnePlayer(Strategy):
    """Steps that return the action they stand for, or ``None`` to leave it to the next step."""

    decides = DECIDES_TURNS | DECIDES_WINS
    value_unit: ClassVar[str] = marked("evaluator's score")

    def win(self, view: View) -> Action | None:
        """Tsumo and ron whenever they are legal."""
        for action in reversed(view.legal):
            if action.is_discard:
                return None
            if action.is_win:
                return action
        return None

    def only(self, view: View) -> Action | None:
        """Whatever leaves no choice to a player that neither calls nor declares kans."""
        discards = view.discards
        return None if len(discards) > 1 else view.default_action

    def riichi(self, view: View, wanted: Action) -> Action | None:
        """Declare riichi if it is legal and the wanted discard leaves tenpai."""
        for action in reversed(view.legal):
            if action.is_riichi:
                rest = view.hand.copy()
                rest[tile_kind(wanted.tile)] -= 1
                return action if waits(rest, view.n_melds) else None
            if action.is_discard:
                return None
        return None

    def scores(self, view: View) -> TileScores:
        """Return the hand evaluator's score of discarding each kind: float64[34]."""
        return shared_evaluator().scores_at(view.state, view.seat)

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the discards by the evaluator's score, and how safe the paper thinks they are."""
        if not view.discards:
            return
        scores, facts = self.scores(view).tolist(), hand_facts(view)
        danger = joint_danger(view.state, view.seat, seats_to_fold_to(view.state, view.seat))
        for discard in view.discards:
            kind = tile_kind(discard.tile)
            grade = Term("danger", "grade", float(danger[kind]), more_is_better=False)
            yield Rated(discard, scores[kind], terms=[*facts[discard.tile], grade])


def best_discard(discards: Iterable[Action], points: TileScores) -> Action:
    """Return the discard of the kind with the most points (float64[34]).

    Of the tiles of one kind a plain five goes before the red one, the drawn tile before others;
    of equal kinds the lowest.
    """
    return max(
        discards,
        key=lambda action: (
            points[tile_kind(action.tile)],
            -tile_kind(action.tile),
            action.tile not in RED_FIVES,
            action.tsumogiri,
        ),
    )
