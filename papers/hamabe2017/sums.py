"""The runs of the experiment on Hamabe 2017, and what a pair did in them, wall by wall."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.arena.code_digest import code_digest
from mjbot.arena.run import RunOutcome
from mjbot.arena.run_folder import GameLine, read_games
from mjbot.arena.runs import Run
from mjbot.arena.setup import Setup
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.figures import CountRecords, Figure, from_rows, on_same_walls
from mjbot.game.statistics.seating import Seating
from mjbot.game.table.settle import ranks_of
from mjbot.strategy.registry import Spec
from papers.experiments import ExperimentContext

RANKS: Final = ("first", "second", "third", "fourth")
_SEAT: Final = ("rank", *RANKS, "score", "wins", "deal_ins", "to_ally", "to_rivals")
_PAIR: Final = ("score_sum", "best_rank")
SUMS: Final = np.dtype(
    [
        ("wall", np.int64),
        *[
            (name, np.float64)
            for name in (
                "games",
                "kyoku",
                *[f"top_{name}" for name in _SEAT],
                *[f"partner_{name}" for name in _SEAT],
                *_PAIR,
            )
        ],
    ]
)
"""Sums over the games of one wall, and its number.

``to_ally`` and ``to_rivals`` count wins on a seat's tiles.
"""

WINS: Final = Figure("win", "wins of the top AI", "rate", "top_wins", "kyoku")
DEAL_INS: Final = Figure("deal_in", "deal-ins of the top AI", "rate", "top_deal_ins", "kyoku")
RANK: Final = Figure("rank", "average rank of the top AI", "mean", "top_rank", "games")
RANK_SHARES: Final = tuple(
    Figure(name, label, "rate", f"top_{name}", "games")
    for label, name in zip(("1st", "2nd", "3rd", "4th"), RANKS, strict=True)
)
TO_RIVALS: Final = Figure(
    "to_rivals", "partner deals in to rivals", "rate", "partner_to_rivals", "kyoku"
)
TO_ALLY: Final = Figure(
    "to_ally", "partner deals in to its ally", "rate", "partner_to_ally", "kyoku"
)
ALLYS_SHARE: Final = Figure(
    "allys_share",
    "of the partner's deal-ins to the ally",
    "rate",
    "partner_to_ally",
    "partner_deal_ins",
)
SCORE_SUM: Final = Figure("score_sum", "sum of the pair's scores", "points", "score_sum", "games")
BEST_RANK: Final = Figure("best_rank", "better of the pair's ranks", "mean", "best_rank", "games")

Sums = NDArray[Any]
Seats = tuple[int, int]
"""The seats of the top AI and of its partner; without a partner the same seat twice."""


def wall_sums(outcome: RunOutcome) -> Sums:
    """Return one record of :data:`SUMS` per complete wall, in the order of the walls.

    The top AI is the first strategy, its partner the second of the format *pair* or the other
    seat of the first one's pair; in the format *1v3* it has none.
    """
    seating = outcome.plan.setup.seating
    seats = pair_seats(seating)
    walls: dict[int, dict[int, GameLine]] = {}
    for line in read_games(outcome.plan.folder):
        if line.wall < outcome.n_walls and line.wall not in outcome.void and line.seating in seats:
            walls.setdefault(line.wall, {})[line.seating] = line
    rows = [
        _row(wall, walls[wall], seats) for wall in sorted(walls) if len(walls[wall]) == len(seats)
    ]
    return np.concatenate(rows) if rows else np.zeros(0, SUMS)


def difference(figure: Figure, one: Sums, other: Sums) -> Estimate:
    """Return how much larger a figure of one run is, on the walls that both have."""
    return figure.difference(*on_same_walls(one, one["wall"], other, other["wall"]))


def pair_seats(seating: Seating) -> Mapping[int, Seats]:
    """Return the seats of the top AI and its partner by number of the seating.

    >>> from mjbot.game.statistics.seating import make_seating
    >>> pair_seats(make_seating("1v3", 2))
    {0: (0, 0), 1: (1, 1), 2: (2, 2), 3: (3, 3)}
    >>> pair_seats(make_seating("pair", 2))[0], pair_seats(make_seating("pair", 3))[0]
    ((0, 1), (0, 1))
    """
    if seating.format == "1v3":
        return {place.seating: (place.seat, place.seat) for place in seating.rows[0]}
    first, second = seating.pairs[0]
    seats = {}
    for number, table in enumerate(seating.tables):
        tops = [seat for seat in range(4) if table[seat] == first]
        partners = [seat for seat in range(4) if table[seat] == second]
        seats[number] = (tops[0], partners[-1])
    return seats


def _row(wall: int, games: Mapping[int, GameLine], seats: Mapping[int, Seats]) -> Sums:
    rows = np.zeros(1, SUMS)
    row = rows[0]
    row["wall"] = wall
    for number, (top, partner) in seats.items():
        line = games[number]
        counts = from_rows(line.counts)
        row["games"] += 1
        row["kyoku"] += counts["kyoku"][top]
        _add_seat(row, "top", line.scores, counts, (top, partner))
        if partner != top:
            _add_seat(row, "partner", line.scores, counts, (partner, top))
            ranks = ranks_of(line.scores)
            row["best_rank"] += min(ranks[top], ranks[partner])
            row["score_sum"] += line.scores[top] + line.scores[partner]
    return rows


def _add_seat(
    row: Any, who: str, scores: Sequence[int], counts: CountRecords, seats: Seats
) -> None:
    """Add what the first of two seats did; the second one is its ally, or itself."""
    seat, ally = seats
    rank = ranks_of(scores)[seat]
    fed = counts["fed"][seat]
    row[f"{who}_rank"] += rank
    row[f"{who}_{RANKS[rank - 1]}"] += 1
    row[f"{who}_score"] += scores[seat]
    row[f"{who}_wins"] += counts["wins"][seat]
    row[f"{who}_deal_ins"] += counts["deal_ins"][seat]
    row[f"{who}_to_ally"] += fed[ally]
    row[f"{who}_to_rivals"] += fed.sum() - fed[ally]


TOP: Final = "yaku-evaluation"
PARTNER: Final = "combo-partner"
INDEPENDENT: Final = "fast-riichi-d"
OPPONENTS: Final = {"all": "fast-riichi-a", "majiang": "external:majiang"}


def make_setup(players: tuple[str, ...], opponent: str, seed: int) -> Setup:
    """Return an arm's run; equal players of a pair need but half of the ways to sit."""
    named = players[:1] if len(set(players)) == 1 else players
    strategies = (*named, opponent)
    return Setup(
        strategies=strategies,
        format="1v3" if len(players) == 1 else "pair",
        seed=seed,
        code=code_digest(map(Spec.read, strategies)),
    )


def walls_for(setup: Setup, games: float) -> int:
    """Return how many walls give the first strategy (or its pair) so many games."""
    return ceil(games / len({place.seating for place in setup.seating.rows[0]}))


def run_of(
    request: ExperimentContext, label: str, players: tuple[str, ...], share: float = 1.0
) -> Run:
    """Return the run of these players; ``share`` scales the number of games."""
    setup = make_setup(players, OPPONENTS.get(request.part, OPPONENTS["all"]), request.seed)
    return Run(label, setup, walls_for(setup, share * request.games))
