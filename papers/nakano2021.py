"""Nakano 2021, table 1: four fast-riichi strategies, each against three opponents.

The paper seats one of its strategies A to D with the three stock AIs of a Java program that is
no longer available; here the opponents are three of A, which is built on the same book's AI.
It plays 300 east-only games each, on unrelated walls, and compares them.  Here all four
play the same walls from every seat, so that differences are paired.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final

from mjbot.arena.code_digest import code_digest
from mjbot.arena.run import RunOutcome
from mjbot.arena.runs import Run
from mjbot.arena.setup import Setup
from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.figures import FIGURE_BY_KEY, Figure, WallSums, rank_differences
from mjbot.game.statistics.markdown import head, row
from mjbot.game.statistics.sequential import ErrorRates, SequentialTest, confidence_sequence
from mjbot.strategy.registry import Spec
from papers.experiments import ExperimentContext

SUMMARY: Final = "A, B, C and D of Nakano 2021 against three of A, east-only"
GAMES: Final = 300
PARTS: Final = ("all",)
PAPER_GAMES: Final = 300
SEATS: Final = 4

STRATEGIES: Final = ("fast-riichi-b", "fast-riichi-c", "fast-riichi-d", "fast-riichi-a")
"""The last one is also the opponents of all."""

COLUMNS: Final = {"A": 3, "B": 0, "C": 1, "D": 2}
"""The paper's name of a strategy -> its row in the outcome."""


@dataclass(frozen=True)
class PaperRow:
    """A row of table 1: per cent, but for the ranks; by strategy.  ``of`` is what it is out of."""

    figure: str
    values: Mapping[str, float]
    of: str = "games"


KYOKU: Final = {"A": 1690, "B": 1708, "C": 1686, "D": 1688}
TABLE_1: Final = (
    PaperRow("rank", {"A": 2.36, "B": 2.18, "C": 2.31, "D": 2.29}),
    PaperRow("first", {"A": 30.7, "B": 38.0, "C": 30.0, "D": 31.0}),
    PaperRow("fourth", {"A": 25.3, "B": 17.3, "C": 16.0, "D": 16.7}),
    PaperRow("win", {"A": 22.4, "B": 27.7, "C": 19.8, "D": 23.6}, "kyoku"),
    PaperRow("deal_in", {"A": 18.0, "B": 17.0, "C": 10.6, "D": 10.8}, "kyoku"),
)
RANK_DEVIATION: Final = 1.118
"""Of one seat's rank, if all four are as likely."""


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables as lines of Markdown: the paper's size first, then all games."""
    setup = make_setup(request.seed, pinned=False)
    (outcome,) = request.arenas([Run("A to D", setup, walls_for(request.games))])
    paper_walls = walls_for(PAPER_GAMES)
    for n_walls in sorted({min(paper_walls, len(outcome.rows)), len(outcome.rows)}):
        rows = outcome.rows[:n_walls]
        yield from table_1(rows)
        yield ""
        yield from differences(rows)
        yield ""
    yield from is_d_better_than_b(outcome)


def make_setup(seed: int, pinned: bool) -> Setup:
    """Return the run: every wall with each of B, C and D in each seat, and A against itself."""
    return Setup(
        strategies=STRATEGIES,
        format="1v3",
        length="tonpu",
        seed=seed,
        walls="pinned" if pinned else "order",
        code=code_digest(map(Spec.read, STRATEGIES)),
    )


def walls_for(games: int) -> int:
    """Return how many walls give each strategy so many games, one from each seat."""
    return -(-games // SEATS)


def table_1(rows: WallSums) -> Iterator[str]:
    """Return the lines of the paper's table as Markdown, the paper's figures next to ours.

    ``rows`` is [walls, strategies] of :data:`mjbot.game.statistics.figures.ROW`.  The paper gives
    no intervals: those next to its figures are what independent games would have.
    """
    names = [heading for name in COLUMNS for heading in (name, f"{name}, paper")]
    yield from head([f"{len(rows) * SEATS} games each", *names])
    for line in TABLE_1:
        cells = []
        for name, column in COLUMNS.items():
            figure = FIGURE_BY_KEY[line.figure]
            cells += [
                format_estimate(figure.estimate(rows[:, column]), figure.kind),
                _paper(line, name),
            ]
        yield row([FIGURE_BY_KEY[line.figure].label, *cells])


def _paper(row: PaperRow, name: str) -> str:
    value = row.values[name]
    if row.figure == "rank":
        return f"{value:.2f} ± {1.96 * RANK_DEVIATION / sqrt(PAPER_GAMES):.2f}"
    n = KYOKU[name] if row.of == "kyoku" else PAPER_GAMES
    share = value / 100
    return f"{value:.1f} ± {196 * sqrt(share * (1 - share) / n):.1f} %"


def differences(rows: WallSums) -> Iterator[str]:
    """Return the lines of a table of all paired rank differences as Markdown."""
    names = list(COLUMNS)
    yield from head(["average rank, row less column", *names[1:]])
    rank = FIGURE_BY_KEY["rank"]
    for place, one in enumerate(names[:-1]):
        cells = [
            _difference(rank, rows, one, other) if other in names[place + 1 :] else ""
            for other in names[1:]
        ]
        yield row([one, *cells])


def _difference(figure: Figure, rows: WallSums, one: str, other: str) -> str:
    estimate = figure.difference(rows[:, COLUMNS[one]], rows[:, COLUMNS[other]])
    return format_estimate(estimate, figure.kind, signed=True)


def is_d_better_than_b(outcome: RunOutcome) -> Iterator[str]:
    """Answer the paper's open question: its D ranked behind B, within its own noise."""
    rows = outcome.rows
    bound = outcome.plan.setup.seating.rank_bound
    values = rank_differences(rows, COLUMNS["D"], COLUMNS["B"])
    test = SequentialTest(bound, outcome.plan.rates)
    decided = next((n for n, value in enumerate(values, 1) if test.add(value) != "open"), 0)
    low, high = confidence_sequence(values, bound, outcome.plan.rates.error)
    text = _difference(FIGURE_BY_KEY["rank"], rows, "D", "B")
    yield f"Average rank of D less that of B, on the same {len(rows)} walls: {text};"
    yield f"the interval that holds at all evaluations is {low:+.3f} .. {high:+.3f}."
    yield _verdict(test.verdict, decided, outcome.plan.rates)
    for key in ("win", "deal_in", "win_points", "first", "fourth"):
        figure = FIGURE_BY_KEY[key]
        yield f"{figure.label}: {_difference(figure, rows, 'D', 'B')}."


def _verdict(verdict: str, walls: int, rates: ErrorRates) -> str:
    sure = f"sequential test, error at most {100 * rates.error:g} %, sure after {walls} walls"
    match verdict:
        case "better":
            return f"D is better than B ({sure})."
        case "worse":
            return f"D is worse than B ({sure})."
        case "equal":
            return f"D and B differ by less than {rates.margin:g} ranks ({sure})."
        case _:
            return "The sequential test is not sure yet which of them is better."
