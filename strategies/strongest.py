"""The strongest player here: what strong players would do, weighted with its value in points.

The network of :mod:`mjbot.strategies.supervised` has seen what strong players choose, and
:mod:`mjbot.strategies.fold_recognition_plus` estimates the value of a choice at this table: chance
to win, points, danger of every opponent, placement.  Either alone is weaker
(docs/results/strongest.md).

Theory.  Of two choices that differ by d points a strong player takes the better one exp(d / T)
times as often, T being the temperature of its choices.  So T log(share) is one estimate of the
value of a choice, up to a constant, and the estimated points are another.  They are added up, the
second ``points`` times; in the network's terms every share is multiplied by
exp(points x value / T), and riichi and calls by that of what they gain over not declaring, not
calling.  T = :data:`TEMPERATURE` was set by hand, ``points`` by play on walls of their own.

With ``budget_ms`` the likeliest choices, calls and riichi among them, are then played on to the end
of the kyoku in the same hidden hands and walls, by the fast policy in all four seats.  Another one
is taken only where it gains more than a margin (:mod:`mjbot.learning.playouts.override`).

At a table of three players it is :mod:`mjbot.strategies.fast_policy`, the only network there is for
them.

What the network is sure of (:data:`SURE_OF_DISCARD`, :data:`OPEN`) is not estimated: that is most
decisions, and points would not change them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.learning.models.networks.policy import PolicyOutput
from mjbot.learning.playouts.override import Gain, best_plan, gains_on_first
from mjbot.learning.playouts.worlds import Playouts, plan_of, seed_of
from mjbot.protocol.tiles import N_KINDS, tile_kind
from mjbot.runtime.languages import marked
from mjbot.strategies.evaluation.push_fold.hand_value import NEVER
from mjbot.strategies.fast_policy import FastPolicyPlayer
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from mjbot.strategies.supervised import Supervised, share_of
from mjbot.strategy.explanation import RANKS, Explanation, Rated, Strength, Term
from mjbot.strategy.options import switch

TEMPERATURE: Final = 500.0
"""Points by which a choice is worse that strong players take e times less often."""
LEAST_SHARE: Final = 0.02
"""Discards of a smaller share are left out."""
SURE_OF_DISCARD: Final = 0.9
OPEN: Final = 0.02, 0.98
"""Between these chances a riichi or call is open."""

PLAYED_ON: Final = "gain in playouts"
CLOCK_SHARE: Final = 0.5
"""Of the time that the table leaves for a decision, what a search may take."""
LEAST_TO_SEARCH: Final = 0.08
"""Choices of a smaller share are not played on."""
MOST_TO_SEARCH: Final = 3


@dataclass
class Strongest(Supervised):
    """Do what a strong player would most likely do, where points do not say otherwise."""

    players = (3, 4)
    notes: ClassVar[tuple[str, ...]] = (marked("the shares are weighed with the points"),)
    built_on: ClassVar[tuple[str, ...]] = ("supervised", "fold-recognition-plus")
    strength: ClassVar[Strength | None] = Strength(
        2.334,
        0.035,
        "fold-recognition-plus",
        "mjbot arena --protocol docs/results/protocols/strongest-fold.toml",
        "2026-11-28",
    )

    budget_ms: float = field(
        default=0.0, metadata={"unit": "ms that playing on may take a decision; 0: none"}
    )
    points: float = field(default=0.7, metadata={"unit": "x the points of a choice; 0: none"})
    riichi_and_calls: bool = switch("of the points: weigh them, too; no: discards alone")
    fine_danger: bool = switch(
        "of the points: danger as fitted; no: by the four grades of Mizukami 2013"
    )
    hand_quality: bool = switch(
        "of the points: judge hands by shape and yaku; no: by shanten alone"
    )
    placement: bool = switch("of the points: points by the rank they bring; no: as points")

    @cached_property
    def _evaluator(self) -> FoldRecognitionPlus:
        return FoldRecognitionPlus(
            fine_danger=self.fine_danger, hand_quality=self.hand_quality, placement=self.placement
        )

    @cached_property
    def _of_three(self) -> FastPolicyPlayer:
        return FastPolicyPlayer(
            riichi_from=self.riichi_from, pon_from=self.pon_from, kan_from=self.kan_from
        )

    def decide(self, view: View) -> Action:
        """Return the choice of that network, of three players that of the fast policy."""
        return super().decide(view) if view.players == 4 else self._of_three.decide(view)

    def explain(self, view: View) -> Explanation:
        """Rate each action by the same, and by its value in points."""
        if view.players == 4:
            return super().explain(view)
        explanation = self._of_three.explain(view)
        rated = [*self.with_points(view, explanation.rated)]
        return replace(explanation, rated=rated, notes=Supervised.notes if rated else ())

    def opinion(self, view: View) -> PolicyOutput | None:
        """Return the network's chances, weighted with the points."""
        opinion = super().opinion(view)
        if opinion is None or not self.points:
            return opinion
        if view.discards:
            return self._weighed_turn(view, opinion)
        return self._weighed_call(view, opinion) if self.riichi_and_calls else opinion

    def choice(self, view: View, opinion: PolicyOutput | None) -> Action:
        """Return the likeliest choice, or what playouts show to be better."""
        choice = super().choice(view, opinion)
        if opinion is None or not self.budget_ms:
            return choice
        actions = self.candidates(view, opinion, choice)
        return actions[best_plan(self._gains(view, actions))] if len(actions) > 1 else choice

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the shares, and of what was played on the ranks gained over the likeliest."""
        gains: dict[int, float] = {}
        opinion = self.opinion(view) if self.budget_ms else None
        if opinion is not None:
            actions = self.candidates(view, opinion, super().choice(view, opinion))
            if len(actions) > 1:
                played = self._gains(view, actions)
                gains = {a.code: gain.ranks for a, gain in zip(actions, played, strict=True)}
        for rated in super().ratings(view):
            gain = gains.get(rated.action.code)
            played_on = [] if gain is None else [Term(PLAYED_ON, RANKS, gain)]
            yield replace(rated, terms=[*rated.terms, *played_on])

    def candidates(self, view: View, opinion: PolicyOutput, choice: Action) -> list[Action]:
        """Return what is played on: the choice and the likeliest of the others, a tile a kind."""
        best = {_group(choice): choice}
        for action in sorted(view.legal, key=lambda action: _order(action, opinion)):
            if share_of(action, opinion) >= LEAST_TO_SEARCH:
                best.setdefault(_group(action), action)
        return list(best.values())[:MOST_TO_SEARCH]

    def _gains(self, view: View, actions: Sequence[Action]) -> list[Gain]:
        budget_ms = self.budget_ms
        if view.time_left_ms is not None:
            budget_ms = min(budget_ms, CLOCK_SHARE * view.time_left_ms)
        plans = [plan_of(action) for action in actions]
        return gains_on_first(self._playouts, view, plans, budget_ms, seed_of(view))

    @cached_property
    def _playouts(self) -> Playouts:
        return Playouts()

    def _weighed_turn(self, view: View, opinion: PolicyOutput) -> PolicyOutput:
        if opinion.discards.max() > SURE_OF_DISCARD and not _is_open(opinion.riichi):
            return opinion
        silent, declared = self._evaluator.discard_values(view)
        values: dict[int, float] = {}
        for action in view.discards:
            kind = tile_kind(action.tile)
            if opinion.discards[kind] >= LEAST_SHARE:
                values[kind] = max(values.get(kind, NEVER), float(silent[action.tile]))
        discards = self._weighed(opinion, values) if len(values) > 1 else opinion.discards
        riichi = opinion.riichi
        if self.riichi_and_calls and _is_open(riichi) and declared.max() > NEVER:
            riichi = self._moved(riichi, float(declared.max() - silent.max()))
        return opinion._replace(discards=discards, riichi=riichi)

    def _weighed(self, opinion: PolicyOutput, values: Mapping[int, float]) -> NDArray[np.float32]:
        chances = np.zeros(N_KINDS, np.float32)
        best = max(values.values())
        for kind, value in values.items():
            chances[kind] = opinion.discards[kind] * exp(self._nats(value - best))
        chances /= chances.sum()
        return chances

    def _weighed_call(self, view: View, opinion: PolicyOutput) -> PolicyOutput:
        chi = float(opinion.chi.sum())
        if not (_is_open(opinion.pon) or _is_open(chi)):
            return opinion
        values, passed = self._evaluator.call_values(view)
        gains: dict[str, float] = {}
        for call, value in values:
            gains[call.name] = max(gains.get(call.name, NEVER), value - passed)
        if "pon" in gains and _is_open(opinion.pon):
            opinion = opinion._replace(pon=self._moved(opinion.pon, gains["pon"]))
        if "chi" in gains and _is_open(chi):
            opinion = opinion._replace(chi=opinion.chi * (self._moved(chi, gains["chi"]) / chi))
        return opinion

    def _moved(self, chance: float, points: float) -> float:
        """Return a chance after what it gains is known."""
        return 1 / (1 + exp(-log(chance / (1 - chance)) - self._nats(points)))

    def _nats(self, points: float) -> float:
        return min(max(self.points * points / TEMPERATURE, -30.0), 30.0)


def _group(action: Action) -> tuple[str, int]:
    """Return what is one choice, whichever of equal tiles it takes."""
    kind = tile_kind(action.tile) if action.is_discard else action.tile
    return action.name, max(kind, action.offset)


def _order(action: Action, opinion: PolicyOutput) -> tuple[float, bool, bool]:
    """Return by what candidates are ordered: the share, then as ``supervised`` picks of equals."""
    gives_red = action.tile >= N_KINDS if action.is_discard else not action.red
    return -share_of(action, opinion), gives_red, not action.tsumogiri


def _is_open(chance: float) -> bool:
    return OPEN[0] < chance < OPEN[1]
