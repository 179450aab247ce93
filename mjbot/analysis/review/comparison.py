"""What was done next to what is better, term by term: the rows in which the two differ.

Where both are the same, the choice stands next to the next best.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.analysis.review.decisions import ReviewedDecision, points_of
from mjbot.analysis.review.reasons import MATERIAL, Reason, compare, number
from mjbot.runtime.languages import marked
from mjbot.strategy import explanation as e

NETWORK_SHARE: Final = marked("share of the network")


@dataclass(frozen=True)
class ComparedTerm:
    """One row: a term of both choices; ``None`` where a choice has no such term.

    ``gain`` is what the better choice gains by it, in the unit of :attr:`Comparison.unit`; ``None``
    where the term is no part of the sum.  Totals come first (``is_total``).
    """

    name: str
    unit: str
    about: int | None
    yours: float | None
    other: float | None
    gain: float | None = None
    is_total: bool = False


@dataclass(frozen=True)
class Comparison:
    """Two choices: what was done, and what is better or, where that was done, the next best."""

    yours: e.Rated
    other: e.Rated
    unit: str
    rows: tuple[ComparedTerm, ...]


def compare_choices(decision: ReviewedDecision) -> Comparison | None:
    """Return the rows in which the two choices differ; ``None`` where one is not rated."""
    better, done = decision.better, decision.done
    if decision.is_equal:
        others = [rated for rated in decision.explanation.rated if not rated.is_chosen]
        done = max(others, key=lambda rated: rated.value, default=None)
    if better is None or done is None:
        return None
    pair = (better, done) if decision.is_equal else (done, better)
    unit = decision.explanation.unit
    gains = {reason.shows: reason for reason in compare(decision.view, done, better, unit)}
    in_points = None not in (points_of(better, unit), points_of(done, unit))
    counted = e.POINTS if in_points else unit
    rows = [*_totals(decision, pair, in_points), *_terms(pair, gains, counted)]
    return Comparison(*pair, counted, tuple(rows))


def _totals(
    decision: ReviewedDecision, pair: tuple[e.Rated, e.Rated], in_points: bool
) -> list[ComparedTerm]:
    """Return what all terms come to, in points and in the reviewer's own unit."""
    unit, totals = decision.explanation.unit, []
    sign = -1 if decision.is_equal else 1
    if in_points:
        yours, other = (points_of(rated, unit) or 0.0 for rated in pair)
        gain = sign * (other - yours)
        totals.append(ComparedTerm(e.VALUE, e.POINTS, None, yours, other, gain, is_total=True))
    if unit != e.POINTS:
        name = NETWORK_SHARE if unit.startswith(e.PERCENT) else e.VALUE
        gain = sign * (pair[1].value - pair[0].value)
        yours, other = (rated.value for rated in pair)
        shown = None if in_points else gain
        totals.append(ComparedTerm(name, _short(unit), None, yours, other, shown, is_total=True))
    return totals


def _short(unit: str) -> str:
    return e.PERCENT if unit.startswith(e.PERCENT) else unit


def _terms(
    pair: tuple[e.Rated, e.Rated], gains: Mapping[tuple[str, int | None], Reason], counted: str
) -> list[ComparedTerm]:
    rows = []
    for term in _ordered(pair, gains):
        terms = [rated.term(term.name, term.about) for rated in pair]
        yours, other = (shown.value if shown else None for shown in terms)
        reason = gains.get((term.name, term.about))
        if not _is_empty(term, (yours, other), reason):
            gain = reason.gain if reason and reason.unit == counted else None
            rows.append(ComparedTerm(term.name, term.unit, term.about, yours, other, gain))
    return rows


def _is_empty(term: e.Term, values: Sequence[float | None], gain: Reason | None) -> bool:
    """Return whether a row shows no difference: no gain, and figures without information.

    Figures of a danger carry information only with a gain, all others where they differ.
    """
    least = MATERIAL if gain and gain.unit == e.POINTS else 0.5
    if gain is not None and abs(gain.gain) >= least:
        return False
    shown = ["" if value is None else number(value, term.unit) for value in values]
    return term.name == e.DANGER or shown[0] == shown[1]


def _ordered(
    pair: tuple[e.Rated, e.Rated], gains: Mapping[tuple[str, int | None], Reason]
) -> list[e.Term]:
    """Return the terms to show: those that gain, largest first, then those that are informative."""
    terms = {(term.name, term.about): term for rated in pair for term in rated.terms}
    listed = [terms[shows] for shows in gains if shows in terms]
    hidden = {e.WINNING, e.DEALING_IN, e.IN_POINTS, *(term.name for term in listed if term.adds_to)}
    rest = [term for term in terms.values() if term not in listed and term.name not in hidden]
    values = {
        (term.name, term.about): [rated.term(term.name, term.about) for rated in pair]
        for term in rest
    }
    some = [
        term
        for term in rest
        if any(value and value.value for value in values[term.name, term.about])
    ]
    return [*listed, *some]
