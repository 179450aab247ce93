"""Does what strong players do, by a small compiled network: about eight microseconds a decision.

The network (:mod:`mjbot.learning.models.fast_policy`, trained by ``mjbot train fast-policy``) ranks
the candidates of each decision by shape, acceptance, danger, yaku and the table.  A win is always
taken and nine terminals are always declared.  Accuracy, strength and cost:
docs/strategies/fast-policy.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from mjbot.game.table.actions import ACTIONS, N_ACTIONS, Action
from mjbot.game.table.view import View
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.choice import choose, load_policy, shares
from mjbot.strategy.explanation import Rated, Strength
from mjbot.strategy.strategy import Strategy


def _chance(what: str) -> float:
    chance: float = field(default=0.5, metadata={"unit": f"chance from which {what}"})
    return chance


@dataclass
class FastPolicyPlayer(Strategy):
    """Do what strong players do, by a network that is small enough for playouts."""

    players = (3, 4)
    value_unit: ClassVar[str] = "% of strong players"
    strength: ClassVar[Strength | None] = Strength(
        2.397,
        0.037,
        "fold-recognition-plus",
        "mjbot arena fast-policy fold-recognition-plus --format 1v3 --games 4000 --seed 91201",
        "2026-11-28",
    )

    riichi_from: float = _chance("riichi is declared")
    pon_from: float = _chance("pon is called")
    chi_from: float = _chance("chi is called, all forms together")
    kan_from: float = _chance("a kan or kita is made")
    weights: str = field(default="", metadata={"unit": "folder of fast-policy.npz (the shipped)"})

    def __post_init__(self) -> None:
        folder = Path(self.weights) if self.weights else None
        self._policies = {players: load_policy(folder, players) for players in self.players}
        for policy in self._policies.values():
            policy.thresholds[:] = 0, self.riichi_from, self.pon_from, self.chi_from, self.kan_from

    def decide(self, view: View) -> Action:
        """Return the choice of the compiled policy."""
        return ACTIONS[choose(self._policies[view.players], view.state, view.seat, NO_ALLY)]

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the share of each legal action: all together 100 %."""
        if len(view.legal) < 2:
            return
        ratings = np.zeros(N_ACTIONS)
        shares(self._policies[view.players], view.state, view.seat, NO_ALLY, ratings)
        for action in view.legal:
            yield Rated(action, 100 * float(ratings[action.code]))
