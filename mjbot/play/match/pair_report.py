"""What ``mjbot duo`` shows: a line for each thing that the two do for each other, a table at the
end.

Both are counted from the events of their games: the whole table's, or as one of the two saw them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mjbot.game.statistics.figures import EXHAUSTIVE_REASONS, CountRecords, EventCounter
from mjbot.game.table.mirror.mirror import Mirror as TableMirror
from mjbot.game.table.settle import ranks_of
from mjbot.play.match.match_report import MatchReport
from mjbot.play.match.pair import Member
from mjbot.protocol import messages as m
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import RANKED, Length
from mjbot.runtime.files import plural
from mjbot.viewer.descriptions import feed_text, yaku_text


@dataclass(frozen=True)
class PairGame:
    """A finished game; ``seats`` are the top's and the partner's."""

    names: tuple[str, ...]
    seats: tuple[int, int]
    scores: tuple[int, ...]
    counts: CountRecords

    @property
    def ranks(self) -> tuple[int, ...]:
        """1..4 by seat, of three players 1..3."""
        return tuple(ranks_of(self.scores))

    def others(self) -> tuple[int, ...]:
        """Return the seats of the rivals: two, or one of three players."""
        return tuple(seat for seat in range(len(self.scores)) if seat not in self.seats)

    def ally(self, seat: int) -> int:
        """Return the ally of a seat, a single rival's own seat."""
        side = self.seats if seat in self.seats else self.others()
        return side[0] if side[-1] == seat else side[-1]


class PairScore:
    """Takes the events of all games, masked or not; ``names`` are the pair's at the table."""

    def __init__(self, names: Sequence[str]) -> None:
        self.games: Final[list[PairGame]] = []
        self.apart = 0
        """Games in which the server did not name both of them."""
        self._names: Final = tuple(names)
        self._events: list[m.Event] = []

    def add(self, event: m.Event) -> None:
        """Take in one event; a game counts once it has ended."""
        if isinstance(event, m.StartGame):
            self._events = []
        self._events.append(event)
        if isinstance(event, m.EndGame):
            self._close(event)

    def _close(self, end: m.EndGame) -> None:
        start = self._events[0]
        names = start.names or () if isinstance(start, m.StartGame) else ()
        seats = seats_of(self._names, names)
        if seats is None:
            self.apart += 1
            return
        counter = EventCounter()
        for event in self._events:
            counter.add(event)
        scores = end.scores or _scores_after(self._events)
        scores = tuple(scores[: counter.players])
        self.games.append(PairGame(tuple(names), seats, scores, counter.counts))


def seats_of(pair: Sequence[str], names: Sequence[str]) -> tuple[int, int] | None:
    """Return where the two of a pair sit, ``None`` if not both are named.

    >>> seats_of(("a (team 1/2)", "a (team 2/2)"), ("x", "a (team 2/2)", "y", "a (team 1/2)"))
    (3, 1)
    """
    if not all(name in names for name in pair):
        return None
    top, partner = (names.index(name) for name in pair)
    return top, partner


def _scores_after(events: Sequence[m.Event]) -> tuple[int, ...]:
    """Return the scores where the server does not send them: those of a mirror."""
    table = TableMirror(strict=False)
    for event in events:
        table.apply(event)
    return tuple(table.state["scores"].tolist())


FEED: Final = "bold green"
CALL: Final = "green"
GAIN: Final = "cyan"
LOSS: Final = "red"
OTHER: Final = "dim"


class EventLines:
    """Describes what the two do for each other, and how each kyoku ends.

    ``names`` are the pair's names at the table, ``labels`` what they are called here.
    """

    def __init__(self, names: Sequence[str], labels: Sequence[str]) -> None:
        self._names: Final = tuple(names)
        self._labels: Final = tuple(labels)
        self._at_table: tuple[str, ...] = ()
        self._pair: tuple[int, ...] = ()
        self._where = ""

    def line(self, event: m.Event) -> tuple[str, str] | None:
        """Return the line of an event and its style; ``None`` if there is none."""
        match event:
            case m.StartGame(names=names):
                self._sit_down(names or ("?",) * 4)
            case m.StartKyoku():
                self._where = f"{event.bakaze}{event.kyoku}-{event.honba}"
            case m.Chi() | m.Pon() | m.Daiminkan() if self._allied(event.actor, event.target):
                return f"  {self._where}  {self._feed(event)}", CALL
            case m.Hora():
                text, style = self._win(event)
                return f"{self._where}  {text}", style
            case m.Ryukyoku():
                return f"{self._where}  {self._draw(event)}", OTHER
        return None

    def _sit_down(self, names: Sequence[str]) -> None:
        self._pair = seats_of(self._names, names) or ()
        here = dict(zip(self._names, self._labels, strict=True))
        self._at_table = tuple([here.get(name, name) for name in names])

    def _who(self, seat: int) -> str:
        return self._at_table[seat]

    def _feed(self, event: m.Event) -> str:
        one, other = self._pair
        return feed_text(event, self._at_table, {one: other, other: one})

    def _allied(self, one: int, other: int) -> bool:
        return one != other and one in self._pair and other in self._pair

    def _win(self, win: m.Hora) -> tuple[str, str]:
        winner = self._who(win.actor)
        points = "" if win.hora_points is None else f" {win.hora_points:,}"
        yaku = yaku_text(win.yakus or ())
        what = f"{points} ({yaku})" if yaku else points
        if self._allied(win.actor, win.target):
            return f"{self._feed(win)};{what or ' it wins'}", FEED
        style = GAIN if win.actor in self._pair else LOSS if win.target in self._pair else OTHER
        if win.actor == win.target:
            return f"{winner} draws it and wins{what}", style
        return f"{winner} wins from {self._who(win.target)}{what}", style

    def _draw(self, draw: m.Ryukyoku) -> str:
        if draw.reason not in (None, *EXHAUSTIVE_REASONS):
            return f"abortive draw ({draw.reason})"
        tenpai = [self._who(seat) for seat, flag in enumerate(draw.tenpais or ()) if flag]
        return f"exhaustive draw, tenpai: {', '.join(tenpai) or 'none'}"


COLUMNS: Final = (
    "player", "wins", "deal-ins", "to ally", "to rivals", "places", "mean rank", "best", "score",
)  # fmt: skip

CAPTION: Final = "per game; of two players the mean of both ranks, the sum of both scores"

SeatsOf = Callable[[PairGame], Sequence[int]]


class DuoReport(MatchReport):
    """A match's bar and lines, and what happens between the two."""

    def __init__(
        self, console: Console, games: int, length: Length, members: Sequence[Member]
    ) -> None:
        super().__init__(console, games, length)
        names = [member.name for member in members]
        self.labels: Final = labels_of(members)
        self.score: Final = PairScore(names)
        self._event_lines: Final = EventLines(names, self.labels)

    def on_event(self, game: int, event: m.Event) -> None:
        """Move the bar, count, and print the line of the event."""
        super().on_event(game, event)
        self.score.add(event)
        line = self._event_lines.line(event)
        if line is not None:
            self.print_line(*line)

    def print_line(self, text: str, style: str = "") -> None:
        """Print a line above the bar."""
        self._console.print(Text(one_line(text), style=style), soft_wrap=True)


def labels_of(members: Sequence[Member]) -> tuple[str, ...]:
    """Return short labels of the two: their strategies."""
    shorts = [member.spec.name.rpartition(":")[2] for member in members]
    return tuple(shorts if len(set(shorts)) == 2 else [f"{shorts[0]} 1", f"{shorts[1]} 2"])


def pair_table(score: PairScore, labels: Sequence[str]) -> Table:
    """Return the figures over all games: each of the two, both together, and the others.

    *to ally* and *to rivals* are wins by these on the player's tile; two others are taken for a
    pair like ours, a single one has none.  *places* counts first to last, *mean rank* is that of
    all seats of the row, *best* the mean of a pair's better rank, *score* the mean per game (of a
    pair's sum).
    """
    games = score.games
    kyoku = sum(int(game.counts["kyoku"][0]) for game in games)
    title = f"{plural(len(games), 'game')}, {kyoku} kyoku"
    table = Table(
        title=title, caption=CAPTION, caption_justify="left", box=None, pad_edge=False,
        padding=(0, 1, 0, 0),
    )  # fmt: skip
    for column in COLUMNS:
        table.add_column(column, no_wrap=True, justify="left" if column == "player" else "right")
    table.add_row(labels[0], *_figures(games, lambda game: game.seats[:1]))
    table.add_row(labels[1], *_figures(games, lambda game: game.seats[1:]))
    table.add_row("the pair", *_figures(games, lambda game: game.seats))
    table.add_row("the others", *_figures(games, PairGame.others))
    return table


def _figures(games: Sequence[PairGame], seats_in: SeatsOf) -> list[str]:
    totals = [0, 0, 0, 0]
    rank_counts = [0] * max((len(game.scores) for game in games), default=RANKED.players)
    rank_sum = better = score = 0
    for game in games:
        seats = seats_in(game)
        fed = [game.counts["fed"][seat] for seat in seats]
        feeds = [int(row[game.ally(seat)]) for row, seat in zip(fed, seats, strict=True)]
        totals[0] += int(game.counts["wins"][list(seats)].sum())
        totals[1] += int(game.counts["deal_ins"][list(seats)].sum())
        totals[2] += sum(feeds)
        totals[3] += sum(int(row.sum()) for row in fed) - sum(feeds)
        ranks = [game.ranks[seat] for seat in seats]
        for rank in ranks:
            rank_counts[rank - 1] += 1
        rank_sum += sum(ranks)
        better += min(ranks)
        score += sum(game.scores[seat] for seat in seats)
    n = max(1, len(games))
    n_ranks = max(1, sum(rank_counts))
    means = [f"{rank_sum / n_ranks:.2f}", f"{better / n:.2f}", f"{score / n:.0f}"]
    return [*map(str, totals), "-".join(map(str, rank_counts)), *means]
