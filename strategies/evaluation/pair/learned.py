"""What two allies learned by self-play, as a change of another network's chances.

The fast policy played some hundred thousand hanchan as two allies that see each other's hands,
against two of itself, rewarded by what both gain together; only the weights of the ally's numbers
learned (``mjbot train fast-policy-play --pair``, theory in
:mod:`mjbot.learning.training.fast_policy.play_and_learn`).  So its chances with the ally and
without one differ by what the ally's hand changes, and nothing else.

Theory.  In nats, that difference is an estimate of how much the ally's hand changes the value of
each choice, whoever plays: the chances of a stronger network are multiplied by the same ratio.
"""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.view import View
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.choice import (
    CHI_OPINION,
    KAN_OPINION,
    N_OPINION,
    PON_OPINION,
    RIICHI_OPINION,
    policy_of,
    write_opinion,
)
from mjbot.learning.models.fast_policy.network import load_pair_network
from mjbot.learning.models.networks.policy import PolicyOutput
from mjbot.learning.models.weights import SHIPPED
from mjbot.protocol.tiles import N_KINDS
from mjbot.strategy.pair.member import Ally

LEAST: Final = 1e-4
"""A chance below it counts as this: no ratio of two tiny ones decides."""

Floats = NDArray[np.float32]


class LearnedHelp:
    """The fast policy with and without the ally: one serves one thread."""

    def __init__(self, folder: Path = SHIPPED) -> None:
        self._policy: Final = policy_of(load_pair_network(folder))

    def changed(self, opinion: PolicyOutput, view: View, ally: Ally) -> PolicyOutput:
        """Return the chances as the ally's hand changes them; what is not offered stays 0."""
        together, alone = np.zeros((2, N_OPINION), np.float32)
        if not write_opinion(self._policy, ally.state, view.seat, ally.seat, together):
            return opinion
        write_opinion(self._policy, view.state, view.seat, NO_ALLY, alone)

        def of_one(chance: float, place: int) -> float:
            among = slice(place, place + 1)
            one = np.array([chance], np.float32)
            return float(times_ratio(one, together[among], alone[among], has_no=True)[0])

        discards, chi = slice(N_KINDS), slice(CHI_OPINION, KAN_OPINION)
        return PolicyOutput(
            times_ratio(opinion.discards, together[discards], alone[discards], has_no=False),
            of_one(opinion.riichi, RIICHI_OPINION),
            of_one(opinion.pon, PON_OPINION),
            times_ratio(opinion.chi, together[chi], alone[chi], has_no=True),
            of_one(opinion.kan, KAN_OPINION),
        )


def times_ratio(chances: Floats, together: Floats, alone: Floats, has_no: bool) -> Floats:
    """Return chances x together / alone, made to sum to 1 with that of "no" where there is one."""
    product = chances * np.maximum(together, LEAST) / np.maximum(alone, LEAST)
    total = float(product.sum())
    if total == 0:
        return chances
    if has_no:
        no = [max(1 - float(each.sum()), LEAST) for each in (chances, together, alone)]
        total += no[0] * no[1] / no[2]
    return np.asarray(product / total, np.float32)
