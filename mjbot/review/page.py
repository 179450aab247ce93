"""A review as one HTML page that needs nothing else: the board, every decision, the summary.

The page is that of the board (:mod:`mjbot.watch.pages`) with the review's data packed into it; the
summary below the board is HTML, which a reader without scripts and a printer have as well.
"""

from collections.abc import Iterator
from typing import Final

from mjbot.records.choices import steps_of
from mjbot.report.html import name, table, text
from mjbot.review import summary
from mjbot.review.decisions import ReviewedDecision
from mjbot.review.mjai_json import review_json
from mjbot.review.page_data import page_data
from mjbot.review.reasons import kind_of_loss, number, percent, signed
from mjbot.review.sentences import amount, because, headline
from mjbot.review.tiles import tile
from mjbot.statistics.estimates import Estimate
from mjbot.strategy.explanation import PERCENT, POINTS, RANKS
from mjbot.text import plural
from mjbot.watch.game import fold_steps
from mjbot.watch.pages import game_page
from protocol.plain_text import one_line

MOST_WORST: Final = 10
WIDTH: Final = 960
HEIGHT: Final = 130
FOOT: Final = 18
PLACES: Final = ("1st", "2nd", "3rd", "4th")


def page(review: summary.Review) -> str:
    """Return the page."""
    names = review.judged.names
    who = names[review.seat] if review.seat < len(names) else f"seat {review.seat}"
    game = fold_steps(steps_of(review.judged.events))
    game["review"] = page_data(review_json(review))
    config = {"title": f"Review: {one_line(who)}", "seat": review.seat, "hands": False}
    return game_page(game, config, summary_html(review))


def summary_html(review: summary.Review) -> str:
    """Return the summary, for the place below the board."""
    seat, names = review.seat, review.judged.names
    who = name(names[seat]) if seat < len(names) else f"seat {seat}"
    parts = [
        f"<h2>Review of {who}</h2>",
        *_origin(review),
        *_cards(review),
        _curve(review),
        *_worst(review),
        *_kinds(review),
        *_kyoku(review),
        *_seats(review),
        *_deal_ins(review),
        *_how_to_read(review),
    ]
    return "".join(parts)


def place_link(decision: ReviewedDecision) -> str:
    """Return a link to the decision on the page."""
    return f'<a href="#{decision.at}">{decision.at}</a>'


def interval(estimate: Estimate, unit: str) -> str:
    """Return a difference with its 95% interval."""
    if not estimate.is_bounded:
        return f"{signed(estimate.value, unit)} (no interval)"
    ends = f"{signed(estimate.low, unit)} to {signed(estimate.high, unit)}"
    return f"{signed(estimate.value, unit)} ({ends})"


def size_text(decision: ReviewedDecision) -> str:
    """Return the size of a mistake in short: ``1,240 points``, ``disputed``."""
    if decision.loss is None:
        return "not rated"
    if decision.is_disputed:
        return "disputed"
    size = text(amount(decision.loss, decision.loss_unit))
    return f"{size}, about equal" if decision.is_close else size


def _origin(review: summary.Review) -> Iterator[str]:
    judged, strength = review.judged, review.by.strength
    place, score = judged.places[review.seat], judged.scores[review.seat]
    ends = f"{PLACES[place - 1]} of 4 with {score:,} points"
    yield f"<p class=soft>seat {review.seat} in {text(review.game, 120)}, {ends}</p>"
    known = "its playing strength was not measured"
    if strength is not None:
        known = (
            f"a program that plays mahjong. Against three <code>{text(strength.rivals)}</code> it"
            f" finishes at place {strength.rank:.2f} on average (2.50: as strong as they are;"
            " lower: stronger)"
        )
    yield f"<p>Reviewer: <b>{text(review.by.name, 80)}</b>, {known}.</p>"


def _cards(review: summary.Review) -> Iterator[str]:
    unit, whole = review.unit, summary.loss_of(review.decisions, review.shown)
    same = whole.decisions - whole.differing
    share = f"{100 * same / whole.decisions:.0f}%" if whole.decisions else "-"
    mean = summary.mean_loss(review.decisions)
    cards = [
        (str(whole.decisions), "decisions"),
        (share, f"the same choice as the reviewer ({same})"),
        (_mean(mean, unit), f"lost per decision, {_unit(unit)}, estimated, 95% interval"),
    ]
    if review.is_summed:
        cards.append((number(whole.loss, unit), f"{_unit(unit)} lost in all, estimated"))
    if review.shown:
        played = f"of {len(review.shown)} different choices shown to be losses by playouts"
        cards.append((str(whole.shown), played))
        lost = f"places lost by these, {number(whole.shown_points, POINTS)} points, by playouts"
        cards.append((number(whole.shown_ranks, RANKS), lost))
    yield "<div class=cards>"
    for value, label in cards:
        yield f"<div class=card><b>{value}</b><span>{label}</span></div>"
    yield "</div>"


def _unit(unit: str) -> str:
    return f"{PERCENT} of the network" if unit.startswith(PERCENT) else text(unit)


def _mean(mean: Estimate, unit: str) -> str:
    if not mean.is_bounded:
        return "-" if mean.value != mean.value else f"{number(mean.value, unit)}, no interval"
    return f"{number(mean.value, unit)} &plusmn; {number(mean.half_width, unit)}"


def _curve(review: summary.Review) -> str:
    """Return a bar for each loss, in the order of the game, each a link."""
    decisions, unit = review.decisions, review.unit
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
            tooltip = f"{decision.at}: {text(amount(decision.loss, unit))}"
            close = "" if review.counts(decision) else " c"
            bars.append(
                f'<a href="#{decision.at}"><rect class="v{close}" {shape}'
                f' height="{high:.1f}"><title>{tooltip}</title></rect></a>'
            )
    box = f'viewBox="0 0 {WIDTH} {HEIGHT + FOOT}" preserveAspectRatio=none role=img'
    tooltip = f"estimated loss of each decision, at most {text(amount(most, unit))}"
    drawn = f'<svg class=curve {box} aria-label="{tooltip}">{"".join(marks)}{"".join(bars)}</svg>'
    return f"<p class=soft>{tooltip}</p>{drawn}"


def _worst(review: summary.Review) -> Iterator[str]:
    worst = [each for each in review.costliest if each.loss or review.is_shown(each)][:MOST_WORST]
    yield "<h3>What cost most</h3>"
    if not worst:
        yield "<p>No decision cost anything.</p>"
        return
    yield "<ol class=worst>"
    for decision in worst:
        tone = "bad" if review.counts(decision) else "soft"
        facts: list[str] = [kind_of_loss(decision)]
        if decision in review.shown:
            shown = review.shown[decision]
            size = f"{interval(shown.ranks, RANKS)} places, {interval(shown.points, POINTS)} points"
            facts.append(f"{shown.verdict}, {size} by playouts")
        if decision.is_close or decision.is_disputed:
            facts.append(size_text(decision))
        what = f"<span class={tone}>{headline(decision, tile)}</span>{text(because(decision), 600)}"
        more = f"<span class=soft>({'; '.join(facts)})</span>"
        yield f"<li>{place_link(decision)}: {what} {more}</li>"
    yield "</ol>"


def _losses(review: summary.Review, loss: summary.Loss, most: float) -> list[str]:
    """Return the cells of a loss: how many differ, how much is lost, what playouts show of it."""
    bar = f"<progress max={most:.3f} value={loss.loss:.3f}></progress>" if most else ""
    cells = [str(loss.differing)]
    if review.is_summed:
        cells.append(f"{number(loss.loss, review.unit)} {bar}")
    if review.shown:
        cells.append(f"{number(loss.shown_points, POINTS)} ({loss.shown})" if loss.shown else "-")
    return cells


def _loss_heads(review: summary.Review) -> list[str]:
    heads = ["different choices"]
    heads += [f"loss, {_unit(review.unit)}"] if review.is_summed else []
    return heads + (["shown by playouts, points (decisions)"] if review.shown else [])


def _kinds(review: summary.Review) -> Iterator[str]:
    kinds = summary.by_kind(review)
    most = max(loss.loss for loss in kinds.values())
    whole = summary.loss_of(review.decisions, review.shown)
    yield "<h3>By class of mistake</h3>"
    rows = [[kind, *_losses(review, loss, most)] for kind, loss in kinds.items()]
    rows.append(["<b>all</b>", *_losses(review, whole, 0.0)])
    yield table(["", *_loss_heads(review)], rows)
    if whole.disputed:
        of = f"{plural(whole.disputed, 'different choice')}"
        yield f"<p class=soft>{of} of {whole.differing} disputed: points favour yours, no loss.</p>"
    if whole.unrated:
        of = plural(whole.unrated, "different choice")
        yield f"<p class=soft>{of} not rated by the reviewer: the loss is unknown.</p>"


def _kyoku(review: summary.Review) -> Iterator[str]:
    losses = summary.by_kyoku(review)
    most = max((loss.loss for loss in losses), default=0.0)
    rows = []
    for kyoku, loss in zip(review.judged.kyoku, losses, strict=True):
        change = kyoku.scores_after[review.seat] - kyoku.scores[review.seat]
        rank = sum((place + 1) * chance for place, chance in enumerate(kyoku.chances[review.seat]))
        start = [f'<a href="#{kyoku.name}">{kyoku.name}</a>', f"{kyoku.scores[review.seat]:,}"]
        tone = "good" if change > 0 else "bad" if change < 0 else "soft"
        moved = f"<span class={tone}>{change:+,}</span>"
        cells = [f"{rank:.2f}", moved, str(loss.decisions), *_losses(review, loss, most)]
        rows.append([*start, *cells])
    yield "<h3>By kyoku</h3>"
    heads = ["", "score", "expected place", "won or lost", "decisions", *_loss_heads(review)]
    yield table(heads, rows)


def _seats(review: summary.Review) -> Iterator[str]:
    lines, unit = summary.by_seat(review), review.unit
    if len(lines) < 2:
        return
    yield "<h3>The four players</h3>"
    rows = []
    for line in lines:
        who = name(line.name) if line.name else f"seat {line.seat}"
        who = f"<b>{who}</b>" if line.seat == review.seat else who
        agreed = 100 * line.agreed / max(line.total.decisions, 1)
        cells = [who, PLACES[line.place - 1], f"{line.score:,}", str(line.total.decisions)]
        rows.append([*cells, f"{agreed:.0f}%", _mean(line.mean, unit)])
    heads = ["", "place", "score", "decisions", "same choice as the reviewer"]
    yield table([*heads, f"lost per decision, {_unit(unit)}"], rows)


def _deal_ins(review: summary.Review) -> Iterator[str]:
    found = review.deal_ins
    yield "<h3>Deal-ins</h3>"
    if not found:
        yield "<p>None.</p>"
        return
    rows = []
    for each in found:
        seen, decision = summary.looked(each), each.decision
        where = each.name
        if decision is not None:
            where = place_link(decision)
        danger = "no choice" if decision is None else "not known"
        if seen is not None:
            danger = percent(seen)
        deadly = f"{len(each.deadly)} of {len(each.held)}"
        names = review.judged.names[each.winner : each.winner + 1]
        verdict = "-"
        if decision is not None:
            verdict = "as the reviewer" if decision.is_equal else size_text(decision)
        whom = name("".join(names))
        rows.append([where, tile(each.tile), whom, f"{each.paid:,}", danger, deadly, verdict])
    heads = ["", "tile", "to", "paid, points", "estimated danger", "kinds in hand that deal in"]
    heads.append("loss")
    yield table(heads, rows)


def _how_to_read(review: summary.Review) -> Iterator[str]:
    unit, judged, strength = review.unit, review.judged, review.by.strength
    yield "<h3>How to read this</h3><ul>"
    yield (
        "<li>A loss is how much lower the reviewer rates your choice than its own, in"
        f" {_unit(unit)}. It is an estimate by a player of the strength above, not a proof."
        " <em>About equal</em>: too small a share of what is at stake to distinguish the two.</li>"
    )
    if unit == POINTS != review.by.unit:
        yield (
            "<li>The reviewer chooses by a network; its share is how likely strong players are to"
            " make a choice. Where points favour yours all the same, the decision is"
            " <em>disputed</em> and no loss is counted.</li>"
        )
    yield (
        "<li>A figure in brackets is what a reason adds to the expected points: the value of a win"
        " counts as often as the hand is expected to win. Differences below 10 points are left"
        " out.</li>"
    )
    yield (
        "<li>A chance to win is how often hands with that estimate have won in recorded games."
        " Points are made of the reviewer's own estimates, which are higher for hands near a"
        " win.</li>"
    )
    if review.shown:
        deals = [each.deals for each in review.shown.values()]
        yield (
            f"<li>Playouts continue both choices in the same {min(deals):,} to {max(deals):,}"
            " worlds (hidden hands and walls) to the end of the hand;"
            f" {text(review.by.playouts_by)} plays all seats. A loss is shown where the 95%"
            " interval of the final place excludes 0; one in forty is shown by chance.</li>"
        )
    else:
        yield "<li>No playouts were run; <code>--playouts SECONDS</code> runs them.</li>"
    yield (
        "<li>The intervals count a hand (kyoku) as one observation. One game is little: players"
        " whose intervals overlap are not distinguished.</li>"
    )
    if judged.untold:
        of = plural(judged.untold, "choice")
        yield f"<li>{of} cannot be reconstructed from the record and are left out.</li>"
    if strength is not None:
        rank = f"{strength.rank:.3f} &plusmn; {strength.half_width:.3f}"
        how = f"<code>{text(strength.command, 200)}</code>, {text(strength.date)}"
        yield f"<li>Strength of the reviewer: average place {rank} ({how}).</li>"
    yield "</ul>"
