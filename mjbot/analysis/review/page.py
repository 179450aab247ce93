"""A review as one HTML page that needs nothing else: the board, every decision, the summary.

The page is that of the board (:mod:`mjbot.viewer.pages`) with the review's data packed into it; the
summary below the board is HTML, which a reader without scripts and a printer have as well.
"""

from collections.abc import Iterator
from typing import Final

from mjbot.analysis.review import summary
from mjbot.analysis.review.decisions import ReviewedDecision
from mjbot.analysis.review.mjai_json import Json, review_json
from mjbot.analysis.review.page_data import page_data
from mjbot.analysis.review.playouts import LEAST_COST
from mjbot.analysis.review.reasons import number, percent, signed
from mjbot.analysis.review.sentences import amount, clauses, size_text, with_interval
from mjbot.analysis.review.tile_html import tile
from mjbot.game.records.choices import steps_of
from mjbot.game.statistics.estimates import Estimate
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.languages import marked, translate, translate_count
from mjbot.strategy.explanation import PERCENT, POINTS, RANKS
from mjbot.viewer.game import fold_steps
from mjbot.viewer.html import element, name, table, text
from mjbot.viewer.pages import game_page

MOST_WORST: Final = 10
WIDTH: Final = 960
HEIGHT: Final = 130
FOOT: Final = 18
PLACES: Final = (marked("1st"), marked("2nd"), marked("3rd"), marked("4th"))


def page(review: summary.Review, document: Json | None = None) -> str:
    """Return the page; ``document`` is the JSON of the review, where it has been made already."""
    names = review.judged.names
    who = one_line(names[review.seat]) if review.seat < len(names) else _seat(review.seat)
    game = fold_steps(steps_of(review.judged.events))
    game["review"] = page_data(document or review_json(review))
    subject = translate("Review: {name}", name=who)
    config = {"subject": subject, "seat": review.seat, "hands": False}
    if worst := review.worst(1):
        config["at"] = worst[0].at
    return game_page(game, config, summary_html(review), verdict_html(review))


def summary_html(review: summary.Review) -> str:
    """Return the summary, for the place below the board."""
    seat, names = review.seat, review.judged.names
    who = name(names[seat]) if seat < len(names) else _seat(seat)
    parts = [
        f"<h2>{translate('Review of {name}', name=who)}</h2>",
        *_origin(review),
        *_unknown_costs(review),
        _curve(review),
        *_worst(review),
        *_classes(review),
        *_kyoku(review),
        *_seats(review),
        *_deal_ins(review),
        *_how_to_read(review),
    ]
    return "".join(parts)


def _seat(seat: int) -> str:
    return translate("seat {n}", n=seat)


def place_link(decision: ReviewedDecision) -> str:
    """Return a link to the decision on the page."""
    return f'<a href="#{decision.at}">{decision.at}</a>'


def interval(estimate: Estimate, unit: str) -> str:
    """Return a difference with its 95% interval."""
    return with_interval(estimate, unit, signed)


def _origin(review: summary.Review) -> Iterator[str]:
    judged, strength = review.judged, review.by.strength
    final_rank, score = judged.final_ranks[review.seat], judged.scores[review.seat]
    origin = translate(
        "seat {n} in {game}, {place} of {players} with {points} points",
        n=review.seat,
        game=text(review.game, 120),
        place=translate(PLACES[final_rank - 1]),
        players=judged.players,
        points=f"{score:,}",
    )
    yield f"<p class=soft>{origin}</p>"
    who = f"<b>{text(review.by.name, 80)}</b>"
    known = translate("Reviewer: {name}, its playing strength was not measured.", name=who)
    if judged.players == 3:
        known = translate("Reviewer: {name}, which plays at tables of three.", name=who)
    if strength is not None:
        known = translate(
            "Reviewer: {name}, a program that plays mahjong. Against three {rivals} it finishes at"
            " place {rank} on average (2.50: as strong as they are; lower: stronger).",
            name=who,
            rivals=f"<code>{text(strength.rivals)}</code>",
            rank=f"{strength.rank:.2f}",
        )
    yield f"<p>{known}</p>"


def verdict_html(review: summary.Review) -> str:
    """Return final place, what playouts show, and the grade: the first figures of the page."""
    return f"<div class=cards>{''.join(_cards(review))}</div>"


def _cards(review: summary.Review) -> Iterator[str]:
    whole, judged = summary.loss_of(review.decisions, review.shown), review.judged
    label = translate(
        "place of {players}, with {points} points",
        players=judged.players,
        points=f"{judged.scores[review.seat]:,}",
    )
    cards = [(translate(PLACES[judged.final_ranks[review.seat] - 1]), label)]
    if review.shown:
        label = translate(
            "places lost by the {n} of {all} different choices that playouts show to be losses",
            n=whole.shown,
            all=len(review.shown),
        )
        cost = interval(whole.shown_ranks, RANKS) if whole.shown else number(0.0, RANKS)
        cards.append((cost, label))
        label = marked("places lost by all {all} of them, shown or not (+: lost)")
        cards.append((interval(whole.ranks, RANKS), translate(label, all=len(review.shown))))
    grade = summary.rating(review.decisions)
    cards.append((_grade(grade), translate("grade by the reviewer, 0 to 100")))
    same = whole.decisions - whole.differing
    share = f"{100 * same / whole.decisions:.0f}%" if whole.decisions else "-"
    label = translate("the same choice as the reviewer ({n} of {all})", n=same, all=whole.decisions)
    cards.append((share, label))
    for value, label in cards:
        yield f"<div class=card><b>{value}</b><span>{label}</span></div>"


def _unknown_costs(review: summary.Review) -> Iterator[str]:
    if not review.shown:
        known = translate(
            "What these choices cost is not known: no playouts were run, and sums of the reviewer's"
            " estimates are no measure of it. <code>--playouts SECONDS</code> runs them."
        )
        yield f"<p>{known}</p>"


def _grade(grade: Estimate) -> str:
    """Return a grade of 0 to 100 with its interval."""
    if grade.value != grade.value:
        return "-"
    value = f"{100 * grade.value:.0f}"
    if not grade.is_bounded:
        return translate("{value} (no interval)", value=value)
    return f"{value} &plusmn; {100 * grade.half_width:.0f}"


def _unit(unit: str) -> str:
    return translate("% of the network") if unit.startswith(PERCENT) else text(translate(unit))


def _curve(review: summary.Review) -> str:
    """Return a bar for what each choice cost, in the order of the game, each a link."""
    decisions, unit = review.decisions, review.size_unit
    sizes = [max(review.size(reviewed) or 0.0, 0.0) for reviewed in decisions]
    most = max(sizes, default=0.0)
    if not most:
        return element("p", translate("Nothing was lost."))
    step = WIDTH / len(decisions)
    bars, marks, kyoku = [], [], -1
    for index, (decision, size) in enumerate(zip(decisions, sizes, strict=True)):
        x = step * index
        if decision.kyoku != kyoku:
            kyoku = decision.kyoku
            marks.append(f'<path class=k d="M{x:.1f} 0V{HEIGHT + FOOT}"/>')
            label = f'<text x="{x + 3:.1f}" y="{HEIGHT + FOOT - 4}">{decision.name}</text>'
            marks.append(label)
        if size:
            high = max(2.0, size / most * (HEIGHT - 14))
            shape = f'x="{x:.1f}" y="{HEIGHT - high:.1f}" width="{max(step - 1, 2):.1f}"'
            tooltip = f"{decision.at}: {text(amount(size, unit))}"
            close = "" if review.counts(decision) else " c"
            bars.append(
                f'<a href="#{decision.at}"><rect class="v{close}" {shape}'
                f' height="{high:.1f}"><title>{tooltip}</title></rect></a>'
            )
    box = f'viewBox="0 0 {WIDTH} {HEIGHT + FOOT}" preserveAspectRatio=none role=img'
    tooltip = marked("estimated loss of each decision, at most {size}")
    if review.shown:
        tooltip = marked(
            "cost of each different choice by playouts, at most {size}; pale: not shown"
        )
    tooltip = translate(tooltip, size=text(amount(most, unit)))
    drawn = f'<svg class=curve {box} aria-label="{tooltip}">{"".join(marks)}{"".join(bars)}</svg>'
    return f"<p class=soft>{tooltip}</p>{drawn}"


def _worst(review: summary.Review) -> Iterator[str]:
    worst = review.worst(MOST_WORST)
    yield element("h3", translate("What cost most"))
    if not worst:
        none = translate("No decision cost anything.")
        if review.shown:
            none = translate("No choice is shown to be a loss.")
        yield element("p", none)
        return
    yield "<ol class=worst>"
    for decision in worst:
        tone = "bad" if review.counts(decision) else "soft"
        facts: list[str] = [translate(review.mistake_class(decision))]
        if decision in review.shown:
            shown = review.shown[decision]
            facts.append(
                translate(
                    "{verdict}, {places} places, {points} points by playouts",
                    verdict=translate(shown.verdict),
                    places=interval(shown.ranks, RANKS),
                    points=interval(shown.points, POINTS),
                )
            )
        elif decision.is_close or decision.is_disputed or decision.loss is None:
            facts.append(text(size_text(decision, None)))
        main, rest = clauses(decision, review.shown.get(decision), tile)
        what = f"<span class={tone}>{main}</span>{text(rest, 600)}"
        more = translate("({facts})", facts=translate("; ").join(facts))
        link = translate("{title}: ", title=place_link(decision))
        cost = f"<span class=soft>{more}</span>"
        yield f"<li>{link}{translate('{sentence} {cost}', sentence=what, cost=cost)}</li>"
    yield "</ol>"


def _losses(review: summary.Review, loss: summary.Loss) -> list[str]:
    """Return the cells of a loss: how many differ, and what playouts show of them."""
    cells = [str(loss.differing)]
    if review.shown:
        shown = interval(loss.shown_ranks, RANKS) if loss.shown else "-"
        cells += [str(loss.shown), shown, interval(loss.ranks, RANKS) if loss.differing else "-"]
    return cells


def _loss_heads(review: summary.Review) -> list[str]:
    heads = [translate("different choices")]
    if review.shown:
        heads += [translate("shown losses"), translate("cost of these, places")]
        heads.append(translate("cost of all, places"))
    return heads


def _classes(review: summary.Review) -> Iterator[str]:
    losses = summary.by_class(review)
    whole = summary.loss_of(review.decisions, review.shown)
    yield element("h3", translate("By class of mistake"))
    order = sorted(losses, key=lambda name: -losses[name].shown_ranks.value)
    rows = [[translate(name), *_losses(review, losses[name])] for name in order]
    rows.append([f"<b>{translate('all')}</b>", *_losses(review, whole)])
    yield table(["", *_loss_heads(review)], rows)
    if whole.disputed:
        sentence = translate(
            "{disputed} of {all} different choices are disputed: points favour yours, no loss.",
            disputed=whole.disputed,
            all=whole.differing,
        )
        yield f"<p class=soft>{sentence}</p>"
    if whole.unrated:
        sentence = translate_count(
            "{n} different choice is not rated by the reviewer: the loss is unknown.",
            "{n} different choices are not rated by the reviewer: the loss is unknown.",
            whole.unrated,
        )
        yield f"<p class=soft>{sentence}</p>"


def _kyoku(review: summary.Review) -> Iterator[str]:
    losses = summary.by_kyoku(review)
    rows = []
    for kyoku, loss in zip(review.judged.kyoku, losses, strict=True):
        change = kyoku.scores_after[review.seat] - kyoku.scores[review.seat]
        rank = kyoku.expected_rank(review.seat)
        start = [f'<a href="#{kyoku.name}">{kyoku.name}</a>', f"{kyoku.scores[review.seat]:,}"]
        tone = "good" if change > 0 else "bad" if change < 0 else "soft"
        moved = f"<span class={tone}>{change:+,}</span>"
        cells = [f"{rank:.2f}", moved, str(loss.decisions), *_losses(review, loss)]
        rows.append([*start, *cells])
    yield element("h3", translate("By kyoku"))
    heads = [translate("score"), translate("expected place")]
    heads += [translate("won or lost"), translate("decisions")]
    yield table(["", *heads, *_loss_heads(review)], rows)


def _seats(review: summary.Review) -> Iterator[str]:
    seats = summary.by_seat(review)
    if len(seats) < 2:
        return
    yield element("h3", translate("The players at the table"))
    rows = []
    for seat in seats:
        who = name(seat.name) if seat.name else _seat(seat.seat)
        who = f"<b>{who}</b>" if seat.seat == review.seat else who
        agreed = 100 * seat.agreed / max(seat.decisions, 1)
        score = [translate(PLACES[seat.final_rank - 1]), f"{seat.score:,}", str(seat.decisions)]
        rows.append([who, *score, f"{agreed:.0f}%", _grade(seat.rating)])
    heads = ["", translate("place"), translate("score"), translate("decisions")]
    heads += [translate("same choice as the reviewer"), translate("grade, 0 to 100")]
    yield table(heads, rows)


def _deal_ins(review: summary.Review) -> Iterator[str]:
    yield element("h3", translate("Deal-ins"))
    if not review.deal_ins:
        yield element("p", translate("None."))
        return
    rows = []
    for deal_in in review.deal_ins:
        seen, decision = summary.looked(deal_in), deal_in.decision
        where = deal_in.name
        if decision is not None:
            where = place_link(decision)
        danger = translate("no choice") if decision is None else translate("not known")
        if seen is not None:
            danger = percent(seen)
        deadly = translate("{n} of {all}", n=len(deal_in.deadly), all=len(deal_in.held))
        names = review.judged.names[deal_in.winner : deal_in.winner + 1]
        verdict = "-"
        if decision is not None:
            same = translate("as the reviewer")
            verdict = (
                same if decision.is_equal else text(size_text(decision, review.shown.get(decision)))
            )
        whom = name("".join(names))
        rows.append([where, tile(deal_in.tile), whom, f"{deal_in.paid:,}", danger, deadly, verdict])
    heads = [translate("tile"), translate("to"), translate("paid, points")]
    heads += [translate("estimated danger"), translate("kinds in hand that deal in")]
    yield table(["", *heads, translate("loss")], rows)


def _how_to_read(review: summary.Review) -> Iterator[str]:
    yield element("h3", translate("How to read this")) + "<ul>"
    for line in _notes(review):
        yield f"<li>{line}</li>"
    yield "</ul>"


def _notes(review: summary.Review) -> Iterator[str]:
    """Yield what the figures of the page mean, and what they leave open."""
    unit, strength = review.unit, review.by.strength
    yield translate(
        "The grade is the mean, over all decisions, of where your choice lies between the choice"
        " that the reviewer rates worst (0) and the one that it rates best (100). It measures"
        " agreement with the reviewer, not strength."
    )
    yield translate(
        "A loss in {unit} is how much lower the reviewer rates your choice than its own. It is an"
        " estimate, which orders and explains single choices and is not added up: playouts do not"
        " confirm its size. <em>About equal</em>: too small a share of what is at stake to"
        " distinguish the two.",
        unit=_unit(unit),
    )
    if unit == POINTS != review.by.unit:
        yield translate(
            "The reviewer chooses by a network; its share is how likely strong players are to make"
            " a choice. Where points favour yours all the same, the decision is <em>disputed</em>"
            " and no loss is counted."
        )
    yield translate(
        "A figure in brackets is what a reason adds to the expected points: the value of a win"
        " counts as often as the hand is expected to win. Differences below 10 points are left out."
    )
    yield translate(
        "A chance to win is how often hands with that estimate have won in recorded games. Points"
        " are made of the reviewer's own estimates, which are higher for hands near a win."
    )
    yield _note_on_playouts(review)
    yield translate(
        "The intervals count a hand (kyoku) as one observation. One game is little: players whose"
        " intervals overlap are not distinguished."
    )
    yield from _notes_on_the_game(review)
    if strength is not None:
        yield translate(
            "Strength of the reviewer: average place {rank} ({command}, {date}).",
            rank=f"{strength.rank:.3f} &plusmn; {strength.half_width:.3f}",
            command=f"<code>{text(strength.command, 200)}</code>",
            date=text(strength.date),
        )


def _notes_on_the_game(review: summary.Review) -> Iterator[str]:
    """Yield what three players have of their own, and which choices the record does not show."""
    if review.judged.players == 3:
        yield translate(
            "Of three players nobody calls chi; a north may be set aside (kita), which adds a dora"
            " and draws another tile; and where only two pay for a tsumo (tsumo loss) it pays less"
            " than a ron. An average player finishes at place 2.00."
        )
    if review.unknown:
        yield translate(
            "Left out, as the record does not show what was chosen (another player's call or win"
            " came first): {positions}.",
            positions=translate(", ").join(review.unknown),
        )


def _note_on_playouts(review: summary.Review) -> str:
    if not review.shown:
        return translate("No playouts were run; <code>--playouts SECONDS</code> runs them.")
    deals = [shown.deals for shown in review.shown.values()]
    worlds = f"{min(deals):,}"
    if max(deals) > min(deals):
        worlds = translate("{least} to {most}", least=worlds, most=f"{max(deals):,}")
    return translate(
        "Playouts continue both choices in the same {worlds} worlds (hidden hands and walls) to the"
        " end of the hand; {name} plays all seats. The cost of a single choice is drawn towards 0"
        " by its error, for among many choices those with lucky worlds stand out; sums add up plain"
        " means. A loss is shown where the 95% interval of the places is above 0 and the loss at"
        " least {small} places.",
        worlds=worlds,
        name=text(review.by.playouts_by),
        small=number(LEAST_COST, RANKS),
    )
