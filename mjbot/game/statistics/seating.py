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

In 1v3 a strategy's figures are those of the seat that it has to itself, and the last one's are
those of the four seats of the game against itself: every row answers "how does it fare against
three of these?".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final, Literal, get_args

from mjbot.runtime.errors import ExitCode, MjbotError
from protocol.seats import by_seat

SeatingFormat = Literal["1v3", "2v2", "pair", "each"]
FORMATS: Final[tuple[SeatingFormat, ...]] = get_args(SeatingFormat)
Seats = tuple[int, int, int, int]
MOST_STRATEGIES: Final = 8

PLAYERS: Final[dict[tuple[SeatingFormat, int], Seats]] = {
    ("2v2", 2): (0, 0, 1, 1),
    ("pair", 2): (0, 0, 1, 1),
    ("pair", 3): (0, 1, 2, 2),
    ("pair", 4): (0, 1, 2, 3),
    ("each", 2): (0, 0, 1, 1),
    ("each", 4): (0, 1, 2, 3),
}
"""Format and number of strategies -> the players; in pairs the first two and the last two."""

TAKES: Final[dict[SeatingFormat, str]] = {
    "2v2": "two",
    "pair": "two to four",
    "each": "two or four",
}


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
    def rank_bound(self) -> float:
        """The largest difference that two rows' mean ranks on one wall can have."""
        return 3.0 if len(self.rows) > 2 or self.format == "1v3" else 2.0

    def ally(self, place: SeatingPlace) -> int:
        """Return the seat of the ally of a place in the format *pair*."""
        table = self.tables[place.seating]
        pair = self.pair_of(table[place.seat])
        return next(
            seat for seat in range(4) if seat != place.seat and self.pair_of(table[seat]) == pair
        )

    def pair_of(self, strategy: int) -> int:
        """Return which pair a strategy belongs to."""
        return next(number for number, pair in enumerate(self.pairs) if strategy in pair)


def make_seating(format_: SeatingFormat, n: int) -> Seating:
    """Return how ``n`` strategies are seated.  Raises :class:`SeatingError`.

    >>> make_seating("2v2", 2).tables[:2]
    ((0, 0, 1, 1), (0, 1, 0, 1))
    >>> make_seating("1v3", 2).tables
    ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 1))
    """
    if format_ == "1v3":
        return _one_against_three(n)
    if (format_, n) not in PLAYERS:
        raise SeatingError(f"--format {format_} takes {TAKES[format_]} strategies, not {n}")
    players = PLAYERS[format_, n]
    tables = _orders(players)
    rows = [
        tuple(
            SeatingPlace(k, seat)
            for k, table in enumerate(tables)
            for seat in _seats(table, strategy)
        )
        for strategy in range(n)
    ]
    pairs = (players[:2], players[2:]) if format_ == "pair" else ()
    return Seating(format_, tables, tuple(rows), pairs)


def _one_against_three(n: int) -> Seating:
    if not 2 <= n <= MOST_STRATEGIES:
        raise SeatingError(f"--format 1v3 takes 2 to {MOST_STRATEGIES} strategies, not {n}")
    last = n - 1
    tables: list[Seats] = []
    rows = []
    for challenger in range(last):
        rows.append(tuple(SeatingPlace(len(tables) + seat, seat) for seat in range(4)))
        for seat in range(4):
            tables.append(by_seat(challenger if other == seat else last for other in range(4)))
    rows.append(tuple(SeatingPlace(len(tables), seat) for seat in range(4)))
    tables.append((last, last, last, last))
    return Seating("1v3", tuple(tables), tuple(rows))


def _orders(strategies: Seats) -> tuple[Seats, ...]:
    return tuple(sorted(set(map(by_seat, permutations(strategies)))))


def _seats(table: Sequence[int], strategy: int) -> list[int]:
    return [seat for seat in range(4) if table[seat] == strategy]
