"""The bar of ``mjbot arena``: games, games per second, time left."""

from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mjbot.arena.results import GameLine
from mjbot.arena.run import Arena


class GamesProgress:
    """Shows how a run gets on, if there is a terminal to show it on."""

    def __init__(self, console: Console, arena: Arena) -> None:
        self._bar: Final = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games  {task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        kept = min(arena.games_kept, arena.n_games)
        self._task = self._bar.add_task("", total=arena.n_games, completed=kept, rate="")

    def on_game(self, line: GameLine) -> None:
        """Move the bar by one game."""
        speed = self._bar.tasks[0].speed
        rate = f"{speed:.1f}/s" if speed else ""
        self._bar.update(self._task, advance=1, rate=rate)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
