"""The joint choice of a pair: a few plans, played on in the same worlds, one kept above a margin.

The plan that the other rules of :mod:`strategies.combo_partner` choose is the incumbent.  It is
compared where the choice changes what the pair does, not which of two like tiles is discarded: a
win fed to the ally, a riichi or kan, a call, a win on the ally's own tile, the base's best discard
where the incumbent is another one, and after a rival's riichi an ally that folds.  A plan replaces
the incumbent only if the mean of its paired differences d over the worlds exceeds both a margin
and a multiple of its standard error::

    mean(d) > margin(objective)   and   mean(d) > Z s

s is the standard error of mean(d).  The :data:`WALLS` worlds of one deal of the rivals' hands share
its luck, so s is that of the deals' means.

:data:`Z`, :data:`MARGINS` and :data:`RANK_POINTS` were chosen on positions that were played on
again in six times as many other worlds (docs/results/pair.md).
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.actions import Action
from mjbot.game.table.state import copy_state
from mjbot.learning.models.fast_policy.choice import FastPolicy, load_policy
from mjbot.learning.models.networks.rank import rank_model
from mjbot.learning.models.tenpai import hand_reader
from mjbot.strategy.explanation import Rated
from protocol.tiles import tile_kind
from strategies.evaluation.pair import joint_playouts as playouts
from strategies.evaluation.pair.situation import PairSituation

Objective = Literal["balanced", "points", "better-rank", "first", "top-two"]
Values = NDArray[np.float64]

MOST_PLANS: Final = 4
WALLS: Final = 4
"""Playouts of each deal of the rivals' hands."""
Z: Final = 2.0
MARGINS: Final[dict[Objective, float]] = {
    "balanced": 300.0,
    "points": 200.0,
    "better-rank": 0.01,
    "first": 0.005,
    "top-two": 0.005,
}
"""In points, ranks or chances."""
RANK_POINTS: Final = 8000.0
"""Points that ``balanced`` counts for one rank of the better member."""
DEAL_US: Final = 1500.0
TURN_US: Final = 10.0
"""Microseconds of a deal of the rivals' hands and of one turn of a playout.  Not timed while
playing, so that a game can be repeated."""


class PairPlan(NamedTuple):
    """What the deciding member does, and the mask of the members that fold from then on."""

    action: Action
    folds: int = 0


class JointSearch:
    """Plays the plans of a pair on; one per process and strategy, as it owns scratch memory."""

    def __init__(self, budget_ms: float, objective: Objective) -> None:
        self._budget_ms: Final = budget_ms
        self._objective: Final[Objective] = objective
        self._workspace: Final = playouts.JointWorkspace.new()
        self._policy: Final[FastPolicy] = load_policy()

    def choose(
        self, situation: PairSituation, incumbent: Action, ratings: Sequence[Rated], seed: int
    ) -> Action:
        """Return the best plan by playouts; the incumbent where none is better above the margin."""
        plans = list(plans_of(situation, incumbent, ratings))
        if len(plans) < 2:
            return incumbent
        values = objective_of(self._objective, self.play_on(situation, plans, seed))
        _, means, errors = gains_of(plans, incumbent, values)
        best = int(np.argmax(means - Z * errors))
        if means[best] <= max(MARGINS[self._objective], Z * errors[best]):
            return incumbent
        return plans[best].action

    def play_on(
        self,
        situation: PairSituation,
        plans: Sequence[PairPlan],
        seed: int,
        worlds: int | None = None,
    ) -> Values:
        """Return what each plan brings: float64[worlds, plans, N_VALUES].

        Without ``worlds`` there are as many as fit into the budget.
        """
        workspace = self._workspace
        workspace["position"] = copy_state(situation.ally.state)
        workspace["seat"], workspace["ally"] = situation.pair
        workspace["walls"] = WALLS
        codes = np.array([(plan.action.code, plan.folds) for plan in plans], np.int64)
        fitting = worlds_within(self._budget_ms, len(plans), situation.view.wall_left)
        out = np.empty((worlds or fitting, len(plans), playouts.N_VALUES))
        weights = rank_model().weights
        playouts.compare_plans(workspace, self._policy, hand_reader(), weights, codes, seed, out)
        return out


def gains_of(
    plans: Sequence[PairPlan], incumbent: Action, values: Values
) -> tuple[int, Values, Values]:
    """Return the incumbent's better plan, and mean and standard error of each plan's gain on it.

    ``values`` are float64[worlds, plans], the gains float64[plans].
    """
    own = [place for place, plan in enumerate(plans) if plan.action == incumbent]
    kept = max(own, key=lambda place: float(values[:, place].mean()))
    return kept, *mean_and_error(values - values[:, kept : kept + 1])


def mean_and_error(gains: Values) -> tuple[Values, Values]:
    """Return the mean over the worlds and its standard error; each deal has :data:`WALLS` of them.

    Of a single deal the error is infinite.
    """
    deals = np.add.reduceat(gains, np.arange(0, len(gains), WALLS), axis=0)
    if len(deals) < 2:
        return gains.mean(axis=0), np.full(gains.shape[1:], np.inf)
    pulls = deals - deals.mean(axis=0)
    error: Values = np.sqrt((pulls**2).sum(axis=0) * len(deals) / (len(deals) - 1)) / len(gains)
    return gains.mean(axis=0), error


def objective_of(objective: Objective, values: Values) -> Values:
    """Return what the pair maximises: float64[worlds, plans]."""
    points, better = values[..., playouts.POINTS], values[..., playouts.BETTER_RANK]
    match objective:
        case "balanced":
            return points + RANK_POINTS * better
        case "points":
            return points
        case "better-rank":
            return better
        case "first":
            return values[..., playouts.FIRST]
        case "top-two":
            return values[..., playouts.TOP_TWO]


def plans_of(
    situation: PairSituation, incumbent: Action, ratings: Sequence[Rated]
) -> Iterator[PairPlan]:
    """Yield plans, the incumbent first; either member may fold where a rival is in riichi."""
    view, ally = situation.view, situation.ally
    actions = {_kind_of(incumbent): incumbent}
    for action in _alternatives(situation, ratings):
        actions.setdefault(_kind_of(action), action)
    chosen = list(actions.values())[:MOST_PLANS]
    yield from [PairPlan(action) for action in chosen]
    if any(view.riichi(rival) for rival in situation.rivals):
        if not view.riichi(ally.seat):
            yield from [PairPlan(action, 1 << ally.seat) for action in chosen[:2]]
        if view.discards and not view.riichi(view.seat):
            safest = min(view.discards, key=lambda action: float(situation.danger[action.tile]))
            yield PairPlan(safest, 1 << view.seat)


def _alternatives(situation: PairSituation, ratings: Sequence[Rated]) -> Iterator[Action]:
    """Yield actions to compare with the incumbent: a fed win, then what the base rates best."""
    view, ally = situation.view, situation.ally
    yield from situation.holding(ally.waits)[:1]
    by_rating = sorted(ratings, key=lambda rated: -rated.value)
    if view.discards:
        yield from [rated.action for rated in by_rating if not rated.action.is_discard][:2]
        yield from [rated.action for rated in by_rating if rated.action.is_discard][:1]
        return
    yield from [action for action in view.legal if action.name in ("pass", "ron")]
    yield from [rated.action for rated in by_rating]


def _kind_of(action: Action) -> tuple[str, int]:
    """Return what two actions share that hardly differ: copies of one kind, red or just drawn."""
    return action.name, tile_kind(action.tile) if action.tile >= 0 else action.code


def worlds_within(budget_ms: float, n_plans: int, wall_left: int) -> int:
    """Return how many worlds fit into a time on one core: at least two deals."""
    deal_us = DEAL_US + WALLS * n_plans * max(wall_left, 4) * TURN_US
    return WALLS * max(2, int(1000 * budget_ms / deal_us))
