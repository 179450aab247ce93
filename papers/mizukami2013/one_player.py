"""Mizukami et al. 2013, table 1: how often players win alone at the table, in 27 draws.

The paper shows 100 walls and no intervals.  Here all players play the same walls, so that they
are compared wall by wall: those that think for long the first twentieth of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.estimates import difference, rate, ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from papers.experiments import ExperimentContext, ExperimentError
from papers.one_player.game import new_game
from papers.one_player.players import first_possible
from papers.one_player.runs import PlayerError, RunError, winning_draws

PAPER_WALLS: Final = 100
FEWER: Final = 20
"""Players that think for long play one of so many walls."""


@dataclass(frozen=True)
class Entrant:
    """A row: its label, the player, the paper's wins in percent of 100 walls."""

    label: str
    player: str
    paper: int | None = None
    is_slow: bool = False


ENTRANTS: Final = (
    Entrant("random", "random"),
    Entrant("plain UCT, 1,000 playouts", "uct:1000", 7, is_slow=True),
    Entrant("least shanten, widest acceptance", "greedy"),
    Entrant("evaluation of `fast-riichi-a`", "strategy:fast-riichi-a"),
    Entrant("trained evaluator, the paper's features", "evaluator:paper", 48),
    Entrant("trained evaluator, more features", "evaluator:plus"),
    Entrant("search", "search", is_slow=True),
)
WALL_KNOWN: Final = Entrant("with knowledge of the wall", "")
REFERENCE: Final = "evaluator:paper"
"""All players are compared with this one."""
PEOPLE: Final = {"the paper's average player": 36, "the paper's expert": 51}

Draws = Mapping[str, NDArray[np.int8]]


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the table as lines of Markdown; ``request.games`` is the number of walls."""
    draws = {}
    for number, entrant in enumerate(ENTRANTS, 1):
        label = f"{entrant.label} ({number} of {len(ENTRANTS)})"
        draws[entrant.player] = _played(entrant, request, label)
    yield from table_1(draws)
    possible = np.zeros(request.games, np.int8)
    with progress(Console(stderr=True), WALL_KNOWN.label, request.games, "walls") as step:
        for number in range(request.games):
            possible[number] = first_possible(new_game(request.seed, number)["wall"])
            step()
    yield _row(WALL_KNOWN, possible, draws[REFERENCE])


def _played(entrant: Entrant, request: ExperimentContext, label: str) -> NDArray[np.int8]:
    n_walls = fewer(request.games) if entrant.is_slow else request.games
    folder = request.folder / "one-player"
    known = 0

    def on_walls(n: int) -> None:
        nonlocal known
        step(min(n, n_walls) - known)
        known = min(n, n_walls)

    def kept() -> str:
        return f"kept in {folder}: {label}, {known} walls; run the same command to resume"

    with keeping(kept), progress(Console(stderr=True), label, n_walls, "walls") as step:
        try:
            return winning_draws(
                entrant.player, request.seed, n_walls, folder, request.jobs, on_walls
            )
        except (PlayerError, RunError) as error:
            raise ExperimentError(f"{entrant.label}: {error}") from None


def fewer(n_walls: int) -> int:
    """Return how many walls a slow player plays: the paper's number at least."""
    return min(n_walls, max(PAPER_WALLS, n_walls // FEWER))


def table_1(draws: Draws) -> Iterator[str]:
    """Return the paper's table with intervals; ``draws`` are the winning draws by player."""
    yield from head([
        "player", f"wins, first {PAPER_WALLS} walls", "wins, all", "walls",
        "less the trained evaluator, same walls", "draw of a win", "paper, 100 walls",
    ])  # fmt: skip
    for entrant in ENTRANTS:
        yield _row(entrant, draws[entrant.player], draws[REFERENCE])
    for label, wins in PEOPLE.items():
        yield row([label, *[""] * 5, _paper(wins)])


def _row(entrant: Entrant, draws: NDArray[np.int8], reference: NDArray[np.int8]) -> str:
    won, ones = (draws > 0).astype(np.float64), np.ones(len(draws))
    theirs = (reference[: len(draws)] > 0).astype(np.float64)
    less = ""
    if entrant.player != REFERENCE:
        less = format_estimate(difference((won, ones), (theirs, ones)), "rate", signed=True)
    cells = (
        entrant.label,
        format_estimate(rate(won[:PAPER_WALLS], ones[:PAPER_WALLS]), "rate"),
        format_estimate(rate(won, ones), "rate"),
        f"{len(draws):,}",
        less,
        format_estimate(ratio(draws.astype(np.float64), won), "mean"),
        "" if entrant.paper is None else _paper(entrant.paper),
    )
    return row(cells)


def _paper(wins: int) -> str:
    share = wins / PAPER_WALLS
    return f"{wins} ± {196 * sqrt(share * (1 - share) / PAPER_WALLS):.1f} %"
