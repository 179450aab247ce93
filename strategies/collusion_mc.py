"""The Monte Carlo player of Takada and Sato 2022, with its open ends built."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.actions import ACTIONS, PASS, Action
from mjbot.game.table.assume import assume_no_liability, hide
from mjbot.game.table.state import Phase, copy_state
from mjbot.game.table.view import View
from mjbot.learning.models.tenpai import HandReader, Reading, hand_reader
from mjbot.learning.playouts.worlds import Playouts, Values, plan_of, seed_of
from mjbot.strategies.evaluation.facts import hand_facts
from mjbot.strategies.evaluation.playouts.candidates import Plans, all_discards, all_plans
from mjbot.strategies.evaluation.playouts.helped_worlds import HelpedPlayouts
from mjbot.strategies.evaluation.playouts.risk_lists import JOINT, PAPER
from mjbot.strategies.evaluation.playouts.risk_table import risk_lists_of, risk_table, shanten_table
from mjbot.strategies.evaluation.playouts.search import (
    SearchWorkspace,
    new_search_workspace,
    try_actions,
)
from mjbot.strategy.explanation import Explanation, Rated
from mjbot.strategy.strategy import Strategy

PAPERS_DEALS: Final = 10
Means = NDArray[np.float64]


@dataclass
class CollusionMc(Strategy):
    """Whoever shows by play alone that it is close and cheap is helped: so show it.

    Every action is tried out in playouts in which the others react to what they see.  Where two
    hands seem to be tenpai, each opponent discards what it expects to lose the least by: it feeds
    the cheap one rather than wait for the more expensive one to win.  An action that counts on
    such help is found by its value.
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
        default=True,
        metadata={
            "unit": "no: in playouts the others help no cheap hand; in mode=paper they know no"
            " danger (a control)"
        },
    )
    deals: int = field(
        default=0,
        metadata={"unit": "ways to deal the hidden hands (m); 0: by the budget, 10 in mode=paper"},
    )
    walls: int = field(default=10, metadata={"unit": "of mode=paper: playouts of each deal (n)"})
    budget_s: float = field(
        default=1.0, metadata={"unit": "s a decision may take, turned into a number of playouts"}
    )
    playouts_per_s: float = field(
        default=3000.0, metadata={"unit": "playouts/s by which the budget is counted"}
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
        best = int(np.argmax(self.values(view, plans))) if len(plans) > 1 else 0
        return plans[best][0]

    def _plans(self, view: View) -> Plans:
        """Return what is tried out; in the paper's way nothing on a tile that is offered."""
        if self.mode != "paper":
            return all_plans(view, self._reader)
        if view.phase in (Phase.REACTION, Phase.CHANKAN):
            return [(ACTIONS[PASS],)]
        return all_discards(view)

    def explain(self, view: View) -> Explanation:
        """Tell what was played out and how it ended, and what all four are supposed to fear."""
        mode = PAPER if self.mode == "paper" else JOINT
        lists = risk_lists_of(view, self._reader, mode, seed=seed_of(view, self.seed))
        tables = [shanten_table(view, self._reader), risk_table(lists, view)]
        return replace(super().explain(view), tables=tables)

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield what is played out, with how far each discard leaves the hand."""
        plans = self._plans(view)
        if len(plans) < 2:
            return
        own_turn = view.phase not in (Phase.REACTION, Phase.CHANKAN)
        facts = hand_facts(view) if own_turn else []
        for plan, value in zip(plans, self.values(view, plans).tolist(), strict=True):
            discard = plan[-1]
            terms = facts[discard.tile] if facts and discard.is_discard else ()
            then = discard if len(plan) > 1 else None
            yield Rated(plan[0], value, then=then, terms=terms)

    def values(self, view: View, plans: Plans) -> Means:
        """Return the mean value of each plan; -inf of those given up early."""
        if self.mode == "paper":
            return self._papers_values(view, plans)
        if self.deals:
            return self._sums(view, plans, (0, self.deals)) / self.deals
        return self._halving(view, plans)

    def _papers_values(self, view: View, plans: Plans) -> Means:
        workspace, sums = self._set_up(view), np.zeros(len(plans))
        codes = np.array([plan[0].code for plan in plans], np.int64)
        deals = self.deals or PAPERS_DEALS
        seed = seed_of(view, self.seed)
        try_actions(workspace, self._reader, codes, 0, deals, seed, sums)
        return sums / (deals * self.walls)

    def _halving(self, view: View, plans: Plans) -> Means:
        """Spend the budget in rounds; after each the worse half is given up."""
        left = np.arange(len(plans))
        sums = np.zeros(len(plans))
        done = 0
        rounds = max(1, (len(plans) - 1).bit_length())
        share = self.budget_s * self.playouts_per_s / rounds
        share /= self._playouts.time_of_one(view.state)
        while True:
            new = max(2, int(share / len(left)))
            sums[left] += self._sums(view, [plans[index] for index in left], (done, done + new))
            done += new
            if len(left) <= 2:
                break
            order = np.argsort(-sums[left], kind="stable")
            left = np.sort(left[order[: (len(left) + 1) // 2]])
        values = np.full(len(plans), -np.inf)
        values[left] = sums[left] / done
        return values

    def _sums(self, view: View, plans: Plans, worlds: tuple[int, int]) -> Means:
        """Return the points of each plan and the bonus to be expected, summed over worlds."""
        outcomes = self._compare(view, plans, worlds)
        bonus = outcomes.chances[:, :, view.seat] @ np.array(self._bonus)
        return np.asarray((outcomes.points[:, :, view.seat] + bonus).sum(axis=0))

    def _compare(
        self, view: View, plans: Sequence[Sequence[Action]], worlds: tuple[int, int]
    ) -> Values:
        position = copy_state(view.state)
        if not self.liability:
            assume_no_liability(position)
        return self._playouts.compare(
            position,
            view.seat,
            [plan_of(*plan) for plan in plans],
            worlds[1] - worlds[0],
            seed=seed_of(view, self.seed),
            first=worlds[0],
        )

    @cached_property
    def _playouts(self) -> Playouts:
        return HelpedPlayouts(self.hands) if self.lists else Playouts(self.hands)

    def _set_up(self, view: View) -> SearchWorkspace:
        workspace = self._workspace
        position = copy_state(view.state)
        hide(position, view.seat)
        assume_no_liability(position)
        workspace["position"] = position
        workspace["seat"] = view.seat
        workspace["n_walls"] = self.walls
        workspace["lists_on"] = self.lists
        workspace["bonus"] = self._bonus
        return workspace

    @cached_property
    def _workspace(self) -> SearchWorkspace:
        return new_search_workspace()

    @property
    def _reader(self) -> HandReader:
        return hand_reader("greedy" if self.mode == "paper" else self.hands)

    @cached_property
    def _bonus(self) -> Sequence[float]:
        return [1000 * float(part) for part in self.bonus.split("/")]
