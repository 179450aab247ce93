"""Games into tables: one row per player, and per player and period, opponent, seat or length."""

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from mjbot.breakdown.games import BreakdownRows, GameBatch
from mjbot.breakdown.periods import ComparedSide, Period
from mjbot.breakdown.ratings import Adjusted, Ratings, SideGames
from mjbot.breakdown.sums import GroupSums, SideSums
from mjbot.errors import ArgumentError
from mjbot.records.game import RecordError

PLAYER: Final = "player"
MOST_ROWS: Final = 200_000
"""Rows of one table, at some 600 bytes each."""
VERSION: Final = r"(?P<player>.+?)(?:@|[ _-]v?(?=\d+\.\d))(?P<version>[^@]+)"
"""What of a name is its version by default: what follows an ``@``, or ``1.2`` at its end."""
STRONGER: Final = 26.0
WEAKER: Final = 24.0
"""The mean rating of the opponents before the game; all players begin with 25."""
_KYOKU_CLASSES: Final = ((4, "1-4"), (8, "5-8"), (11, "9-11"))
_LONGEST: Final = "12 or more"
UNKNOWN: Final = "unknown"


class Seat(NamedTuple):
    """One player of a game, as the functions of :data:`KEYS` see it; ``players`` by seat."""

    game: BreakdownRows
    players: tuple[str, ...]
    seat: int

    @property
    def opponents(self) -> tuple[str, ...]:
        """The names of the other three."""
        return self.players[: self.seat] + self.players[self.seat + 1 :]


@dataclass(frozen=True)
class BreakdownPlan:
    """What is counted.

    ``by`` names tables of :data:`KEYS`.  ``players``: only these have rows (empty: all).
    ``classes`` are names and patterns of opponents.  With ``merge_versions``, what ``version``
    matches is dropped from names.  ``sides`` are compared.
    """

    by: tuple[str, ...] = ()
    players: frozenset[str] = frozenset()
    classes: tuple[tuple[str, re.Pattern[str]], ...] = ()
    version: re.Pattern[str] = re.compile(VERSION)
    merge_versions: bool = False
    period: Period = Period()
    sides: tuple[ComparedSide, ComparedSide] | None = None

    @property
    def is_rated(self) -> bool:
        """Whether the ratings are needed."""
        return self.sides is not None or "opponent-strength" in self.by


def _day(seat: Seat) -> str:
    return seat.game.day


@lru_cache(maxsize=4096)
def week_of(day: str) -> str:
    """Return the ISO week of a day.

    >>> week_of("2027-01-01"), week_of("")
    ('2026-W53', 'unknown')
    """
    if not day:
        return UNKNOWN
    year, week, _ = datetime.date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02}"


def _kyoku_class(kyoku: int) -> str:
    return next((name for most, name in _KYOKU_CLASSES if kyoku <= most), _LONGEST)


KEYS: Final[Mapping[str, str]] = {
    "week": "ISO week in which the game was played",
    "month": "month in which the game was played",
    "seat": "seat, 0 being the first dealer",
    "length": "tonpu or hanchan",
    "kyoku": "kyoku that the game had",
    "opponent": "each of the three opponents",
    "opponent-class": "classes of opponents named with --opponent-class",
    "opponent-strength": "mean rating of the opponents before the game (OpenSkill)",
}
"""What games can be broken down by."""


class StatsRow(NamedTuple):
    """A row of a table: ``name`` is that of a player, with the version if it has one."""

    table: str
    name: str
    player: str
    version: str
    key: str
    group: int


@dataclass
class StatsTable:
    """The groups of one table, by player and key."""

    name: str
    groups: dict[tuple[str, str], int] = field(default_factory=dict)
    sums: GroupSums = field(default_factory=GroupSums)

    def group(self, player: str, key: str) -> int:
        """Return the number of a group, a new one if need be."""
        number = self.groups.setdefault((player, key), len(self.groups))
        if number >= MOST_ROWS:
            cure = "name the players with --player"
            raise ArgumentError(f"the table by {self.name} has more than {MOST_ROWS} rows; {cure}")
        return number


class Breakdown:
    """Takes in batches of games; the tables are valid after each."""

    def __init__(self, plan: BreakdownPlan, ratings: Ratings | None = None) -> None:
        self.plan: Final = plan
        self.ratings: Final = ratings
        self.games = self.unfinished = self.duplicates = self.without_day = 0
        self.unreadable_files = self.unreadable_games = 0
        self.problems: Final[list[str]] = []
        self.tables: Final = {name: StatsTable(name) for name in (PLAYER, *plan.by)}
        self.sides: Final = SideSums()
        self.side_games: Final = (
            SideGames((str(plan.sides[0]), str(plan.sides[1]))) if plan.sides else None
        )
        self._digests: Final[set[bytes]] = set()
        self._walls: Final[dict[str, int]] = {}
        self._clusters = 0
        self._names: Final[dict[str, str]] = {}

    def add(self, batch: GameBatch[BreakdownRows]) -> list[RecordError]:
        """Take in a batch; return what could not be read of it.

        Raises :class:`~mjbot.errors.ArgumentError` if a table has too many rows.
        """
        games = [game for game in batch.games if self._is_counted(game)]
        if games:
            self._add(games)
        errors = [RecordError(*problem.error) for problem in batch.problems]
        self.unreadable_games += sum(problem.is_game for problem in batch.problems)
        self.unreadable_files += sum(not problem.is_game for problem in batch.problems)
        return errors

    def _is_counted(self, game: BreakdownRows) -> bool:
        """Return whether a game is of the period, has a kyoku and was not counted before."""
        if not game.kyoku or not self.plan.period.has(game.day):
            return False
        if game.digest and game.digest in self._digests:
            self.duplicates += 1
            return False
        if game.digest:
            self._digests.add(game.digest)
        self.games += 1
        self.unfinished += not game.ranks
        self.without_day += not game.day
        return True

    def _add(self, games: Sequence[BreakdownRows]) -> None:
        rows = np.array([game.rows for game in games], np.float64)
        entries: dict[str, list[tuple[int, int, int]]] = {name: [] for name in self.tables}
        sides: list[tuple[int, int, int]] = []
        self._walls.clear()
        for place, game in enumerate(games):
            cluster = self._cluster(game)
            players = tuple([self.player(name) for name in game.names])
            for seat in range(4):
                where = Seat(game, players, seat)
                at = 4 * place + seat
                self._place(where, at, cluster, entries)
                self._place_side(where, at, cluster, sides)
            if self.ratings is not None and game.ranks:
                self.ratings.add(self._rated(players, game.day), game.ranks)
        flat = rows.reshape(-1, rows.shape[-1])
        for name, found in entries.items():
            if found:
                at_, groups, clusters = np.array(found).T
                self.tables[name].sums.add(flat[at_], groups, clusters)
        if sides:
            at_, of, clusters = np.array(sides).T
            self.sides.add(flat[at_], of, clusters)

    def _cluster(self, game: BreakdownRows) -> int:
        """Return the number of the game's cluster; a wall's games are all in one batch."""
        if game.wall and game.wall in self._walls:
            return self._walls[game.wall]
        self._clusters += 1
        if game.wall:
            self._walls[game.wall] = self._clusters
        return self._clusters

    def player(self, name: str) -> str:
        """Return what a player is called: without the version, if versions are merged."""
        if not self.plan.merge_versions:
            return name
        if name not in self._names:
            self._names[name] = split_version(name, self.plan.version)[0]
        return self._names[name]

    def _place(
        self,
        where: Seat,
        at: int,
        cluster: int,
        entries: Mapping[str, list[tuple[int, int, int]]],
    ) -> None:
        player = where.players[where.seat]
        if self.plan.players and player not in self.plan.players:
            return
        for name, table in self.tables.items():
            for key in self._keys(name, where):
                entries[name].append((at, table.group(player, key), cluster))

    def _keys(self, table: str, where: Seat) -> Iterator[str]:
        if table == PLAYER:
            yield ""
        elif table == "opponent":
            yield from dict.fromkeys(where.opponents)
        elif table == "opponent-class":
            yield from self._classes(where)
        elif table == "opponent-strength":
            yield self._strength(where)
        else:
            yield _SIMPLE[table](where)

    def _classes(self, where: Seat) -> Iterator[str]:
        """Yield each class of which an opponent is; ``other`` if none is of any."""
        names = [
            name
            for name, pattern in self.plan.classes
            if any(pattern.search(opponent) for opponent in where.opponents)
        ]
        yield from dict.fromkeys(names or ["other"])

    def _strength(self, where: Seat) -> str:
        assert self.ratings is not None
        names = self._rated(where.players, where.game.day)
        others = names[: where.seat] + names[where.seat + 1 :]
        mean = sum(self.ratings.rating(name)[0] for name in others) / 3
        if mean >= STRONGER:
            return "stronger"
        return "weaker" if mean < WEAKER else "average"

    def _place_side(
        self, where: Seat, at: int, cluster: int, sides: list[tuple[int, int, int]]
    ) -> None:
        if self.plan.sides is None or self.side_games is None:
            return
        for side, wanted in enumerate(self.plan.sides):
            if wanted.has(where.players[where.seat], where.game.day):
                sides.append((at, side, cluster))
                if where.game.ranks:
                    rated = self._rated(where.players, where.game.day)
                    opponents = rated[: where.seat] + rated[where.seat + 1 :]
                    rank = where.game.ranks[where.seat]
                    self.side_games.add(cluster, side, rank, tuple(sorted(opponents)))

    def _rated(self, players: tuple[str, ...], day: str) -> tuple[str, ...]:
        """Return the names under which players are rated: sides as players of their own."""
        sides = self.plan.sides
        if sides is None:
            return players
        return tuple(
            [next((str(side) for side in sides if side.has(name, day)), name) for name in players]
        )

    # --- afterwards ---------------------------------------------------------------------------

    def rows(self, table: str) -> list[StatsRow]:
        """Return the rows of a table: players with most games first, then by key."""
        games = {name: self._games(name) for name, _ in self.tables[PLAYER].groups}
        found = sorted(
            self.tables[table].groups.items(),
            key=lambda item: (-games[item[0][0]], item[0][0], _natural(item[0][1])),
        )
        version = re.compile(r"(?!)") if self.plan.merge_versions else self.plan.version
        return [
            StatsRow(table, name, *split_version(name, version), key, group)
            for (name, key), group in found
        ]

    def _games(self, name: str) -> int:
        found = self.tables[PLAYER]
        return found.sums.count(found.groups[name, ""], "games")

    def adjusted(self) -> Adjusted | None:
        """Return the comparison with the opponents' strength taken out, if there is one."""
        if self.side_games is None or self.ratings is None:
            return None
        return self.side_games.adjusted(self.ratings)


def _natural(key: str) -> tuple[int, str]:
    number = re.match(r"\d+", key)
    return (int(number[0]) if number else 10**9, key)


def split_version(name: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    """Return a name's player and version, the latter empty if it has none.

    >>> version = re.compile(VERSION)
    >>> split_version("bot-1.2", version), split_version("my bot@main", version)
    (('bot', '1.2'), ('my bot', 'main'))
    >>> split_version("fast-riichi-d", version), split_version("hand-2", version)
    (('fast-riichi-d', ''), ('hand-2', ''))
    """
    found = pattern.fullmatch(name)
    if found is None:
        return name, ""
    return found["player"], found["version"]


_SIMPLE: Final[dict[str, Callable[[Seat], str]]] = {
    "week": lambda seat: week_of(seat.game.day),
    "month": lambda seat: seat.game.day[:7] or UNKNOWN,
    "seat": lambda seat: str(seat.seat),
    "length": lambda seat: seat.game.length or UNKNOWN,
    "kyoku": lambda seat: _kyoku_class(seat.game.kyoku),
}
