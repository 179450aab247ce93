"""What the losses of a game come to: by kind, by kyoku, beside the others at the table.

A total is the plain sum of the decisions' losses; what the reviewer did not rate adds nothing and
is counted.  The mean loss of a decision has an interval in which a kyoku is one observation, for
the decisions of one are about the same hand.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mjbot.review.decisions import DealIn, Decision, Judged
from mjbot.review.playouts import Shown
from mjbot.review.reasons import KINDS, kind_of_loss
from mjbot.statistics.estimates import Estimate, ratio
from mjbot.strategy.explanation import DANGER, Strength
from mjbot.strategy.registry import Spec, strategy_class


@dataclass(frozen=True)
class Reviewer:
    """Who judges: by what name, in what unit, and how strong it was found to be."""

    name: str
    unit: str
    strength: Strength | None = None
    playouts_by: str = ""

    @classmethod
    def of(cls, spec: Spec, playouts_by: str = "") -> "Reviewer":
        """Return what is known of a strategy; the strength is its class's own, with defaults."""
        made = strategy_class(spec.name)
        strength = None if spec.options else vars(made).get("strength")
        return cls(str(spec), made.worth_unit, strength, playouts_by)


@dataclass
class Review:
    """A game judged for one seat, beside the others of which the hands are known."""

    game: str
    seat: int
    by: Reviewer
    judged: Judged
    shown: dict[Decision, Shown] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def decisions(self) -> list[Decision]:
        """The seat's own."""
        return self.of(self.seat)

    def of(self, seat: int) -> list[Decision]:
        """Return a seat's decisions."""
        return [each for each in self.judged.decisions if each.seat == seat]

    @property
    def deal_ins(self) -> list[DealIn]:
        """The seat's own."""
        return [each for each in self.judged.deal_ins if each.seat == self.seat]

    @property
    def costliest(self) -> list[Decision]:
        """What was lost, most first: what is shown before what is not, then by the loss."""
        lost = [each for each in self.decisions if each.loss is None or each.loss > 0]
        lost = [each for each in lost if not each.is_equal]

        def key(decision: Decision) -> tuple[int, float, float]:
            shown = self.shown.get(decision)
            rank = {"shown": 0, "not shown to differ": 1}.get(shown.verdict, 2) if shown else 1
            value = shown.ranks.value if shown and rank == 0 else 0.0
            return rank, -value, -(decision.loss or 0.0)

        return sorted(lost, key=key)

    def counts(self, decision: Decision) -> bool:
        """Whether a loss stands: the judge can tell, and playouts, if there are any, show it."""
        if not decision.loss or decision.is_close:
            return False
        shown = self.shown.get(decision)
        return shown is None or shown.verdict == "shown"

    def ranks(self, decision: Decision) -> float | None:
        """Return a loss in ranks, by what 1000 points are worth as the kyoku starts."""
        if decision.points is None:
            return None
        return decision.points / 1000 * self.judged.kyoku[decision.kyoku].ranks.per_1000[self.seat]


@dataclass(frozen=True)
class Loss:
    """What some decisions lost together, in the reviewer's unit, in points, and as shown.

    ``differing`` are those done otherwise, ``unrated`` those of them without a rating;
    ``shown_points`` and ``shown_ranks`` add up what playouts show.
    """

    decisions: int
    differing: int
    unrated: int
    loss: float
    points: float
    shown: int
    shown_points: float
    shown_ranks: float


def loss_of(decisions: Iterable[Decision], shown: dict[Decision, Shown]) -> Loss:
    """Add losses up."""
    found = list(decisions)
    proofs = [shown[each] for each in found if each in shown]
    proofs = [proof for proof in proofs if proof.verdict == "shown"]
    return Loss(
        len(found),
        sum(not each.is_equal for each in found),
        sum(each.loss is None for each in found),
        sum(each.loss or 0.0 for each in found),
        sum(each.points or 0.0 for each in found),
        len(proofs),
        sum(proof.points.value for proof in proofs),
        sum(proof.ranks.value for proof in proofs),
    )


def by_kind(review: Review) -> dict[str, Loss]:
    """Return the losses by kind, of all kinds; what was done alike is of none."""
    kinds: dict[str, list[Decision]] = {kind: [] for kind in KINDS}
    for decision in review.decisions:
        if not decision.is_equal:
            kinds[kind_of_loss(decision)].append(decision)
    return {kind: loss_of(found, review.shown) for kind, found in kinds.items()}


def by_kyoku(review: Review) -> list[Loss]:
    """Return the losses of each kyoku."""
    return [
        loss_of([each for each in review.decisions if each.kyoku == place], review.shown)
        for place in range(len(review.judged.kyoku))
    ]


@dataclass(frozen=True)
class SeatSummary:
    """How a seat did: its place, how often it did as the reviewer would, what a decision lost."""

    seat: int
    name: str
    place: int
    score: int
    total: Loss
    mean: Estimate
    rating: Estimate

    @property
    def agreed(self) -> int:
        """Decisions that were as the reviewer would have made them."""
        return self.total.decisions - self.total.differing


def by_seat(review: Review) -> list[SeatSummary]:
    """Return all seats that were judged, the best mean loss first."""
    judged, found = review.judged, []
    for seat in sorted({each.seat for each in judged.decisions}):
        decisions = review.of(seat)
        names = judged.names[seat : seat + 1]
        found.append(
            SeatSummary(
                seat,
                names[0] if names else "",
                judged.places[seat],
                judged.scores[seat],
                loss_of(decisions, review.shown if seat == review.seat else {}),
                mean_loss(decisions),
                rating(decisions),
            )
        )
    return sorted(found, key=lambda line: line.mean.value)


def mean_loss(decisions: Sequence[Decision]) -> Estimate:
    """Return the mean loss of a rated decision, in the reviewer's unit."""
    return _by_kyoku(decisions, lambda decision: decision.loss)


def rating(decisions: Sequence[Decision]) -> Estimate:
    """Return the mean place of what was done between worst (0) and best (1) of what was rated.

    That is mjai-reviewer's measure before it squares it; it is told with an interval or not at all.
    """
    return _by_kyoku(decisions, _place)


def _place(decision: Decision) -> float | None:
    if decision.is_equal:
        return 1.0
    worths = [each.worth for each in decision.told.rated if np.isfinite(each.worth)]
    if decision.loss is None or len(worths) < 2 or max(worths) == min(worths):
        return None
    return max(0.0, 1 - decision.loss / (max(worths) - min(worths)))


def _by_kyoku(
    decisions: Sequence[Decision], measure: Callable[[Decision], float | None]
) -> Estimate:
    n = 1 + max((each.kyoku for each in decisions), default=0)
    sums, counts = np.zeros(n), np.zeros(n)
    for decision in decisions:
        value = measure(decision)
        if value is not None:
            sums[decision.kyoku] += value
            counts[decision.kyoku] += 1
    return ratio(sums[counts > 0], counts[counts > 0])


# --- deal-ins ----------------------------------------------------------------------------------


def looked(deal_in: DealIn) -> float | None:
    """Return how dangerous the tile looked, in per cent against the winner, if that was told."""
    decision = deal_in.decision
    term = decision.done.term(DANGER, deal_in.winner) if decision and decision.done else None
    return term.value if term and term.unit == "%" else None
