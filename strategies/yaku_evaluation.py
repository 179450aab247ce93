"""The "top AI" of Hamabe 2017: it plays for the nearest of eight yaku.

The paper's never looks at danger or points.  With ``fold=yes`` it does (ours): it plays for its
yaku while that costs little by the reckoning of :mod:`strategies.fold_recognition_plus`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from mjbot.pair.member import PairMember
from mjbot.strategy.explanation import Rated
from mjbot.table.actions import Action
from mjbot.table.state import Phase
from mjbot.table.view import View
from strategies.evaluation.yaku import play
from strategies.fold_recognition_plus import FoldRecognitionPlus


@dataclass
class YakuEvaluation(PairMember):
    """Play for the yaku that is nearest, of eight that can be had with calls.

    Each discard leaves the hand that scores most in its best yaku; a call is made if it raises
    that score.  Dora, danger and points play no part.  As one of a pair it tells its partner
    what it holds and wants, and otherwise plays as it does alone.
    """

    worth_unit: ClassVar[str] = play.SCORE

    riichi: bool = field(default=True, metadata={"unit": "declare on every closed tenpai"})
    fold: bool = field(
        default=False, metadata={"unit": "leave the yaku where it costs more than leeway; ours"}
    )
    leeway: float = field(
        default=500.0,
        metadata={
            "unit": "points that playing for the yaku may cost a decision; only with fold=yes"
        },
    )

    def decide(self, view: View) -> Action:
        """Win, else riichi, else call, else discard for the best yaku."""
        action = self._choose(view)
        if self.fold and not action.is_win:
            action = self._unless_dear(view, action)
        if action.is_discard and self.is_paired:
            self.tell(view, action, play.aim_after(view, action), play.wishes_after(view, action))
        return action

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the discards, or the calls and the pass, by the best of the eight yaku."""
        return play.rated_calls(view) if view.phase == Phase.REACTION else play.rated_discards(view)

    def _choose(self, view: View) -> Action:
        return (
            play.find(view, "tsumo")
            or play.find(view, "ron")
            or (play.find(view, "riichi") if self.riichi else None)
            or play.best_call(view)
            or play.best_discard(view)
            or view.default_action
        )

    def _unless_dear(self, view: View, wanted: Action) -> Action:
        """Return what is wanted for the yaku, or what is worth more than ``leeway`` points more."""
        best = self._reckoner.decide(view)
        worths = self._worths(view) if best != wanted else {}
        if wanted not in worths or best not in worths:  # kans are not reckoned
            return wanted
        return best if worths[best] > worths[wanted] + self.leeway else wanted

    def _worths(self, view: View) -> dict[Action, float]:
        if view.phase == Phase.REACTION:
            calls, passed = self._reckoner.call_worths(view)
            return {view.default_action: passed, **dict(calls)}
        silent, declared = self._reckoner.worths(view)
        if view.phase == Phase.RIICHI:
            silent = declared
        riichi = play.find(view, "riichi")
        worths = {discard: float(silent[discard.tile]) for discard in view.discards}
        return {**worths, riichi: float(declared.max())} if riichi else worths

    @cached_property
    def _reckoner(self) -> FoldRecognitionPlus:
        return FoldRecognitionPlus()
