"""Mizukami et al. 2013, tables 7 and 8: the one-player player at a table of four, folding or not.

The paper's two players met people on a public server, in 834 and 504 east-only games.  Here both
meet three ``fast-riichi-a`` on the same walls, from every seat, over hanchan.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Final

from mjbot.arena.code_digest import code_digest
from mjbot.arena.runs import Run
from mjbot.arena.setup import Setup
from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.estimates import difference
from mjbot.game.statistics.figures import FIGURE_BY_KEY, Figure, WallSums
from mjbot.game.statistics.markdown import head, row
from mjbot.strategy.options import options_of
from mjbot.strategy.registry import Spec, strategy_class
from papers.experiments import ExperimentContext, ExperimentError
from papers.nakano2021 import SEATS, walls_for

OPPONENT: Final = "fast-riichi-a"
FOLDING: Final = ("fold-recognition", "fold-recognition-off", OPPONENT)
PLUS: Final = "fold-recognition-plus"
CONTEST: Final = (PLUS, "fold-recognition", "fast-riichi-b", "fast-riichi-d", OPPONENT)

GROUP: Final = 4
"""So many switches are tried in one run."""

PAPER_GAMES: Final = (834, 504)
PAPER_RANKS: Final = ((0.237, 0.240, 0.259, 0.264), (0.181, 0.216, 0.252, 0.351))
PAPER: Final[Mapping[str, tuple[float, float]]] = {
    "rank": (2.54, 2.77),
    "first": (23.7, 18.1),
    "second": (24.0, 21.6),
    "third": (25.9, 25.2),
    "fourth": (26.4, 35.1),
    "win": (18.1, 18.8),
    "deal_in": (14.4, 19.0),
}
"""With folding and without: per cent, but for the average rank."""

LEAST_DEAL_INS: Final = 0.75
"""What the paper's folding leaves of the deal-ins."""


def play_folding(request: ExperimentContext) -> Iterator[str]:
    """Return tables 7 and 8 as lines of Markdown, ours next to the paper's."""
    (outcome,) = request.arenas([_run("folding or not", FOLDING, request)])
    rows = outcome.rows
    games = len(rows) * SEATS
    yield from head([
        f"{games:,} hanchan each", "folding", "not folding", "folding less not, same walls",
        "paper: folding", "paper: not", "paper: difference",
    ])  # fmt: skip
    for key in PAPER:
        figure = FIGURE_BY_KEY[key]
        cells = [
            *_cells(figure, rows, (0, 1)),
            format_estimate(figure.difference(rows[:, 0], rows[:, 1]), figure.kind, signed=True),
            *_paper(key),
        ]
        yield row([figure.label, *cells])
    yield ""
    less = difference(
        (rows["deal_ins"][:, 0], rows["kyoku"][:, 0]),
        (LEAST_DEAL_INS * rows["deal_ins"][:, 1], rows["kyoku"][:, 1]),
    )
    text = format_estimate(less, "rate", signed=True)
    yield f"Deal-ins with folding less three quarters of those without: {text}."


def play_plus(request: ExperimentContext) -> Iterator[str]:
    """Return the results of fold-recognition-plus and others, all against the same opponents."""
    (outcome,) = request.arenas([_run(PLUS, CONTEST, request)])
    rows = outcome.rows
    yield from _compared(CONTEST, rows, rows[:, 0])


def play_switches(request: ExperimentContext) -> Iterator[str]:
    """Return what fold-recognition-plus is without each of the things that the paper lacks."""
    names = switches()
    groups = [names[first : first + GROUP] for first in range(0, len(names), GROUP)]
    off = [[f"{PLUS},{name}=off" for name in group] for group in groups]
    runs = [_run(PLUS, CONTEST, request)]
    for group, some in zip(groups, off, strict=True):
        runs.append(_run(f"without {', '.join(group)}", (*some, OPPONENT), request))
    outcomes = request.arenas(runs)
    first = next(outcomes)
    for some, outcome in zip(off, outcomes, strict=True):
        rows = outcome.rows
        if first.void or outcome.void:
            raise ExperimentError("some walls are void: the rows cannot be compared wall by wall")
        yield from _compared(some, rows, first.rows[:, 0])
        yield ""


def _run(label: str, strategies: Sequence[str], request: ExperimentContext) -> Run:
    return Run(label, make_setup(strategies, request.seed), walls_for(request.games))


def switches() -> list[str]:
    """Return the options of fold-recognition-plus that are on and can be switched off."""
    return [option.name for option in options_of(strategy_class(PLUS)) if option.default is True]


def make_setup(strategies: Sequence[str], seed: int) -> Setup:
    """Return a run: each strategy but the last from every seat against three of the last."""
    return Setup(
        strategies=tuple(strategies),
        format="1v3",
        seed=seed,
        code=code_digest(map(Spec.read, strategies)),
    )


def _cells(figure: Figure, rows: WallSums, columns: Sequence[int]) -> list[str]:
    return [format_estimate(figure.estimate(rows[:, column]), figure.kind) for column in columns]


def _compared(names: Sequence[str], rows: WallSums, reference: WallSums) -> Iterator[str]:
    """Return a row per strategy, each compared with the reference on the same walls."""
    figures = [FIGURE_BY_KEY[key] for key in ("rank", "win", "deal_in", "win_points")]
    heads = [figure.label for figure in figures]
    heads += [f"average rank less that of {PLUS}", "deal-ins less"]
    yield from head([f"{len(rows) * SEATS:,} hanchan each", *heads])
    for column, name in enumerate(names):
        mine = rows[:, column]
        cells = [format_estimate(figure.estimate(mine), figure.kind) for figure in figures]
        cells += [
            format_estimate(
                FIGURE_BY_KEY[key].difference(mine, reference), FIGURE_BY_KEY[key].kind, signed=True
            )
            for key in ("rank", "deal_in")
        ]
        yield row([name, *cells])


def _paper(key: str) -> list[str]:
    """Return the paper's two figures and their difference.

    Of ranks with the interval that so many independent games have; the paper does not give the
    number of kyoku.
    """
    on, off = PAPER[key]
    if key in ("win", "deal_in"):
        return [f"{on:.1f} %", f"{off:.1f} %", f"{on - off:+.1f} %"]
    errors = []
    for shares, games, value in zip(PAPER_RANKS, PAPER_GAMES, (on, off), strict=True):
        if key == "rank":
            square = sum(share * (rank - value) ** 2 for rank, share in enumerate(shares, 1))
        else:
            square = value * (100 - value)
        errors.append(1.96 * sqrt(square / games))
    both = sqrt(sum(error**2 for error in errors))
    digits, unit = (2, "") if key == "rank" else (1, " %")
    return [
        f"{on:.{digits}f} ± {errors[0]:.{digits}f}{unit}",
        f"{off:.{digits}f} ± {errors[1]:.{digits}f}{unit}",
        f"{on - off:+.{digits}f} ± {both:.{digits}f}{unit}",
    ]
