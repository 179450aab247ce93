"""Compiling before anything else starts: each function once, and shown to the user.

:func:`prepare` starts processes that play in memory as the command will play, as many at once as
there are processors; none compiles what another is compiling
(:mod:`mjbot.runtime.compiler.claims`).  A process does one job after another, each for one player,
if it runs nothing but our own code.  What they compile is kept on disk
(:mod:`mjbot.runtime.compiler.cache`), where every process that comes after finds it.  A finished
job is recorded by an empty file whose name is a digest of all that its code depends on, so that the
next start begins at once.
"""

import contextlib
import gc
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.play.startup.warm_up import (
    NAMES,
    SEED,
    play_with_mirrors,
    warm_up_alone,
    warm_up_referee,
)
from mjbot.runtime.compiler.cache import (
    CLAIMS_VARIABLE,
    cache_folder,
    cure_of_crash,
    share_compiling,
)
from mjbot.runtime.compiler.claims import Claims
from mjbot.runtime.compiler.compiled import MANY_PROCESSES, VERSION, processor
from mjbot.runtime.compiler.events import on_compiled
from mjbot.runtime.compiler.missing import missing_functions
from mjbot.runtime.compiler.mode import CURE, IS_INTERPRETED, USUAL_LEVEL
from mjbot.runtime.compiler.shipped import is_prepared, variant
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.languages import marked
from mjbot.runtime.processes import describe_exit
from mjbot.runtime.processors import worker_count
from mjbot.runtime.streams import escape_unencodable
from mjbot.runtime.system import KILL, ProcessorAlarm, lock_file, own_group, signal_group
from mjbot.strategy.faults import error_summary, is_legal, no_choice
from mjbot.strategy.options import StrategyError
from mjbot.strategy.pair.member import pair_up
from mjbot.strategy.registry import Spec, built_in_names, strategy_class
from mjbot.strategy.strategy import Strategy

if TYPE_CHECKING:
    from rich.console import Console

    from mjbot.runtime.progress import Step

Use = Literal["client", "arena", "explain", "review", "table"]
"""What for: a seat at a server, bulk play, ``explain``, ``review`` with playouts; *table* is the
server."""

MOST_SILENT_S: Final = 300.0
"""A process that neither compiles nor ends a job for so long is given up."""

MOST_DECISION_S: Final = 30.0
"""Processor time that a decision may take, compiling not counted."""

IDLE_S: Final = 10.0
"""A strategy that only waits for so long is given up: the next start would wait for it, too."""

_NOTHING_S: Final = 0.02
"""Processor time in :data:`IDLE_S` that counts as waiting; work gets more on any machine."""

ENOUGH_S: Final = 1.0
"""Processor time without anything new to compile after which a job's games are broken off."""

BULK_GAMES: Final = 12
"""Games in bulk play; all take less than :data:`ENOUGH_S` where decisions are fast."""

ENOUGH_DECISIONS: Final = 500
"""The same for a release, which must not depend on the clock."""

COLLECTED_OBJECTS: Final = 300_000
"""New objects after which a process that compiles looks for garbage among them, and never among the
others: Python's own schedule takes 6% of the time to compile; this needs a tenth more memory."""

TRIAL_S: Final = 1.0
"""Processor time of the decisions by which the duration of a game is estimated."""

TRIAL_MOST_S: Final = 5.0
"""Processor time after which a single decision is given up for that."""

DECISIONS: Final = 200
"""Of a seat in a hanchan, about."""

OPTIMISED: Final = {"NUMBA_OPT": USUAL_LEVEL}

BUDGET: Final = "budget_s"
"""The option of strategies that search: seconds for a decision, counted in playouts."""

DONE_VARIABLE: Final = "MJBOT_PREPARED"
"""Jobs tried already, for the processes that we start: what failed once is not tried by each."""

QUIET_DECISIONS: Final = 20
"""A strategy of a user whose decisions compile makes so many more without anything new; one whose
first decision compiles nothing is asked no second time: each may cost time, money or a file."""

QUIET_S: Final = 5.0
"""Seconds without anything new, by the clock on the wall, after which it is asked no more."""

_WHAT: Final = marked("warming up (compiles once; kept for later starts)")
_WAITING: Final = marked("waiting for another start that compiles")
_ROOT: Final = str(Path(__file__).parents[3])
_CHILDREN: Final = worker_count() if MANY_PROCESSES else 1
"""numba's own cache mixes up the entries of processes that write to it at the same time."""
_PROGRAM: Final = (
    "import sys; sys.path.append({!r}); from mjbot.play.startup.precompile import work; work()"
)


@dataclass(frozen=True)
class Problem:
    """What went wrong with a strategy; ``is_made`` says whether it could be made at all."""

    spec: str
    text: str
    is_made: bool = True

    def __str__(self) -> str:
        return f"{self.spec}: {self.text}"


@dataclass(frozen=True)
class Job:
    """What is prepared at a time: one strategy, two that are a pair, or none (the table)."""

    specs: tuple[Spec, ...]
    use: Use

    @property
    def names(self) -> tuple[str, ...]:
        """The strategies as the command line names them."""
        return tuple(map(str, self.specs))

    @property
    def is_ours(self) -> bool:
        """Whether it runs nothing but our own code."""
        parts = [*self.specs, *(Spec(name) for name in _option_values(self.specs) if name)]
        return not any(spec.is_outside or spec.is_external for spec in parts)


def _option_values(specs: Sequence[Spec]) -> list[str]:
    return [value for spec in specs for value in spec.options.values()]


def prepare(
    specs: Sequence[Spec],
    console: "Console | None" = None,
    *,
    use: Use = "arena",
    pair: Sequence[Spec] = (),
    table: bool = False,
) -> tuple[Problem, ...]:
    """Compile what strategies will need that is not compiled yet, and show that.

    ``specs`` are players, ``pair`` two that will be allies, ``table`` adds what a table server
    needs.  External players are left out, and so are strategies from other files, except at a
    server with deadlines.  ``console`` is where that is shown (default: stderr).  Returns what went
    wrong; each problem was also printed, on a line of its own.

    Where nothing is compiled (:mod:`mjbot.runtime.compiler.mode`), it is printed instead how long
    the players take that would need minutes for a game.
    """
    jobs = [Job((), "table")] if table else []
    own = [spec for spec in specs if _needs_preparation(spec, use)]
    shared = list(dict.fromkeys(_parts([*specs, *pair])))
    jobs += [Job((spec,), use) for spec in shared]
    jobs += [Job(tuple(sorted(pair, key=str)), use)] if pair else []
    jobs += [Job((spec,), use) for spec in dict.fromkeys(own) if spec not in shared]
    jobs = [job for job in jobs if IS_INTERPRETED or not _is_done(job)]
    if not jobs:
        return ()
    from rich.console import Console  # most starts find all compiled, and print nothing

    from mjbot.runtime.progress import progress

    console = console or Console(stderr=True)
    if IS_INTERPRETED:
        _report_durations(jobs, console)
        return ()
    most = missing_functions(module for job in jobs for module in _modules(job))
    with progress(console, _WHAT, most or None, "functions", is_bound=True) as step:
        problems = _run(jobs, console, step)
    tried = [os.environ.get(DONE_VARIABLE, ""), *map(_key, jobs)]
    os.environ[DONE_VARIABLE] = " ".join(tried).strip()
    return problems


def _parts(specs: Sequence[Spec]) -> list[Spec]:
    """Return what is built on nothing of what strategies are built on: work to share.

    These are the names in options (``base=NAME``) and ``built_on`` of our own classes: code of
    other files is not run in this process.
    """
    built_in = built_in_names()
    found: list[Spec] = []
    for spec in specs:
        names = [*spec.options.values()]
        if spec.name in built_in:
            names += strategy_class(spec.name).built_on
        for part in (Spec(name) for name in names if name in built_in):
            found += _parts([part]) or [part]
    return found


def _needs_preparation(spec: Spec, use: Use) -> bool:
    return not spec.is_external and (use == "client" or not spec.is_outside)


# --- what was done -----------------------------------------------------------------------------


def _is_done(job: Job) -> bool:
    key = _key(job)
    if key in os.environ.get(DONE_VARIABLE, "").split() or _marker(key).exists():
        return True
    return variant() is not None and is_prepared(key_of_release(job))


def _key(job: Job) -> str:
    """Return a digest of all that the job's compiled code depends on."""
    return _digest(job, [sys.version, VERSION, processor()])


def key_of_release(job: Job) -> str:
    """Return the same for code of a release, whose manifest names machine and versions.

    It is the same whatever time a strategy may search: that takes no other code.
    """
    return _digest(replace(job, specs=tuple(map(_without_budget, job.specs))), [])


def _without_budget(spec: Spec) -> Spec:
    others = {name: value for name, value in spec.options.items() if name != BUDGET}
    return replace(spec, options=others)


def _digest(job: Job, machine: list[str]) -> str:
    sources = sorted({source_digest(module) for module in _modules(job)})
    text = "\n".join([job.use, *job.names, *sources, *machine])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _modules(job: Job) -> list[str]:
    """Return the modules whose code, with all that they import, the job runs."""
    extra = {
        "arena": ["mjbot.game.statistics.figures"],
        "review": ["mjbot.learning.playouts.worlds"],
    }
    modules = ["mjbot.play.startup.warm_up", *extra.get(job.use, [])]
    for spec in job.specs:
        with contextlib.suppress(StrategyError):
            family = strategy_class(spec.name).__mro__
            modules += [cls.__module__ for cls in family if cls is not object]
    return modules


def _folder() -> Path:
    return cache_folder() / VERSION / "prepared"


def _marker(key: str) -> Path:
    return _folder() / key


# --- the process that starts it ---------------------------------------------------------------


class _Child:
    """A process that does jobs, and what it has reported."""

    def __init__(
        self, job: Job, claims: Path, received: "SimpleQueue[tuple[_Child, bytes]]"
    ) -> None:
        self._received: Final = received
        self._process: Final = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM.format(_ROOT)],
            env={
                **(OPTIMISED if job.is_ours else {}),
                **os.environ,
                CLAIMS_VARIABLE: str(claims),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # prints of strategies, in games that are not shown
            **own_group(),
        )
        self.start(job)
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, job: Job) -> None:
        """Let the process do a job; it does none at the moment."""
        self.job = job
        self.is_done = self.has_problem = False
        self.received_at_s = time.monotonic()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended
            self._process.stdin.write(json.dumps((job.names, job.use)).encode() + b"\n")
            self._process.stdin.flush()

    @property
    def exit(self) -> str:
        """How the process has ended; empty where it runs."""
        status = self._process.returncode
        return "" if status is None else describe_exit(status)

    def finish(self) -> None:
        """Let the process end: there is nothing more to do for it."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdin = None  # communicate() would flush it

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):  # closed while it was read
            for line in self._process.stdout:
                self._received.put((self, line))
        self._received.put((self, b""))

    def end(self) -> None:
        """End the process and what its strategies have started, which may hold its output."""
        if self._process.returncode is None:
            signal_group(self._process.pid, KILL)
        self._process.communicate()


def _run(jobs: Sequence[Job], console: "Console", step: "Step") -> tuple[Problem, ...]:
    """Do the jobs, each in a process of its own; return what went wrong, in the jobs' order."""
    problems: dict[Problem, int] = {}
    compiled: set[str] = set()

    def report(problem: Problem, job: Job) -> None:
        if problem not in problems:
            console.print(str(problem), highlight=False, markup=False, soft_wrap=True)
        problems.setdefault(problem, jobs.index(job))

    with _one_at_a_time(lambda: step(0, _WAITING)), tempfile.TemporaryDirectory() as own:
        claims = Path(os.environ.get(CLAIMS_VARIABLE, own))
        waiting = [job for job in jobs if not _marker(_key(job)).exists()]
        for child, (kind, *data) in _messages(waiting, claims):
            if kind == "compiled":
                step(data[0] not in compiled, data[0])  # variants for other types do not count
                compiled.add(data[0])
            elif kind == "problem":
                report(Problem(*data), child.job)
                child.has_problem = True
            elif kind == "done":
                child.is_done = True
            elif not child.is_done and not child.has_problem:
                who = " + ".join(child.job.names) or "the table"
                text = "ended the process that prepares it, or kept it silent"
                report(Problem(who, text + cure_of_crash(child.exit)), child.job)
    return tuple(sorted(problems, key=lambda problem: problems[problem]))


def _messages(jobs: Sequence[Job], claims: Path) -> Iterator[tuple[_Child, list[Any]]]:
    """Yield what the jobs' processes report, and ``["end"]`` of each that has ended."""
    waiting = list(reversed(jobs))
    received: SimpleQueue[tuple[_Child, bytes]] = SimpleQueue()
    children: list[_Child] = []
    try:
        while waiting or children:
            while waiting and len(children) < _CHILDREN:
                children.append(_Child(waiting.pop(), claims, received))
            with contextlib.suppress(Empty):
                child, line = received.get(timeout=1.0)
                child.received_at_s = time.monotonic()
                if not line:
                    children.remove(child)
                    child.end()
                message = json.loads(line or b'["end"]')
                yield child, message
                if message == ["done"]:
                    _go_on(child, waiting)
            for child in children:
                if time.monotonic() - child.received_at_s > MOST_SILENT_S:
                    child.end()
    finally:
        for child in children:
            child.end()


def _go_on(child: _Child, waiting: list[Job]) -> None:
    """Give the child the next job, if both are of our own code only; else let it end."""
    if waiting and child.job.is_ours and waiting[-1].is_ours:
        child.start(waiting.pop())
    else:
        child.finish()


# --- the process that does it ------------------------------------------------------------------


def work() -> None:
    """Do the jobs of the lines of stdin and report, line by line, on what was our stdout."""
    escape_unencodable()  # prints of strategies
    gc.set_threshold(COLLECTED_OBJECTS, 1 << 30, 1 << 30)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    report = _reporter()
    while True:
        names, use = json.loads(jobs.get())
        job = Job(tuple(map(Spec.read, names)), use)
        worker = _Worker(job, report)
        share_compiling(Claims(Path(os.environ[CLAIMS_VARIABLE]), worker.count_waiting))
        if worker.run():
            _record_done(job)
        report("done")


def _read_jobs(jobs: "SimpleQueue[bytes]") -> None:
    """End the process when stdin ends: no job is left, or the process that started it has ended.

    At once: to take apart what was compiled would take a second.
    """
    for line in sys.stdin.buffer:
        jobs.put(line)
    os._exit(0)


def play_job(job: Job) -> None:
    """Do a job in this process: what it compiles is kept in the cache, and always the same.

    Raises ``StrategyError`` with what went wrong.
    """
    reported: list[tuple[object, ...]] = []
    if not _Worker(job, lambda *words: reported.append(words), by_clock=False).run():
        raise StrategyError(str(reported[-1][2]))


def _reporter() -> Callable[..., None]:
    conversation = os.dup(1)
    os.dup2(2, 1)

    def report(*words: object) -> None:
        try:
            os.write(conversation, json.dumps(words).encode() + b"\n")
        except OSError:  # no reader is left
            os._exit(1)

    return report


@contextlib.contextmanager
def _one_at_a_time(must_wait: Callable[[], None]) -> Iterator[None]:
    """Keep other preparations out, so that they find what this one compiles."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            _folder().mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((_folder() / ".lock").open("wb"))
            if not lock_file(lock):
                must_wait()
                lock_file(lock, wait=True)
        yield


def _record_done(job: Job) -> None:
    with contextlib.suppress(OSError):  # a full or read-only disk
        _marker(_key(job)).touch()


class _EnoughError(BaseException):
    """Nothing new has come up for a while."""


class _Worker:
    """Does one job."""

    def __init__(self, job: Job, report: Callable[..., None], *, by_clock: bool = True) -> None:
        self.job: Final = job
        self._report: Final = report
        self._by_clock: Final = by_clock
        self.is_users: Final = by_clock and not job.is_ours
        """Whether it runs a user's code, which decides as seldom as may be."""
        self._since_s = 0.0
        self._decisions = 0
        self._waits = 0
        self._alarm: Final = ProcessorAlarm(self._late)
        self._new_at_s = time.monotonic()
        self._compiles = False
        """Whether a user's strategy has compiled something in a decision."""
        self.is_deciding = False

    @cached_property
    def play_on(self) -> Callable[[View, Action], object]:
        """What plays a choice on in one world, as reviews do in many."""
        from mjbot.learning.playouts.worlds import Playouts, plan_of

        playouts = Playouts()
        return lambda view, choice: playouts.compare(view.state, view.seat, [plan_of(choice)], 1)

    def count_waiting(self) -> None:
        """Count that another process compiles what this one needs."""
        self._waits += 1

    def run(self) -> bool:
        """Return whether all went well; what did not was reported."""
        on_compiled.append(self._report_compiled)
        self._start_clock()
        over = threading.Event()
        threading.Thread(target=self._watch, args=(over,), daemon=True).start()
        try:
            self.play()
        except StrategyError as problem:
            return self._fail(str(problem), is_made=False)
        except (Exception, SystemExit) as problem:
            return self._fail(error_summary(problem, self._only_class()))
        finally:
            over.set()
            self._alarm.set(0.0)
            on_compiled.remove(self._report_compiled)
        return True

    def _only_class(self) -> type[Strategy] | None:
        """Return the class of the job's strategy, if it has one alone."""
        return strategy_class(self.job.specs[0].name) if len(self.job.specs) == 1 else None

    def _fail(self, text: str, is_made: bool = True) -> bool:
        self._report("problem", " + ".join(self.job.names), text, is_made)
        return False

    def _report_compiled(self, function: str) -> None:
        self._report("compiled", function)
        if not self.is_users or self.is_deciding:
            self._compiles |= self.is_deciding
            self._start_clock()

    def _start_clock(self) -> None:
        self._since_s, self._new_at_s = time.process_time(), time.monotonic()
        self._decisions = 0
        self._alarm.set(MOST_DECISION_S)

    def _late(self, *_: object) -> NoReturn:
        self._fail(f"no decision after {MOST_DECISION_S:g} s of processor time")
        os._exit(1)

    def _watch(self, over: threading.Event) -> None:
        """End the process if it only waits."""
        before_s, waits = time.process_time(), self._waits
        while not over.wait(IDLE_S):
            now_s = time.process_time()
            if now_s - before_s < _NOTHING_S and waits == self._waits:
                self._fail(f"waited for {IDLE_S:g} s and decided nothing")
                os._exit(1)
            before_s, waits = now_s, self._waits

    def may_go_on(self) -> None:
        """Raise :class:`_EnoughError` once nothing new has come up for a while."""
        self._alarm.set(MOST_DECISION_S)
        self._decisions += 1
        if self.is_users:
            most = QUIET_DECISIONS if self._compiles else 1
            is_enough = self._decisions > most or time.monotonic() - self._new_at_s > QUIET_S
        elif self._by_clock:
            is_enough = time.process_time() - self._since_s > ENOUGH_S
        else:
            is_enough = self._decisions > ENOUGH_DECISIONS
        if is_enough:
            raise _EnoughError

    def play(self) -> None:
        """Play the job's games; raises what its strategies raise."""
        with contextlib.suppress(_EnoughError):
            if self.job.use == "table":
                warm_up_referee()
            elif self.job.use == "arena":
                self._play_in_bulk()
            else:
                if self.job.is_ours:
                    for strategy in self._players()[1::2][: len(self.job.specs)]:  # not yet linked
                        warm_up_alone(_Watched(strategy, self))
                play_with_mirrors(self._watched(), Referee(SEED, "tonpu"))

    def _play_in_bulk(self) -> None:
        from mjbot.game.statistics.figures import count_kyoku, no_counts

        counts = no_counts()
        for game in range(BULK_GAMES):
            Referee(SEED + game).play(
                self._watched(),
                watch=lambda state, outcome, wins: count_kyoku(state, outcome, wins, counts),
            )

    def _watched(self) -> list["_Watched"]:
        is_alone = len(self.job.specs) == 1 and self.is_users
        players = [
            _Watched(strategy, self, is_asked=not is_alone or seat == 0)
            for seat, strategy in enumerate(self._players())
        ]
        for seat, player in enumerate(players):
            player.start_game(seat, NAMES)
        return players

    def _players(self) -> list[Strategy]:
        """Return four players; of a pair the first and the third are linked.

        A user's strategy is made once, and plays against players of ours.
        """
        specs = self.job.specs
        if len(specs) == 1 and self.is_users:
            return [specs[0].make(0), *[Spec("tsumogiri").make(seat) for seat in (1, 2, 3)]]
        players = [specs[seat // 2 % len(specs)].make(seat) for seat in range(4)]
        if len(specs) == 2:
            pair_up(players[0], players[2])
        return players


class _Trial(_Worker):
    """Plays a job's games for a moment, to estimate how long its decisions take interpreted."""

    def __init__(self, job: Job) -> None:
        super().__init__(job, lambda *_: None)

    def decision_s(self) -> tuple[float, bool]:
        """Return the processor time of a decision, and whether it takes even longer."""
        self._since_s = time.process_time()
        self._alarm.set(TRIAL_MOST_S)
        try:
            self.play()
        except Exception:  # the command meets it, too, and reports it
            return 0.0, False
        finally:
            self._alarm.set(0.0)
        taken_s = time.process_time() - self._since_s
        return taken_s / max(self._decisions, 1), self._decisions <= 1

    def _late(self, *_: object) -> NoReturn:
        raise _EnoughError

    def may_go_on(self) -> None:
        """Raise :class:`_EnoughError` after :data:`TRIAL_S`."""
        if time.process_time() - self._since_s > TRIAL_S:
            raise _EnoughError
        self._decisions += 1


def _report_durations(jobs: Sequence[Job], console: "Console") -> None:
    """Print a line for each job whose players need minutes for a game."""
    for job in jobs:
        decision_s, is_least = _Trial(job).decision_s() if job.specs and job.is_ours else (0.0, 0)
        minutes = decision_s * DECISIONS / 60
        if minutes >= 1:
            about = "more than" if is_least else "about"
            console.print(
                f"{' + '.join(job.names)}: interpreted, a decision takes {about} {decision_s:.1f} s"
                f" and a seat's hanchan {about} {minutes:.0f} min (to compile: {CURE})",
                highlight=False, markup=False, soft_wrap=True,
            )  # fmt: skip


class _Watched(Strategy):
    """A player whose choices are checked, and which the worker may stop."""

    def __init__(self, strategy: Strategy, worker: _Worker, *, is_asked: bool = True) -> None:
        self._strategy: Final = strategy
        self._worker: Final = worker
        self._is_asked: Final = is_asked
        self.decides = strategy.decides  # type: ignore[misc]
        self.start_game = strategy.start_game  # type: ignore[method-assign]
        self.start_kyoku = strategy.start_kyoku  # type: ignore[method-assign]

    def decide(self, view: View) -> Action:
        """Return what the strategy chooses; raises ``ValueError`` where that is not allowed."""
        if not self._is_asked:
            return self._strategy.decide(view)
        self._worker.may_go_on()
        self._worker.is_deciding = True
        try:
            return self._decided(view)
        finally:
            self._worker.is_deciding = False

    def _decided(self, view: View) -> Action:
        if self._worker.job.use in ("explain", "review"):
            self._strategy.explain(view)
        choice = self._strategy.decide(view)
        if self._worker.job.use == "review":
            self._worker.play_on(view, choice)
        if not is_legal(choice, view.codes):
            raise ValueError(no_choice(choice))
        return choice
