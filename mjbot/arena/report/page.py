"""The outcome as one HTML page that needs nothing else: tables, and plots as inline SVG."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from mjbot.arena.report import text as t
from mjbot.arena.run import RunOutcome
from mjbot.arena.setup import labels
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.figures import (
    FIGURE_BY_KEY,
    PAIR_FIGURES,
    RANKS,
    rank_differences,
)
from mjbot.game.statistics.origin import Origin
from mjbot.game.statistics.sequential import confidence_sequence
from mjbot.runtime.files import plural
from mjbot.viewer import html
from mjbot.viewer.html import table, text
from mjbot.viewer.plots import COLOURS, PLOT_CSS, PLOT_STYLE, Axis, Plot

LOOKS: Final = 80
"""At how many walls the running means are drawn."""

MOST_LETTERS: Final = 1000
"""Of a line or a cell: commands and strategies with their options are long."""


def write_report(path: Path, outcome: RunOutcome, origin: Origin) -> None:
    """Write the page."""
    path.write_text(page(outcome, origin), encoding="utf-8")


def page(outcome: RunOutcome, origin: Origin) -> str:
    """Return the page; there must be at least one complete wall."""
    setup = outcome.plan.setup
    names = labels(setup.specs)
    title = text(" against ".join(names), MOST_LETTERS)
    verdict = f"{t.verdict_line(outcome)}; {t.pairing_line(outcome)}."
    parts = [
        f"<main><h1>{title}</h1>",
        PLOT_STYLE,
        f"<p>{text(_summary(outcome), MOST_LETTERS)}</p>",
        f"<p class=soft>{text(origin, MOST_LETTERS)}</p>",
        f"<p>{text(verdict, MOST_LETTERS)}</p>",
        f"<p>{text(outcome.protocol, MOST_LETTERS)}</p>" if outcome.protocol else "",
        _table(*t.figure_rows(outcome.figures, names, outcome.rows)),
        _table(*t.difference_rows(outcome)) if len(names) > 2 else "",
        _table(*t.figure_rows(PAIR_FIGURES, t.pair_names(outcome), outcome.pairs))
        if setup.seating.pairs
        else "",
        f"{plots(outcome)}</main>",
    ]
    return html.page(title, parts)


def plots(outcome: RunOutcome) -> str:
    """Return the plots of :func:`page` as HTML; its style is not among them."""
    names = labels(outcome.plan.setup.specs)
    drawn = (_rank_plot, _win_plot, _running_plot, _difference_plot)
    return f'<div class="plots">{"".join([plot(outcome, names) for plot in drawn])}</div>'


def notebook_html(outcome: RunOutcome) -> str:
    """Return table and plots as HTML for a notebook: the style holds inside it alone."""
    names = labels(outcome.plan.setup.specs)
    figures = _table(*t.figure_rows(outcome.figures, names, outcome.rows))
    return (
        f'<div class="mjbot-arena"><style>.mjbot-arena {{{PLOT_CSS}}}</style>\n{figures}'
        f"<p>{text(t.verdict_line(outcome), MOST_LETTERS)}</p>{plots(outcome)}</div>"
    )


def _summary(outcome: RunOutcome) -> str:
    setup = outcome.plan.setup
    return (
        f"{plural(outcome.games, 'game')} on {plural(len(outcome.rows), 'wall')},"
        f" format {setup.format}, {setup.game_rules}, seed {setup.seed}, draws: {setup.walls};"
        f" {plural(sum(outcome.faults), 'decision')} replaced,"
        f" {plural(len(outcome.void), 'wall')} void. ± is a 95 % interval clustered by wall."
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [[text(cell, MOST_LETTERS) for cell in row] for row in (heads, *rows)]
    return table(cells[0], cells[1:])


def _rank_plot(outcome: RunOutcome, names: Sequence[str]) -> str:
    """Bars with intervals: how often each rank."""
    ranks = [figure for figure in outcome.figures if figure.key in RANKS]
    estimates = [
        [rank.estimate(outcome.rows[:, k]).times(100) for rank in ranks] for k in range(len(names))
    ]
    top = max(estimate.value for row in estimates for estimate in row)
    plot = Plot(
        Axis("rank", 0.5, len(ranks) + 0.5),
        Axis("share of games, %", 0, max(30.0, 1.25 * top)),
        "Ranks",
    )
    width = 0.8 / len(names)
    for k, name in enumerate(names):
        colour = COLOURS[k % len(COLOURS)]
        plot.key(name, colour)
        for number, estimate in enumerate(estimates[k], 1):
            x = number + (k - (len(names) - 1) / 2) * width
            label = f"{name}, rank {number}: {estimate.value:.2f} %"
            plot.bar(x, 0.9 * width, estimate.value, colour, label)
            plot.stroke((x, estimate.low), (x, estimate.high), "currentColor")
    for number in range(1, len(ranks) + 1):
        plot.note(number, str(number))
    return plot.svg(x_ticks=False)


def _win_plot(outcome: RunOutcome, names: Sequence[str]) -> str:
    """Deal-ins against wins: down and to the right is better."""
    wins, deal_ins = (
        [FIGURE_BY_KEY[key].estimate(outcome.rows[:, k]).times(100) for k in range(len(names))]
        for key in ("win", "deal_in")
    )
    plot = Plot(
        _around("wins, % of kyoku", wins),
        _around("deal-ins, % of kyoku", deal_ins),
        "Deal-ins against wins",
    )
    for k, (name, win, deal_in) in enumerate(zip(names, wins, deal_ins, strict=True)):
        colour = COLOURS[k % len(COLOURS)]
        plot.key(name, colour)
        plot.stroke((win.low, deal_in.value), (win.high, deal_in.value), colour)
        plot.stroke((win.value, deal_in.low), (win.value, deal_in.high), colour)
        label = f"{name}: wins {win.value:.2f} %, deal-ins {deal_in.value:.2f} %"
        plot.dot(win.value, deal_in.value, colour, label)
    return plot.svg()


def _running_plot(outcome: RunOutcome, names: Sequence[str]) -> str:
    """The average ranks as walls came in, with the 95 % interval of each moment."""
    looks = _looks(len(outcome.rows))
    runs = [
        [(n, FIGURE_BY_KEY["rank"].estimate(outcome.rows[:n, k])) for n in looks]
        for k in range(len(names))
    ]
    last = [run[-1][1] for run in runs]
    spread = max([0.1, *[3 * end.half_width for end in last if np.isfinite(end.half_width)]])
    low = min(end.value for end in last) - spread
    high = max(end.value for end in last) + spread
    plot = Plot(
        Axis("walls", 0, looks[-1]),
        Axis("average rank", low, high, flip=True),
        "Average rank so far, with its 95 % interval",
    )
    for k, (name, run) in enumerate(zip(names, runs, strict=True)):
        colour = COLOURS[k % len(COLOURS)]
        plot.key(name, colour)
        plot.band([(n, estimate.low, estimate.high) for n, estimate in run], colour)
        plot.line([(n, estimate.value) for n, estimate in run], colour)
    return plot.svg()


def _difference_plot(outcome: RunOutcome, names: Sequence[str]) -> str:
    """The first two strategies' rank difference; its interval is the one that the verdict uses."""
    looks = _looks(len(outcome.rows))
    estimates = [_difference_after(outcome, n) for n in looks]
    bound = outcome.plan.setup.seating.rank_bound
    ends = [(max(-bound, estimate.low), min(bound, estimate.high)) for estimate in estimates]
    last = estimates[-1].value
    reach = min(bound, max(0.1, 3 * (ends[-1][1] - ends[-1][0]) / 2, abs(last)))
    holds = "that holds at all looks" if outcome.plan.until_sure else "of 95 %"
    plot = Plot(
        Axis("walls", 0, looks[-1]),
        Axis("rank difference", -reach, reach, flip=True),
        f"{names[0]} less {names[1]}, with the interval {holds}",
    )
    plot.stroke((0, 0), (looks[-1], 0), "currentColor")
    plot.band([(n, low, high) for n, (low, high) in zip(looks, ends, strict=True)], COLOURS[0])
    plot.line(
        [(n, estimate.value) for n, estimate in zip(looks, estimates, strict=True)], COLOURS[0]
    )
    plot.key("above the line the first is better", COLOURS[0])
    return plot.svg()


def _difference_after(outcome: RunOutcome, n_walls: int) -> Estimate:
    rows = outcome.rows[:n_walls]
    if not outcome.plan.until_sure:
        return FIGURE_BY_KEY["rank"].difference(rows[:, 0], rows[:, 1])
    differences = rank_differences(rows, 0, 1)
    bound = outcome.plan.setup.seating.rank_bound
    ends = confidence_sequence(differences, bound, outcome.plan.rates.error)
    return Estimate(float(differences.mean()), *ends)


def _looks(n: int) -> list[int]:
    """Return up to :data:`LOOKS` numbers of walls, the last one all."""
    return sorted({int(k) for k in np.linspace(min(2, n), n, LOOKS)})


def _around(name: str, estimates: Sequence[Estimate]) -> Axis:
    low = min(max(estimate.low, 0.0) for estimate in estimates)
    high = max(min(estimate.high, 100.0) for estimate in estimates)
    margin = 0.15 * (high - low) or 1.0
    return Axis(name, max(0.0, low - margin), high + margin)
