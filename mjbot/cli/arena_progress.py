"""What is told while games are played: how far they are, and at once what goes wrong."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console

from mjbot.arena.run import Arena
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.playing import Played
from mjbot.arena.workers.supervised_player import Fault
from mjbot.precompile import prepare
from mjbot.progress import Step, progress


class GamesProgress:
    """Tells of games on ``console`` and moves ``step`` by each."""

    def __init__(self, console: Console, setup: Setup, step: Step) -> None:
        self._console: Final = console
        self._setup: Final = setup
        self._step: Final = step
        self._told: Final[set[object]] = set()
        self._games = 0
        self._started_at = time.monotonic()

    def on_game(self, played: Played, note: str = "") -> None:
        """Note one game more; tell what was wrong with it if that is news."""
        line = played.line
        for fault in played.faults:
            self.on_fault(line.game_id, fault)
        if line.void and line.void not in self._told:
            self._told.add(line.void)
            self._say(f"wall {line.wall} does not count: {line.void}")
        self._games += 1
        rate = self._games / max(1e-9, time.monotonic() - self._started_at)
        self._step(note=note or f"{rate:.1f} a second")

    def on_fault(self, game_id: GameId, fault: Fault) -> None:
        """Tell of the first fault of each strategy and kind."""
        strategy = self._setup.strategies[self._setup.player(game_id, fault.seat)]
        if (strategy, fault.kind) not in self._told:
            self._told.add((strategy, fault.kind))
            where = f"wall {game_id.wall}, seat {fault.seat}, decision {fault.decision}"
            self._say(f"{strategy}: {fault.kind} ({where}): {fault.problem}")

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextlib.contextmanager
def games_progress(console: Console, arena: Arena) -> Iterator[GamesProgress]:
    """Show how a run gets on: a bar on a terminal, a line now and then elsewhere."""
    with progress(console, "playing", arena.n_games, "games") as step:
        step(min(arena.games_kept, arena.n_games))
        yield GamesProgress(console, arena.plan.setup, step)


def prepare_own(strategies: Sequence[str], console: Console) -> None:
    """Compile what the table and our own strategies need, before any process is started.

    What a strategy from outside needs is compiled in its first game, where the clock waits.
    """
    prepare([*strategies, "tsumogiri"], console)
