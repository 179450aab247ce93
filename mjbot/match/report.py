"""What a match shows: a bar while it runs, a line per game, a table at the end.

Where there is no terminal a line now and then says where it is.
"""

import asyncio
import time
from collections.abc import Sequence
from types import TracebackType
from typing import ClassVar, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mjbot.match.players import Player
from mjbot.progress import INTERVAL_S, elapsed
from mjbot.rules.ruleset import LAST_ROUND, Length
from mjbot.server.server import GameResult
from protocol.messages import EndGame, Event, StartKyoku
from protocol.tiles import WIND_NAMES


class MatchReport:
    """Shows the progress of ``games`` games of ``length`` on ``console``.

    A context manager inside a running event loop, which speaks every ``interval_s`` seconds.
    """

    interval_s: ClassVar[float] = INTERVAL_S

    def __init__(self, console: Console, games: int, length: Length) -> None:
        self._console = console
        self._games = games
        self._timer: asyncio.TimerHandle | None = None
        self._rounds = LAST_ROUND[length] + 1
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
            "getting ready (a first start compiles for one to two minutes)",
            total=games * self._rounds,
        )

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._progress.start()
            self._progress.refresh()
        else:
            self._speak_later(time.monotonic())
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

    def _speak_later(self, begun: float) -> None:
        # The loop's timer, no thread: players are forked off the one that there is.
        def speak() -> None:
            where = self._progress.tasks[0].description
            self.on_note(f"{where}, {elapsed(time.monotonic() - begun)}")
            self._speak_later(begun)

        self._timer = asyncio.get_running_loop().call_later(self.interval_s, speak)

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
        """Print what happened to a player."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def on_result(self, result: GameResult) -> None:
        """Print the game's line."""
        order = ranking(result)
        line = "  ".join([f"{result.names[seat]} {result.scores[seat]}" for seat in order])
        faults = f"  ({len(result.faults)} faults)" if result.faults else ""
        text = f"game {result.game + 1}: {line}{faults}"
        self._console.print(text, highlight=False, soft_wrap=True)


def final_table(players: Sequence[Player], results: Sequence[GameResult]) -> Table:
    """Return ranks and scores per player over all games."""
    table = Table("player", "games", "mean rank", "1st", "2nd", "3rd", "4th", "mean score")
    for place, player in enumerate(players):
        seats = [(result, result.places.index(place)) for result in results]
        ranks = [ranking(result).index(seat) + 1 for result, seat in seats]
        scores = [result.scores[seat] for result, seat in seats]
        n = max(1, len(results))
        table.add_row(
            player.name,
            str(len(results)),
            f"{sum(ranks) / n:.2f}",
            *[str(ranks.count(rank)) for rank in range(1, 5)],
            f"{sum(scores) / n:.0f}",
        )
    return table


def ranking(result: GameResult) -> list[int]:
    """Return the seats from first to last; ties go to the earlier seat."""
    return sorted(range(4), key=lambda seat: (-result.scores[seat], seat))
