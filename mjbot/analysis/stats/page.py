"""The statistics as one HTML page that needs nothing else: tables, and plots as inline SVG."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from mjbot.analysis.stats.breakdown import KEYS, PLAYER, StatsRow
from mjbot.analysis.stats.outputs import (
    FIGURE,
    HEADS,
    StatsReport,
    cells,
    comparison_lines,
    comparison_rows,
    heads,
    key_text,
)
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.figures import Figure
from mjbot.game.statistics.origin import Origin
from mjbot.runtime.languages import language, marked, translate
from mjbot.viewer import html
from mjbot.viewer.html import element, name, table, text
from mjbot.viewer.plots import COLOURS, PLOT_STYLE, Axis, Plot

INTERVAL: Final = marked("± is half the length of the 95% interval, clustered by game")
MOST_LETTERS: Final = 300
MOST_ROWS: Final = 200
"""Rows of a table on the page; the files have all."""
PLOTTED: Final = len(COLOURS)
OVER_TIME: Final = ("week", "month")


def page(report: StatsReport, players: int, origin: Origin) -> str:
    """Return the page, with the ``players`` that have most games."""
    parts = [
        "<main>",
        element("h1", translate("Player statistics")),
        PLOT_STYLE,
        f"<p class=soft>{text(report.records, MOST_LETTERS)}</p>",
        f"<p>{text(report.summary, MOST_LETTERS)}{translate('.')}</p>",
        f"<p class=soft>{text(origin, MOST_LETTERS)}</p>",
        *_comparison(report),
        *_section(report, PLAYER, translate("Players"), players),
    ]
    for key in report.breakdown.plan.by:
        title = translate("By {key}", key=translate(HEADS[key]))
        parts += [*_section(report, key, title, players)]
    parts.append(f"<p class=soft>{text(translate(INTERVAL), MOST_LETTERS)}{translate('.')}</p>")
    title = translate("Statistics of {records}", records=text(report.records, 80))
    return html.page(title, [*parts, "</main>"], language=language())


def _section(report: StatsReport, of: str, title: str, players: int) -> Iterator[str]:
    rows = report.rows(of, players)
    if not rows:
        return
    yield f"<h2>{text(title)}</h2>"
    if of != PLAYER:
        yield f"<p class=soft>{text(translate(KEYS[of]), MOST_LETTERS)}</p>"
    yield '<div class="plots">'
    if of == PLAYER:
        yield _players_plot(report, rows[:PLOTTED])
        yield _style_plot(report, rows[:PLOTTED])
    else:
        for figure in ("rank", "win", "deal_in"):
            yield _keys_plot(report, rows, FIGURE[figure], of in OVER_TIME)
    yield "</div>"
    yield table(heads(report, of), [_cells(report, row) for row in rows[:MOST_ROWS]])
    if len(rows) > MOST_ROWS:
        more = translate("{n} more rows: --csv or --json has them", n=len(rows) - MOST_ROWS)
        yield f"<p class=soft>{text(more)}{translate('.')}</p>"


def _cells(report: StatsReport, row: StatsRow) -> list[str]:
    first, *others = cells(report, row)
    return [name(first), *[text(cell) for cell in others]]


def _comparison(report: StatsReport) -> Iterator[str]:
    if report.breakdown.plan.sides is None:
        return
    yield element("h2", translate("Comparison"))
    for line in comparison_lines(report):
        yield f"<p>{text(line, MOST_LETTERS)}</p>"
    rows = [[text(label), text(cell)] for label, cell in comparison_rows(report)]
    yield table([translate("figure"), translate("difference ± 95% interval")], rows)


# --- plots ------------------------------------------------------------------------------------


def _shown(estimate: Estimate, figure: Figure) -> Estimate:
    """Return rates in per cent."""
    return estimate.times(100) if figure.kind == "rate" else estimate


def _axis(label: str, estimates: Sequence[Estimate], flip: bool = False) -> Axis:
    """Return an axis that holds all values, and the intervals up to four times their spread."""
    values = [estimate.value for estimate in estimates if math.isfinite(estimate.value)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(high - low, 0.04 * abs(high), 1e-3)
    ends = [
        end
        for estimate in estimates
        for end in (estimate.low, estimate.high)
        if math.isfinite(end) and low - 2 * room <= end <= high + 2 * room
    ]
    low, high = min([low, *ends]), max([high, *ends])
    margin = 0.06 * max(high - low, room)
    return Axis(label, low - margin, high + margin, flip)


def _mark(plot: Plot, x: float, estimate: Estimate, colour: str, label: str) -> None:
    if math.isnan(estimate.value):
        return
    if estimate.is_bounded:
        plot.stroke((x, estimate.low), (x, estimate.high), colour)
    plot.dot(x, estimate.value, colour, label)


def _players_plot(report: StatsReport, rows: Sequence[StatsRow]) -> str:
    figure = FIGURE["rank"]
    estimates = [report.estimate(row, figure) for row in rows]
    x = Axis("", -0.5, len(rows) - 0.5)
    plot = Plot(x, _axis(translate(figure.label), estimates, flip=True), translate("Average rank"))
    for index, (row, estimate) in enumerate(zip(rows, estimates, strict=True)):
        _mark(plot, index, estimate, COLOURS[index], f"{report.label(row)}: {estimate.value:.3f}")
        plot.key(report.label(row), COLOURS[index])
    return plot.svg(x_ticks=False)


def _style_plot(report: StatsReport, rows: Sequence[StatsRow]) -> str:
    wins = [_shown(report.estimate(row, FIGURE["win"]), FIGURE["win"]) for row in rows]
    losses = [_shown(report.estimate(row, FIGURE["deal_in"]), FIGURE["deal_in"]) for row in rows]
    axes = (
        _axis(translate("deal-ins, % of kyoku"), losses),
        _axis(translate("wins, % of kyoku"), wins),
    )
    plot = Plot(*axes, translate("Wins and deal-ins"))
    for index, (row, win, loss) in enumerate(zip(rows, wins, losses, strict=True)):
        if math.isnan(win.value):
            continue
        colour = COLOURS[index]
        if win.is_bounded and loss.is_bounded:
            plot.stroke((loss.value, win.low), (loss.value, win.high), colour)
            plot.stroke((loss.low, win.value), (loss.high, win.value), colour)
        plot.dot(
            loss.value, win.value, colour, f"{report.label(row)}: {win.value:.1f}, {loss.value:.1f}"
        )
        plot.key(report.label(row), colour)
    return plot.svg()


def _keys_plot(report: StatsReport, rows: Sequence[StatsRow], figure: Figure, is_line: bool) -> str:
    """Return a figure of the first players by key, in the order of the keys."""
    players = list(dict.fromkeys(map(report.label, rows)))[:PLOTTED]
    rows = [row for row in rows if report.label(row) in players]
    keys = sorted({row.key for row in rows}) if is_line else list(
        dict.fromkeys(row.key for row in rows)
    )  # fmt: skip
    estimates = {
        (report.label(row), row.key): _shown(report.estimate(row, figure), figure) for row in rows
    }  # fmt: skip
    unit = ", %" if figure.kind == "rate" else ""
    label = translate(figure.label)
    y = _axis(f"{label}{unit}", list(estimates.values()), flip=figure.key == "rank")
    plot = Plot(Axis("", -0.5, len(keys) - 0.5), y, label.capitalize())
    for number, player in enumerate(players):
        shift = 0.0 if is_line else 0.6 * (number + 0.5) / len(players) - 0.3
        points = []
        for index, key in enumerate(keys):
            estimate = estimates.get((player, key))
            if estimate is not None and not math.isnan(estimate.value):
                dot = f"{player}, {key_text(key)}: {estimate.value:.3f}"
                _mark(plot, index + shift, estimate, COLOURS[number], dot)
                points.append((index + shift, estimate.value))
        if is_line:
            plot.line(points, COLOURS[number])
        plot.key(player, COLOURS[number])
    step = -(-len(keys) // 6)
    for index in range(0, len(keys), step):
        plot.note(index, key_text(keys[index])[:12])
    return plot.svg(x_ticks=False)
