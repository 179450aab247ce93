"""Processes that play games, and the parent that survives whatever happens to them.

A process that ends (or, with compiled code that never returns, stops) in the middle of a game is
replaced and the game played again.  If it happens again at the same decision, that decision is
to blame: it is replaced by the default action and the game goes on.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from mjbot.arena.results import GameLine
from mjbot.arena.setup import Setup, Unit
from mjbot.arena.workers.clock import (
    BEAT,
    COMPILING,
    DECISION,
    EXIT_OVERDUE,
    PULSE_SIZE,
    Clock,
    decoded,
)
from mjbot.arena.workers.files_read import ReadingWatch
from mjbot.arena.workers.playing import Games, Played, Tell
from mjbot.arena.workers.supervised_player import Fault
from mjbot.processes import describe_exit, die_with_parent
from mjbot.strategy.options import StrategyError
from mjbot.strategy.supervisor import FaultKind

PATIENCE_S: Final = 60.0
"""How long a process may show no sign of life before it is ended (at least four deadlines)."""

COMPILING_PATIENCE_S: Final = 1800.0
"""The same while it compiles: one call of LLVM, which no tick gets into, can take minutes."""

MOST_DEATHS: Final = 6
"""After so many lost processes a game is void."""

MOST_DEATHS_OF_A_RUN: Final = 12
"""After so many lost processes the run ends, unless they were fewer than one in ten games."""

MOST_STILLBORN: Final = 3
AHEAD: Final = 2

Job = tuple[Unit, dict[int, dict[int, Fault]]]


class WorkerError(Exception):
    """No process can be started to play; the text is one line."""


def work(jobs: Connection, pulse: Any, setup: Setup, recording: bool) -> None:
    """Play the games that come down the line until it closes: the whole life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    os.dup2(2, 1)  # what a strategy prints is no figure
    die_with_parent()
    watch = ReadingWatch()
    with contextlib.suppress(EOFError, OSError), Clock(setup.deadline_s, pulse) as clock:
        games = Games(setup, clock, recording, _first_faults(jobs, setup))
        while True:
            played = _played(games, *jobs.recv())
            jobs.send(replace(played, files=watch.drain()))


def _first_faults(jobs: Connection, setup: Setup) -> Tell:
    """Return what sends the first fault of each strategy down the line at once."""
    told: set[int] = set()

    def tell(unit: Unit, fault: Fault) -> None:
        number = setup.player(unit, fault.seat)
        if number not in told:
            told.add(number)
            jobs.send((unit, fault))

    return tell


def _played(games: Games, unit: Unit, fatal: dict[int, dict[int, Fault]]) -> Played:
    try:
        return games.play(unit, fatal)
    except StrategyError as error:
        return void_game(unit, str(error))
    except Exception as error:  # ours, not a strategy's: the game is void and the run goes on
        return void_game(unit, f"{type(error).__name__}: {' '.join(str(error).split())}")


def void_game(unit: Unit, reason: str) -> Played:
    """Return what is recorded of a game that could not be played to its end."""
    return Played(GameLine(wall=unit.wall, seating=unit.seating, void=reason), ())


class Heartbeat:
    """Knows how long a process has shown no sign of life; times are seconds of one clock.

    >>> heart = Heartbeat(now_s=0.0)
    >>> [heart.silent_s(signs, now_s) for signs, now_s in [((1, 0), 9.0), ((1, 0), 30.0)]]
    [0.0, 21.0]
    """

    def __init__(self, now_s: float) -> None:
        self._signs: tuple[int, ...] = ()
        self._seen_s = now_s

    def rest(self, now_s: float) -> None:
        """Note that nothing is to be expected before now."""
        self._seen_s = now_s

    def silent_s(self, signs: tuple[int, ...], now_s: float) -> float:
        """Return for how long none of the signs has changed; any that grows will do."""
        if signs != self._signs:
            self._signs = signs
            self._seen_s = now_s
        return now_s - self._seen_s


class _Worker:
    """One process, the games given to it, and its pulse."""

    def __init__(self, setup: Setup, recording: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pulse: Any = context.RawArray("q", PULSE_SIZE)
        self.line, theirs = context.Pipe()
        self.units: deque[Unit] = deque()
        self.finished = 0
        self._process = context.Process(
            target=work, args=(theirs, self.pulse, setup, recording), name="arena", daemon=True
        )
        self._process.start()
        theirs.close()
        self.stood_still = False
        self._heartbeat = Heartbeat(time.monotonic())

    @property
    def has_lived(self) -> bool:
        """Whether the process came as far as to wait for games."""
        return bool(self.pulse[BEAT])

    def give(self, job: Job) -> None:
        """Add a game to what the worker has to do."""
        if not self.units:
            self._heartbeat.rest(time.monotonic())
        self.units.append(job[0])
        with contextlib.suppress(OSError):  # it is dead: that is noticed when its line is read
            self.line.send(job)

    def finish(self) -> None:
        """Note that the first of its games has come back."""
        self.units.popleft()
        self.finished += 1

    def look_after(self, patience_s: float) -> None:
        """Kill the process if it has shown no sign of life for so long though there is work.

        A tick of its clock is a sign, and so is a finished game.
        """
        now_s = time.monotonic()
        if not self.units or not self.has_lived:
            self._heartbeat.rest(now_s)
        if self.pulse[COMPILING]:
            patience_s = max(patience_s, COMPILING_PATIENCE_S)
        if self._heartbeat.silent_s((self.pulse[BEAT], self.finished), now_s) > patience_s:
            self.stood_still = True
            self.kill()

    def kill(self) -> None:
        """End the process at once; its line then ends, too."""
        self._process.kill()

    def bury(self) -> int:
        """Return the exit status of a process that has ended or is ending."""
        self.line.close()
        self._process.join()
        return self._process.exitcode or 0


class Crew:
    """Some worker processes; use it as a context manager: none of them outlives it.

    ``tell`` hears of faults while their games are still played: at least of the first of each
    strategy.
    """

    def __init__(
        self,
        setup: Setup,
        jobs: int,
        patience_s: float | None = None,
        recording: bool = False,
        tell: Tell = lambda unit, fault: None,
    ) -> None:
        self._setup: Final = setup
        self._recording: Final = recording
        self._tell: Final = tell
        self._jobs: Final = jobs
        self._patience_s: Final = patience_s or max(PATIENCE_S, 4 * setup.deadline_s)
        self.workers: Final[list[_Worker]] = []
        self._deaths: dict[Unit, list[tuple[int, int] | None]] = {}
        self._fatal: dict[Unit, dict[int, dict[int, Fault]]] = {}
        self._again: deque[Unit] = deque()
        self._void: deque[Played] = deque()
        self._stillborn = 0
        self._lost = 0
        self._finished = 0

    def play(self, units: Iterable[Unit]) -> Iterator[Played]:
        """Play the games and return each as soon as it is finished, in whatever order.

        The first process begins alone: what it compiles, the others find in the cache.  Raises
        :class:`WorkerError` if game after game takes its process with it.
        """
        waiting = iter(units)
        if not self.workers:
            self.workers.append(_Worker(self._setup, self._recording))
        while True:
            for worker in self.workers:
                self._keep_busy(worker, waiting)
            if not any(worker.units for worker in self.workers):
                return
            for played in self._collect():
                self._complete(waiting)
                yield played
            while self._void:
                yield self._void.popleft()

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.bury()

    # --- inside ------------------------------------------------------------------------------

    def _complete(self, waiting: Iterator[Unit]) -> None:
        while len(self.workers) < self._jobs:
            self.workers.append(_Worker(self._setup, self._recording))
            self._keep_busy(self.workers[-1], waiting)

    def _keep_busy(self, worker: _Worker, waiting: Iterator[Unit]) -> None:
        while len(worker.units) < AHEAD:
            unit = self._again.popleft() if self._again else next(waiting, None)
            if unit is None:
                return
            worker.give((unit, self._fatal.get(unit, {})))

    def _collect(self) -> Iterator[Played]:
        """Wait for something to happen, and return the games that were finished."""
        lines = {worker.line: number for number, worker in enumerate(self.workers)}
        for line in wait(list(lines), timeout=1.0):
            assert isinstance(line, Connection)
            number = lines[line]
            try:
                heard = line.recv()
            except (EOFError, OSError):
                self._replace(number)
                continue
            if isinstance(heard, Played):
                self.workers[number].finish()
                self._finished += 1
                yield heard
            else:
                self._tell(*heard)
        for worker in self.workers:
            worker.look_after(self._patience_s)

    def _replace(self, number: int) -> None:
        """Note who was deciding when a process died, and start another for its games."""
        dead = self.workers[number]
        status = dead.bury()
        dead.stood_still |= status == EXIT_OVERDUE
        end = describe_exit(status)
        self._stillborn = 0 if dead.has_lived else self._stillborn + 1
        if self._stillborn == MOST_STILLBORN:
            raise WorkerError(f"no process can be started to play: {end}")
        if dead.units and dead.has_lived:
            self._note_death(dead, end)
        self._again.extend(dead.units)
        self.workers[number] = _Worker(self._setup, self._recording)

    def _note_death(self, dead: _Worker, end: str) -> None:
        unit = dead.units[0]
        decision = decoded(dead.pulse[DECISION])
        deaths = self._deaths.setdefault(unit, [])
        deaths.append(decision)
        if decision is not None:
            self._blame(unit, decision, "late" if dead.stood_still else "crash", end)
        no_decision = decision is None or not decision[1]
        if len(deaths) >= MOST_DEATHS or (no_decision and deaths.count(decision) == 2):
            times = f"process {end}, {len(deaths)} times, the last in {self._place(unit)}"
            self._void.append(void_game(unit, times))
            dead.units.popleft()
        self._lost += 1
        if self._lost >= MOST_DEATHS_OF_A_RUN and 10 * self._lost > self._finished:
            games = f"{self._lost} times in {self._finished} finished games"
            raise WorkerError(f"a process was lost {games}, the last in {self._place(unit)}: {end}")

    def _blame(self, unit: Unit, decision: tuple[int, int], kind: FaultKind, end: str) -> None:
        """Tell whose decision it was; the second time it is that decision's fault for good."""
        seat, number = decision
        if self._deaths[unit].count(decision) == 1:
            again = f"its process was lost ({end}); the game is played again"
            self._tell(unit, Fault(kind, seat, number, again, is_fatal=True))
        elif number:
            fault = Fault(kind, seat, number, f"process {end} here, twice", is_fatal=True)
            self._fatal.setdefault(unit, {}).setdefault(seat, {})[number] = fault

    def _place(self, unit: Unit) -> str:
        decision = self._deaths[unit][-1]
        where = f"wall {unit.wall}, seating {unit.seating}"
        if decision is None:
            return where
        strategy = self._setup.strategies[self._setup.player(unit, decision[0])]
        return f"{where}, at decision {decision[1]} of {strategy}"
