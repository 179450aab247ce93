"""A player's report as one HTML page that needs nothing else: tables, trend, costly positions."""

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote

from mjbot.analysis.player.figures import FigureTable, PlayerReport
from mjbot.analysis.player.quiz import Exercise
from mjbot.analysis.player.reviewed_games import Mistake, ReviewedGame
from mjbot.analysis.review.tile_html import drawings, tile, tiles
from mjbot.game.statistics.origin import Origin
from mjbot.runtime.languages import language, translate, translate_count
from mjbot.viewer import html
from mjbot.viewer.html import element, name, table, text
from mjbot.viewer.plots import COLOURS, PLOT_STYLE, Axis, Plot

MOST_LETTERS: Final = 400
MOST_PROBLEMS: Final = 20

Positions = Mapping[tuple[str, int, int, int], Exercise]
"""Positions that were read again, by source, number of the game, seat and event."""


def key_of(game: ReviewedGame, mistake: Mistake) -> tuple[str, int, int, int]:
    """Return under which key a position is found."""
    return game.source, game.number, game.seat, mistake.event


def page(report: PlayerReport, positions: Positions, quiz: str, origin: Origin) -> str:
    """Return the page; ``quiz`` is the file of the quiz next to it, empty where there is none."""
    title = translate("Review of {name}", name=name(report.player))
    parts = [
        f"{drawings()}<main><h1>{title}</h1>",
        PLOT_STYLE,
        f"<p class=soft>{text(origin, MOST_LETTERS)}</p>",
        *[f"<p>{text(line, MOST_LETTERS)}{translate('.')}</p>" for line in report.summary],
    ]
    if quiz:
        label = translate("Quiz: your own mistakes")
        parts.append(f'<p><a href="{quote(quiz)}">{label}</a></p>')
    else:
        none = translate("No quiz: no choice of these games is shown to be a mistake.")
        parts.append(f"<p>{none}</p>")
    parts += [
        *_section(report.class_table),
        *_section(report.trend_table),
        *_plot(report),
        *_section(report.situation_table),
        *_examples(report, positions),
        *_section(report.rate_table),
        *_section(report.outcome_table),
        *_section(report.draw_table),
        *_how_to_read(report),
        "</main>",
    ]
    title = translate("Review of {name}", name=text(report.player))
    return html.page(title, parts, language=language())


def _section(figures: FigureTable) -> Iterator[str]:
    yield f"<h2>{text(translate(figures.title), MOST_LETTERS)}</h2>"
    if figures.rows:
        heads = [text(head, MOST_LETTERS) for head in figures.heads]
        yield table(heads, [[text(cell, MOST_LETTERS) for cell in row] for row in figures.rows])
    if figures.note:
        yield f"<p class=soft>{text(figures.note, MOST_LETTERS)}</p>"


def _plot(report: PlayerReport) -> Iterator[str]:
    if not report.blocks:
        return
    estimates = [estimate for _, estimate in report.blocks]
    ends = [end for known in estimates if known.is_bounded for end in (known.low, known.high)]
    ends += [0.0, *(known.value for known in estimates)]
    margin = 0.05 * (max(ends) - min(ends) or 1.0)
    y = Axis(report.cost_per_game_text, min(ends) - margin, max(ends) + margin)
    title = translate("Cost of different choices over time")
    plot = Plot(Axis("", -0.5, len(estimates) - 0.5), y, title)
    plot.line([(x, cost.value) for x, cost in enumerate(estimates)], COLOURS[0])
    for x, (label, cost) in enumerate(report.blocks):
        if cost.is_bounded:
            plot.stroke((x, cost.low), (x, cost.high), COLOURS[0])
        plot.dot(x, cost.value, COLOURS[0], f"{label}: {report.text(cost.value)}")
    for x in range(0, len(estimates), -(-len(estimates) // 4)):
        plot.note(x, report.blocks[x][0][:14])
    yield plot.svg(x_ticks=False)


def _examples(report: PlayerReport, positions: Positions) -> Iterator[str]:
    """Yield the positions that show each costly situation, folded up."""
    for costs in report.situations:
        cost = text(report.with_unit(report.text(costs.total)))
        name_ = text(costs.text, MOST_LETTERS)
        yield f"<details><summary>{name_} <span>{cost}</span></summary><div class=in>"
        for game, mistake in costs.examples:
            where = f"<b>{text(mistake.at)}</b> <span class=soft>{text(game.source, 200)}</span>"
            yield f"<p>{where}</p>"
            exercise = positions.get(key_of(game, mistake))
            if exercise is not None:
                yield _hand(exercise)
            yield f"<p class=say>{text(mistake.text, 800)}</p>"
        yield "</div></details>"


def _hand(exercise: Exercise) -> str:
    view = exercise.view
    held = view.tiles
    if view.drawn >= 0:
        held.remove(view.drawn)
    drawn = tile(view.drawn, "drawn") if view.drawn >= 0 else ""
    melds = "".join([f"<span class=meld>{tiles(m.tiles)}</span>" for m in view.melds(view.seat)])
    return f"<p class=hand>{tiles(held)}{drawn}{melds}</p>"


def _how_to_read(report: PlayerReport) -> Iterator[str]:
    yield element("h2", translate("How to read this")) + "<ul>"
    cost = translate(
        "Without playouts it is not known what a choice cost: different choices are counted, and"
        " the reviewer's estimates, by which they are ordered, are not added up."
    )
    if report.is_played:
        cost = translate(
            "A cost is what a choice lost against the better of the reviewer's favourites, in"
            " places by playouts. Sums count every different choice, shown or not, by its plain"
            " mean; the cost of a single one is drawn towards 0 by its error, as luck stands out."
        )
    yield f"<li>{cost}</li>"
    interval = translate(
        "&plusmn; is half the length of the 95% interval; a game is one observation. Of many rows"
        " one in twenty differs by chance."
    )
    yield f"<li>{interval}</li>"
    for problem in report.problems[:MOST_PROBLEMS]:
        yield f"<li>{translate('left out: {problem}', problem=text(problem, MOST_LETTERS))}</li>"
    if (more := len(report.problems) - MOST_PROBLEMS) > 0:
        left_out = translate_count(
            "{n} more file or game is left out", "{n} more files or games are left out", more
        )
        yield element("li", left_out)
    yield "</ul>"
