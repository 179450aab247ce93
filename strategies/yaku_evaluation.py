"""The "top AI" of Hamabe 2017: it plays for the nearest of eight yaku (sections 3.3 and 3.3.9).

The paper's never looks at danger or points.  With ``fold=yes`` it does (ours): it plays for its
yaku while that costs little by the estimate of :mod:`mjbot.strategies.fold_recognition_plus`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, Final

from mjbot.game.table.actions import Action, ActionName
from mjbot.game.table.state import Phase
from mjbot.game.table.view import View
from mjbot.protocol.tiles import N_KINDS, tile_kind
from mjbot.runtime.languages import marked
from mjbot.strategies.evaluation.facts import hand_facts
from mjbot.strategies.evaluation.yaku import choices as c
from mjbot.strategies.evaluation.yaku.layout import Blocks
from mjbot.strategies.evaluation.yaku.scores import YAKU_NAMES
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from mjbot.strategy.explanation import Rated, Term
from mjbot.strategy.pair.member import PairMember

MIDDLE: Final = 1
SCORE: Final = marked("yaku score")


@dataclass
class YakuEvaluation(PairMember):
    """Play for the yaku that is nearest, of eight that can be had with calls.

    Each discard leaves the hand that scores most in its best yaku; a call is made if it raises
    that score.  Dora, danger and points play no part.  As one of a pair it sends its partner
    its hand and useful calls, and otherwise plays as it does alone.
    """

    value_unit: ClassVar[str] = SCORE

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
            self.send_hand(view, action, aim_after(view, action), useful_calls_after(view, action))
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

    def _unless_dear(self, view: View, wanted: Action) -> Action:
        """Return the choice for the yaku, or one better by more than ``leeway`` points."""
        best = self._evaluator.decide(view)
        values_left = self._discard_values(view) if best != wanted else {}
        if wanted not in values_left or best not in values_left:  # kans are not rated
            return wanted
        return best if values_left[best] > values_left[wanted] + self.leeway else wanted

    def _discard_values(self, view: View) -> dict[Action, float]:
        if view.phase == Phase.REACTION:
            calls, passed = self._evaluator.call_values(view)
            return {view.default_action: passed, **dict(calls)}
        silent, declared = self._evaluator.discard_values(view)
        if view.phase == Phase.RIICHI:
            silent = declared
        riichi = find(view, "riichi")
        values_left = {discard: float(silent[discard.tile]) for discard in view.discards}
        return {**values_left, riichi: float(declared.max())} if riichi else values_left

    @cached_property
    def _evaluator(self) -> FoldRecognitionPlus:
        return FoldRecognitionPlus()


def find(view: View, name: ActionName) -> Action | None:
    """Return the first legal action of this name, if there is one."""
    return next((action for action in view.legal if action.name == name), None)


def best_discard(view: View) -> Action | None:
    """Discard the tile without which the hand's best yaku scores most.

    Of equals, a plain five goes before the red one and the drawn tile before the others; the
    paper mentions neither.
    """
    discards = view.discards
    if len(discards) < 2:
        return discards[0] if discards else None
    best = _scores(view).max(axis=1).tolist()
    return max(
        discards,
        key=lambda action: (best[tile_kind(action.tile)], action.tile < N_KINDS, action.tsumogiri),
    )


def best_call(view: View) -> Action | None:
    """Take the pon or chi that raises the best score most, unless the hand is tenpai.

    Of equals as fast-riichi-b: a red five goes into the meld, pon before chi at an end before
    chi in the middle.
    """
    calls = [action for action in view.legal if action.is_call and not action.is_kan]
    if not calls or view.waits:
        return None
    kind = tile_kind(view.claim_tile)
    gains = c.call_gains(view.state, view.seat, kind, view.unseen).tolist()
    best = max(calls, key=lambda call: (gains[_place(call)], call.red, call.offset != MIDDLE))
    return best if gains[_place(best)] > 0 else None


def aim_after(view: View, discard: Action) -> str:
    """Return the name of the best yaku of the hand that a discard leaves."""
    return YAKU_NAMES[int(_scores(view)[tile_kind(discard.tile)].argmax())]


def useful_calls_after(view: View, discard: Action) -> list[int]:
    """Return the kinds that the hand left by a discard would call; in tenpai there are none."""
    after = view.after_discard(view.seat, discard.tile, discard.tsumogiri).state
    if after["waits"][view.seat] or after["riichi"][view.seat]:
        return []
    kinds = c.helpful_kinds(after, view.seat)
    return [kind for kind in range(N_KINDS) if kinds >> kind & 1]


def rated_discards(view: View) -> Iterator[Rated]:
    """Yield each discard with the scores of the hand left in all eight yaku."""
    facts = hand_facts(view)
    for discard in view.discards:
        scores = _scores(view)[tile_kind(discard.tile)].tolist()
        terms = [Term(name, SCORE, score) for name, score in zip(YAKU_NAMES, scores, strict=True)]
        yield Rated(discard, float(max(scores)), terms=[*terms, *facts[discard.tile]])


def rated_calls(view: View) -> Iterator[Rated]:
    """Yield each pon and chi with the best score after it, and the pass with that of now."""
    calls = [action for action in view.legal if action.is_call and not action.is_kan]
    if not calls:
        return
    gains = c.call_gains(view.state, view.seat, tile_kind(view.claim_tile), view.unseen).tolist()
    melds, values = c.melds_of(view.state, view.seat), c.value_kinds(view.state, view.seat)
    now = float(c.hand_scores(view.hand, view.unseen, melds, values).max())
    for action in view.legal:
        if action in calls:
            yield Rated(action, now + gains[_place(action)])
        elif action.is_pass:
            yield Rated(action, now)


@lru_cache(maxsize=1)
def _scores(view: View) -> Blocks:
    """Return the scores after each discard, computed once for a decision: int16[34, 8]."""
    scores: Blocks = c.seat_discard_scores(view.state, view.seat, view.unseen)
    return scores


def _place(call: Action) -> int:
    return call.offset if call.offset >= 0 else c.PON_CALL
