"""What a decision cost in places and points: both choices played on in the same worlds.

A world is one way to deal the hidden hands and the wall; the fast policy plays all four seats to
the end of the kyoku, and the rank model rates what comes out (:mod:`mjbot.playouts.worlds`).  Two
choices are played: the action taken and the best alternative.  That is the reviewer's choice, or
another favourite of its network (of :data:`MOST_ALTERNATIVES`) that gains more in worlds of its
own, which are not used again.  The cost is the mean difference over the worlds; what hands and wall
do to both choices cancels.

Worlds are dealt where they decide most (best first): every decision gets :data:`FIRST_WORLDS`, then
the one with the largest expected cost gets as many again, until its verdict is clear, it has
had :data:`LOOKS` looks, or the budget is spent.  With g the mean of a decision and s its standard
error, the expected cost is g T^2 / (T^2 + s^2), T = :data:`SPREAD` being the standard deviation of
true costs; it orders the work and is reported nowhere.

Since the number of worlds depends on what they showed, an interval of 1.96 s would miss more than
one time in twenty.  The intervals are repeated confidence intervals (Jennison and Turnbull,
"Interim analyses: the repeated confidence interval approach", JRSS B 51, 1989): g ± :data:`LOOK_Z`
s.  Over 6 looks at doubling numbers of worlds the largest of |g| / s stays below that in 95 % of
cases in which the true cost is 0 (normal, 400,000 simulated sequences: 2.545).

Only where the whole interval of the places is on one side of 0 is a difference shown.  Left open:
whether these players would have played on as the fast policy does.

The budget is counted in playouts, not timed, so that a review can be repeated.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mjbot.playouts.override import Gain, best_plan, playout_us
from mjbot.playouts.worlds import Playouts, plan_of, seed_of
from mjbot.review.decisions import ReviewedDecision
from mjbot.statistics.estimates import Estimate
from mjbot.strategy.explanation import PERCENT, same_choice
from mjbot.table.actions import Action
from mjbot.table.view import View

Verdict = Literal["shown", "not shown to differ", "shown to be no loss"]

BUDGET_S: Final = 40.0
"""Processor time for the playouts of one review, counted in playouts."""
FIRST_WORLDS: Final = 128
LOOKS: Final = 6
"""At 128, 256, ... 4,096 worlds."""
LOOK_Z: Final = 2.55
SMALL: Final = 0.02
"""Places: a decision whose interval ends below this gets no more worlds."""
SPREAD: Final = 0.02
"""Places; set by hand (the search of ``strongest`` found 0.0129 among its challengers)."""
MOST_ALTERNATIVES: Final = 3
LEAST_SHARE: Final = 8.0
"""Percent of the network below which a choice is no favourite."""
SCREENED: Final = 64
"""Worlds in which alternatives are compared."""


@dataclass(frozen=True)
class Shown:
    """What the better choice gains in playouts: points in the kyoku, and places of the game.

    ``better`` is the alternative, with the discard that follows it; the reviewer's own choice
    unless another one gained more.  ``deals`` is the number of worlds.
    """

    points: Estimate
    ranks: Estimate
    deals: int
    better: Action | None = None
    better_then: Action | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether a loss is shown; one by the place counts."""
        if not (self.ranks.is_bounded and self.ranks.leaves_out_zero):
            return "not shown to differ"
        return "shown" if self.ranks.low > 0 else "shown to be no loss"

    @property
    def is_settled(self) -> bool:
        """Whether more worlds are of no use: a difference is shown, or too small to matter."""
        return self.verdict != "not shown to differ" or self.ranks.high < SMALL

    @property
    def expected(self) -> float:
        """The cost to be expected, in places: the mean, drawn towards 0 by its error."""
        error = self.ranks.half_width / LOOK_Z
        return self.ranks.value * SPREAD**2 / (SPREAD**2 + error**2)


Choice = tuple[Action, Action | None]
"""An action and, after a riichi or a call, its discard."""


def alternatives(decision: ReviewedDecision) -> list[Choice]:
    """Return what could have been done instead: the reviewer's choice, then its favourites."""
    found: list[Choice] = [(decision.expected, decision.expected_then)]
    if not decision.explanation.unit.startswith(PERCENT):
        return found
    for rated in decision.explanation.best_first:
        known = [decision.actual, *(action for action, _ in found)]
        if rated.value >= LEAST_SHARE and not any(same_choice(rated.action, a) for a in known):
            found.append((rated.action, rated.then))
    return found[:MOST_ALTERNATIVES]


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
        points, ranks = (_estimate(np.concatenate(each)) for each in (self.points, self.ranks))
        return Shown(points, ranks, self.worlds, *self.better)


def _estimate(values: NDArray[np.float64]) -> Estimate:
    mean, error = float(values.mean()), float(values.std(ddof=1)) / len(values) ** 0.5
    return Estimate(mean, mean - LOOK_Z * error, mean + LOOK_Z * error)


class CostEstimator:
    """Plays decisions on; holds the models and the memory that one thread needs.

    ``budget_s`` is processor time, counted in playouts; the same budget and ``seed`` give the same
    result.
    """

    def __init__(self, budget_s: float = BUDGET_S, seed: int = 0) -> None:
        self.budget_s: Final = budget_s
        self._seed: Final = seed
        self._playouts: Final = Playouts()
        self._left_us = 0.0

    def estimate(
        self,
        decisions: Iterable[ReviewedDecision],
        step: Callable[[], None] = lambda: None,
    ) -> dict[ReviewedDecision, Shown]:
        """Return what each decision with a difference to show cost; ``step`` is called for each.

        Every one is played on in :data:`FIRST_WORLDS` at least, whatever the budget.
        """
        self._left_us = 1e6 * self.budget_s
        queue: list[tuple[float, int, _Open]] = []
        shown: dict[ReviewedDecision, Shown] = {}
        for place, decision in enumerate(filter(is_open, decisions)):
            work = _Open(decision, self._best_alternative(decision))
            self._play(work, FIRST_WORLDS)
            shown[decision] = work.shown
            heappush(queue, (-work.shown.expected, place, work))
            step()
        while queue:
            _, place, work = heappop(queue)
            us = 2 * work.worlds * playout_us(work.decision.view.wall_left)
            is_last = work.worlds >= FIRST_WORLDS << (LOOKS - 1)
            if shown[work.decision].is_settled or is_last or us > self._left_us:
                continue
            self._play(work, work.worlds)
            shown[work.decision] = work.shown
            heappush(queue, (-work.shown.expected, place, work))
        return shown

    def _best_alternative(self, decision: ReviewedDecision) -> Choice:
        choices = alternatives(decision)
        if len(choices) == 1:
            return choices[0]
        view = decision.view
        ranks = self._ranks(view, choices, (0, SCREENED), seed_of(view, self._seed + 1))[1]
        gains = [Gain.of(ranks[:, 0] - ranks[:, place]) for place in range(len(choices))]
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
    return not decision.is_equal and bool(loss is None or loss > 0)


def shown_losses(shown: Iterable[Shown]) -> Iterator[Shown]:
    """Yield those that are shown to be losses."""
    return (each for each in shown if each.verdict == "shown")
