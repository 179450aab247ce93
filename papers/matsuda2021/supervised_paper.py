"""The supervised player of Matsuda and Ito 2021: five networks, nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.protocol.tiles import tile_kind
from mjbot.strategies.evaluation.facts import hand_facts
from mjbot.strategy.explanation import PERCENT, Explanation, Rated, Term
from mjbot.strategy.strategy import Strategy
from papers.matsuda2021.networks import paper_network

ALL = 100.0
OTHER_DISCARDS = "all kinds together, legal or not, have 100 %"


@dataclass
class SupervisedPaper(Strategy):
    """Imitates strong players by treating the table as a picture.

    Five convolutional networks on 17 planes of visible tiles predict which kind strong players
    would discard, and whether they would declare riichi, pon, chi or kan; no shanten, yaku, danger
    or points are computed.  Wins are always taken, as the paper has no network for them.
    """

    value_unit: ClassVar[str] = PERCENT

    threshold: float = field(
        default=0.5, metadata={"unit": "least chance of riichi, pon and kan to do it"}
    )

    def decide(self, view: View) -> Action:
        """Win, else riichi, else kan, else discard; of calls the likeliest, or none."""
        return (
            self._win(view)
            or self._likeliest(view)
            or self._discard(view)
            or next((action for action in view.legal if action.is_pass), view.default_action)
        )

    def explain(self, view: View) -> Explanation:
        """Return the choice, and the probabilities of discards and of all other legal actions."""
        base = super().explain(view)
        return replace(base, notes=(OTHER_DISCARDS,) if view.discards and base.rated else ())

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield riichi, calls and kans by their networks, and the discards by theirs."""
        for action, chance in self._chances(view).items():
            yield Rated(action, ALL * chance)
        if not view.discards:
            return
        chances, facts = self._discard_chances(view), hand_facts(view)
        total = sum(chances[kind] for kind in {tile_kind(action.tile) for action in view.discards})
        for discard in view.discards:
            chance = float(chances[tile_kind(discard.tile)])
            share = Term("of the legal", PERCENT, ALL * chance / max(total, 1e-9))
            yield Rated(discard, ALL * chance, terms=[share, *facts[discard.tile]])

    def _discard_chances(self, view: View) -> list[float]:
        """Return the chance of each kind as the network has it, 0..1."""
        return [
            float(chance) for chance in paper_network("discard").evaluate(view.state, view.seat)
        ]

    def _win(self, view: View) -> Action | None:
        return next((action for action in view.legal if action.is_win), None)

    def _likeliest(self, view: View) -> Action | None:
        """Return the riichi, kan or call that its network prefers most, if one prefers any.

        On the own turn riichi is tried before a kan, in the order of the paper.
        """
        chances, wanted = self._chances(view), []
        none = max((chance for action, chance in chances.items() if action.is_pass), default=0.0)
        for action, chance in chances.items():
            least = none if action.name == "chi" else self.threshold
            if not action.is_pass and chance > least:
                wanted.append((action.is_riichi, chance, action.red, -action.code, action))
        return max(wanted)[-1] if wanted else None

    def _chances(self, view: View) -> dict[Action, float]:
        """Return the chance of all that is neither a win nor a discard, by its own network.

        That of a pass is what the network of chi gives to none.
        """
        chances: dict[str, NDArray[np.float32]] = {}

        def chance_of(kind: str, choice: int) -> float:
            if kind not in chances:
                chances[kind] = paper_network(kind).evaluate(view.state, view.seat)
            return float(chances[kind][choice])

        of_actions = {}
        for action in view.legal:
            match action.name:
                case "riichi" | "pon":
                    of_actions[action] = chance_of(action.name, 1)
                case "daiminkan" | "ankan" | "kakan":
                    of_actions[action] = chance_of("kan", 1)
                case "chi":
                    of_actions[action] = chance_of("chi", 1 + action.offset)
                case _:
                    pass
        if "chi" in chances:
            of_actions |= {action: chance_of("chi", 0) for action in view.legal if action.is_pass}
        return of_actions

    def _discard(self, view: View) -> Action | None:
        """Return the likeliest legal discard; the drawn one of equals, a red five last."""
        if not view.discards:
            return None
        if len({action.tile for action in view.discards}) == 1:
            return view.discards[-1]
        chances = self._discard_chances(view)
        return max(
            view.discards,
            key=lambda action: (chances[tile_kind(action.tile)], -action.tile, action.tsumogiri),
        )
