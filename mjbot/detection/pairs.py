"""What two players did for each other beyond what they do with everybody.

Column *all tables*: the hits y of i for j are held against a log-linear expectation

    E = M a_i b_j,   M = sum over games of chances x base rate by where j sits from i

where a_i is how often i hits compared to the base rate, b_j how often j is served, both from all
games and all cells but those of the two with each other, and shrunk towards 1 by
:data:`PRIOR` hits.  What y is beyond E, in units of its error (that of a and b included), is an
interaction: neither style nor strength of either alone makes it.

Column *same tables*: E = M a_i with a_i from what i did to the third and fourth player of the very
same games.  No b: whoever plays badly towards all is served by all, and then this column says so.

Both directions of a pair are added up.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.detection.detectors import N
from mjbot.detection.games import Games

PRIOR: Final = 3.0
"""Hits that a player is believed to have made at the base rate before anything is seen."""
ROUNDS: Final = 4
LEAST: Final = 1e-6

Floats = NDArray[np.float64]
SEATS: Final = np.arange(4)
RELATIVE: Final = (SEATS[None, :] - SEATS[:, None]) % 4
"""Where ``other`` sits, seen from ``actor``: [actor, other]."""
OFF: Final = ~np.eye(4, dtype=bool)
PARTS: Final = 8
"""Of the sums of a direction: hits and expectation; of the row without the other, of the column
without the other, of the row within the same games."""
HITS: Final = 0


@dataclass(frozen=True)
class Left:
    """What of pairs is beyond expectation: float64[pairs, N] each.

    ``excess`` are hits beyond the log-linear expectation, ``everywhere`` the z of all tables and
    ``here`` that of the same tables.  Each takes for help what is none: the same tables whom all
    serve, all tables (at a table that is always the same) the rivals of a pair.
    """

    excess: Floats
    everywhere: Floats
    here: Floats


def base_rates(games: Games) -> Floats:
    """Return the share of chances that are hits by where the other sits: float64[4, N].

    Row 1 is the next player; row 0 is of no use.
    """
    rates = np.zeros((4, N))
    for relative in (1, 2, 3):
        cells = relative == RELATIVE
        hits = games.hits[:, cells].sum((0, 1), dtype=np.float64)
        chances = games.chances[:, cells].sum((0, 1), dtype=np.float64)
        rates[relative] = hits / np.maximum(chances, 1)
    return rates


def expected(games: Games, rates: Floats) -> Floats:
    """Return the hits of every cell at the base rates: float64[games, 4, 4, N]."""
    cells: Floats = games.chances * rates[RELATIVE]
    cells[:, ~OFF] = 0
    return cells


def left_over(there: Floats, back: Floats) -> Left:
    """Return what is left over of pairs: sums of both directions, float64[pairs, PARTS, N]."""
    hits = there[:, HITS] + back[:, HITS]
    (mean, variance), (mean_here, variance_here) = (
        (one[0] + other[0], one[1] + other[1])
        for one, other in zip(_expectations(there), _expectations(back), strict=True)
    )
    everywhere, here = _z(hits, mean, variance), _z(hits, mean_here, variance_here)
    return Left(hits - mean, everywhere, here)


def _z(hits: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the deviate of Freeman and Tukey, over what the errors of its mean add.

    Of a Poisson count it has a spread of about 1 from a mean of 1 on, and less below: one hit of
    what hardly ever happens is no sensation.
    """
    deviate = np.sqrt(hits) + np.sqrt(hits + 1) - np.sqrt(4 * mean + 1)
    z: Floats = deviate / np.sqrt(variance / mean)
    return z


def _expectations(sums: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return mean and variance by all tables, and the same by the same tables."""
    _, plain, row, row_of, column, column_of, near, near_of = np.moveaxis(sums, 1, 0)
    acts = (row + PRIOR) / (row_of + PRIOR)
    served = (column + PRIOR) / (column_of + PRIOR)
    mean = plain * acts * served + LEAST
    variance = mean + mean**2 * (1 / (row + PRIOR) + 1 / (column + PRIOR))
    mean_here = plain * (near + PRIOR) / (near_of + PRIOR) + LEAST
    variance_here = mean_here + mean_here**2 / (near + PRIOR)
    return (mean, variance), (mean_here, variance_here)


@dataclass(frozen=True)
class Effects:
    """How often each player hits and is served, against the base rates: float64[players, N]."""

    acts: Floats
    served: Floats


def effects(games: Games, rates: Floats) -> Effects:
    """Fit the log-linear model to all games by turns."""
    plain, hits = expected(games, rates), games.hits.astype(np.float64)
    n = len(games.players)
    acts, served = np.ones((n, N)), np.ones((n, N))
    for _ in range(ROUNDS):
        acts = _ratio(n, games.names, hits.sum(2), (plain * served[games.names][:, None]).sum(2))
        served = _ratio(n, games.names, hits.sum(1), (plain * acts[games.names][:, :, None]).sum(1))
    return Effects(acts, served)


def _ratio(n: int, names: NDArray[np.int32], hits: Floats, mean: Floats) -> Floats:
    ratio: Floats = (_by_player(n, names, hits) + PRIOR) / (_by_player(n, names, mean) + PRIOR)
    return ratio


def _by_player(n: int, names: NDArray[np.int32], cells: Floats) -> Floats:
    sums = np.zeros((n, N))
    np.add.at(sums, names.ravel(), cells.reshape(-1, N))
    return sums


@dataclass(frozen=True)
class Met:
    """Pairs of players and the games in which they met.

    ``pairs`` int32[pairs, 2] are players, the lower number first; ``games`` has for each pair
    places in the games, ``seats`` int8[games, 2] where the two sat in each.
    """

    pairs: NDArray[np.int32]
    games: list[NDArray[np.intp]]
    seats: list[NDArray[np.int8]]


def who_met(games: Games, least: int) -> Met:
    """Return the pairs that met in at least so many games, in the order of their players."""
    found = []
    for one in range(4):
        for other in range(4):
            if one != other:
                pair = games.names[:, [one, other]]
                places = np.flatnonzero(pair[:, 0] < pair[:, 1])
                seats = np.broadcast_to(np.array([one, other]), (len(places), 2))
                found.append(np.column_stack([pair[places], places, seats]))
    table = np.concatenate(found)
    table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
    pairs, starts, counts = np.unique(table[:, :2], axis=0, return_index=True, return_counts=True)
    chosen = np.flatnonzero(counts >= least)
    parts = [table[starts[k] : starts[k] + counts[k]] for k in chosen]
    return Met(
        pairs[chosen].astype(np.int32),
        [part[:, 2].astype(np.intp) for part in parts],
        [part[:, 3:].astype(np.int8) for part in parts],
    )


def left_over_of(games: Games, met: Met, rates: Floats) -> Left:
    """Return what is left over of the pairs that met, by all games of each of the two."""
    fitted, plain = effects(games, rates), expected(games, rates)
    hits = games.hits.astype(np.float64)
    n = len(games.players)
    by_row = plain * fitted.served[games.names][:, None]
    by_column = plain * fitted.acts[games.names][:, :, None]
    whole = [
        _by_player(n, games.names, cells)
        for cells in (hits.sum(2), by_row.sum(2), hits.sum(1), by_column.sum(1))
    ]
    ways = np.zeros((2, len(met.pairs), PARTS, N))
    for number, ((one, other), places, seats) in enumerate(
        zip(met.pairs, met.games, met.seats, strict=True)
    ):
        for way, (actor, target) in enumerate(((one, other), (other, one))):
            i, j = seats[:, way], seats[:, 1 - way]
            near, near_of = hits[places, i].sum((0, 1)), plain[places, i].sum((0, 1))
            own, own_of = hits[places, i, j].sum(0), plain[places, i, j].sum(0)
            ways[way, number] = (
                own,
                own_of,
                whole[0][actor] - own,
                whole[1][actor] - by_row[places, i, j].sum(0),
                whole[2][target] - own,
                whole[3][target] - by_column[places, i, j].sum(0),
                near - own,
                near_of - own_of,
            )
    return left_over(ways[0], ways[1])
