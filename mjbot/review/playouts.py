"""Whether a loss can be shown: what was done and what is better, played on from the same deals.

The difference is taken deal by deal, so what hidden hands and wall do to both cancels; its 95 %
interval comes from the deals (:mod:`mjbot.statistics.estimates`).  Only where the whole interval of
the expected rank is on one side of 0 is anything shown.  What is left open: whether these
players would have played on as the playouts do, and that of so many decisions one in forty is
shown by chance.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from mjbot.review.decisions import ReviewedDecision
from mjbot.statistics.estimates import Estimate, ratio
from mjbot.strategy.playouts import Plan, PlaysOut

Verdict = Literal["shown", "not shown to differ", "shown to be no loss"]

DEALS: Final = 400
"""Ways to deal the hidden hands that a pair of choices is played on in."""


@dataclass(frozen=True)
class Shown:
    """What the better choice gains in playouts: points in the kyoku, and ranks of the game."""

    points: Estimate
    ranks: Estimate
    deals: int

    @property
    def verdict(self) -> Verdict:
        """Whether a loss is shown; one by the rank counts."""
        if not (self.ranks.is_bounded and self.ranks.leaves_out_zero):
            return "not shown to differ"
        return "shown" if self.ranks.low > 0 else "shown to be no loss"


def show(decision: ReviewedDecision, by: PlaysOut, deals: int = DEALS) -> Shown:
    """Play both choices of a decision on."""
    plans = (
        Plan(decision.actual, decision.then),
        Plan(decision.expected, decision.expected_then),
    )
    outcomes = by.play_out(decision.view, plans, deals)
    ones = np.ones(deals)
    return Shown(
        ratio(outcomes.points[:, 1] - outcomes.points[:, 0], ones),
        ratio(outcomes.ranks[:, 0] - outcomes.ranks[:, 1], ones),
        deals,
    )


def is_open(decision: ReviewedDecision) -> bool:
    """Whether there is a difference to be shown."""
    loss = decision.value_loss
    return not decision.is_equal and bool(loss is None or loss > 0)
