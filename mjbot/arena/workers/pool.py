"""Processes that play games, and the parent that survives whatever happens to them.

A process that ends (or, with compiled code that never returns, stops) in the middle of a game is
replaced and the game played again.  If it happens again at the same decision, that decision is
the cause: it is replaced by the default action and the game continues.
"""

import contextlib
import multiprocessing
import os
import sys
import time
from bdb import BdbQuit
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from mjbot.arena.run_folder import GameLine
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers import clock as c
from mjbot.arena.workers.files_read import ReadingWatch
from mjbot.arena.workers.playing import GameRunner, PlayedGame, ReportFault
from mjbot.runtime.compiler.cache import cure_of_crash
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.processes import WorkerProcess, describe_exit
from mjbot.strategy.faults import Fault, FaultKind
from mjbot.strategy.options import StrategyError

PATIENCE_S: Final = 60.0
"""How long a process may show no sign of life before it is ended (at least four deadlines)."""

COMPILING_PATIENCE_S: Final = 1800.0
"""The same while it compiles: one call of LLVM, which no tick gets into, can take minutes."""

MOST_CRASHES: Final = 6
"""After so many lost processes a game is void."""

MOST_DEATHS_OF_A_RUN: Final = 12
"""After so many lost processes the run ends, unless they were fewer than one in ten games."""

MOST_FAILED_STARTS: Final = 3
AHEAD: Final = 2

QUIT: Final = "quit"
"""A worker sends it when its debugger was left with ``q``."""

GameJob = tuple[GameId, dict[int, dict[int, Fault]]]


class WorkerError(MjbotError):
    """No process can be started to play; the text is one line."""


def work(
    jobs: Connection, heartbeat: Any, setup: Setup, recording: bool, timing: bool, terminal: str
) -> None:
    """Play the games that come down the connection until it closes: the life of a worker."""
    os.dup2(2, 1)  # what a strategy prints is no figure
    if terminal:  # multiprocessing has connected stdin to /dev/null
        sys.stdin = open(terminal, encoding="utf-8")  # noqa: SIM115 - for as long as we live
    watch = ReadingWatch()
    with contextlib.suppress(EOFError, OSError), c.Clock(setup.deadline_s, heartbeat) as clock:
        passing = (BdbQuit,) if terminal else ()
        games = GameRunner(setup, clock, recording, _first_faults(jobs, setup), timing, passing)
        try:
            while True:
                played = _played(games, *jobs.recv())
                jobs.send(replace(played, files=watch.drain()))
        except BdbQuit:
            jobs.send(QUIT)


def _first_faults(jobs: Connection, setup: Setup) -> ReportFault:
    """Return what sends the first fault of each strategy at once."""
    reported: set[int] = set()

    def report(game_id: GameId, fault: Fault) -> None:
        number = setup.player(game_id, fault.seat)
        if number not in reported:
            reported.add(number)
            jobs.send((game_id, fault))

    return report


def _played(games: GameRunner, game_id: GameId, fatal: dict[int, dict[int, Fault]]) -> PlayedGame:
    try:
        return games.play(game_id, fatal)
    except BdbQuit:
        raise
    except StrategyError as error:
        return void_game(game_id, str(error))
    except Exception as error:  # ours, not a strategy's: the game is void and the run continues
        return void_game(game_id, f"{type(error).__name__}: {' '.join(str(error).split())}")


def void_game(game_id: GameId, reason: str) -> PlayedGame:
    """Return what is recorded of a game that could not be played to its end."""
    return PlayedGame(GameLine(wall=game_id.wall, seating=game_id.seating, void=reason), ())


class Liveness:
    """Measures how long a process has shown no sign of life; times are seconds of one clock.

    >>> heart = Liveness(now_s=0.0)
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


class _ArenaWorker(WorkerProcess):
    def __init__(self, setup: Setup, recording: bool, timing: bool, terminal: str) -> None:
        self.heartbeat: Any = multiprocessing.RawArray("q", c.HEARTBEAT_SIZE)
        super().__init__(work, self.heartbeat, setup, recording, timing, terminal)
        self.game_ids: deque[GameId] = deque()
        self.finished = 0
        self.stood_still = False
        self._heartbeat = Liveness(time.monotonic())

    @property
    def has_lived(self) -> bool:
        """Whether the process came as far as to wait for games."""
        return bool(self.heartbeat[c.BEATS])

    def give(self, job: GameJob) -> None:
        """Add a game to what the worker has to do."""
        if not self.game_ids:
            self._heartbeat.rest(time.monotonic())
        self.game_ids.append(job[0])
        self.send(job)

    def finish(self) -> None:
        """Note that the first of its games has come back."""
        self.game_ids.popleft()
        self.finished += 1

    def look_after(self, patience_s: float) -> None:
        """Kill the process if it has shown no sign of life for so long though there is work.

        A tick of its clock is a sign, and so is a finished game.
        """
        now_s = time.monotonic()
        if not self.game_ids or not self.has_lived:
            self._heartbeat.rest(now_s)
        if self.heartbeat[c.COMPILING]:
            patience_s = max(patience_s, COMPILING_PATIENCE_S)
        if self._heartbeat.silent_s((self.heartbeat[c.BEATS], self.finished), now_s) > patience_s:
            self.stood_still = True
            self.kill()


class WorkerPool:
    """Some worker processes; use it as a context manager: none of them outlives it.

    ``report`` receives faults while their games are still played: at least of the first of each
    strategy.  ``recording`` and ``timing``: :class:`~mjbot.arena.workers.playing.GameRunner`.
    ``terminal`` is the device that a debugger in a worker reads from (empty: none).
    """

    def __init__(
        self,
        setup: Setup,
        jobs: int,
        patience_s: float | None = None,
        recording: bool = False,
        report: ReportFault = lambda game_id, fault: None,
        timing: bool = False,
        terminal: str = "",
    ) -> None:
        self._setup: Final = setup
        self._recording: Final = recording
        self._timing: Final = timing
        self._terminal: Final = terminal
        self._report: Final = report
        self._jobs: Final = jobs
        self._patience_s: Final = patience_s or max(PATIENCE_S, 4 * setup.deadline_s)
        self.workers: Final[list[_ArenaWorker]] = []
        self.replaced = 0
        """How many processes ended or stood still, and another was started instead."""
        self._crashes: dict[GameId, list[tuple[int, int] | None]] = {}
        self._fatal: dict[GameId, dict[int, dict[int, Fault]]] = {}
        self._again: deque[GameId] = deque()
        self._void: deque[PlayedGame] = deque()
        self._failed_starts = 0
        self._lost = 0
        self._finished = 0

    def play(
        self, game_ids: Iterable[GameId], look: Callable[[], None] = lambda: None
    ) -> Iterator[PlayedGame]:
        """Play the games and return each as soon as it is finished, in whatever order.

        The first process begins alone: what it compiles, the others find in the cache.  ``look``
        is called every second or oftener.  Raises what it raises, ``KeyboardInterrupt`` when the
        user quits the debugger of a strategy, and :class:`WorkerError` if game after game takes
        its process with it.
        """
        waiting = iter(game_ids)
        if not self.workers:
            self.workers.append(self._new_worker())
        while True:
            look()
            for worker in self.workers:
                self._keep_busy(worker, waiting)
            if not any(worker.game_ids for worker in self.workers):
                return
            for played in self._collect():
                self._complete(waiting)
                yield played
            while self._void:
                yield self._void.popleft()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.reap()

    # --- inside ------------------------------------------------------------------------------

    def _new_worker(self) -> _ArenaWorker:
        return _ArenaWorker(self._setup, self._recording, self._timing, self._terminal)

    def _complete(self, waiting: Iterator[GameId]) -> None:
        while len(self.workers) < self._jobs:
            self.workers.append(self._new_worker())
            self._keep_busy(self.workers[-1], waiting)

    def _keep_busy(self, worker: _ArenaWorker, waiting: Iterator[GameId]) -> None:
        while len(worker.game_ids) < AHEAD:
            game_id = self._again.popleft() if self._again else next(waiting, None)
            if game_id is None:
                return
            worker.give((game_id, self._fatal.get(game_id, {})))

    def _collect(self) -> Iterator[PlayedGame]:
        numbers = {worker.connection: number for number, worker in enumerate(self.workers)}
        for connection in wait(list(numbers), timeout=1.0):
            assert isinstance(connection, Connection)
            number = numbers[connection]
            try:
                message = connection.recv()
            except (EOFError, OSError):
                self._replace(number)
                continue
            if isinstance(message, PlayedGame):
                self.workers[number].finish()
                self._finished += 1
                self._failed_starts = 0  # whatever ends the others, one can be started
                yield message
            elif message == QUIT:
                raise KeyboardInterrupt
            else:
                self._report(*message)
        for worker in self.workers:
            worker.look_after(self._patience_s)

    def _replace(self, number: int) -> None:
        """Note which seat was deciding when a process died, and start another for its games."""
        dead = self.workers[number]
        status = dead.reap()
        dead.stood_still |= status == c.EXIT_OVERDUE
        end = describe_exit(status)
        self._failed_starts = 0 if dead.has_lived else self._failed_starts + 1
        if self._failed_starts == MOST_FAILED_STARTS:
            raise WorkerError(f"no process can be started to play: {end}")
        if dead.game_ids and dead.has_lived:
            self._note_crash(dead, end)
        self._again.extend(dead.game_ids)
        self.workers[number] = self._new_worker()
        self.replaced += 1

    def _note_crash(self, dead: _ArenaWorker, end: str) -> None:
        game_id = dead.game_ids[0]
        decision = c.decoded(dead.heartbeat[c.DECISION])
        crashes = self._crashes.setdefault(game_id, [])
        crashes.append(decision)
        if decision is not None:
            self._record_fault(game_id, decision, "late" if dead.stood_still else "crash", end)
        being_made = decision is not None and not decision[1]
        if len(crashes) >= MOST_CRASHES or (being_made and crashes.count(decision) == 2):
            times = f"process {end}, {len(crashes)} times, the last in {self._place(game_id)}"
            times += cure_of_crash(end)
            self._void.append(void_game(game_id, times))
            dead.game_ids.popleft()
        self._lost += 1
        if self._lost >= MOST_DEATHS_OF_A_RUN and 10 * self._lost > self._finished:
            games = f"{self._lost} times in {self._finished} finished games"
            raise WorkerError(
                f"a process was lost {games}, the last in {self._place(game_id)}: {end}"
                f"{cure_of_crash(end)}"
            )

    def _record_fault(
        self, game_id: GameId, decision: tuple[int, int], kind: FaultKind, end: str
    ) -> None:
        """Report the seat's decision; the second time it is that decision's fault for good."""
        seat, number = decision
        if self._crashes[game_id].count(decision) == 1:
            again = f"its process was lost ({end}); the game is played again"
            self._report(game_id, Fault(kind, seat, number, again, is_fatal=True))
        elif number:
            fault = Fault(kind, seat, number, f"process {end} here, twice", is_fatal=True)
            self._fatal.setdefault(game_id, {}).setdefault(seat, {})[number] = fault

    def _place(self, game_id: GameId) -> str:
        decision = self._crashes[game_id][-1]
        where = f"wall {game_id.wall}, seating {game_id.seating}"
        if decision is None:
            return where
        strategy = self._setup.strategies[self._setup.player(game_id, decision[0])]
        return f"{where}, at decision {decision[1]} of {strategy}"
