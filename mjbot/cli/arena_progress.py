"""What is told while games are played: a bar, and at once what goes wrong."""

from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mjbot.arena.guard import Fault
from mjbot.arena.playing import Played
from mjbot.arena.run import Arena
from mjbot.arena.setup import Unit


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
        self._setup: Final = arena.plan.setup
        self._told: Final[set[object]] = set()
        kept = min(arena.games_kept, arena.n_games)
        self._task = self._bar.add_task("", total=arena.n_games, completed=kept, rate="")

    def on_game(self, played: Played) -> None:
        """Move the bar by one game; tell what was wrong with it if that is news."""
        line = played.line
        for fault in played.faults:
            self.on_fault(line.unit, fault)
        if line.void and line.void not in self._told:
            self._told.add(line.void)
            self._say(f"wall {line.wall} does not count: {line.void}")
        speed = self._bar.tasks[0].speed
        rate = f"{speed:.1f}/s" if speed else ""
        self._bar.update(self._task, advance=1, rate=rate)

    def on_fault(self, unit: Unit, fault: Fault) -> None:
        """Tell of the first fault of each strategy and kind, also where there is no terminal."""
        strategy = self._setup.strategies[self._setup.player(unit, fault.seat)]
        if (strategy, fault.kind) not in self._told:
            self._told.add((strategy, fault.kind))
            where = f"wall {unit.wall}, seat {fault.seat}, decision {fault.decision}"
            self._say(f"{strategy}: {fault.kind} ({where}): {fault.problem}")

    def _say(self, text: str) -> None:
        self._bar.console.print(text, highlight=False, markup=False, soft_wrap=True)

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
