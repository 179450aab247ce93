"""The seatings in which every wall is played once.

===== ======================================================== ===============================
name  the players                                              seatings of a wall
===== ======================================================== ===============================
1v3   each strategy but the last against three of the last     4 each (every seat), and 1 of
                                                               the last against itself
2v2   two of the one against two of the other                  6
pair  the first and second allied against the third and        24 (12 of three strategies,
      fourth, or two of the third; of two strategies each      6 of two)
      is its own ally
each  all at one table: two as in 2v2, four with a seat each   24
===== ======================================================== ===============================

Of three players:

===== ======================================================== ===============================
1v2   each strategy but the last against two of the last       3 each (every seat), and 1 of
                                                               the last against itself
pair  two allies against one: the first and second against     6 (3 of two strategies)
      the third; of two strategies the first is its own ally
each  three strategies at one table                            6
===== ======================================================== ===============================

In 1v3 and 1v2 a strategy's figures are those of the seat that it has to itself, and the last one's
are those of all seats of the game against itself: every row answers "how does it fare against
three (two) of these?".
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Final, Literal, get_args

from mjbot.runtime.errors import ExitCode, MjbotError

SeatingFormat = Literal["1v3", "2v2", "pair", "each", "1v2"]
FORMATS: Final[tuple[SeatingFormat, ...]] = get_args(SeatingFormat)
Seats = tuple[int, ...]
"""The number of the strategy in each seat."""
MOST_STRATEGIES: Final = 8

ONE_AGAINST: Final[dict[int, SeatingFormat]] = {3: "1v2", 4: "1v3"}
"""Number of players -> the format of one strategy against all others."""

PLAYERS: Final[dict[int, dict[tuple[SeatingFormat, int], Seats]]] = {
    3: {
        ("pair", 2): (0, 0, 1),
        ("pair", 3): (0, 1, 2),
        ("each", 3): (0, 1, 2),
    },
    4: {
        ("2v2", 2): (0, 0, 1, 1),
        ("pair", 2): (0, 0, 1, 1),
        ("pair", 3): (0, 1, 2, 2),
        ("pair", 4): (0, 1, 2, 3),
        ("each", 2): (0, 0, 1, 1),
        ("each", 4): (0, 1, 2, 3),
    },
}
"""Number of players -> other format and number of strategies -> who plays; in pairs the first two,
and of four the last two."""

TAKES: Final[dict[int, dict[SeatingFormat, str]]] = {
    3: {"1v2": f"2 to {MOST_STRATEGIES}", "pair": "two or three", "each": "three"},
    4: {
        "1v3": f"2 to {MOST_STRATEGIES}",
        "2v2": "two",
        "pair": "two to four",
        "each": "two or four",
    },
}
"""Number of players -> the formats that they play -> of how many strategies."""


class SeatingError(MjbotError, ValueError):
    """This format cannot seat so many strategies; the text is one line for the user."""

    exit_code = ExitCode.BAD_ARGUMENTS


@dataclass(frozen=True, slots=True)
class SeatingPlace:
    """Seat ``seat`` of the seating number ``seating``."""

    seating: int
    seat: int


@dataclass(frozen=True)
class Seating:
    """All seatings of one wall.

    ``tables`` has the number of the strategy at each seat; ``rows`` has for each strategy at
    which places its figures are taken; ``pairs`` has the two strategies of each pair.
    """

    format: SeatingFormat
    tables: tuple[Seats, ...]
    rows: tuple[tuple[SeatingPlace, ...], ...]
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def is_one_against_others(self) -> bool:
        """Whether each strategy is alone among copies of the last, at tables of its own."""
        return self.format in ONE_AGAINST.values()

    @property
    def rank_bound(self) -> float:
        """The largest difference that two rows' mean ranks on one wall can have."""
        if len(self.rows) > 2 or self.is_one_against_others:
            return len(self.tables[0]) - 1.0
        return len(self.tables[0]) / 2

    def allies(self, seating: int, pair: int) -> list[int]:
        """Return the two seats of a pair, by its number, in a seating."""
        table = self.tables[seating]
        return [seat for seat, strategy in enumerate(table) if strategy in self.pairs[pair]]


def make_seating(format_: SeatingFormat, n: int, n_seats: int = 4) -> Seating:
    """Return how ``n`` strategies sit at tables of so many seats.  Raises :class:`SeatingError`.

    >>> make_seating("2v2", 2).tables[:2]
    ((0, 0, 1, 1), (0, 1, 0, 1))
    >>> make_seating("1v3", 2).tables
    ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 1))
    >>> make_seating("1v2", 2, 3).tables
    ((0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1))
    """
    takes = TAKES[n_seats]
    if format_ not in takes:
        raise SeatingError(
            f"--format {format_} is not for {n_seats} players; theirs are {', '.join(takes)}"
        )
    if format_ == ONE_AGAINST[n_seats] and 2 <= n <= MOST_STRATEGIES:
        return _one_against_others(n, n_seats)
    if (format_, n) not in PLAYERS[n_seats]:
        raise SeatingError(f"--format {format_} takes {takes[format_]} strategies, not {n}")
    players = PLAYERS[n_seats][format_, n]
    tables = _orders(players)
    rows = [
        tuple(
            SeatingPlace(k, seat)
            for k, table in enumerate(tables)
            for seat in _seats(table, strategy)
        )
        for strategy in range(n)
    ]
    sides = [(players[k], players[k + 1]) for k in range(0, n_seats - 1, 2)]
    pairs = tuple(sides) if format_ == "pair" else ()
    return Seating(format_, tables, tuple(rows), pairs)


def _one_against_others(n: int, n_seats: int) -> Seating:
    last, seats = n - 1, range(n_seats)
    tables: list[Seats] = []
    rows = []
    for challenger in range(last):
        rows.append(tuple(SeatingPlace(len(tables) + seat, seat) for seat in seats))
        for seat in seats:
            tables.append(tuple(challenger if other == seat else last for other in seats))
    rows.append(tuple(SeatingPlace(len(tables), seat) for seat in seats))
    tables.append((last,) * n_seats)
    return Seating(ONE_AGAINST[n_seats], tuple(tables), tuple(rows))


def _orders(strategies: Seats) -> tuple[Seats, ...]:
    return tuple(sorted(set(permutations(strategies))))


def _seats(table: Seats, strategy: int) -> list[int]:
    return [seat for seat, other in enumerate(table) if other == strategy]
