"""What a decision cost in places and points: both choices played on in the same worlds.

A world is one way to deal the hidden hands and the wall; the fast policy plays all seats to
the end of the kyoku, and the rank model rates what comes out
(:mod:`mjbot.learning.playouts.worlds`).  Two choices are played: the action taken and the best
alternative.  That is the reviewer's choice, or another favourite of its network (of
:data:`MOST_ALTERNATIVES`) that gains more in worlds of its own, which are not used again.  The cost
is the mean difference over the worlds; what hands and wall do to both choices cancels.

Of some thirty different choices in a game those with the luckiest worlds have the largest mean.  So
what is reported is the cost to be expected, known the worlds: its posterior mean and 95 % interval
by :mod:`mjbot.analysis.review.cost_prior`, a prior by which most choices cost next to nothing and a
few are blunders.  A loss is shown where the interval is above 0 and the cost at least
:data:`LEAST_COST`. That worlds are dealt until a cost is clear changes no posterior.  Points have
no prior: what the posterior takes off the places as chance is taken off the points by their
regression on the places.

A sum over all different choices selects none: it adds up plain means, those of the first
:data:`FIRST_WORLDS` worlds that every choice gets (:attr:`Shown.first`).  The mean of all worlds
would not do: a choice whose first worlds were unlucky gets no more of them and keeps that luck, one
with lucky worlds gets more and loses it, which makes a sum of 35 too small by some 0.17 places.

Worlds are dealt where they decide most (best first): every decision gets :data:`FIRST_WORLDS`, then
the one with the largest expected cost gets as many again, until it is settled
(:attr:`Shown.is_settled`), it has had :data:`LOOKS` looks, or the budget is spent.  Left open:
whether these players would have played on as the fast policy does.

The budget is counted in playouts, not timed, so that a review can be repeated.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.review.cost_prior import Cost, CostPrior
from mjbot.analysis.review.decisions import ReviewedDecision
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.learning.playouts.override import Gain, best_plan, playout_us
from mjbot.learning.playouts.worlds import Playouts, plan_of, seed_of
from mjbot.runtime.languages import marked, translate
from mjbot.strategy.explanation import PERCENT, same_choice

BUDGET_S: Final = 40.0
"""Processor time for the playouts of one review, counted in playouts."""
FIRST_WORLDS: Final = 128
LOOKS: Final = 6
"""At 128, 256, ... 4,096 worlds."""
PRIOR: Final = CostPrior()
LEAST_COST: Final = 0.02
"""Places: the least cost worth showing, below which more worlds are of no use; set by hand."""
PRECISE: Final = 0.95
"""Share of the plain mean in a cost from which on a shown one gets no more worlds; with it, true
costs of 0.05 to 0.3 places are inside 9 of 10 intervals (``python -m proof cost-spread
--simulate``)."""
INTERVAL: Final = 1.96
"""Standard deviations in half a 95 % interval."""
MOST_ALTERNATIVES: Final = 3
LEAST_SHARE: Final = 8.0
"""Percent of the network below which a choice is no favourite."""
SCREENED: Final = 64
"""Worlds in which alternatives are compared."""


class Verdict(StrEnum):
    """What playouts show of a cost."""

    SHOWN = marked("shown")
    TOO_SMALL = marked("too small to count")
    NOT_SHOWN = marked("not shown to differ")
    NO_LOSS = marked("shown to be no loss")


def verdict_of(cost: Estimate) -> Verdict:
    """Return whether a cost in places, with its interval, is shown to be a loss."""
    if not (cost.is_bounded and cost.leaves_out_zero):
        return Verdict.NOT_SHOWN
    if cost.high < 0:
        return Verdict.NO_LOSS
    return Verdict.SHOWN if cost.value >= LEAST_COST else Verdict.TOO_SMALL


def cost_of(gain: Gain) -> Estimate:
    """Return the cost to be expected in places, known the worlds, with its 95 % interval."""
    return Estimate(*PRIOR.posterior(gain)[:3])


def is_settled(cost: Estimate, gain: Gain) -> bool:
    """Return whether more worlds are of no use: a loss is shown and well known, or none can be."""
    is_known = cost.value >= PRECISE * gain.ranks
    return cost.high < LEAST_COST or (verdict_of(cost) is Verdict.SHOWN and is_known)


@dataclass(frozen=True)
class Shown:
    """What the better choice gains, as it is to be expected after playouts, with 95 % intervals.

    ``points`` are of the kyoku, ``ranks`` places of the game; ``gain`` is what the worlds
    themselves gave, in places, ``first`` the same of the first :data:`FIRST_WORLDS`, for sums.
    ``better`` is the alternative, with the discard that follows it; the reviewer's own choice
    unless another one gained more.
    """

    points: Estimate
    ranks: Estimate
    gain: Gain
    first: Gain
    better: Action | None = None
    better_then: Action | None = None

    @property
    def deals(self) -> int:
        """The number of worlds."""
        return self.gain.worlds

    @property
    def verdict(self) -> Verdict:
        """Whether a loss is shown; one by the place counts."""
        return verdict_of(self.ranks)

    @property
    def is_settled(self) -> bool:
        """Whether more worlds are of no use: a loss is shown and well known, or none can be."""
        return is_settled(self.ranks, self.gain)


Choice = tuple[Action, Action | None]
"""An action and, after a riichi or a call, its discard."""


def alternatives(decision: ReviewedDecision) -> list[Choice]:
    """Return what could have been done instead: the reviewer's choice, then its favourites."""
    choices: list[Choice] = [(decision.expected, decision.expected_then)]
    if not decision.explanation.unit.startswith(PERCENT):
        return choices
    for rated in decision.explanation.best_first:
        known = [decision.actual, *(action for action, _ in choices)]
        if rated.value >= LEAST_SHARE and not any(same_choice(rated.action, a) for a in known):
            choices.append((rated.action, rated.then))
    return choices[:MOST_ALTERNATIVES]


@dataclass
class _Open:
    """A decision that is played on, and what its worlds gave: [worlds] each."""

    decision: ReviewedDecision
    better: Choice
    points: list[NDArray[np.float64]] = field(default_factory=list)
    ranks: list[NDArray[np.float64]] = field(default_factory=list)

    @property
    def worlds(self) -> int:
        return sum(map(len, self.ranks))

    @property
    def shown(self) -> Shown:
        points, ranks = np.concatenate(self.points), np.concatenate(self.ranks)
        gain, first = Gain.of(ranks), Gain.of(self.ranks[0])
        true = PRIOR.posterior(gain)
        return Shown(points_given(points, ranks, true), cost_of(gain), gain, first, *self.better)


def points_given(points: NDArray[np.float64], ranks: NDArray[np.float64], true: Cost) -> Estimate:
    """Return the points gained, known the places: by the regression of one on the other."""
    errors = np.cov(points, ranks) / len(ranks)
    slope = errors[0, 1] / errors[1, 1] if errors[1, 1] else 0.0
    rest = max(0.0, errors[0, 0] - slope**2 * errors[1, 1])
    mean = float(points.mean() + slope * (true.mean - ranks.mean()))
    return _around(mean, float(rest + (slope * true.error) ** 2) ** 0.5)


def _around(mean: float, error: float) -> Estimate:
    return Estimate(mean, mean - INTERVAL * error, mean + INTERVAL * error)


def sum_of_all(shown: Iterable[Shown]) -> Estimate:
    """Return what choices cost together in places, shown or not, with its 95 % interval."""
    first = [choice.first for choice in shown]
    return _around(
        float(sum(estimate.ranks for estimate in first)),
        float(sum(estimate.error**2 for estimate in first)) ** 0.5,
    )


def sum_of_costs(costs: Iterable[Estimate]) -> Estimate:
    """Return the sum of the costs of single choices, whose errors are independent."""
    estimates = list(costs)
    total = float(sum(cost.value for cost in estimates))
    half = float(sum(cost.half_width**2 for cost in estimates)) ** 0.5
    return Estimate(total, total - half, total + half)


class CostEstimator:
    """Plays decisions of tables of so many players on; holds models and memory of one thread.

    ``budget_s`` is processor time, counted in playouts; the same budget and ``seed`` give the same
    result.
    """

    def __init__(self, budget_s: float = BUDGET_S, seed: int = 0, players: int = 4) -> None:
        self.budget_s: Final = budget_s
        self._seed: Final = seed
        self._playouts: Final = Playouts(players=players)
        self._left_us = 0.0

    def estimate(
        self,
        decisions: Iterable[ReviewedDecision],
        step: Callable[[float, str], None] = lambda _share, _note: None,
    ) -> dict[ReviewedDecision, Shown]:
        """Return what each decision with a difference to show cost.

        Every one is played on in :data:`FIRST_WORLDS` at least, whatever the budget.  ``step`` is
        called after each round with the percentage of all the work that it was, and a note.
        """
        self._left_us = 1e6 * self.budget_s
        decisions = [*filter(is_open, decisions)]
        first_us = sum(2 * FIRST_WORLDS * playout_us(each.view.wall_left) for each in decisions)
        work_us = max(self._left_us, first_us)

        def played(before_us: float, note: str) -> None:
            step(100 * (before_us - self._left_us) / work_us, note)

        queue: list[tuple[float, int, _Open]] = []
        shown: dict[ReviewedDecision, Shown] = {}
        for index, decision in enumerate(decisions):
            before_us = self._left_us
            work = _Open(decision, self._best_alternative(decision))
            self._play(work, FIRST_WORLDS)
            shown[decision] = work.shown
            heappush(queue, (-shown[decision].ranks.value, index, work))
            first = translate("first round {n} of {all}", n=index + 1, all=len(decisions))
            played(before_us, first)
        while queue:
            _, index, work = heappop(queue)
            us = 2 * work.worlds * playout_us(work.decision.view.wall_left)
            is_last = work.worlds >= FIRST_WORLDS << (LOOKS - 1)
            if shown[work.decision].is_settled or is_last or us > self._left_us:
                continue
            before_us = self._left_us
            self._play(work, work.worlds)
            played(before_us, translate("{n} worlds for {at}", n=work.worlds, at=work.decision.at))
            shown[work.decision] = work.shown
            heappush(queue, (-shown[work.decision].ranks.value, index, work))
        return shown

    def _best_alternative(self, decision: ReviewedDecision) -> Choice:
        choices = alternatives(decision)
        if len(choices) == 1:
            return choices[0]
        view = decision.view
        ranks = self._ranks(view, choices, (0, SCREENED), seed_of(view, self._seed + 1))[1]
        gains = [Gain.of(ranks[:, 0] - ranks[:, index]) for index in range(len(choices))]
        return choices[best_plan(gains)]

    def _play(self, work: _Open, worlds: int) -> None:
        """Add so many worlds to what is known of a decision."""
        decision, first = work.decision, work.worlds
        pair = [(decision.actual, decision.then), work.better]
        seed = seed_of(decision.view, self._seed)
        points, ranks = self._ranks(decision.view, pair, (first, first + worlds), seed)
        work.points.append(points[:, 1] - points[:, 0])
        work.ranks.append(ranks[:, 0] - ranks[:, 1])

    def _ranks(
        self, view: View, choices: Sequence[Choice], worlds: tuple[int, int], seed: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the points and the expected places of the view's seat: [worlds, choices] each."""
        first, last = worlds
        plans = [plan_of(action, *([then] if then else [])) for action, then in choices]
        values = self._playouts.compare(
            view.state, view.seat, plans, last - first, seed=seed, first=first
        )
        self._left_us -= len(plans) * (last - first) * playout_us(view.wall_left)
        return values.points[:, :, view.seat], values.ranks[:, :, view.seat]


def is_open(decision: ReviewedDecision) -> bool:
    """Whether there is a difference to be shown."""
    loss = decision.value_loss
    is_spared = decision.is_on_ally and decision.expected.is_win
    return not decision.is_equal and not is_spared and bool(loss is None or loss > 0)


def shown_losses(shown: Iterable[Shown]) -> Iterator[Shown]:
    """Yield those that are shown to be losses."""
    return (choice for choice in shown if choice.verdict is Verdict.SHOWN)
