"""Runs of the arena one after another, as the ladder and the papers' experiments play them.

:class:`Runs` keeps each run in a folder of its own, shows progress over all of them, and continues
where an earlier command was interrupted.
"""

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console

from mjbot.arena.report.text import trouble_lines
from mjbot.arena.run import Arena, ArenaPlan, RunOutcome
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.playing import PlayedGame
from mjbot.arena.workers.pool import WorkerPool
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.play.startup.precompile import prepare
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.files import plural
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import Step, elapsed, progress
from mjbot.strategy.faults import Fault
from mjbot.strategy.registry import Spec


class Run(NamedTuple):
    """Games to play; ``label`` names them in the progress.

    They are kept in ``folder`` inside that of all runs (empty: one that is named after the setup).
    ``timing``: every game but the first of a process keeps what its decisions cost.
    ``recording``: the folder also gets a record of every game.
    """

    label: str
    setup: Setup
    n_walls: int
    folder: str = ""
    timing: bool = False
    recording: bool = False


class Runs:
    """Plays runs inside ``folder`` by ``jobs`` processes; reports progress and the time left."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._troubles: Final[list[str]] = []
        self._folder: Final = folder
        self._jobs: Final = jobs
        self._known = 0
        self._fresh = 0
        self._spent_s = 0.0

    def print_report(self, program: str, lines: Iterator[str]) -> int:
        """Print the lines of a report, for which runs are played, and then the runs' troubles.

        Returns the exit status: ``FAILED`` if there were any.
        """
        with keeping(self._kept):
            for line in lines:
                print(line, flush=True)
        for trouble in dict.fromkeys(self._troubles):
            print(f"{program}: {trouble}", file=sys.stderr)
        return ExitCode.FAILED if self._troubles else ExitCode.OK

    def _kept(self) -> str:
        """Report what has been played by now, in this process or before."""
        return (
            f"kept in {self._folder}: {plural(self._known, 'game')}; run the same command to resume"
        )

    def play(self, runs: Sequence[Run]) -> Iterator[RunOutcome]:
        """Play what is missing of each run and yield its outcome before the next one begins.

        Name all runs that there are: the time left is that of all.
        """
        total = self._known + sum(run.n_walls * len(run.setup.seating.tables) for run in runs)
        for number, run in enumerate(runs, 1):
            position = f" ({number} of {len(runs)})" if len(runs) > 1 else ""
            yield self._play(run, f"{run.label}{position}", total)

    def _play(self, run: Run, label: str, total: int) -> RunOutcome:
        plan = ArenaPlan(
            setup=run.setup,
            n_walls=run.n_walls,
            folder=self._folder / (run.folder or f"arena-{run.setup.identity}"),
            rates=ErrorRates(),
            recording=run.recording,
        )
        with Arena(plan) as arena:
            if arena.set_aside:
                print(arena.set_aside, file=sys.stderr)
            self._known += min(arena.games_kept, arena.n_games)
            if not arena.is_over:
                self._play_missing(arena, label, total, run)
            outcome = arena.outcome()
        self._troubles.extend(trouble_lines(outcome))
        return outcome

    def _play_missing(self, arena: Arena, label: str, total: int, run: Run) -> None:
        console = Console(stderr=True)
        prepare_own(arena.plan.setup, console)
        with progress(console, label, total, "games") as step:
            games = GamesProgress(console, arena.plan.setup, step)
            step(self._known)
            last_s = time.monotonic()

            def on_game(played: PlayedGame) -> None:
                nonlocal last_s
                now_s = time.monotonic()
                self._spent_s += now_s - last_s
                last_s = now_s
                self._fresh += 1
                self._known += 1
                left_s = (total - self._known) * self._spent_s / self._fresh
                games.on_game(played, f"about {elapsed(left_s)} left")

            with WorkerPool(
                run.setup,
                self._jobs,
                recording=run.recording,
                report=games.on_fault,
                timing=run.timing,
            ) as pool:
                arena.play(pool, on_game)


class GamesProgress:
    """Reports games on ``console`` and moves ``step`` by each."""

    def __init__(self, console: Console, setup: Setup, step: Step) -> None:
        self._console: Final = console
        self._setup: Final = setup
        self._step: Final = step
        self._reported: Final[set[object]] = set()
        self._games = 0
        self._started_at = time.monotonic()

    def on_game(self, played: PlayedGame, note: str = "") -> None:
        """Note one game more; report its problem if that is new."""
        line = played.line
        for fault in played.faults:
            self.on_fault(line.game_id, fault)
        if line.void and line.void not in self._reported:
            self._reported.add(line.void)
            self.note(f"wall {line.wall} does not count: {line.void}")
        self._games += 1
        rate = self._games / max(1e-9, time.monotonic() - self._started_at)
        self._step(note=note or f"{rate:.1f} a second")

    def on_fault(self, game_id: GameId, fault: Fault) -> None:
        """Report the first fault of each strategy and kind."""
        strategy = self._setup.strategies[self._setup.player(game_id, fault.seat)]
        if (strategy, fault.kind) not in self._reported:
            self._reported.add((strategy, fault.kind))
            where = f"wall {game_id.wall}, seat {fault.seat}, decision {fault.decision}"
            self.note(f"{strategy}: {fault.kind} ({where}): {fault.problem}")

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextlib.contextmanager
def games_progress(console: Console, arena: Arena) -> Iterator[GamesProgress]:
    """Show how a run gets on: a bar on a terminal, a line now and then elsewhere."""
    with progress(console, "playing", arena.n_games, "games") as step:
        step(min(arena.games_kept, arena.n_games))
        yield GamesProgress(console, arena.plan.setup, step)


def prepare_own(setup: Setup, console: Console) -> None:
    """Compile what the table and our own strategies need, before any process is started.

    What a strategy from outside needs is compiled in its first game, where the clock waits.
    """
    prepare([*setup.specs, Spec("tsumogiri")], console)
