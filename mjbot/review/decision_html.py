"""One decision of a review as HTML: where it stood, what was done, what is better, and why."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from mjbot.records.positions import BoardAddress
from mjbot.report.html import name, table, text
from mjbot.review.decisions import SEATS, ReviewedDecision, points_of
from mjbot.review.playouts import Shown
from mjbot.review.reasons import MATERIAL, Reason, compare, kind_of_loss, number, signed
from mjbot.review.sentences import amount, because, choice_text, done_text, headline
from mjbot.review.summary import Review
from mjbot.review.tiles import row, tile, tiles, wind_of
from mjbot.statistics.estimates import Estimate
from mjbot.strategy import explanation as e
from mjbot.table.state import CALLED_AWAY, TSUMOGIRI
from mjbot.table.view import View

MOST_CHIPS: Final = 14


def place_link(review: Review, decision: ReviewedDecision) -> str:
    """Return a link to the decision on the page."""
    return f'<a href="#{decision.at}">{decision.at}</a>'


def board_link(review: Review, decision: ReviewedDecision) -> str:
    """Return a link to the board at that moment; nothing where there is no board."""
    if not review.board:
        return ""
    step = decision.event - review.judged.kyoku[decision.kyoku].event
    place = BoardAddress(decision.seat, decision.kyoku, step)
    return f'<a href="{quote(review.board)}#{place}">board</a>'


def interval(estimate: Estimate, unit: str) -> str:
    """Return a difference with its 95% interval."""
    if not estimate.is_bounded:
        return f"{signed(estimate.value, unit)} (no interval)"
    ends = f"{signed(estimate.low, unit)} to {signed(estimate.high, unit)}"
    return f"{signed(estimate.value, unit)} ({ends})"


def decision_html(review: Review, decision: ReviewedDecision) -> str:
    """Return the decision, folded up."""
    shown = review.shown.get(decision)
    return "".join(
        [
            f'<details class="{_class(review, decision)}" id="{decision.at}">',
            f"<summary>{_head(review, decision, shown)}</summary><div class=in>",
            *_situation(review, decision),
            *_why(review, decision, shown),
            _terms(decision),
            _chips(decision),
            "</div></details>",
        ]
    )


def _class(review: Review, decision: ReviewedDecision) -> str:
    if decision.is_equal:
        return "same"
    return "lost" if review.counts(decision) else "close"


def _head(review: Review, decision: ReviewedDecision, shown: Shown | None) -> str:
    view = decision.view
    when = f"<span class=when>{decision.at}</span>"
    if decision.is_equal:
        done = done_text(view, decision.actual, decision.then, tile)
        same = f"as {text(review.by.name, 80)}"
        return f"{when}<span>You {done}</span><span class='much good'>{same}</span>"
    parts = [when, f"<span>{headline(decision, tile)}</span>"]
    if shown is not None:
        parts.append(f"<span class=tag>{shown.verdict}</span>")
    tone = "bad" if review.counts(decision) else "mid" if decision.is_close else "soft"
    return "".join([*parts, f"<span class='much {tone}'>{size_text(decision)}</span>"])


def size_text(decision: ReviewedDecision) -> str:
    """Return the size of a mistake in short: ``1,240 points``, ``disputed``."""
    if decision.loss is None:
        return "not rated"
    if decision.is_disputed:
        return "disputed"
    size = text(amount(decision.loss, decision.loss_unit))
    return f"{size}, about equal" if decision.is_close else size


def _situation(review: Review, decision: ReviewedDecision) -> Iterator[str]:
    view = decision.view
    held = view.tiles
    if view.drawn >= 0:
        held.remove(view.drawn)
    hand = tiles(held) + (tile(view.drawn, "drawn") if view.drawn >= 0 else "")
    melds = "".join([f"<span class=meld>{tiles(m.tiles)}</span>" for m in view.melds(view.seat)])
    yield f"<p class=hand>{hand}{melds}</p>"
    dora = tiles(view.dora_markers.tolist())
    when = f"{decision.name}, turn {decision.turn}, {view.wall_left} tiles left"
    yield f"<p class=soft>{when}, dora marker {dora}"
    if view.claim_tile >= 0 and view.drawn < 0 and view.turn != view.seat:
        yield f", on offer {tile(view.claim_tile)} from {wind_of(view, view.turn)}"
    if link := board_link(review, decision):
        yield f", {link}"
    yield "</p><div class=rivers>"
    for step in SEATS:
        seat = (view.seat + step) % 4
        names = review.judged.names[seat : seat + 1]
        riichi = " <span class=bad>riichi</span>" if view.riichi(seat) else ""
        score = f"<span class=soft>{int(view.scores[seat]):,}</span>"
        who = f"{wind_of(view, seat)} {name(''.join(names), 16)} {score}{riichi}"
        melds = "".join([f"<span class=meld>{row(m.tiles)}</span>" for m in view.melds(seat)])
        yield f"<span>{who}</span><span>{_river(view, seat)}{melds if step else ''}</span>"
    yield "</div>"


def _river(view: View, seat: int) -> str:
    """Return a river: called tiles faded, those discarded as drawn darker."""
    marks = [
        "c" if flag & CALLED_AWAY else "d" if flag & TSUMOGIRI else ""
        for flag in view.river_flags(seat).tolist()
    ]
    held = view.river(seat).tolist()
    return row(held, marks) if held else "-"


def _why(review: Review, decision: ReviewedDecision, shown: Shown | None) -> Iterator[str]:
    if decision.is_equal:
        return
    yield f"<p class=say>{headline(decision, tile)}{text(because(decision), 600)}</p>"
    tags: list[str] = [kind_of_loss(decision)]
    tags += ["points and network disagree"] if decision.is_disputed else []
    tags += ["about equal"] if decision.is_close and not decision.is_disputed else []
    yield "<p>" + " ".join([f"<span class=tag>{tag}</span>" for tag in tags]) + "</p>"
    if shown is not None:
        yield (
            f"<p>Playouts in {shown.deals:,} worlds: the better choice gains"
            f" {interval(shown.points, e.POINTS)} points and"
            f" {interval(shown.ranks, e.RANKS)} places: <b>{shown.verdict}</b>.</p>"
        )


def _terms(decision: ReviewedDecision) -> str:
    """Return the terms of what was done and of what is better, or of the next best."""
    better, done = decision.better, decision.done
    if decision.is_equal:
        others = [each for each in decision.explanation.rated if not each.is_chosen]
        done = max(others, key=lambda each: each.value, default=None)
    if better is None or done is None:
        return "" if decision.is_equal else "<p class=soft>The reviewer did not rate both.</p>"
    pair = (better, done) if decision.is_equal else (done, better)
    unit = decision.explanation.unit
    gains = {reason.shows: reason for reason in compare(decision.view, done, better, unit)}
    in_points = points_of(better, unit) is not None and points_of(done, unit) is not None
    counted = e.POINTS if in_points else unit
    names = ["your choice", "next best"] if decision.is_equal else ["your choice", "better"]
    heads = [
        "",
        *[f"{name}: {choice_text(each, tile)}" for name, each in zip(names, pair, strict=True)],
    ]
    sign = -1 if decision.is_equal else 1
    rows = []
    if in_points:
        values = [points_of(each, unit) or 0.0 for each in pair]
        gain = signed(sign * (values[1] - values[0]), e.POINTS)
        rows.append(_total("value, points", values, e.POINTS, gain))
    if unit != e.POINTS:
        values = [each.value for each in pair]
        gain = "" if in_points else signed(sign * (values[1] - values[0]), unit)
        rows.append(_total(_value_label(unit), values, unit, gain))
    for term in _rows(pair, gains):
        found = [each.term(term.name, term.about) for each in pair]
        cells = [number(each.value, term.unit) if each else "" for each in found]
        reason = gains.get((term.name, term.about))
        if not _is_empty(term, cells, reason):
            rows.append([_label(decision.view, term), *cells, _gain(reason, counted)])
    return table([*heads, f"gain, {_short_unit(counted)}"], rows, "terms")


def _value_label(unit: str) -> str:
    return (
        f"share of the network, {e.PERCENT}"
        if unit.startswith(e.PERCENT)
        else f"value, {text(unit)}"
    )


def _short_unit(unit: str) -> str:
    return e.PERCENT if unit.startswith(e.PERCENT) else text(unit)


def _total(label: str, values: Sequence[float], unit: str, gain: str) -> list[str]:
    """Return the row of what all terms come to."""
    cells = [number(value, unit) for value in values]
    return [f"<em>{label}</em>", *cells, f"<em>{gain}</em>" if gain else ""]


def _gain(reason: Reason | None, unit: str) -> str:
    shown = signed(reason.gain, unit) if reason and reason.unit == unit else ""
    return "" if shown == "0" else shown


def _is_empty(term: e.Term, cells: Sequence[str], gain: Reason | None) -> bool:
    """Return whether a row shows no difference: no gain, and figures without information.

    Figures of a danger carry information only with a gain, all others where they differ.
    """
    least = MATERIAL if gain and gain.unit == e.POINTS else 0.5
    if gain is not None and abs(gain.gain) >= least:
        return False
    return term.name == e.DANGER or cells[0] == cells[1]


def _label(view: View, term: e.Term) -> str:
    wind = "" if term.about is None else wind_of(view, term.about)
    return text(term.label_about(f"{'from' if term.name == e.DANGER else 'to'} {wind}"))


def _rows(
    pair: tuple[e.Rated, e.Rated], gains: Mapping[tuple[str, int | None], Reason]
) -> list[e.Term]:
    """Return the terms to show: those that gain, largest first, then those that are informative."""
    terms = {(term.name, term.about): term for each in pair for term in each.terms}
    listed = [terms[shows] for shows in gains if shows in terms]
    hidden = {e.WINNING, e.DEALING_IN, e.IN_POINTS, *(term.name for term in listed if term.adds_to)}
    rest = [term for term in terms.values() if term not in listed and term.name not in hidden]
    values = {
        (term.name, term.about): [each.term(term.name, term.about) for each in pair]
        for term in rest
    }
    some = [
        term
        for term in rest
        if any(found and found.value for found in values[term.name, term.about])
    ]
    return [*listed, *some]


def _chips(decision: ReviewedDecision) -> str:
    """Return all that was rated, best first."""
    ordered = decision.explanation.best_first[:MOST_CHIPS]
    if len(ordered) < 3:
        return ""
    chips = []
    for each in ordered:
        mark = ", done" if e.same_choice(each.action, decision.actual) else ""
        rated = amount(each.value, decision.explanation.unit) if each.value > -1e8 else "given up"
        chips.append(f"<span>{choice_text(each, tile)} {text(rated)}{mark}</span>")
    return f"<p class=chips>{''.join(chips)}</p>"
