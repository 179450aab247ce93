"""Does what strong players did: five decisions learned from records of the Phoenix room.

A network (:mod:`mjbot.learning.models.networks.policy`, learned by ``mjbot train policy``)
estimates how likely a strong player would choose each discard, riichi, pon, chi and kan.  Wins are
always taken, nine terminals always declared.  Accuracy and strength: docs/results/networks.md.

Other thresholds than one half gained nothing over chance on walls of their own
(docs/results/networks.md).
Of choices that the network does not distinguish, a call uses a red five rather than a plain one (in
the meld it stays a dora), a discard does not, and of equal tiles the drawn one is discarded.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.learning.models.networks.policy import SURE, Policy, PolicyOutput
from mjbot.learning.models.weights import SHIPPED
from mjbot.protocol.tiles import tile_kind
from mjbot.runtime.languages import marked
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from mjbot.strategy import explanation as e
from mjbot.strategy.strategy import Strategy


def _chance(unit: str, default: float = 0.5) -> float:
    chance: float = field(default=default, metadata={"unit": unit})
    return chance


@dataclass
class Supervised(Strategy):
    """Do what a strong player would most likely do, as learned from records."""

    value_unit: ClassVar[str] = "% of strong players"
    notes: ClassVar[tuple[str, ...]] = (
        marked("points as fold-recognition-plus estimates them; the shares decide"),
    )
    strength: ClassVar[e.Strength | None] = e.Strength(
        2.382,
        0.036,
        "fold-recognition-plus",
        "mjbot arena --protocol docs/results/protocols/supervised-fold.toml",
        "2026-11-28",
    )

    riichi_from: float = _chance("chance from which riichi is declared")
    pon_from: float = _chance("the same of a pon")
    chi_from: float = _chance("the same of a chi, all three together")
    kan_from: float = _chance("the same of a kan")
    sure: float = _chance("chance at which the early head is believed; 2: never", SURE)
    weights: str = field(default="", metadata={"unit": "folder of a policy.npz; those that ship"})

    def __post_init__(self) -> None:
        self._policy = Policy.load(Path(self.weights) if self.weights else SHIPPED)

    @cached_property
    def _evaluator(self) -> FoldRecognitionPlus:
        return FoldRecognitionPlus()

    def decide(self, view: View) -> Action:
        """Win, else kan, else riichi, else the likeliest discard; the likeliest call or none."""
        if win := self._win(view):
            return win
        return self.choice(view, self.opinion(view))

    def opinion(self, view: View) -> PolicyOutput | None:
        """Return how likely a strong player does what; None where there is nothing to decide."""
        return self._policy.evaluate(view.state, view.seat, self.sure)

    def explain(self, view: View) -> e.Explanation:
        """Rate each action by how likely strong players choose it, and by its value in points."""
        explanation = super().explain(view)
        return replace(
            explanation,
            notes=(*explanation.notes, *self.notes) if explanation.rated else explanation.notes,
        )

    def ratings(self, view: View) -> Iterator[e.Rated]:
        """Yield all that is legal, kans before riichi or calls before the rest: 100 % together."""
        opinion = self.opinion(view)
        if opinion is None:
            return
        ends = self._win(view) is not None
        shares = [
            e.Rated(action, 100 * float(_ends_it(action) if ends else share_of(action, opinion)))
            for action in view.legal
        ]
        yield from self.with_points(view, shares)

    def with_points(self, view: View, shares: Iterable[e.Rated]) -> Iterator[e.Rated]:
        """Yield ratings with their value in points as terms, where that is estimated."""
        in_points = self._evaluator.ratings_in_points(view, e.IN_POINTS)
        for rated in shares:
            same = [option for option in in_points if e.same_choice(option.action, rated.action)]
            best = max(same, key=lambda option: option.value, default=None)
            total = [e.Term(e.IN_POINTS, e.POINTS, best.value), *best.terms] if best else []
            yield replace(rated, terms=total)

    def _win(self, view: View) -> Action | None:
        others = view.legal[len(view.discards) :]
        return next((action for action in reversed(others) if _ends_it(action)), None)

    def choice(self, view: View, opinion: PolicyOutput | None) -> Action:
        """Return what these chances choose; wins and nine terminals come before."""
        if opinion is None:
            return view.default_action
        for action in reversed(view.legal):  # kans before calls before riichi, red before plain
            if action.is_kan and opinion.kan >= self.kan_from:
                return action
            if action.name == "pon" and opinion.pon >= self.pon_from:
                return action
            best_chi = action.name == "chi" and opinion.chi[action.offset] == opinion.chi.max()
            if best_chi and opinion.chi.sum() >= self.chi_from:
                return action
            if action.is_riichi and opinion.riichi >= self.riichi_from:
                return action
        if not view.discards:
            return view.default_action
        shares = opinion.discards.tolist()
        return max(view.discards, key=lambda action: _preferred(action, shares))


def share_of(action: Action, opinion: PolicyOutput) -> float:
    """Return how likely a strong player does it, after what is asked before it was not done."""
    no_kan = 1 - opinion.kan
    match action.name:
        case "daiminkan" | "ankan" | "kakan":
            return opinion.kan
        case "riichi":
            return no_kan * opinion.riichi
        case "discard":
            share = float(opinion.discards[tile_kind(action.tile)])
            return no_kan * (1 - opinion.riichi) * share
        case "pon":
            return no_kan * opinion.pon
        case "chi":
            return no_kan * (1 - opinion.pon) * float(opinion.chi[action.offset])
        case _:
            return no_kan * (1 - opinion.pon) * (1 - float(opinion.chi.sum()))


def _ends_it(action: Action) -> bool:
    return action.is_win or action.is_nine_terminals


def _preferred(action: Action, shares: Sequence[float]) -> tuple[float, bool, bool]:
    """Return by what discards are ordered: the kind's chance, plain before red, drawn."""
    kind = tile_kind(action.tile)
    return shares[kind], action.tile == kind, action.tsumogiri
