"""The losses of a game by kind and by kyoku, compared with the other players at the table.

All losses are in one unit (:attr:`Review.unit`).  A total is the plain sum of the decisions'
losses; what the reviewer did not rate adds nothing and is counted.  Shares of a network are no
amounts: they have a mean and no sum.  The mean loss of a decision has an interval in which a kyoku
is one observation, for the decisions of one are about the same hand.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mjbot.errors import ArgumentError
from mjbot.records.sources import open_games
from mjbot.review.decisions import SEATS, DealIn, Judged, ReviewedDecision, judge
from mjbot.review.players import SeatedPlayers
from mjbot.review.playouts import Shown, shown_losses
from mjbot.review.reasons import KINDS, kind_of_loss
from mjbot.statistics.estimates import Estimate, ratio
from mjbot.strategy.explanation import DANGER, PERCENT, POINTS, Strength
from mjbot.strategy.registry import Spec, strategy_class
from protocol.messages import Event, StartKyoku


@dataclass(frozen=True)
class Reviewer:
    """The reviewer: its name, its unit, and its measured strength."""

    name: str
    unit: str
    strength: Strength | None = None
    playouts_by: str = ""

    @classmethod
    def of(cls, spec: Spec, playouts_by: str = "") -> "Reviewer":
        """Return what is known of a strategy; the strength is its class's own, with defaults."""
        made = strategy_class(spec.name)
        strength = None if spec.options else vars(made).get("strength")
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
        return [each for each in self.judged.decisions if each.seat == seat]

    @property
    def deal_ins(self) -> list[DealIn]:
        """The seat's own."""
        return [each for each in self.judged.deal_ins if each.seat == self.seat]

    @property
    def unit(self) -> str:
        """What losses are counted in: points where the reviewer reports them, else its own unit."""
        return POINTS if self.judged.in_points else self.by.unit

    @property
    def is_summed(self) -> bool:
        """Whether losses of several decisions may be added up; shares may not."""
        return not self.unit.startswith(PERCENT)

    @property
    def costliest(self) -> list[ReviewedDecision]:
        """What was lost, most first: by the places that playouts show, then by the loss."""
        lost = [
            each
            for each in self.decisions
            if not each.is_equal and (each.loss is None or each.loss > 0 or self.is_shown(each))
        ]

        def key(decision: ReviewedDecision) -> tuple[int, float, float, float]:
            shown = self.shown.get(decision)
            order = {"shown": 0, "shown to be no loss": 2}.get(shown.verdict, 1) if shown else 1
            by = (shown.ranks.value, shown.points.value) if shown and order == 0 else (0.0, 0.0)
            return order, -by[0], -by[1], -(decision.loss or 0.0)

        return sorted(lost, key=key)

    def is_shown(self, decision: ReviewedDecision) -> bool:
        """Whether playouts show a loss."""
        return decision in self.shown and self.shown[decision].verdict == "shown"

    def counts(self, decision: ReviewedDecision) -> bool:
        """Whether a loss counts: confirmed by playouts or, without them, not too small."""
        if decision in self.shown:
            return self.is_shown(decision)
        return bool(decision.loss) and not decision.is_close


def known_seats(events: Sequence[Event]) -> list[int]:
    """Return the seats whose hands the record shows; a deal that could not be read shows none."""
    dealt = [
        event
        for event in events
        if isinstance(event, StartKyoku) and any("?" not in hand for hand in event.tehais)
    ]
    return [seat for seat in SEATS if dealt and all("?" not in each.tehais[seat] for each in dealt)]


def review_record(path: Path, seat: int, by: str = "strongest", seed: int = 0) -> Review:
    """Return the review of a seat in the first game at ``path``, by a strategy that rates.

    Raises as :func:`~mjbot.review.decisions.judge`; :class:`~mjbot.errors.ArgumentError` where the
    strategy rates nothing, or the record does not show the hand.
    """
    game, spec = next(open_games(path)), Spec.read(by)
    events = [entry.event for entry in game.entries]
    judged = judge(events, SeatedPlayers(spec, seed), known_seats(events), [seat])
    review = Review(path.name, seat, Reviewer.of(spec), judged)
    if not any(each.explanation.rated for each in review.decisions):
        raise ArgumentError(f"{path}, seat {seat}: {by} rates no decision of this seat")
    return review


@dataclass(frozen=True)
class Loss:
    """What some decisions lost together, as estimated and as shown by playouts.

    ``differing`` are those where something else was done, ``disputed`` those of them that points
    favour all the same, ``unrated`` those without a rating of both.  ``loss`` is in the unit of the
    review.  ``ranks`` adds up the places that all decisions cost in their worlds, shown or not;
    ``shown_points`` and ``shown_ranks`` what is to be expected of shown ones.
    """

    decisions: int
    differing: int
    disputed: int
    unrated: int
    loss: float
    shown: int
    shown_points: float
    shown_ranks: float = 0.0
    ranks: float = 0.0


def loss_of(decisions: Iterable[ReviewedDecision], shown: dict[ReviewedDecision, Shown]) -> Loss:
    """Add losses up."""
    found = list(decisions)
    played = [shown[each] for each in found if each in shown]
    proofs = list(shown_losses(played))
    return Loss(
        len(found),
        sum(not each.is_equal for each in found),
        sum(each.is_disputed for each in found),
        sum(each.loss is None for each in found),
        sum(each.loss or 0.0 for each in found),
        len(proofs),
        sum(proof.points.value for proof in proofs),
        sum(proof.ranks.value for proof in proofs),
        sum(each.gain.ranks for each in played),
    )


def by_kind(review: Review) -> dict[str, Loss]:
    """Return the losses by kind, of all kinds; what was done alike is of none."""
    kinds: dict[str, list[ReviewedDecision]] = {kind: [] for kind in KINDS}
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


def mean_loss(decisions: Sequence[ReviewedDecision]) -> Estimate:
    """Return the mean loss of a rated decision, in the unit of the review."""
    return _by_kyoku(decisions, lambda decision: decision.loss)


def rating(decisions: Sequence[ReviewedDecision]) -> Estimate:
    """Return the mean rating of the actions taken between worst (0) and best (1).

    That is mjai-reviewer's measure before it squares it; it is reported with an interval or not at
    all.
    """
    return _by_kyoku(decisions, _place)


def _place(decision: ReviewedDecision) -> float | None:
    if decision.is_equal:
        return 1.0
    values = [each.value for each in decision.explanation.rated if np.isfinite(each.value)]
    if decision.value_loss is None or len(values) < 2 or max(values) == min(values):
        return None
    return max(0.0, 1 - decision.value_loss / (max(values) - min(values)))


def _by_kyoku(
    decisions: Sequence[ReviewedDecision], measure: Callable[[ReviewedDecision], float | None]
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
    """Return the deal-in rate of the tile against the winner in percent, if it was reported."""
    decision = deal_in.decision
    term = decision.done.term(DANGER, deal_in.winner) if decision and decision.done else None
    return term.value if term and term.unit == "%" else None
