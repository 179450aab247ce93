"""The ladder as tables: strength and cost against each opponent, and how all play, people too."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from mjbot.arena.ladder.ladder import Ladder, LineStanding
from mjbot.game.records.copies import Distinct
from mjbot.game.records.game import GameDigester
from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.statistics import figures as f
from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.markdown import head, row
from mjbot.game.statistics.origin import origin_of
from mjbot.runtime.files import plural
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of
from mjbot.strategy.registry import Spec

COPIES: Final = {3: "two", 4: "three"}
"""Number of players -> how many of the opponent play."""
ALL: Final = {3: "all three", 4: "all four"}
STYLE: Final = ("win", "deal_in", "call", "riichi", "win_points")
PHOENIX: Final[Mapping[int, tuple[str, Mapping[str, Estimate]]]] = {
    3: (
        "players of Tenhou's Phoenix room, 1,168 hanchan of three players of 2009 and later",
        {
            "win": Estimate(0.28537, 0.28304, 0.28770),
            "deal_in": Estimate(0.14441, 0.14109, 0.14773),
            "call": Estimate(0.23865, 0.23382, 0.24347),
            "riichi": Estimate(0.25497, 0.25020, 0.25973),
            "win_points": Estimate(8102, 8000, 8204),
        },
    ),
    4: (
        "players of Tenhou's Phoenix room, 4,444 hanchan of April 2024",
        {
            "win": Estimate(0.21317, 0.21234, 0.21400),
            "deal_in": Estimate(0.12484, 0.12370, 0.12597),
            "call": Estimate(0.32653, 0.32427, 0.32880),
            "riichi": Estimate(0.18597, 0.18439, 0.18756),
            "win_points": Estimate(5828, 5786, 5870),
        },
    ),
}
"""Number of players -> what ``--records`` counts in records that do not ship: 10,438 kyoku of three
players (``sanma-hanchan.zip``), 46,755 of four (``hanchan-2024.zip``)."""


def report_lines(ladder: Ladder, people: f.WallSums | None) -> Iterator[str]:
    """Yield the tables of a ladder as lines of Markdown; ``people`` is as in :func:`style_table`.

    The command that makes the same tables comes first, without where files lie.
    """
    plan = ladder.plan
    origin = origin_of([command_of("mjbot ladder", plan)])
    by = f", {origin.version}" if origin.version else ""
    table = f"{plan.length} of {plan.players} players" if plan.players == 3 else plan.length
    yield f"{origin.date}{by}, seed {plan.seed}, {table}:"
    yield f"`{origin.command}`"
    yield ""
    first, *others = plan.opponents
    all_lines = ladder.against_first()
    shown = [all_lines]
    yield from strength_table(all_lines, first, plan.players)
    for opponent in others:
        if standings := ladder.standings(ladder.strongest(), opponent):
            yield ""
            shown.append(standings)
            yield from strength_table(standings, opponent, plan.players)
    yield ""
    yield from style_table(all_lines, first, people, plan.players)
    sentences = [*ladder.problems, *[note for standings in shown for note in notes(standings)]]
    if sentences:
        yield ""
        yield from [f"- {sentence}" for sentence in dict.fromkeys(sentences)]


def strength_table(
    standings: Sequence[LineStanding], opponent: Spec, players: int
) -> Iterator[str]:
    """Yield a row per line, best first: ranks, and what a decision costs."""
    ends = (f.RANKS[0], f.RANKS[players - 1])
    yield from head([
        f"against {COPIES[players]} of `{opponent}`", "average rank",
        "less the line above, same walls", *[f.FIGURE_BY_KEY[key].label for key in ends], "games",
        "a decision: median", "99 %", "a player's decisions in a game",
    ])  # fmt: skip
    above: LineStanding | None = None
    for standing in standings:
        cells = [
            _named(standing),
            _figure(standing, "rank"),
            _less(standing, above),
            *[_figure(standing, key) for key in ends],
            _games(standing),
            *_cost(standing),
        ]
        yield row(cells)
        above = standing


def style_table(
    standings: Sequence[LineStanding], opponent: Spec, people: f.WallSums | None, players: int
) -> Iterator[str]:
    """Yield a row per line with its rates per kyoku, and one of people's.

    ``people`` has a record per recorded game; without it those of :data:`PHOENIX` stand there.
    """
    figures = [f.FIGURE_BY_KEY[key] for key in STYLE]
    labels = [figure.label for figure in figures]
    yield from head([f"per kyoku, against {COPIES[players]} of `{opponent}`", *labels])
    for standing in standings:
        yield row([_named(standing), *[_figure(standing, key) for key in STYLE]])
    name, known = PHOENIX[players]
    if people is not None:
        name = f"people, {plural(len(people), 'recorded game')}"
        known = {key: f.FIGURE_BY_KEY[key].estimate(people) for key in STYLE}
    cells = [format_estimate(known[figure.key], figure.kind) for figure in figures]
    yield row([f"*{name}*", *cells])


def notes(standings: Sequence[LineStanding]) -> Iterator[str]:
    """Yield what is wrong with lines, in a sentence each."""
    for standing in standings:
        if standing.is_opponent:
            continue
        if standing.faults:
            yield f"`{standing.spec}`: {plural(standing.faults, 'decision')} had to be replaced"
        if standing.void:
            walls = plural(standing.void, "wall")
            yield f"`{standing.spec}`: {walls} could not be played to the end"
        if standing.doubt:
            yield f"`{standing.spec}`: {standing.doubt}, so its games do not count"


def _named(standing: LineStanding) -> str:
    return f"`{standing.spec}`" + (f", {ALL[standing.players]}" if standing.is_opponent else "")


def _figure(standing: LineStanding, key: str) -> str:
    figure = f.FIGURE_BY_KEY[key]
    return (
        format_estimate(figure.estimate(standing.rows), figure.kind) if len(standing.rows) else "-"
    )


def _less(standing: LineStanding, above: LineStanding | None) -> str:
    if above is None:
        return ""
    one, other = f.on_same_walls(standing.rows, standing.walls, above.rows, above.walls)
    if not len(one):
        return ""
    return format_estimate(f.FIGURE_BY_KEY["rank"].difference(one, other), "mean", signed=True)


def _games(standing: LineStanding) -> str:
    played = f"{standing.played:,}"
    return played if standing.is_finished else f"{played} of {standing.games:,}: not finished"


def _cost(standing: LineStanding) -> list[str]:
    """Return median, 99th percentile and sum; an external AI's are times until its answers."""
    clock = " (waiting)" if standing.spec.is_external else ""
    cost = standing.cost
    cells = [(cost.percentile_ms(50), "ms"), (cost.percentile_ms(99), "ms")]
    cells.append((cost.seconds_per_game, "s"))
    if not cost.decisions:
        return ["-"] * len(cells)
    return [f"{_number(value)} {unit}{clock}" for value, unit in cells]


def _number(value: float) -> str:
    """Return a number of three digits.

    >>> _number(0.0123), _number(1.234), _number(1234.5)
    ('0.012', '1.23', '1234')
    """
    digits = 1 - math.floor(math.log10(value)) if 0 < value < 1 else 2 if value < 10 else 1
    return f"{value:.{0 if value >= 100 else digits}f}"


_COUNTED: Final = tuple(name for name in f.COUNTS.names or () if name != "fed")


def rates_of_records(path: Path, players: int) -> f.WallSums:
    """Return a record of :data:`~mjbot.game.statistics.figures.ROW` per game of so many players:
    the sums over all of them.

    A game that is there in several files counts once.
    ``path`` is a file, folder or zip of records.  The rates count, ranks and scores do not.
    Raises ``OSError`` and :class:`~mjbot.game.records.game.RecordError`.
    """
    sources = list_sources(path)
    rows = []
    copies: Distinct[f.WallSums] = Distinct()
    with progress(Console(stderr=True), f"counting {path.name}", len(sources), "files") as step:
        for source in sources:
            for game in games_of(source, (players,)):
                counter, digester = f.EventCounter(), GameDigester()
                for entry in game.entries:
                    counter.add(entry.event)
                    digester.add(entry.event)
                row_of_game = _row(counter.counts[:players])
                if (new := copies.add(digester.identity(), row_of_game)) is not None:
                    rows.append(new)
            step()
    rows += copies.rest()
    return np.concatenate(rows) if rows else np.zeros(0, f.ROW)


def _row(counts: f.CountRecords) -> f.WallSums:
    row = np.zeros(1, f.ROW)
    for name in _COUNTED:
        row[name] = counts[name].sum()
    return row
