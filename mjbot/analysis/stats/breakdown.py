"""Games into tables: one row per player, and per player and period, opponent, seat or length.

Games under other rules or of the other length have rows of their own, and are not compared.
"""

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from mjbot.analysis.stats.counted_games import LENGTHS, UNKNOWN, BreakdownRows, GameBatch
from mjbot.analysis.stats.periods import ComparedSide, Period
from mjbot.analysis.stats.ratings import Ratings
from mjbot.analysis.stats.strength import Adjusted, FinishedGames
from mjbot.analysis.stats.sums import GroupSums, SideSums
from mjbot.game.records.copies import Distinct
from mjbot.game.records.game import RecordError
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.languages import marked

PLAYER: Final = marked("player")
MOST_ROWS: Final = 200_000
"""Rows of one table, at some 600 bytes each."""
VERSION: Final = r"(?P<player>.+?)(?:@|[ _-]v?(?=\d+\.\d))(?P<version>[^@]+)"
"""What of a name is its version by default: what follows an ``@``, or ``1.2`` at its end."""
STRONGER: Final = 26.0
WEAKER: Final = 24.0
"""The mean rating of the opponents before the game; all players begin with 25."""
_KYOKU_CLASSES: Final = ((4, "1-4"), (8, "5-8"), (11, "9-11"))
_LONGEST: Final = "12 or more"


class Seat(NamedTuple):
    """One player of a game, as the functions of :data:`KEYS` see it; ``players`` by seat."""

    game: BreakdownRows
    players: tuple[str, ...]
    seat: int

    @property
    def opponents(self) -> tuple[str, ...]:
        """The names of the others."""
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
        return "opponent-strength" in self.by


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
    "week": marked("ISO week in which the game was played"),
    "month": marked("month in which the game was played"),
    "seat": marked("seat, 0 being the first dealer"),
    "length": marked("tonpu or hanchan"),
    "kyoku": marked("kyoku that the game had"),
    "opponent": marked("each of the opponents"),
    "opponent-class": marked("classes of opponents named with --opponent-class"),
    "opponent-strength": marked("mean rating of the opponents before the game (OpenSkill)"),
}
"""What games can be broken down by."""


class StatsRow(NamedTuple):
    """A row of a table: ``name`` is that of a player, with the version if it has one."""

    table: str
    name: str
    player: str
    version: str
    key: str
    rules: str
    group: int


@dataclass
class StatsTable:
    """The groups of one table, by player, key and rules."""

    name: str
    groups: dict[tuple[str, str, str], int] = field(default_factory=dict)
    sums: GroupSums = field(default_factory=GroupSums)

    def group(self, player: str, key: str, rules: str) -> int:
        """Return the number of a group, a new one if need be."""
        number = self.groups.setdefault((player, key, rules), len(self.groups))
        if number >= MOST_ROWS:
            cure = "name the players with --player"
            raise ArgumentError(f"the table by {self.name} has more than {MOST_ROWS} rows; {cure}")
        return number


@dataclass
class Compared:
    """What is compared of games under one set of rules: sums of both sides, and who met whom."""

    sums: SideSums = field(default_factory=SideSums)
    games: FinishedGames = field(default_factory=FinishedGames)

    @property
    def fewer(self) -> int:
        """Kyoku of the side that has fewer."""
        return min(self.sums.count(0, "kyoku"), self.sums.count(1, "kyoku"))


class Breakdown:
    """Takes in batches of games; the tables are valid after :meth:`finish`."""

    def __init__(self, plan: BreakdownPlan, ratings: Ratings | None = None) -> None:
        self.plan: Final = plan
        self.ratings: Final = ratings
        self.games = self.unfinished = self.without_day = 0
        self.no_result = self.no_kyoku = 0
        self.unreadable_files = self.unreadable_games = 0
        self.rules: Final = Counter[str]()
        """Games that count, by their rules."""
        self.seats: Final[dict[str, int]] = {}
        """How many play, by the same rules."""
        self.tables: Final = {name: StatsTable(name) for name in (PLAYER, *plan.by)}
        self.compared: Final[dict[str, Compared]] = {}
        self._distinct: Final[Distinct[BreakdownRows]] = Distinct()
        self._no_length: list[BreakdownRows] = []
        self._to_rate: list[BreakdownRows] = []
        """Games that wait for earlier ones, where ratings depend on the order."""
        self._of_runs: Final = Counter[bytes]()
        self._of_runs_again = 0
        self._walls: Final[dict[str, int]] = {}
        self._clusters = 0
        self._names: Final[dict[str, str]] = {}

    def add(self, batch: GameBatch[BreakdownRows]) -> list[RecordError]:
        """Take in a batch; return what could not be read of it.

        Raises :class:`~mjbot.runtime.errors.ArgumentError` if a table has too many rows.
        """
        new = [entry for game in batch.games if (entry := self._new(game))]
        self._no_length += [game for game in new if not game.length]
        if self.ratings is None:
            self._add([game for game in new if game.length])
        else:
            self._to_rate += [game for game in new if game.length]
        errors = [RecordError(*problem.error) for problem in batch.problems]
        self.unreadable_games += sum(problem.is_game for problem in batch.problems)
        self.unreadable_files += sum(not problem.is_game for problem in batch.problems)
        return errors

    def finish(self) -> None:
        """Count the games that had to wait for all others.

        Those without an end, if no other record goes on with them; and those that do not show their
        length, as games of the length that most others under the same rules have.  Games that are
        rated are taken in the order in which they were played, those without a date first.
        """
        rest = list(self._distinct.rest())
        ready = self._to_rate + [game for game in rest if game.length]
        self._add(sorted(ready, key=lambda game: game.played) if self.ratings else ready)
        waiting = self._no_length + [game for game in rest if not game.length]
        self._add([game._replace(length=self._usual_length(game.rules)) for game in waiting])

    def _usual_length(self, rules: str) -> str:
        usual = {length: self.rules[f"{length}{rules}"] for length in LENGTHS}
        most = max(reversed(LENGTHS), key=lambda length: usual[length])  # of as many the longer
        return most if usual[most] else ""

    @property
    def duplicates(self) -> int:
        """Copies that were left out, whole or cut."""
        return self._distinct.duplicates + self._of_runs_again

    @property
    def renamed(self) -> int:
        """Games that count though another has the same events, under other names."""
        return self._distinct.renamed

    def _new(self, game: BreakdownRows) -> BreakdownRows | None:
        """Return a game of the period if it counts now: copies and games without an end do not."""
        if not self.plan.period.has(game.day):
            return None
        new = self._distinct.add(game.identity, game)
        if new is None:
            return None
        if game.wall:
            self._of_runs[game.result] += 1
        elif self._of_runs and self._of_runs[result := game.result]:
            self._of_runs[result] -= 1
            self._of_runs_again += 1
            return None
        return new

    def _count(self, game: BreakdownRows) -> bool:
        """Count what is reported of a game; return whether it has a kyoku for the tables."""
        self.no_result += game.no_result
        if not game.kyoku:
            self.no_kyoku += 1
            return False
        self.games += 1
        self.rules[game.rule_set] += 1
        self.seats[game.rule_set] = len(game.rows)
        self.unfinished += not game.ranks
        self.without_day += not game.day
        return True

    def _add(self, games: Sequence[BreakdownRows]) -> None:
        games = [game for game in games if self._count(game)]
        if not games:
            return
        flat = np.array([row for game in games for row in game.rows], np.float64)
        at = 0
        entries: dict[str, list[tuple[int, int, int]]] = {name: [] for name in self.tables}
        sides: dict[str, list[tuple[int, int, int]]] = {}
        self._walls.clear()
        for game in games:
            cluster = self._cluster(game)
            players = tuple([self.player(name) for name in game.names])
            for seat in range(len(players)):
                where = Seat(game, players, seat)
                self._place(where, at, cluster, entries)
                self._place_side(where, at, cluster, sides)
                at += 1
            if self.plan.sides and game.ranks:
                names = self._as_sides(players, game.day)
                self._compared(game.rule_set).games.add(cluster, names, game.ranks)
            if self.ratings is not None and game.ranks:
                self.ratings.add(players, game.ranks)
        for name, numbers in entries.items():
            if numbers:
                at_, groups, clusters = np.array(numbers).T
                self.tables[name].sums.add(flat[at_], groups, clusters)
        for rules, placed in sides.items():
            at_, of, clusters = np.array(placed).T
            self._compared(rules).sums.add(flat[at_], of, clusters)

    def _compared(self, rules: str) -> Compared:
        return self.compared.setdefault(rules, Compared())

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
                entries[name].append((at, table.group(player, key, where.game.rule_set), cluster))

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
        mean = float(np.mean([self.ratings.rating(name)[0] for name in where.opponents]))
        if mean >= STRONGER:
            return "stronger"
        return "weaker" if mean < WEAKER else "average"

    def _place_side(
        self, where: Seat, at: int, cluster: int, sides: dict[str, list[tuple[int, int, int]]]
    ) -> None:
        for side, wanted in enumerate(self.plan.sides or ()):
            if wanted.has(where.players[where.seat], where.game.day):
                sides.setdefault(where.game.rule_set, []).append((at, side, cluster))

    def _as_sides(self, players: tuple[str, ...], day: str) -> list[str]:
        """Return the names with both sides as players of their own: they may be of one player."""
        sides = self.plan.sides or ()
        names = [
            next((wanted for wanted in sides if wanted.has(name, day)), name) for name in players
        ]
        return [str(side) for side in names]

    # --- afterwards ---------------------------------------------------------------------------

    def rows(self, table: str) -> list[StatsRow]:
        """Return the rows of a table: players with most games first, then by rules and key."""
        games = Counter[str]()
        for (name, _, _), group in self.tables[PLAYER].groups.items():
            games[name] += self.tables[PLAYER].sums.count(group, "games")
        groups = sorted(
            self.tables[table].groups.items(),
            key=lambda item: (
                -games[item[0][0]], item[0][0], -self.rules[item[0][2]], item[0][2],
                _natural(item[0][1]),
            ),
        )  # fmt: skip
        version = re.compile(r"(?!)") if self.plan.merge_versions else self.plan.version
        return [
            StatsRow(table, name, *split_version(name, version), key, rules, group)
            for (name, key, rules), group in groups
        ]

    @property
    def compared_rules(self) -> str | None:
        """The rules under which both sides have most games; ``None``: they share no rules."""
        fewer = {rules: compared.fewer for rules, compared in sorted(self.compared.items())}
        best = max(fewer, key=lambda rules: fewer[rules], default=None)
        return best if best is not None and fewer[best] else None

    @property
    def sides(self) -> SideSums:
        """The sums of the comparison, under :attr:`compared_rules`."""
        return self.compared[self.compared_rules].sums if self.compared_rules else SideSums()

    def has_side(self, side: int) -> bool:
        """Return whether a side of the comparison has a kyoku, under whatever rules."""
        return any(compared.sums.count(side, "kyoku") for compared in self.compared.values())

    def adjusted(self) -> Adjusted | None:
        """Return the comparison with the opponents' strength taken out.

        ``None`` if no chain of games connects the two sides.
        """
        if not (self.plan.sides and self.compared_rules):
            return None
        one, other = map(str, self.plan.sides)
        return self.compared[self.compared_rules].games.adjusted(one, other)


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
    match = pattern.fullmatch(name)
    if match is None:
        return name, ""
    return match["player"], match["version"]


_SIMPLE: Final[dict[str, Callable[[Seat], str]]] = {
    "week": lambda seat: week_of(seat.game.day),
    "month": lambda seat: seat.game.day[:7] or UNKNOWN,
    "seat": lambda seat: str(seat.seat),
    "length": lambda seat: seat.game.length or UNKNOWN,
    "kyoku": lambda seat: _kyoku_class(seat.game.kyoku),
}
