"""What is counted in games, and the figures with intervals that are made of it.

Everything the figures need is a sum over kyoku, so a game is four :class:`SeatCounts`, one per
seat, and its final scores.  :func:`count_kyoku` counts from the state; :class:`EventCounter` the
same from events, for games at other tables, and as a check.  Sums per wall become
figures per strategy and per pair, and their differences.

A new figure is a line of :data:`FIGURES`; if its sum is not counted yet, a field of
:class:`SeatCounts`, filled in both ways.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.step import Outcome, Wins
from mjbot.game.statistics.estimates import Estimate, difference, rate, ratio
from mjbot.game.statistics.seating import Seating
from mjbot.game.table.settle import Payment, ranks_of
from mjbot.game.table.state import EXHAUSTIVE, NAGASHI, NO_DRAW, NO_RIICHI, State
from mjbot.protocol import messages as m
from mjbot.protocol.rules import RANKED, Rules, announced_players, announced_rule
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int32, Int32s, Record
from mjbot.runtime.languages import marked


class SeatCounts(Record, align=False):
    """What is counted of one seat."""

    kyoku: Int32
    wins: Int32
    win_points: Int32  # hand values, without honba and sticks
    win_turns: Int32  # own discards before the wins, and the winning draws
    deal_ins: Int32  # kyoku in which another seat won on this seat's tile
    deal_in_points: Int32  # hand values of those wins
    fed: Annotated[Int32s, 4]  # wins on this seat's tiles, by winner
    riichi: Int32  # declared, even if the declaring tile was won
    calls: Int32  # kyoku in which the hand was opened
    no_win: Int32  # kyoku that ended without a win
    draws: Int32  # of these, those in which the wall ran out
    tenpai: Int32  # of these, those in which this seat was tenpai


COUNTS: Final = SeatCounts.dtype

COLUMNS: Final = tuple(
    column
    for name in COUNTS.names or ()
    for column in ([f"fed_{seat}" for seat in range(4)] if name == "fed" else [name])
)
"""The fields with ``fed`` spread out, as :func:`as_rows` has them."""

CountRecords = NDArray[Any]
"""Four records of :data:`COUNTS`, one per seat."""


def no_counts() -> CountRecords:
    """Return four empty records."""
    return np.zeros(4, COUNTS)


def as_rows(counts: CountRecords) -> tuple[tuple[int, ...], ...]:
    """Return the records as rows of plain numbers (:data:`COLUMNS`)."""
    return tuple(map(tuple, counts.view(np.int32).reshape(-1, len(COLUMNS)).tolist()))


def from_rows(rows: Sequence[Sequence[int]]) -> CountRecords:
    """Return the records that :func:`as_rows` was given.

    >>> from_rows(as_rows(no_counts())) == no_counts()
    array([ True,  True,  True,  True])
    """
    return np.array(rows, np.int32).view(COUNTS).reshape(-1)


@compiled
def count_kyoku(state: State, outcome: Outcome, wins: Wins, counts: CountRecords) -> None:
    """Add a kyoku that has just been paid (phase WON or DRAWN) to four records."""
    for seat in range(4):
        seen = counts[seat]
        seen.kyoku += 1
        seen.riichi += state.riichi[seat] != NO_RIICHI
        seen.calls += state.is_open[seat] != 0
        seen.no_win += outcome.reason != NO_DRAW
        if outcome.reason == EXHAUSTIVE or outcome.reason == NAGASHI:
            seen.draws += 1
            seen.tenpai += outcome.tenpai[seat] != 0
    if outcome.reason == NO_DRAW:
        for index in range(outcome.n_wins):
            _count_win(state, int(outcome.target), wins[index], counts)
        counts[outcome.target].deal_ins += outcome.target != wins[0].winner


@compiled
def _count_win(state: State, target: int, win: Payment, counts: CountRecords) -> None:
    by_draw = target == win.winner
    seen = counts[win.winner]
    seen.wins += 1
    seen.win_points += win.points
    seen.win_turns += state.n_river[win.winner] + by_draw
    if not by_draw:
        counts[target].deal_in_points += win.points
        counts[target].fed[win.winner] += 1


EXHAUSTIVE_REASONS: Final = ("fanpai", "nagashimangan")


class EventCounter:
    """Takes the unmasked events of one game; :attr:`counts` are valid after each kyoku.

    ``players`` is how many play, as the game announces.
    """

    def __init__(self) -> None:
        self.counts: Final[CountRecords] = no_counts()
        self._riichi: set[int] = set()
        self._open: set[int] = set()
        self._discards = [0, 0, 0, 0]
        self._wins: list[m.Hora] = []
        self._honba = self._sticks = 0
        self.players = RANKED.players
        self._honba_points, self._stick_points = RANKED.honba_points, RANKED.stick_points

    def add(self, event: m.Event) -> None:
        """Take in one event."""
        match event:
            case m.StartGame():
                self.players = announced_players(event.mjbot_rules)
                self._honba_points = announced_rule(event.mjbot_rules, "honba_points")
                self._stick_points = announced_rule(event.mjbot_rules, "stick_points")
            case m.StartKyoku():
                self._start_kyoku()
                self._honba, self._sticks = event.honba, event.kyotaku
            case m.ReachAccepted():
                self._sticks += 1
            case m.Dahai():
                self._discards[event.actor] += 1
            case m.Reach():
                self._riichi.add(event.actor)
            case m.Chi() | m.Pon() | m.Daiminkan():
                self._open.add(event.actor)
            case m.Hora():
                self._count_win(event)
            case m.Ryukyoku():
                self._count_draw(event)
            case _:
                pass

    def _start_kyoku(self) -> None:
        self._riichi.clear()
        self._open.clear()
        self._discards = [0, 0, 0, 0]
        self._wins.clear()

    def _count_win(self, event: m.Hora) -> None:
        if not self._wins:
            self._count_end()
        self._wins.append(event)
        winner, by_draw = event.actor, event.actor == event.target
        points = self._hand_points(event)
        self.counts["wins"][winner] += 1
        self.counts["win_points"][winner] += points
        self.counts["win_turns"][winner] += self._discards[winner] + by_draw
        if not by_draw:
            self.counts["deal_ins"][event.target] += len(self._wins) == 1
            self.counts["deal_in_points"][event.target] += points
            self.counts["fed"][event.target][winner] += 1

    def _hand_points(self, event: m.Hora) -> int:
        """Return the value of a hand without honba and sticks.

        Where a server sends payments only, both are taken from those of the first win on a tile.
        """
        if event.hora_points is not None or event.deltas is None:
            return event.hora_points or 0
        honba = self._honba_points * (self.players - 1) * self._honba
        extra = honba + self._stick_points * self._sticks if len(self._wins) == 1 else 0
        return event.deltas[event.actor] - extra

    def _count_draw(self, event: m.Ryukyoku) -> None:
        self._count_end()
        self.counts["no_win"] += 1
        if event.reason in EXHAUSTIVE_REASONS:
            self.counts["draws"] += 1
            self.counts["tenpai"] += [bool(flag) for flag in event.tenpais or (False,) * 4]

    def _count_end(self) -> None:
        self.counts["kyoku"] += 1
        self.counts["riichi"][list(self._riichi)] += 1
        self.counts["calls"][list(self._open)] += 1


FigureKind = Literal["mean", "rate", "points"]
"""How a figure is shown: as a number with decimals, in per cent, in whole points."""

DEFAULT_UMA: Final = {
    players: tuple([points / 1000 for points in Rules(players=players).uma]) for players in (3, 4)
}
"""Number of players -> the bonus of each rank, in thousands of points."""

RANKS: Final = ("first", "second", "third", "fourth")
"""The keys of the figures that count each rank."""

_GAME_FIELDS: Final = ("games", "rank", *RANKS, "score", "uma")
_KYOKU_FIELDS: Final = tuple(name for name in COUNTS.names or () if name != "fed")
_RIVAL_FIELDS: Final = ("rival_games", "rival", "rival_squared")
ROW: Final = np.dtype(
    [(name, np.float64) for name in (*_GAME_FIELDS, *_KYOKU_FIELDS, *_RIVAL_FIELDS)]
)
"""Sums over the games of one wall, for one strategy.

The last fields are about games in which the first and the second strategy both sit: how many,
and the sums of the first one's mean rank less the second one's and of its square.
"""

PAIR: Final = np.dtype(
    [(name, np.float64) for name in ("games", "rank", "best", "score", "kyoku", "feeds", "rivals")]
)
"""Sums over the games of one wall, for one pair."""

WallSums = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: the ratio of two fields of :data:`ROW`, :data:`PAIR` or other sums per wall."""

    key: str
    label: str
    kind: FigureKind
    of: str
    per: str

    def estimate(self, sums: WallSums) -> Estimate:
        """Return the figure of one strategy or pair; ``sums`` has one record per wall."""
        fraction = rate if self.kind == "rate" else ratio
        return fraction(sums[self.of], sums[self.per])

    def difference(self, one: WallSums, other: WallSums) -> Estimate:
        """Return how much larger the figure is of one than of the other, wall by wall.

        Of two runs :func:`on_same_walls` first.  Raises ``ValueError`` for sums of other walls.
        """
        if len(one) != len(other):
            raise ValueError(f"{len(one)} and {len(other)} walls cannot be compared wall by wall")
        return difference((one[self.of], one[self.per]), (other[self.of], other[self.per]))


def on_same_walls(
    one: WallSums,
    walls: Sequence[int] | NDArray[np.int64],
    other: WallSums,
    its_walls: Sequence[int] | NDArray[np.int64],
) -> tuple[WallSums, WallSums]:
    """Return the sums of the walls that two runs on the same row of walls both have, by number.

    A wall of which a game is void is missing in one run and not in the other.
    """
    _, mine, its = np.intersect1d(walls, its_walls, return_indices=True)
    return one[mine], other[its]


FIGURES: Final = (
    Figure("rank", marked("average rank"), "mean", "rank", "games"),
    Figure("first", marked("1st"), "rate", "first", "games"),
    Figure("second", marked("2nd"), "rate", "second", "games"),
    Figure("third", marked("3rd"), "rate", "third", "games"),
    Figure("fourth", marked("4th"), "rate", "fourth", "games"),
    Figure("score", marked("final score"), "points", "score", "games"),
    Figure("uma", marked("uma points"), "mean", "uma", "games"),
    Figure("win", marked("wins"), "rate", "wins", "kyoku"),
    Figure("deal_in", marked("deal-ins"), "rate", "deal_ins", "kyoku"),
    Figure("riichi", marked("riichi"), "rate", "riichi", "kyoku"),
    Figure("call", marked("hands opened"), "rate", "calls", "kyoku"),
    Figure("tenpai", marked("tenpai at draws"), "rate", "tenpai", "draws"),
    Figure("draw", marked("kyoku without a win"), "rate", "no_win", "kyoku"),
    Figure("win_points", marked("points of a win"), "points", "win_points", "wins"),
    Figure("deal_in_points", marked("points of a deal-in"), "points", "deal_in_points", "deal_ins"),
    Figure("win_turn", marked("turn of a win"), "mean", "win_turns", "wins"),
)

FIGURE_BY_KEY: Final = {figure.key: figure for figure in FIGURES}


def figures_of(players: int) -> tuple[Figure, ...]:
    """Return the figures of games of so many players: ranks beyond them are left out."""
    return tuple([figure for figure in FIGURES if figure.key not in RANKS[players:]])


PAIR_FIGURES: Final = (
    Figure("rank_sum", "sum of ranks", "mean", "rank", "games"),
    Figure("best_rank", "better of the ranks", "mean", "best", "games"),
    Figure("score_sum", "sum of scores", "points", "score", "games"),
    Figure("feed", "feeds to the ally per kyoku", "rate", "feeds", "kyoku"),
    Figure("rival", "deal-ins to rivals per kyoku", "rate", "rivals", "kyoku"),
)


def uma_points(
    score: int, rank: int, uma: Sequence[float] | None = None, rules: Rules = RANKED
) -> float:
    """Return the value of a final score: thousands above the return, uma, and oka for the first.

    >>> uma_points(42000, 1), uma_points(8000, 4)
    (52.0, -42.0)
    >>> uma_points(42000, 1, rules=Rules(players=3))
    37.0
    """
    uma = uma or DEFAULT_UMA[rules.players]
    oka = rules.oka if rank == 1 else 0
    return (score - rules.return_points + oka) / 1000 + uma[rank - 1]


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A finished game: final scores and counts by seat, of as many seats as players."""

    scores: tuple[int, ...]
    counts: CountRecords


class WallSummary:
    """Adds the games of one wall up to a row per strategy and a row per pair."""

    def __init__(
        self, seating: Seating, uma: Sequence[float] | None = None, rules: Rules = RANKED
    ) -> None:
        self.seating: Final = seating
        self.uma: Final = uma
        self.rules: Final = rules

    def rows(self, games: Sequence[FinishedGame]) -> WallSums:
        """Return records of :data:`ROW`, one per strategy; ``games`` are all, by seating."""
        rows = np.zeros(len(self.seating.rows), ROW)
        for row, places in zip(rows, self.seating.rows, strict=True):
            for place in places:
                self._add(row, games[place.seating], place.seat)
        if not self.seating.is_one_against_others:
            self._add_rivalry(rows[0], games)
        return rows

    def pairs(self, games: Sequence[FinishedGame]) -> WallSums:
        """Return records of :data:`PAIR`, one per pair (none but in the format *pair*)."""
        rows = np.zeros(len(self.seating.pairs), PAIR)
        for number, row in enumerate(rows):
            for seating, game in enumerate(games):
                _add_pair(row, game, self.seating.allies(seating, number))
        return rows

    def _add(self, row: Any, game: FinishedGame, seat: int) -> None:
        rank = ranks_of(game.scores)[seat]
        row["games"] += 1
        row["rank"] += rank
        row[RANKS[rank - 1]] += 1
        row["score"] += game.scores[seat]
        row["uma"] += uma_points(game.scores[seat], rank, self.uma, self.rules)
        for name in _KYOKU_FIELDS:
            row[name] += game.counts[name][seat]

    def _add_rivalry(self, row: Any, games: Sequence[FinishedGame]) -> None:
        for table, game in zip(self.seating.tables, games, strict=True):
            ranks = np.array(ranks_of(game.scores))
            one, other = (ranks[np.array(table) == strategy].mean() for strategy in (0, 1))
            row["rival_games"] += 1
            row["rival"] += one - other
            row["rival_squared"] += (one - other) ** 2


def _add_pair(row: Any, game: FinishedGame, seats: list[int]) -> None:
    ranks = [ranks_of(game.scores)[seat] for seat in seats]
    one, other = seats
    fed = game.counts["fed"]
    row["games"] += 1
    row["rank"] += sum(ranks)
    row["best"] += min(ranks)
    row["score"] += sum(game.scores[seat] for seat in seats)
    row["kyoku"] += game.counts["kyoku"][one]
    row["feeds"] += fed[one][other] + fed[other][one]
    row["rivals"] += fed[seats].sum() - fed[one][other] - fed[other][one]


def rank_differences(rows: WallSums, one: int, other: int) -> NDArray[np.float64]:
    """Return mean rank of one less that of the other per wall; ``rows`` is [walls, strategies]."""
    means = rows["rank"] / rows["games"]
    differences: NDArray[np.float64] = means[:, one] - means[:, other]
    return differences


def pairing_ratio(rows: WallSums, one: int, other: int) -> float:
    """Return the variance of a mean rank difference against that without shared walls.

    The comparison is with as many games of which each has a wall of its own.  ``nan`` if there
    are no two walls, or if the ranks never vary.
    """
    if len(rows) < 2:
        return math.nan
    apart = _rank_variance(rows[:, one]) + _rank_variance(rows[:, other])
    if {one, other} == {0, 1} and rows["rival_games"][0, 0]:
        apart = _rivalry_variance(rows[:, 0])
    paired = float(rank_differences(rows, one, other).var(ddof=1))
    return paired / apart if apart else math.nan


def _rank_variance(sums: WallSums) -> float:
    """Return the variance of a mean rank if each game had its own wall."""
    counts = np.array([sums[name].sum() for name in RANKS])
    shares, ranks = counts / counts.sum(), np.arange(1, 5)
    return float((shares @ ranks**2 - (shares @ ranks) ** 2) / sums["games"][0])


def _rivalry_variance(sums: WallSums) -> float:
    """Return the same of a mean difference between two players at the same tables."""
    n = sums["rival_games"].sum()
    mean = sums["rival"].sum() / n
    return float((sums["rival_squared"].sum() / n - mean**2) / sums["rival_games"][0])
