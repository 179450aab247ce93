"""A game's choices by class and by kyoku, and how the players at the table chose.

What choices cost is what playouts show of them, in places (:mod:`mjbot.analysis.review.playouts`).
The reviewer's own estimate of a loss orders and explains single choices and is never added up: sums
of it are refuted by playouts, more than tenfold (docs/results/reviews.md).  The one grade of a seat
is :func:`rating`; in its interval a kyoku is one observation, for the decisions of one are about
the same hand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mjbot.analysis.review.decisions import SEATS, DealIn, Judged, ReviewedDecision, judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import Shown, Verdict, shown_losses, sum_of_all, sum_of_costs
from mjbot.analysis.review.reasons import MistakeClass, class_of_mistake, mistake_classes
from mjbot.game.records.sources import open_games
from mjbot.game.statistics.estimates import Estimate, ratio
from mjbot.protocol.messages import Event, StartKyoku
from mjbot.protocol.rules import RANKED
from mjbot.runtime.errors import ArgumentError
from mjbot.strategy.explanation import DANGER, POINTS, RANKS, Strength
from mjbot.strategy.registry import Spec, strategy_class


@dataclass(frozen=True)
class Reviewer:
    """The reviewer: its name, its unit, and its strength as measured at tables of four."""

    name: str
    unit: str
    strength: Strength | None = None
    playouts_by: str = ""

    @classmethod
    def of(cls, spec: Spec, playouts_by: str = "", players: int = 4) -> "Reviewer":
        """Return what is known of a strategy; the strength is its class's own, with defaults."""
        made = strategy_class(spec.name)
        is_measured = players == RANKED.players and not spec.options
        strength = vars(made).get("strength") if is_measured else None
        return cls(str(spec), made.value_unit, strength, playouts_by)


@dataclass
class Review:
    """A game reviewed for one seat, with the others whose hands are known."""

    game: str
    seat: int
    by: Reviewer
    judged: Judged
    shown: dict[ReviewedDecision, Shown] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def decisions(self) -> list[ReviewedDecision]:
        """The seat's own."""
        return self.of(self.seat)

    def of(self, seat: int) -> list[ReviewedDecision]:
        """Return a seat's decisions."""
        return [decision for decision in self.judged.decisions if decision.seat == seat]

    @property
    def deal_ins(self) -> list[DealIn]:
        """The seat's own."""
        return [deal_in for deal_in in self.judged.deal_ins if deal_in.seat == self.seat]

    @property
    def unknown(self) -> list[str]:
        """The seat's positions at which the record does not show what was chosen."""
        return [at for seat, at in self.judged.unknown if seat == self.seat]

    @property
    def unit(self) -> str:
        """What losses are counted in: points where the reviewer reports them, else its own unit."""
        return POINTS if self.judged.in_points else self.by.unit

    @property
    def size_unit(self) -> str:
        """The unit of :meth:`size`: places where playouts were run, else that of losses."""
        return RANKS if self.shown else self.unit

    def size(self, decision: ReviewedDecision) -> float | None:
        """Return what a choice cost, as far as it is known: by playouts, else by estimate.

        ``None`` where neither is there.
        """
        if self.shown and not decision.is_equal:
            return self.shown[decision].ranks.value if decision in self.shown else None
        return decision.loss

    def mistake_class(self, decision: ReviewedDecision) -> MistakeClass:
        """Return the class of a mistake, compared with what playouts favour if they were run."""
        shown = self.shown.get(decision)
        if shown is None or shown.better is None:
            return class_of_mistake(decision)
        return class_of_mistake(decision, shown.better, shown.better_then)

    @property
    def costliest(self) -> list[ReviewedDecision]:
        """What was lost, most first: by the places that playouts show, then by the loss."""
        lost = [
            decision
            for decision in self.decisions
            if self.counts(decision)
            or (
                not decision.is_equal
                and (decision.loss is None or decision.loss > 0)
                and not decision.is_on_ally
            )
        ]

        def key(decision: ReviewedDecision) -> tuple[int, bool, float, float, float]:
            shown = self.shown.get(decision)
            order = {Verdict.SHOWN: 0, Verdict.NO_LOSS: 2}.get(shown.verdict, 1) if shown else 1
            by = (shown.ranks.value, shown.points.value) if shown and order == 0 else (0.0, 0.0)
            is_minor = shown is None and not decision.is_missed_win
            return order, is_minor, -by[0], -by[1], -(decision.loss or 0.0)

        return sorted(lost, key=key)

    def worst(self, n: int) -> list[ReviewedDecision]:
        """Return the costliest to list: what playouts show or, without them, by estimate."""
        lost = [
            decision
            for decision in self.costliest
            if self.counts(decision) or self._is_listed(decision)
        ]
        return lost[:n]

    def _is_listed(self, decision: ReviewedDecision) -> bool:
        return not self.shown and bool(decision.loss)

    def is_shown(self, decision: ReviewedDecision) -> bool:
        """Whether playouts show a loss."""
        return decision in self.shown and self.shown[decision].verdict is Verdict.SHOWN

    def counts(self, decision: ReviewedDecision) -> bool:
        """Whether a choice is a mistake: shown to be one by playouts.

        Without playouts: a win that was let go, or a loss that is estimated and not too small.
        """
        if self.shown:
            return self.is_shown(decision)
        return decision.is_missed_win or (bool(decision.loss) and not decision.is_close)


def known_seats(events: Sequence[Event]) -> list[int]:
    """Return the seats whose hands the record shows; a deal that could not be read shows none."""
    dealt = [
        event
        for event in events
        if isinstance(event, StartKyoku) and any("?" not in hand for hand in event.tehais)
    ]
    return [
        seat for seat in SEATS if dealt and all("?" not in kyoku.tehais[seat] for kyoku in dealt)
    ]


def review_record(path: Path, seat: int, by: str = "strongest", seed: int = 0) -> Review:
    """Return the review of a seat in the first game at ``path``, by a strategy that rates.

    Raises as :func:`~mjbot.analysis.review.decisions.judge`;
    :class:`~mjbot.runtime.errors.ArgumentError` where the strategy rates nothing, or the record
    does not show the hand.
    """
    game, spec = next(open_games(path)), Spec.read(by)
    events = [entry.event for entry in game.entries]
    judged = judge(events, SeatedPlayers(spec, seed), known_seats(events), [seat])
    review = Review(path.name, seat, Reviewer.of(spec, players=judged.players), judged)
    if not any(decision.explanation.rated for decision in review.decisions):
        raise ArgumentError(f"{path}, seat {seat}: {by} rates no decision of this seat")
    return review


@dataclass(frozen=True)
class Loss:
    """What some decisions cost together, as far as playouts show it.

    ``differing`` are those where something else was done, ``disputed`` those of them that points
    favour all the same, ``unrated`` those without a rating of both.  ``ranks`` are the places that
    all that were played on cost, shown or not, by the plain means of their worlds; ``shown_ranks``
    and ``shown_points`` what is to be expected of the ``shown`` ones.
    """

    decisions: int
    differing: int
    disputed: int
    unrated: int
    shown: int
    shown_points: Estimate
    shown_ranks: Estimate
    ranks: Estimate


def loss_of(decisions: Iterable[ReviewedDecision], shown: dict[ReviewedDecision, Shown]) -> Loss:
    """Add losses up."""
    those = list(decisions)
    played = [shown[decision] for decision in those if decision in shown]
    proofs = list(shown_losses(played))
    return Loss(
        len(those),
        sum(not decision.is_equal for decision in those),
        sum(decision.is_disputed for decision in those),
        sum(decision.loss is None for decision in those),
        len(proofs),
        sum_of_costs(proof.points for proof in proofs),
        sum_of_costs(proof.ranks for proof in proofs),
        sum_of_all(played),
    )


def by_class(review: Review) -> dict[MistakeClass, Loss]:
    """Return the losses by class, of all classes; what was done alike is of none."""
    decisions: dict[MistakeClass, list[ReviewedDecision]] = {
        mistake_class: [] for mistake_class in mistake_classes(review.judged.players)
    }
    for decision in review.decisions:
        if not decision.is_equal:
            decisions[review.mistake_class(decision)].append(decision)
    return {name: loss_of(of_class, review.shown) for name, of_class in decisions.items()}


def by_kyoku(review: Review) -> list[Loss]:
    """Return the losses of each kyoku."""
    return [
        loss_of(
            [decision for decision in review.decisions if decision.kyoku == index], review.shown
        )
        for index in range(len(review.judged.kyoku))
    ]


@dataclass(frozen=True)
class SeatSummary:
    """How a seat did: its final rank, how often it did as the reviewer would, and its grade."""

    seat: int
    name: str
    final_rank: int
    score: int
    decisions: int
    agreed: int
    rating: Estimate


def by_seat(review: Review) -> list[SeatSummary]:
    """Return all seats that were judged, the best grade first."""
    judged, summaries = review.judged, []
    for seat in sorted({decision.seat for decision in judged.decisions}):
        decisions = review.of(seat)
        names = judged.names[seat : seat + 1]
        summaries.append(
            SeatSummary(
                seat,
                names[0] if names else "",
                judged.final_ranks[seat],
                judged.scores[seat],
                len(decisions),
                sum(decision.is_equal for decision in decisions),
                rating(decisions),
            )
        )
    return sorted(summaries, key=lambda summary: -summary.rating.value)


def rating(decisions: Sequence[ReviewedDecision]) -> Estimate:
    """Return the grade of some decisions: 1 where each is the reviewer's best, 0 its worst choice.

    With v the reviewer's value of what was done, and low and high the least and greatest of its
    values of all legal actions, it is the mean over the decisions of::

        (v - low) / (high - low)

    A decision as the reviewer would have made it counts 1; one whose actions are not rated, or all
    alike, does not count.  That is mjai-reviewer's measure before it squares it.  A review prints
    100 times it, in whole numbers.  It measures agreement with the reviewer, not strength.
    """
    n = 1 + max((reviewed.kyoku for reviewed in decisions), default=0)
    sums, counts = np.zeros(n), np.zeros(n)
    for decision in decisions:
        value = agreement(decision)
        if value is not None:
            sums[decision.kyoku] += value
            counts[decision.kyoku] += 1
    return ratio(sums[counts > 0], counts[counts > 0])


def agreement(decision: ReviewedDecision) -> float | None:
    """Return a decision's part in the grade, 0 to 1: see :func:`rating`."""
    if decision.is_equal:
        return 1.0
    values = [option.value for option in decision.explanation.rated if np.isfinite(option.value)]
    if decision.value_loss is None or len(values) < 2 or max(values) == min(values):
        return None
    return max(0.0, 1 - decision.value_loss / (max(values) - min(values)))


# --- deal-ins ----------------------------------------------------------------------------------


def looked(deal_in: DealIn) -> float | None:
    """Return the deal-in rate of the tile against the winner in percent, if it was reported."""
    decision = deal_in.decision
    term = decision.done.term(DANGER, deal_in.winner) if decision and decision.done else None
    return term.value if term and term.unit == "%" else None
