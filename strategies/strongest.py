"""The strongest player here: a network that learned from records and play, and what points say.

Two parts, each with a switch:

* ``network``: that of ``supervised`` after it went on learning from play
  (``mjbot train self-play``); with ``network=supervised`` the one it started from.
* ``points``: the network's chances are weighed with what :mod:`strategies.fold_recognition_plus`
  reckons each choice to be worth: chance to win, value, danger, placement.  ``points=0``: no.

Theory of the second.  Of two choices that differ by d points a strong player takes the better one
exp(d / T) times as often; T is the temperature of the network's chances.  Two estimates of d, the
network's T log(share) and the reckoned points, are added up, the second ``points`` times.
"""

from dataclasses import dataclass, field
from math import exp, log
from typing import ClassVar, Final, Literal

import numpy as np

from mjbot.models.networks.policy import Opinion, Policy
from mjbot.models.weights import SHIPPED
from mjbot.strategy.explanation import Strength
from mjbot.table.actions import Action
from mjbot.table.view import View
from protocol.tiles import N_KINDS, tile_kind
from strategies.evaluation.push_fold.hand_worth import NEVER
from strategies.supervised import Supervised

SELF_PLAY: Final = "self-play"
"""Name of the weights that learned from play."""
TEMPERATURE: Final = 500.0
"""Points by which a choice is worse that strong players take e times less often; by hand."""
LEAST_SHARE: Final = 0.02


@dataclass
class Strongest(Supervised):
    """Do what the network that learned from play would, where points do not say otherwise."""

    strength: ClassVar[Strength | None] = None

    network: Literal["self-play", "supervised"] = field(
        default="self-play", metadata={"unit": "which weights; an option weights= goes before"}
    )
    points: float = field(default=0.3, metadata={"unit": "x the points that a choice is worth"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.weights and self.network == SELF_PLAY:
            self._policy = Policy.load(SHIPPED, SELF_PLAY)

    def decide(self, view: View) -> Action:
        """Win, else what network and points prefer."""
        if win := self._win(view):
            return win
        said = self._policy.ask(view.state, view.seat, self.sure)
        if said is not None and self.points:
            said = self._weighed(view, said)
        return self._choice(view, said)

    def _weighed(self, view: View, said: Opinion) -> Opinion:
        """Return the network's chances after points had their say."""
        if view.discards:
            return self._weighed_turn(view, said)
        return self._weighed_call(view, said)

    def _weighed_turn(self, view: View, said: Opinion) -> Opinion:
        if said.discards.max() > 0.9 and not 0.1 < said.riichi < 0.9:
            return said
        silent, riichi = self._reckoner.worths(view)
        per_nat = self.points / TEMPERATURE
        kinds = [k for k in range(N_KINDS) if said.discards[k] >= LEAST_SHARE]
        worth = dict.fromkeys(kinds, NEVER)
        for action in view.discards:
            if (kind := tile_kind(action.tile)) in worth:
                worth[kind] = max(worth[kind], float(silent[action.tile]))
        logits = {k: log(said.discards[k]) + per_nat * worth[k] for k in kinds}
        most = max(logits.values())
        chances = np.zeros_like(said.discards)
        for k in kinds:
            chances[k] = exp(logits[k] - most)
        chances /= chances.sum()
        declared = said.riichi
        if 0.02 < declared < 0.98 and riichi.max() > -1e8:
            declared = _moved(declared, per_nat * (riichi.max() - silent.max()))
        return said._replace(discards=chances, riichi=declared)

    def _weighed_call(self, view: View, said: Opinion) -> Opinion:
        if not 0.05 < said.pon + said.chi.sum() < 0.95:
            return said
        found = self._reckoner.call_worths(view)
        if found is None:
            return said
        worths, passed = found
        per_nat = self.points / TEMPERATURE
        pon = max((w for a, w in worths if a.name == "pon"), default=None)
        chi = max((w for a, w in worths if a.name == "chi"), default=None)
        if pon is not None and 0.02 < said.pon < 0.98:
            said = said._replace(pon=_moved(said.pon, per_nat * (pon - passed)))
        total = float(said.chi.sum())
        if chi is not None and 0.02 < total < 0.98:
            said = said._replace(chi=said.chi * (_moved(total, per_nat * (chi - passed)) / total))
        return said


def _moved(chance: float, nats: float) -> float:
    """Return a chance after its log odds were moved."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, log(chance / (1 - chance)) + nats))))
