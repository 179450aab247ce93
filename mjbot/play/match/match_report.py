"""What a match shows and saves: a bar, a line per game, a table at the end, ``results.csv``.

Without a terminal a line is printed now and then.
"""

import asyncio
import csv
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from mjbot.game.table.settle import ranks_of, seats_by_rank
from mjbot.play.match.players import MatchPlayer
from mjbot.play.match.run import Watcher
from mjbot.play.server.reply_faults import fault_summary
from mjbot.play.server.server import GameResult
from mjbot.protocol.messages import EndGame, Event, StartKyoku
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import LAST_ROUND, Length
from mjbot.protocol.tiles import WIND_NAMES
from mjbot.runtime.errors import error_report
from mjbot.runtime.files import naming, plural
from mjbot.runtime.progress import INTERVAL_S, elapsed


class MatchReport:
    """Shows the progress of ``games`` games of ``length`` on ``console``.

    A context manager inside a running event loop, which prints every ``interval_s`` seconds.
    ``results`` has the games that count so far.
    """

    interval_s: ClassVar[float] = INTERVAL_S

    def __init__(self, console: Console, games: int, length: Length) -> None:
        self._console = console
        self._games = games
        self._timer: asyncio.TimerHandle | None = None
        self._rounds = LAST_ROUND[length] + 1
        self._void = 0
        self.results: Final[list[GameResult]] = []
        # Redrawn at each kyoku by the one thread there is: players are forked off it.
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=console,
            auto_refresh=False,
            transient=True,
        )
        self._task = self._progress.add_task(
            "waiting for the players",
            total=games * self._rounds,
        )

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._progress.start()
            self._progress.refresh()
        else:
            self._schedule_line(time.monotonic())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._console.is_terminal:
            self._progress.stop()

    def _schedule_line(self, begun: float) -> None:
        # The loop's timer, no thread: players are forked off the one that there is.
        def print_line() -> None:
            where = self._progress.tasks[0].description
            self.on_note(f"{where}, {elapsed(time.monotonic() - begun)}")
            self._schedule_line(begun)

        self._timer = asyncio.get_running_loop().call_later(self.interval_s, print_line)

    def on_event(self, game: int, event: Event) -> None:
        """Move the bar."""
        if isinstance(event, StartKyoku):
            number = 4 * WIND_NAMES.index(event.bakaze) + event.kyoku - 1
            where = f"game {game + 1}/{self._games}  {event.bakaze}{event.kyoku}-{event.honba}"
            done = game * self._rounds + min(number, self._rounds)
            self._progress.update(self._task, description=where, completed=done)
        elif isinstance(event, EndGame):
            self._progress.update(self._task, completed=(game + 1) * self._rounds)
        else:
            return
        if self._console.is_terminal:
            self._progress.refresh()

    def on_note(self, text: str) -> None:
        """Print a line, such as what happened to a player."""
        self._console.print(one_line(text), highlight=False, markup=False, soft_wrap=True)

    def watcher(self) -> Watcher:
        """Return the watcher of the match."""
        return Watcher(self.on_event, self.on_result, on_note=self.on_note, on_void=self.on_void)

    def on_void(self, text: str) -> None:
        """Count a game that does not count, and print why."""
        self._void += 1
        self.on_note(text)

    def void_lines(self) -> list[str]:
        """Return a line on the void games, if there were any."""
        return [f"{plural(self._void, 'game')} void, not counted"] if self._void else []

    def on_result(self, result: GameResult) -> None:
        """Print the game's line."""
        self.results.append(result)
        order = seats_by_rank(result.scores)
        line = "  ".join([f"{result.names[seat]} {result.scores[seat]}" for seat in order])
        self.on_note(f"game {result.game + 1}: {line}{_faults(result)}")


def _faults(result: GameResult) -> str:
    """Return whose faults the table replaced in a game, how many, and the first of each player."""
    texts = []
    for place, seat in sorted((result.places[seat], seat) for seat in range(len(result.names))):
        faults = [fault for fault in result.faults if fault.seat == seat]
        if faults:
            name = f"player {place + 1}, {result.names[seat]}"
            texts.append(f"{name}: {fault_summary(faults)}")
    return f"  ({'; '.join(texts)})" if texts else ""


def final_table(players: Sequence[MatchPlayer], results: Sequence[GameResult]) -> Table:
    """Return ranks and scores per player over all games."""
    ranks_of_table = ("1st", "2nd", "3rd", "4th")[: len(players)]
    table = Table("player", "games", "mean rank", *ranks_of_table, "mean score")
    for place, player in enumerate(players):
        seats = [(result, result.places.index(place)) for result in results]
        ranks = [ranks_of(result.scores)[seat] for result, seat in seats]
        scores = [result.scores[seat] for result, seat in seats]
        n = max(1, len(results))
        table.add_row(
            Text(one_line(player.name)),
            str(len(results)),
            f"{sum(ranks) / n:.2f}",
            *[str(ranks.count(rank)) for rank in range(1, len(players) + 1)],
            f"{sum(scores) / n:.0f}",
        )
    return table


def problems_of_saving(
    folder: Path, players: Sequence[MatchPlayer], results: list[GameResult]
) -> list[str]:
    """Save the results; return what went wrong, which must not hide what ended the match."""
    try:
        save_results(folder, players, results)
    except OSError as error:
        return [error_report(error)[0]]
    return []


def save_results(folder: Path, players: Sequence[MatchPlayer], results: list[GameResult]) -> None:
    """Write one row per player and game, with how many of its decisions were replaced.

    No JSON, which ``mjbot replay`` would take for a game.
    """
    path = folder / "results.csv"
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["game", "log", "player", "seat", "score", "rank", "faults"])
        for result in results:
            order = seats_by_rank(result.scores)
            log = result.log.name if result.log else ""
            for place, player in enumerate(players):
                seat = result.places.index(place)
                faults = sum(fault.seat == seat for fault in result.faults)
                row = [player.spec, seat, result.scores[seat], order.index(seat) + 1, faults]
                writer.writerow([result.game + 1, log, *row])
