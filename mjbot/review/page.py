"""A review as one HTML page that needs nothing else: the summary, then every decision."""

from collections.abc import Iterator
from typing import Final

from mjbot.review.decision_html import (
    action_html,
    anchor,
    decision_html,
    interval,
    worth,
)
from mjbot.review.decisions import Decision
from mjbot.review.html import POLICY, STYLE, drawings, name, table, text, tile
from mjbot.review.reasons import kind_of_loss, number, sentence
from mjbot.review.summary import (
    Loss,
    Review,
    by_kind,
    by_kyoku,
    by_seat,
    looked,
    loss_of,
    mean_loss,
)
from mjbot.statistics.estimates import Estimate
from mjbot.strategy.explanation import PERCENT, POINTS
from mjbot.text import plural

MOST_WORST: Final = 10
WIDTH: Final = 960
HEIGHT: Final = 130
FOOT: Final = 18
PLACES: Final = ("1st", "2nd", "3rd", "4th")


def page(review: Review) -> str:
    """Return the page."""
    seat = review.seat
    names = review.judged.names
    who = name(names[seat]) if seat < len(names) else f"seat {seat}"
    title = f"Review: {text(names[seat]) if seat < len(names) else f'seat {seat}'}"
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name=viewport content="width=device-width,initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>{drawings()}<main>",
        f"<h1>Review of {who}</h1>",
        *_origin(review),
        *_cards(review),
        _curve(review),
        *_worst(review),
        *_kinds(review),
        *_kyoku(review),
        *_seats(review),
        *_deal_ins(review),
        *_decisions(review),
        *_how_to_read(review),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _origin(review: Review) -> Iterator[str]:
    judged, strength = review.judged, review.by.strength
    place, score = judged.places[review.seat], judged.scores[review.seat]
    ends = f"{PLACES[place - 1]} of 4 with {score:,} points"
    yield f"<p class=soft>seat {review.seat} in {text(review.game, 120)}, {ends}</p>"
    told = "how strong it is was not measured"
    if strength is not None:
        rank = f"{strength.rank:.3f} &plusmn; {strength.half_width:.3f}"
        against = f"against three <code>{text(strength.rivals)}</code>"
        by = f"<code>{text(strength.command, 200)}</code>, {text(strength.date)}"
        told = f"its average rank in the arena is {rank} {against} ({by})"
    yield f"<p>Judged by <b>{text(review.by.name, 80)}</b>: {told}.</p>"


def _cards(review: Review) -> Iterator[str]:
    unit, whole = review.by.unit, loss_of(review.decisions, review.shown)
    same = whole.decisions - whole.differing
    share = f"{100 * same / whole.decisions:.0f} %" if whole.decisions else "-"
    mean = mean_loss(review.decisions)
    ranks = sum(review.ranks(each) or 0.0 for each in review.decisions)
    cards = [
        (str(whole.decisions), "decisions"),
        (share, f"as the reviewer ({same})"),
        (_mean(mean, unit), f"mean loss of a decision, {text(unit)}, with its 95 % interval"),
        (number(whole.points, POINTS), f"points lost, as reckoned: {ranks:.2f} ranks"),
    ]
    if review.shown:
        told = f"of {len(review.shown)} played on shown to be losses"
        cards.append((str(whole.shown), told))
        cards.append((f"{whole.shown_ranks:.3f}", "ranks lost by these together"))
    yield "<div class=cards>"
    for value, label in cards:
        yield f"<div class=card><b>{value}</b><span>{label}</span></div>"
    yield "</div>"


def _mean(mean: Estimate, unit: str) -> str:
    if not mean.is_bounded:
        return "-" if mean.value != mean.value else f"{number(mean.value, unit)}, no interval"
    return f"{number(mean.value, unit)} &plusmn; {number(mean.half_width, unit)}"


def _curve(review: Review) -> str:
    """Return a bar for each loss, in the order of the game, each a link."""
    decisions, unit = review.decisions, review.by.unit
    most = max((each.loss or 0.0 for each in decisions), default=0.0)
    if not most:
        return "<p>Nothing was lost.</p>"
    step = WIDTH / len(decisions)
    bars, marks, kyoku = [], [], -1
    for place, decision in enumerate(decisions):
        x = step * place
        if decision.kyoku != kyoku:
            kyoku = decision.kyoku
            marks.append(f'<path class=k d="M{x:.1f} 0V{HEIGHT + FOOT}"/>')
            label = f'<text x="{x + 3:.1f}" y="{HEIGHT + FOOT - 4}">{decision.name}</text>'
            marks.append(label)
        if decision.loss:
            high = max(2.0, decision.loss / most * (HEIGHT - 14))
            shape = f'x="{x:.1f}" y="{HEIGHT - high:.1f}" width="{max(step - 1, 2):.1f}"'
            told = f"{decision.name}, turn {decision.turn}: {worth(decision.loss, unit)}"
            close = "" if review.counts(decision) else " c"
            bars.append(
                f'<a href="#{anchor(decision)}"><rect class="v{close}" {shape}'
                f' height="{high:.1f}"><title>{told}</title></rect></a>'
            )
    box = f'viewBox="0 0 {WIDTH} {HEIGHT + FOOT}" preserveAspectRatio=none role=img'
    told = f"loss of each decision, at most {worth(most, unit)}"
    drawn = f'<svg class=curve {box} aria-label="{told}">{"".join(marks)}{"".join(bars)}</svg>'
    return f"<p class=soft>{told}</p>{drawn}"


def _worst(review: Review) -> Iterator[str]:
    worst = [each for each in review.costliest if each.loss][:MOST_WORST]
    yield "<h2>What cost most</h2>"
    if not worst:
        yield "<p>Nothing: all was done as the reviewer would have.</p>"
        return
    yield "<ol class=worst>"
    for decision in worst:
        view = decision.view
        done = action_html(view, decision.actual, decision.then)
        better = action_html(view, decision.expected, decision.expected_then)
        link = f'<a href="#{anchor(decision)}">{decision.name}, turn {decision.turn}</a>'
        tone = "bad" if review.counts(decision) else "soft"
        lost = f"<b class={tone}>{worth(decision.loss or 0.0, review.by.unit)}</b>"
        told: list[str] = [kind_of_loss(decision)]
        if decision in review.shown:
            shown = review.shown[decision]
            told.append(f"{shown.verdict}, {interval(shown.ranks, 'ranks')} ranks")
        if decision.is_close:
            told.append("can hardly be told apart")
        yield f"<li>{link}: {done} <span class=soft>rather</span> {better} {lost}"
        yield f"<span class=soft>({'; '.join(told)})</span><br>{text(sentence(decision), 400)}</li>"
    yield "</ol>"


def _losses(review: Review, loss: Loss, most: float) -> list[str]:
    """Return the cells of a loss: how many, how much, in points, and what of it is shown."""
    unit = review.by.unit
    bar = f'<span class=bar style="width:{5 * loss.loss / most:.2f}rem"></span>' if most else ""
    cells = [str(loss.differing), f"{number(loss.loss, unit)} {bar}", number(loss.points, POINTS)]
    if review.shown:
        cells.append(f"{loss.shown}: {loss.shown_ranks:.3f}" if loss.shown else "-")
    return cells


def _loss_heads(review: Review) -> list[str]:
    heads = ["otherwise", f"loss, {text(review.by.unit)}", "in points"]
    return heads + (["shown: ranks"] if review.shown else [])


def _kinds(review: Review) -> Iterator[str]:
    kinds = by_kind(review)
    most = max(loss.loss for loss in kinds.values())
    whole = loss_of(review.decisions, review.shown)
    yield "<h2>By kind</h2>"
    rows = [[kind, *_losses(review, loss, most)] for kind, loss in kinds.items()]
    rows.append(["<b>all</b>", *_losses(review, whole, 0.0)])
    yield table(["", *_loss_heads(review)], rows)
    if whole.unrated:
        told = plural(whole.unrated, "decision")
        yield f"<p class=soft>{told} differ in what the reviewer does not rate: no loss known.</p>"


def _kyoku(review: Review) -> Iterator[str]:
    losses = by_kyoku(review)
    most = max((loss.loss for loss in losses), default=0.0)
    rows = []
    for kyoku, loss in zip(review.judged.kyoku, losses, strict=True):
        change = kyoku.scores_after[review.seat] - kyoku.scores[review.seat]
        rank = sum(
            (place + 1) * chance for place, chance in enumerate(kyoku.ranks.chances[review.seat])
        )
        start = [f'<a href="#{kyoku.name}">{kyoku.name}</a>', f"{kyoku.scores[review.seat]:,}"]
        tone = "good" if change > 0 else "bad" if change < 0 else "soft"
        moved = f"<span class={tone}>{change:+,}</span>"
        cells = [f"{rank:.2f}", moved, str(loss.decisions), *_losses(review, loss, most)]
        rows.append([*start, *cells])
    yield "<h2>By kyoku</h2>"
    heads = ["", "points", "rank to be expected", "won or lost", "decisions", *_loss_heads(review)]
    yield table(heads, rows)


def _seats(review: Review) -> Iterator[str]:
    lines, unit = by_seat(review), review.by.unit
    if len(lines) < 2:
        return
    yield "<h2>Beside the others at the table</h2>"
    rows = []
    for line in lines:
        who = name(line.name) if line.name else f"seat {line.seat}"
        who = f"<b>{who}</b>" if line.seat == review.seat else who
        agreed = 100 * line.agreed / max(line.total.decisions, 1)
        rows.append(
            [
                who,
                PLACES[line.place - 1],
                f"{line.score:,}",
                str(line.total.decisions),
                f"{agreed:.0f} %",
                _mean(line.mean, unit),
                number(line.total.points, POINTS),
            ]
        )
    heads = ["", "place", "points", "decisions", "as the reviewer"]
    yield table([*heads, f"mean loss, {text(unit)}", "points lost, as reckoned"], rows)


def _deal_ins(review: Review) -> Iterator[str]:
    found = review.deal_ins
    yield "<h2>Deal-ins</h2>"
    if not found:
        yield "<p>None.</p>"
        return
    rows = []
    for each in found:
        seen, decision = looked(each), each.decision
        where = each.name
        if decision is not None:
            where = f'<a href="#{anchor(decision)}">{each.name}, turn {decision.turn}</a>'
        danger = "no choice" if decision is None else "not told"
        if seen is not None:
            danger = f"{number(seen, PERCENT)} %"
        deadly = f"{len(each.deadly)} of {len(each.held)}"
        names = review.judged.names[each.winner : each.winner + 1]
        verdict = "-"
        if decision is not None:
            lost = worth(decision.loss or 0.0, review.by.unit)
            verdict = "as the reviewer" if decision.is_equal else lost
        whom = name("".join(names))
        rows.append([where, tile(each.tile), whom, f"{each.paid:,}", danger, deadly, verdict])
    heads = ["", "tile", "to", "paid", "danger it seemed", "kinds held that dealt in", "loss"]
    yield table(heads, rows)


def _decisions(review: Review) -> Iterator[str]:
    yield "<h2>Every decision</h2>"
    picks = (("differing", "done otherwise", " checked"), ("lost", "losses only", ""))
    yield "<p class=pick>"
    for key, label, checked in (*picks, ("all", "all", "")):
        yield f'<label><input type=radio name=pick id="{key}"{checked}> {label}</label>'
    yield '<label><input type=checkbox id="letters"> letters on the tiles</label></p>'
    for place, kyoku in enumerate(review.judged.kyoku):
        decisions = [each for each in review.decisions if each.kyoku == place]
        yield f'<h3 id="{kyoku.name}">{kyoku.name}: {_tally(decisions)}</h3>'
        for decision in decisions:
            yield decision_html(review, decision)


def _tally(decisions: list[Decision]) -> str:
    differing = sum(not each.is_equal for each in decisions)
    return f"{plural(len(decisions), 'decision')}, {differing} otherwise"


def _how_to_read(review: Review) -> Iterator[str]:
    unit, judged = review.by.unit, review.judged
    yield "<h2>How to read this</h2><ul>"
    yield (
        "<li>A loss is how much less worth the reviewer gives to what was done than to what it"
        f" would have done, in {text(unit)}. It is the opinion of a player of the strength above,"
        " no proof.</li>"
    )
    if unit != POINTS:
        yield (
            "<li>Points are reckoned beside it; where they speak for what was done, they count"
            " below 0.</li>"
        )
    if review.shown:
        deals = next(iter(review.shown.values())).deals
        yield (
            f"<li>Choices done otherwise were played on from {deals} deals of the hidden hands,"
            f" both on the same deals and walls, by {text(review.by.playouts_by)}. A loss is shown"
            " where the 95 % interval of the rank leaves out 0; one in forty is so by chance.</li>"
        )
    else:
        ask = "ask for them with <code>--playouts</code>"
        yield f"<li>Nothing here is shown by playouts: {ask}.</li>"
    yield (
        "<li>The mean loss has an interval in which a kyoku is one observation. A game is little:"
        " seats whose intervals overlap are not told apart.</li>"
    )
    if judged.untold:
        told = plural(judged.untold, "choice")
        yield f"<li>Of {told} the record does not say what was chosen; they are left out.</li>"
    yield "</ul>"
