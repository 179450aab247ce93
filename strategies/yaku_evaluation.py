"""The "top AI" of Hamabe 2017: it plays for the nearest of eight yaku."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from mjbot.pair.member import PairMember
from mjbot.strategy.explanation import Rated
from mjbot.table.actions import Action
from mjbot.table.state import Phase
from mjbot.table.view import View
from strategies.evaluation.yaku.play import (
    SCORE,
    aim_after,
    best_call,
    best_discard,
    find,
    rated_calls,
    rated_discards,
    wishes_after,
)


@dataclass
class YakuEvaluation(PairMember):
    """Play for the yaku that is nearest, of eight that can be had with calls.

    Each discard leaves the hand that scores most in its best yaku; a call is made if it raises
    that score.  Dora, danger and points play no part.  As one of a pair it tells its partner
    what it holds and wants, and otherwise plays as it does alone.
    """

    worth_unit: ClassVar[str] = SCORE

    riichi: bool = field(default=True, metadata={"unit": "declare on every closed tenpai"})

    def decide(self, view: View) -> Action:
        """Win, else riichi, else call, else discard for the best yaku."""
        action = self._choose(view)
        if action.is_discard and self.is_paired:
            self.tell(view, action, aim_after(view, action), wishes_after(view, action))
        return action

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the discards, or the calls and the pass, by the best of the eight yaku."""
        return rated_calls(view) if view.phase == Phase.REACTION else rated_discards(view)

    def _choose(self, view: View) -> Action:
        return (
            find(view, "tsumo")
            or find(view, "ron")
            or (find(view, "riichi") if self.riichi else None)
            or best_call(view)
            or best_discard(view)
            or view.default_action
        )
