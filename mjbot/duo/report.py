"""What ``mjbot duo`` shows: what the two do while they play, and their table at the end."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mjbot.duo.members import Member
from mjbot.duo.score import PairGame, PairScore
from mjbot.duo.wording import Teller
from mjbot.match.report import MatchReport
from mjbot.records.wording import counted
from mjbot.rules.ruleset import Length
from protocol.messages import Event
from protocol.plain_text import one_line

COLUMNS: Final = (
    "player", "wins", "deal-ins", "to ally", "to rivals", "places", "mean rank", "best", "score",
)  # fmt: skip

CAPTION: Final = "per game; of two players the mean of both ranks, the sum of both scores"

Seats = Callable[[PairGame], Sequence[int]]


class DuoReport(MatchReport):
    """A match's bar and lines, and what happens between the two."""

    def __init__(
        self, console: Console, games: int, length: Length, members: Sequence[Member]
    ) -> None:
        super().__init__(console, games, length)
        names = [member.name for member in members]
        self.labels: Final = labels_of(members)
        self.score: Final = PairScore(names)
        self._teller: Final = Teller(names, self.labels)

    def on_event(self, game: int, event: Event) -> None:
        """Move the bar, count, and say what is worth a line."""
        super().on_event(game, event)
        self.score.add(event)
        said = self._teller.line(event)
        if said is not None:
            self.say(*said)

    def say(self, text: str, style: str = "") -> None:
        """Print a line above the bar."""
        self._console.print(Text(one_line(text), style=style), soft_wrap=True)


def labels_of(members: Sequence[Member]) -> tuple[str, ...]:
    """Return what the two are called where only one line is to be had: their strategies."""
    shorts = [member.spec.rpartition(":")[2] for member in members]
    return tuple(shorts if len(set(shorts)) == 2 else [f"{shorts[0]} 1", f"{shorts[1]} 2"])


def pair_table(score: PairScore, labels: Sequence[str]) -> Table:
    """Return the figures over all games: each of the two, both together, and the other two.

    *to ally* and *to rivals* are wins by these on the player's tile; the other two are taken for
    a pair like ours.  *places* counts first to fourth, *mean rank* is that of all seats of the
    row, *best* the mean of a pair's better rank, *score* the mean per game (of a pair's sum).
    """
    games = score.games
    kyoku = sum(int(game.counts["kyoku"][0]) for game in games)
    title = f"{counted(len(games), 'game')}, {kyoku} kyoku"
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


def _figures(games: Sequence[PairGame], seats_in: Seats) -> list[str]:
    totals, places = [0, 0, 0, 0], [0, 0, 0, 0]
    rank = better = score = 0
    for game in games:
        seats = seats_in(game)
        fed = [game.counts["fed"][seat] for seat in seats]
        feeds = [int(row[game.ally(seat)]) for row, seat in zip(fed, seats, strict=True)]
        totals[0] += int(game.counts["wins"][list(seats)].sum())
        totals[1] += int(game.counts["deal_ins"][list(seats)].sum())
        totals[2] += sum(feeds)
        totals[3] += sum(int(row.sum()) for row in fed) - sum(feeds)
        ranks = [game.ranks[seat] for seat in seats]
        for place in ranks:
            places[place - 1] += 1
        rank += sum(ranks)
        better += min(ranks)
        score += sum(game.scores[seat] for seat in seats)
    n = max(1, len(games))
    n_ranks = max(1, sum(places))
    means = [f"{rank / n_ranks:.2f}", f"{better / n:.2f}", f"{score / n:.0f}"]
    return [*map(str, totals), "-".join(map(str, places)), *means]
