"""The strongest player here: what strong players would do, weighed with what it is worth in points.

The network of :mod:`strategies.supervised` has seen what strong players choose, and
:mod:`strategies.fold_recognition_plus` reckons what a choice is worth at this table: chance to win,
value, danger of every opponent, placement.  Either alone is weaker (docs/strategies/strongest.md).

Theory.  Of two choices that differ by d points a strong player takes the better one exp(d / T)
times as often, T being the temperature of its choices.  So T log(share) is one estimate of what a
choice is worth, up to a constant, and the reckoned points are another.  They are added up, the
second ``points`` times; in the network's terms every share is multiplied by
exp(points x worth / T), and riichi and calls by that of what they gain over not declaring, not
calling.  T = :data:`TEMPERATURE` was set by hand, ``points`` by play on walls of their own.

What the network is sure of (:data:`SURE_OF_DISCARD`, :data:`OPEN`) is not reckoned: that is most
decisions, and points would not change them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.models.networks.policy import Opinion
from mjbot.strategy.explanation import Strength
from mjbot.table.view import View
from protocol.tiles import N_KINDS, tile_kind
from strategies.evaluation.push_fold.hand_worth import NEVER
from strategies.supervised import Supervised

TEMPERATURE: Final = 500.0
"""Points by which a choice is worse that strong players take e times less often."""
LEAST_SHARE: Final = 0.02
"""Discards of a smaller share are left out."""
SURE_OF_DISCARD: Final = 0.9
OPEN: Final = 0.02, 0.98
"""Between these chances a riichi or call is open."""


@dataclass
class Strongest(Supervised):
    """Do what a strong player would most likely do, where points do not say otherwise."""

    notes: ClassVar[tuple[str, ...]] = ("the shares are weighed with the points",)
    strength: ClassVar[Strength | None] = Strength(
        2.352,
        0.052,
        "fold-recognition-plus",
        "mjbot arena strongest fold-recognition-plus --format 1v3 --games 2000 --seed 20271",
        "2026-11-22",
    )

    points: float = field(default=0.7, metadata={"unit": "x the points a choice is worth; 0: none"})

    def opinion(self, view: View) -> Opinion | None:
        """Return the network's chances after the points had their say."""
        said = super().opinion(view)
        if said is None or not self.points:
            return said
        return self._weighed_turn(view, said) if view.discards else self._weighed_call(view, said)

    def _weighed_turn(self, view: View, said: Opinion) -> Opinion:
        if said.discards.max() > SURE_OF_DISCARD and not _is_open(said.riichi):
            return said
        silent, declared = self._reckoner.worths(view)
        worths: dict[int, float] = {}
        for action in view.discards:
            kind = tile_kind(action.tile)
            if said.discards[kind] >= LEAST_SHARE:
                worths[kind] = max(worths.get(kind, NEVER), float(silent[action.tile]))
        discards = self._weighed(said, worths) if len(worths) > 1 else said.discards
        riichi = said.riichi
        if _is_open(riichi) and declared.max() > NEVER:
            riichi = self._moved(riichi, float(declared.max() - silent.max()))
        return said._replace(discards=discards, riichi=riichi)

    def _weighed(self, said: Opinion, worths: Mapping[int, float]) -> NDArray[np.float32]:
        chances = np.zeros(N_KINDS, np.float32)
        best = max(worths.values())
        for kind, worth in worths.items():
            chances[kind] = said.discards[kind] * exp(self._nats(worth - best))
        chances /= chances.sum()
        return chances

    def _weighed_call(self, view: View, said: Opinion) -> Opinion:
        chi = float(said.chi.sum())
        if not (_is_open(said.pon) or _is_open(chi)):
            return said
        worths, passed = self._reckoner.call_worths(view)
        gains: dict[str, float] = {}
        for call, worth in worths:
            gains[call.name] = max(gains.get(call.name, NEVER), worth - passed)
        if "pon" in gains and _is_open(said.pon):
            said = said._replace(pon=self._moved(said.pon, gains["pon"]))
        if "chi" in gains and _is_open(chi):
            said = said._replace(chi=said.chi * (self._moved(chi, gains["chi"]) / chi))
        return said

    def _moved(self, chance: float, points: float) -> float:
        """Return a chance after what it gains is known."""
        return 1 / (1 + exp(-log(chance / (1 - chance)) - self._nats(points)))

    def _nats(self, points: float) -> float:
        return float(np.clip(self.points * points / TEMPERATURE, -30, 30))


def _is_open(chance: float) -> bool:
    return OPEN[0] < chance < OPEN[1]
