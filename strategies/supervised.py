"""Does what strong players did: five decisions learned from records of the Phoenix room.

A network (:mod:`mjbot.models.networks.policy`, learned by ``mjbot train policy``) says how likely a
strong player would choose each discard, riichi, pon, chi and kan.  Wins are always taken, nine
terminals always declared.  How often it is right and how strong it is: docs/learned.md.

Other thresholds than one half gained nothing over chance on walls of their own (docs/learned.md).
What can be done twice in the same words is done so: a call gives up a red five rather than a plain
one (in the meld it is a dora for good), a discard does not, and of equal tiles the drawn one goes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from mjbot.models.networks.encoding import (
    ACCEPTS,
    CHANCE,
    KEEPS,
    OF_OPPONENT,
    OPPONENT,
    RATING,
)
from mjbot.models.networks.look_ahead import MOST_TILES
from mjbot.models.networks.policy import SURE, Opinion, Policy
from mjbot.models.weights import SHIPPED
from mjbot.strategy.explanation import Explanation, Rated
from mjbot.strategy.strategy import Strategy
from mjbot.table.actions import Action
from mjbot.table.view import View
from protocol.tiles import tile_kind


def _chance(unit: str, default: float = 0.5) -> float:
    chance: float = field(default=default, metadata={"unit": unit})
    return chance


@dataclass
class Supervised(Strategy):
    """Do what a strong player would most likely do, as learned from records."""

    worth_unit: ClassVar[str] = "% of strong players"

    riichi_from: float = _chance("chance from which riichi is declared")
    pon_from: float = _chance("the same of a pon")
    chi_from: float = _chance("the same of a chi, all three together")
    kan_from: float = _chance("the same of a kan")
    sure: float = _chance("chance at which the early head is believed; 2: never", SURE)
    weights: str = field(default="", metadata={"unit": "folder of a policy.npz; those that ship"})

    def __post_init__(self) -> None:
        self._policy = Policy.load(Path(self.weights) if self.weights else SHIPPED)

    def decide(self, view: View) -> Action:
        """Win, else kan, else riichi, else the likeliest discard; the likeliest call or none."""
        if win := self._win(view):
            return win
        return self._choice(view, self._policy.ask(view.state, view.seat, self.sure))

    def explain(self, view: View) -> Explanation:
        """Tell how likely strong players are to do each thing, and what the network was shown."""
        said = self._policy.ask(view.state, view.seat, self.sure)
        choice = self._win(view) or self._choice(view, said)
        if said is None:
            return Explanation(choice)
        rated = [*self._rated(view, said, choice)]
        return Explanation(
            choice, self.worth_unit, rated, ("riichi, calls and kans are asked first",)
        )

    def _win(self, view: View) -> Action | None:
        wins = (action for action in reversed(view.legal) if _ends_it(action))
        return next(wins, None)

    def _choice(self, view: View, said: Opinion | None) -> Action:
        if said is None:
            return view.default_action
        for action in reversed(view.legal):  # kans before calls before riichi, red before plain
            if action.is_kan and said.kan >= self.kan_from:
                return action
            if action.name == "pon" and said.pon >= self.pon_from:
                return action
            best_chi = action.name == "chi" and said.chi[action.offset] == said.chi.max()
            if best_chi and said.chi.sum() >= self.chi_from:
                return action
            if action.is_riichi and said.riichi >= self.riichi_from:
                return action
        if not view.discards:
            return view.default_action
        return max(view.discards, key=lambda action: _preferred(action, said))

    def _rated(self, view: View, said: Opinion, choice: Action) -> Iterator[Rated]:
        shares = {"riichi": said.riichi, "pon": said.pon}
        for action in view.legal:
            if action.is_discard:
                kind = tile_kind(action.tile)
                share, terms = float(said.discards[kind]), self._terms(kind)
            elif action.name == "chi":
                share, terms = float(said.chi[action.offset]), {}
            elif action.is_pass:
                share, terms = 1 - max(said.pon, float(said.chi.sum()), said.kan), {}
            elif _ends_it(action):
                share, terms = 1.0, {}
            else:
                share, terms = float(shares.get(action.name, said.kan)), {}
            yield Rated(action, round(100 * share, 2), action == choice, terms=terms)

    def _terms(self, kind: int) -> dict[str, float]:
        """Return what the network was told of a discard."""
        seen = self._policy.planes[kind]
        terms = {
            "behind the best, shanten": float(seen[KEEPS + 1] + 2 * seen[KEEPS + 2]),
            "tiles accepted": round(float(seen[ACCEPTS] * MOST_TILES)),
            "evaluator, % of best": round(100 * float(seen[RATING + 1]), 1),
        }
        for step, name in enumerate(("right", "opposite", "left")):
            chance = float(seen[OPPONENT + OF_OPPONENT * step + CHANCE]) ** 4
            terms[f"danger from the {name}, %"] = round(100 * chance, 2)
        return terms


def _ends_it(action: Action) -> bool:
    return action.is_win or action.is_nine_terminals


def _preferred(action: Action, said: Opinion) -> tuple[float, bool, bool]:
    """Return by what discards are ordered: the kind's chance, plain before red, drawn."""
    kind = tile_kind(action.tile)
    return float(said.discards[kind]), action.tile == kind, action.tsumogiri
