"""One decision of a review as HTML: where it stood, what was done, what is better, and why."""

from collections.abc import Iterator, Mapping
from typing import Final

from mjbot.review.decisions import SEATS, Decision, points_of
from mjbot.review.html import name, row, table, text, tile, tiles
from mjbot.review.playouts import Shown
from mjbot.review.reasons import (
    Reason,
    compare,
    kind_of_loss,
    number,
    sentence,
    signed,
    wind_of,
)
from mjbot.review.summary import Review
from mjbot.statistics.estimates import Estimate
from mjbot.strategy.explanation import (
    DANGER,
    DEALING_IN,
    IN_POINTS,
    PERCENT,
    POINTS,
    RANKS,
    WINNING,
    Rated,
    Term,
    same_choice,
)
from mjbot.table.actions import Action
from mjbot.table.mirror.wire import consumed_tiles
from mjbot.table.state import CALLED_AWAY, TSUMOGIRI
from mjbot.table.view import View

MOST_CHIPS: Final = 14


def anchor(decision: Decision) -> str:
    """Return the decision's place on the page: its kyoku and the choice's number there."""
    return f"{decision.name}.{decision.place}"


def worth(value: float, unit: str) -> str:
    """Return a worth or a loss with its unit, short."""
    return f"{number(value, unit)} {PERCENT if unit.startswith(PERCENT) else text(unit)}".strip()


def interval(estimate: Estimate, unit: str) -> str:
    """Return a difference with its 95 % interval."""
    if not estimate.is_bounded:
        return f"{signed(estimate.value, unit)} (no interval)"
    ends = f"{signed(estimate.low, unit)} to {signed(estimate.high, unit)}"
    return f"{signed(estimate.value, unit)} ({ends})"


def action_html(view: View, action: Action, then: Action | None = None) -> str:
    """Return an action in words and tiles."""
    if action.is_discard:
        told = f"discard {tile(action.tile)}"
    elif action.is_call:
        used = tiles(consumed_tiles(view.state, view.seat, action))
        word = "kan" if action.is_kan else action.name
        told = f"{word} {tile(view.claim_tile)} with {used}"
    elif action.tile >= 0:
        told = f"{'kan' if action.name == 'ankan' else 'added kan'} {tile(action.tile)}"
    else:
        told = text(action.name)
    return f"{told}, {tile(then.tile)}" if then is not None else told


def decision_html(review: Review, decision: Decision) -> str:
    """Return the decision, folded up."""
    shown = review.shown.get(decision)
    return "".join(
        [
            f'<details class="{_class(review, decision)}" id="{anchor(decision)}">',
            f"<summary>{_head(review, decision, shown)}</summary><div class=in>",
            *_situation(review, decision),
            *_why(decision, shown),
            _terms(decision, review.ranks(decision)),
            _chips(decision),
            "</div></details>",
        ]
    )


def _class(review: Review, decision: Decision) -> str:
    if decision.is_equal:
        return "same"
    return "lost" if review.counts(decision) else "close"


def _head(review: Review, decision: Decision, shown: Shown | None) -> str:
    view, unit = decision.view, decision.told.unit
    parts = [f"<span class=when>turn {decision.turn}, {view.wall_left} left</span>"]
    done = action_html(view, decision.actual, decision.then)
    if decision.is_equal:
        return parts[0] + f"<span>{done}</span><span class='much good'>as the reviewer</span>"
    better = action_html(view, decision.expected, decision.expected_then)
    parts.append(f"<span>{done} <span class=soft>rather</span> {better}</span>")
    if shown is not None:
        parts.append(f"<span class=tag>{shown.verdict}</span>")
    if decision.loss is None:
        parts.append("<span class='much soft'>not rated</span>")
    elif decision.is_close:
        parts.append(f"<span class='much mid'>{worth(decision.loss, unit)}, cannot tell</span>")
    else:
        tone = "bad" if review.counts(decision) else "soft"
        parts.append(f"<span class='much {tone}'>{worth(decision.loss, unit)}</span>")
    return "".join(parts)


def _situation(review: Review, decision: Decision) -> Iterator[str]:
    view = decision.view
    held = view.tiles
    if view.drawn >= 0:
        held.remove(view.drawn)
    hand = tiles(held) + (tile(view.drawn, "drawn") if view.drawn >= 0 else "")
    melds = "".join([f"<span class=meld>{tiles(m.tiles)}</span>" for m in view.melds(view.seat)])
    yield f"<p class=hand>{hand}{melds}</p>"
    dora = tiles(view.dora_markers.tolist())
    yield f"<p class=soft>{decision.name}, dora marker {dora}"
    if view.claim_tile >= 0 and view.drawn < 0 and view.turn != view.seat:
        yield f", on offer {tile(view.claim_tile)} from {wind_of(view, view.turn)}"
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


def _why(decision: Decision, shown: Shown | None) -> Iterator[str]:
    if decision.is_equal:
        return
    said = sentence(decision)
    if said:
        yield f"<p class=say>{text(said, 400)}.</p>"
    tags: list[str] = [kind_of_loss(decision)]
    tags += ["the reviewer can hardly tell the two apart"] if decision.is_close else []
    yield "<p>" + " ".join([f"<span class=tag>{tag}</span>" for tag in tags]) + "</p>"
    if shown is not None:
        points, ranks = interval(shown.points, POINTS), interval(shown.ranks, RANKS)
        yield (
            f"<p>Played on from {shown.deals} deals of the hidden hands, the better choice gains"
            f" {points} points and {ranks} ranks: <b>{shown.verdict}</b>.</p>"
        )


def _terms(decision: Decision, ranks: float | None) -> str:
    """Return the terms of what was done and of what is better, or of the next best.

    ``ranks`` are what the points between them are worth.
    """
    better, done = decision.better, decision.done
    if decision.is_equal:
        others = [each for each in decision.told.rated if not each.is_chosen]
        done = max(others, key=lambda each: each.worth, default=None)
    if better is None or done is None:
        return "" if decision.is_equal else "<p class=soft>The reviewer did not rate both.</p>"
    pair = (better, done) if decision.is_equal else (done, better)
    unit = decision.told.unit
    gains = {reason.shows: reason for reason in compare(decision.view, done, better, unit)}
    heads = ["", "done", "next best" if decision.is_equal else "better", "gain"]
    told = [
        action_html(decision.view, each.action, each.then).removeprefix("discard ") for each in pair
    ]
    rows = [["", *told, ""], _total(f"worth, {text(unit)}", pair, (done, better), unit)]
    if unit != POINTS and points_of(better, unit) is not None and points_of(done, unit) is not None:
        rows.append(_total(IN_POINTS, pair, (done, better), unit, in_points=True))
    if ranks:
        rows.append(["in ranks, as the scores stand", "", "", signed(ranks, RANKS)])
    for term in _rows(pair, gains):
        values = [each.term(term.name, term.about) for each in pair]
        cells = [number(value.value, term.unit) if value else "" for value in values]
        gain = gains.get((term.name, term.about))
        told_gain = signed(gain.gain, gain.unit) if gain else ""
        rows.append([_label(decision.view, term), *cells, told_gain if told_gain != "0" else ""])
    return table(heads, rows, "terms")


def _label(view: View, term: Term) -> str:
    """Return a term's name, whom it is about, and its unit unless the name says it."""
    label = text(term.name)
    if term.about is not None:
        label += f" {'from' if term.name == DANGER else 'to'} {wind_of(view, term.about)}"
    return label if term.unit in term.name else f"{label}, {text(term.unit)}"


def _total(
    label: str,
    pair: tuple[Rated, Rated],
    done_better: tuple[Rated, Rated],
    unit: str,
    in_points: bool = False,
) -> list[str]:
    """Return the row of what all terms come to."""

    def value(rated: Rated) -> float:
        return (points_of(rated, unit) or 0.0) if in_points else rated.worth

    shown = POINTS if in_points else unit
    cells = [number(value(each), shown) for each in pair]
    gain = signed(value(done_better[1]) - value(done_better[0]), shown)
    return [f"<em>{label}</em>", *cells, f"<em>{gain}</em>"]


def _rows(pair: tuple[Rated, Rated], gains: Mapping[tuple[str, int | None], Reason]) -> list[Term]:
    """Return the terms to be shown: what gains, the most first, then what is known beside it."""
    terms = {(term.name, term.about): term for each in pair for term in each.terms}
    told = [terms[shows] for shows in gains if shows in terms]
    hidden = {WINNING, DEALING_IN, IN_POINTS, *(term.name for term in told if term.adds_to)}
    rest = [term for term in terms.values() if term not in told and term.name not in hidden]
    values = {
        (term.name, term.about): [each.term(term.name, term.about) for each in pair]
        for term in rest
    }
    some = [
        term
        for term in rest
        if any(found and found.value for found in values[term.name, term.about])
    ]
    return [*told, *some]


def _chips(decision: Decision) -> str:
    """Return all that was rated, best first."""
    ordered = sorted(decision.told.rated, key=lambda each: -each.worth)[:MOST_CHIPS]
    if len(ordered) < 3:
        return ""
    chips = []
    for each in ordered:
        told = action_html(decision.view, each.action, each.then).removeprefix("discard ")
        mark = "done" if same_choice(each.action, decision.actual) else ""
        number_ = number(each.worth, decision.told.unit) if each.worth > -1e8 else "given up"
        chips.append(f"<span>{told} {number_} {mark}</span>")
    return f"<p class=chips>{''.join(chips)}</p>"
