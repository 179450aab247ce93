"""The Monte Carlo player of Takada and Sato 2022, with its open ends built."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mjbot.models.networks.rank import rank_model
from mjbot.models.tenpai import HandReader, Reading, hand_reader
from mjbot.strategy.explanation import Explanation, Rated
from mjbot.strategy.playouts import Outcomes, Plan
from mjbot.strategy.strategy import Strategy
from mjbot.table.actions import ACTIONS, PASS, Action
from mjbot.table.assume import assume_no_liability, hide
from mjbot.table.state import Phase, copy_state
from mjbot.table.view import View
from strategies.evaluation.facts import hand_facts
from strategies.evaluation.playouts.candidates import NO_DISCARD, all_discards, all_plans
from strategies.evaluation.playouts.paired import compare_plans
from strategies.evaluation.playouts.risk_lists import JOINT, PAPER
from strategies.evaluation.playouts.risk_table import risk_lists_of, risk_table, shanten_table
from strategies.evaluation.playouts.search import SearchWorkspace, new_search_workspace, try_actions

PAPERS_DEALS: Final = 10
PAPERS_WALLS: Final = 10
OUR_WALLS: Final = 5
Worths = NDArray[np.float64]


@dataclass
class CollusionMc(Strategy):
    """Whoever shows by play alone that it is close and cheap is helped: so show it.

    Every action is tried out in playouts in which all four avoid what they fear most, each by its
    own reading of the others.  A discard that makes us look cheap makes the others feed us rather
    than wait for somebody dearer to win, and that is how it is found.
    """

    value_unit: ClassVar[str] = "mean of what was played out"

    mode: Literal["full", "paper"] = field(
        default="full", metadata={"unit": "paper: Takada 2022 as published, discards only"}
    )
    hands: Reading = field(
        default="learned",
        metadata={
            "unit": "how far others are: by a model learned from records, or by greedy"
            " players, as always in mode=paper"
        },
    )
    lists: bool = field(
        default=True, metadata={"unit": "no: in playouts the others know no danger (a control)"}
    )
    deals: int = field(
        default=0,
        metadata={"unit": "ways to deal the hidden hands (m); 0: by the budget, 10 in mode=paper"},
    )
    walls: int = field(
        default=0, metadata={"unit": "playouts of each deal (n); 0: 5, 10 in mode=paper"}
    )
    budget_s: float = field(
        default=1.0, metadata={"unit": "s a decision may take, turned into a number of playouts"}
    )
    playouts_per_s: float = field(
        default=10000.0, metadata={"unit": "playouts/s by which the budget is counted"}
    )
    bonus: str = field(
        default="50/10/-10/-30", metadata={"unit": "thousands of points for 1st to 4th place"}
    )
    liability: bool = field(
        default=True, metadata={"unit": "no: no pao, as in mode=paper; all pay a win by draw"}
    )
    seed: int = field(default=0, metadata={"unit": "of its samples and playouts"})

    def decide(self, view: View) -> Action:
        """Win in the paper's way, else do what proves best in playouts."""
        if self.mode == "paper":
            for action in view.legal:
                if action.is_win:
                    return action
            if view.phase in (Phase.REACTION, Phase.CHANKAN):
                return ACTIONS[PASS]
        plans = self._plans(view)
        if len(plans) == 1:
            return ACTIONS[int(plans[0][0])]
        return ACTIONS[int(plans[int(np.argmax(self.worths(view, plans)))][0])]

    def _plans(self, view: View) -> NDArray[np.int64]:
        """Return what is tried out; in the paper's way nothing on a tile that is offered."""
        if self.mode != "paper":
            return all_plans(view, self._reader)
        if view.phase in (Phase.REACTION, Phase.CHANKAN):
            return np.array([(PASS, NO_DISCARD)], np.int64)
        return all_discards(view)

    def explain(self, view: View) -> Explanation:
        """Tell what was played out and how it ended, and what all four are supposed to fear."""
        mode = PAPER if self.mode == "paper" else JOINT
        lists = risk_lists_of(view, self._reader, mode, seed=self._seed_of(view))
        tables = [shanten_table(view, self._reader), risk_table(lists, view)]
        return replace(super().explain(view), tables=tables)

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield what is played out, with how far each discard leaves the hand."""
        plans = self._plans(view)
        if len(plans) < 2:
            return
        own_turn = view.phase not in (Phase.REACTION, Phase.CHANKAN)
        facts = hand_facts(view) if own_turn else []
        for (code, then), worth in zip(plans.tolist(), self.worths(view, plans), strict=True):
            action, after = ACTIONS[code], ACTIONS[then] if then >= 0 else None
            discard = after or action
            terms = facts[discard.tile] if facts and discard.is_discard else ()
            yield Rated(action, float(worth), then=after, terms=terms)

    def play_out(self, view: View, plans: Sequence[Plan], deals: int) -> Outcomes:
        """Play plans on in the same deals and walls (:mod:`mjbot.strategy.playouts`)."""
        workspace = self._set_up(view)
        codes = np.array(
            [(plan.action.code, plan.then.code if plan.then else NO_DISCARD) for plan in plans],
            np.int64,
        )
        points, ranks = np.empty((deals, len(plans))), np.empty((deals, len(plans)))
        weights = rank_model().weights
        seed = self._seed_of(view)
        compare_plans(workspace, self._reader, weights, codes, seed, points, ranks)
        return Outcomes(points, ranks)

    def worths(self, view: View, plans: NDArray[np.int64]) -> Worths:
        """Return the mean worth of each plan int64[n, 2]; -inf of those given up early."""
        workspace = self._set_up(view)
        seed = self._seed_of(view)
        if self.mode == "paper" or self.deals:
            deals = self.deals or PAPERS_DEALS
            sums = np.zeros(len(plans))
            try_actions(workspace, self._reader, plans, 0, deals, seed, sums)
            return sums / (deals * self._walls)
        return self._halving(workspace, plans, seed)

    def _halving(self, workspace: SearchWorkspace, plans: NDArray[np.int64], seed: int) -> Worths:
        """Spend the budget in rounds; after each the worse half is given up."""
        left = np.arange(len(plans))
        sums = np.zeros(len(plans))
        done = 0
        rounds = max(1, (len(plans) - 1).bit_length())
        share = self.budget_s * self.playouts_per_s / rounds
        while True:
            deals = max(2, int(share / (len(left) * self._walls)))
            new = np.zeros(len(left))
            try_actions(workspace, self._reader, plans[left], done, done + deals, seed, new)
            sums[left] += new
            done += deals
            if len(left) <= 2:
                break
            order = np.argsort(-sums[left], kind="stable")
            left = np.sort(left[order[: (len(left) + 1) // 2]])
        worths = np.full(len(plans), -np.inf)
        worths[left] = sums[left] / (done * self._walls)
        return worths

    def _set_up(self, view: View) -> SearchWorkspace:
        workspace = self._workspace
        position = copy_state(view.state)
        hide(position, view.seat)
        if self.mode == "paper" or not self.liability:
            assume_no_liability(position)
        workspace["position"] = position
        workspace["seat"] = view.seat
        workspace["n_walls"] = self._walls
        workspace["as_paper"] = self.mode == "paper"
        workspace["lists_on"] = self.lists
        workspace["bonus"] = self._bonus
        return workspace

    def _seed_of(self, view: View) -> int:
        """Return a seed for the moment, so that a choice does not depend on those before it."""
        state = view.state
        parts = (int(state["n_discards"]), int(state["honba"]), view.round, view.phase, view.seat)
        seed = self.seed
        for part in parts:
            seed = (seed * 1_000_003 + part + 1) % (1 << 62)
        return seed

    @cached_property
    def _workspace(self) -> SearchWorkspace:
        return new_search_workspace()

    @property
    def _reader(self) -> HandReader:
        return hand_reader("greedy" if self.mode == "paper" else self.hands)

    @property
    def _walls(self) -> int:
        return self.walls or (PAPERS_WALLS if self.mode == "paper" else OUR_WALLS)

    @cached_property
    def _bonus(self) -> Sequence[float]:
        return [1000 * float(part) for part in self.bonus.split("/")]
