"""``mjbot arena A B [C D]``: thousands of games on shared walls, and figures with intervals.

With ``--repro FILE``: one recorded decision, made again.
"""

import argparse
import contextlib
import os
import shlex
import sys
from bdb import BdbQuit
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console

from mjbot.arena.code_digest import code_digest
from mjbot.arena.report import text as t
from mjbot.arena.report.page import write_report
from mjbot.arena.repro import replay_decision
from mjbot.arena.run import Arena, ArenaPlan, RunOutcome
from mjbot.arena.run_folder import FIGURES_FILE, RECORDS_FOLDER, REPORT_FILE, erase_run
from mjbot.arena.runs import games_progress, prepare_own
from mjbot.arena.setup import RUNS, Draws, Setup, require_seed, usual_format
from mjbot.arena.workers.fault_files import read_fault
from mjbot.arena.workers.on_ray import LOCAL, PREFIX, RayPool, import_ray
from mjbot.arena.workers.playing import ReportFault
from mjbot.arena.workers.pool import WorkerError, WorkerPool
from mjbot.cli.arguments import (
    file_option,
    folder_option,
    jobs_option,
    json_option,
    length_option,
    rules_option,
    rules_with,
    seed_option,
    strategy,
)
from mjbot.game.statistics.figures import DEFAULT_UMA
from mjbot.game.statistics.origin import Origin, origin_of
from mjbot.game.statistics.seating import FORMATS, SeatingFormat
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.game.table.view import View
from mjbot.runtime.argument_types import count
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import naming, plural
from mjbot.runtime.interruption import ending_at_once, stopping_between_steps
from mjbot.runtime.requests import argument, option
from mjbot.strategy.registry import Spec
from protocol.rules import Length, Rules
from protocol.tiles import WIND_NAMES, tile_names

SHORTEST_DEADLINE_S = 0.01
LONGEST_DEADLINE_S = 86400.0
STRATEGIES = "NAME or NAME,KEY=VALUE,... (mjbot strategies lists them), or external:majiang"


def _deadline(text: str) -> float:
    try:
        deadline_s = float(text)
    except ValueError:
        deadline_s = -1.0
    if deadline_s and not SHORTEST_DEADLINE_S <= deadline_s <= LONGEST_DEADLINE_S:
        allowed = f"0 (none) or {SHORTEST_DEADLINE_S:g} to {LONGEST_DEADLINE_S:g} seconds"
        raise argparse.ArgumentTypeError(f"{text!r}: expected {allowed}")
    return deadline_s


def _uma(text: str) -> tuple[float, ...]:
    try:
        points = tuple([float(part) for part in text.split(",")])
    except ValueError:
        points = ()
    if len(points) != 4:
        expected = "expected four numbers, such as 20,10,-10,-20"
        raise argparse.ArgumentTypeError(f"{text!r}: {expected}")
    return points


@dataclass(frozen=True, kw_only=True)
class ArenaRequest:
    """What ``mjbot arena`` is asked for."""

    strategies: tuple[Spec, ...] = argument(
        STRATEGIES, nargs="*", type=strategy, metavar="STRATEGY"
    )
    repro: Path | None = file_option("repeat the decision that a fault's file records, and stop")
    format: SeatingFormat | None = option(
        None,
        "1v3: each against three of the last named; 2v2; pair: first two allied; each: all at"
        " one table (default: 2v2, 1v3 or each for two, three or four strategies)",
        choices=FORMATS,
    )
    games: int = option(1000, "number of games, rounded up to whole walls", type=count)
    length: Length | None = length_option()
    rules: Rules | None = rules_option()
    seed: int = seed_option()
    walls: Draws = option(
        "order",
        "pinned: a call does not shift what the others draw, as in duplicate play",
        choices=["order", "pinned"],
    )
    deadline_s: float = option(5.0, "time for a decision, in seconds; 0: none", type=_deadline)
    uma: tuple[float, ...] = option(
        ",".join([f"{points:g}" for points in DEFAULT_UMA]),
        "value of the four ranks, in thousands of points",
        type=_uma,
    )
    jobs: int | None = jobs_option()
    on: str | None = option(
        None, "Ray cluster: ray or ray://HOST:PORT (default: this machine)", metavar="PLACE"
    )
    until: str | None = option(
        None, "stop as soon as a sequential test of the first two is sure", choices=["sure"]
    )
    error: float = option(0.05, "error rate of the sequential test", type=float)
    margin: float = option(0.05, "rank difference that counts as none", type=float)
    out: Path | None = folder_option(f"folder of the run (default: one of its own in {RUNS})")
    record: bool = option(False, "keep every game as mjai lines in the run's folder")
    fresh: bool = option(False, "erase the run in that folder")
    json: bool = json_option()

    def plan(self) -> ArenaPlan:
        """Return the run.  Raises a one-line error if it cannot be played."""
        if len(self.strategies) < 2:
            raise ArgumentError("name two strategies or more (mjbot strategies lists them)")
        require_seed(self.seed)
        for name, share in (("error", self.error), ("margin", self.margin)):
            if not 0 < share < 1:
                raise ArgumentError(f"--{name} {share:g}: between 0 and 1")
        if self.on and self.on != LOCAL and not self.on.startswith(PREFIX):
            raise ArgumentError(f"--on {self.on}: expected ray or ray://HOST:PORT")
        if self.on:
            import_ray()
        rules = rules_with(self.rules, self.length)
        setup = Setup(
            strategies=tuple(map(str, self.strategies)),
            format=self.format or usual_format(len(self.strategies)),
            length=rules.length,
            rules=rules.differences,
            seed=self.seed,
            walls=self.walls,
            deadline_s=self.deadline_s,
            code=code_digest(self.strategies),
        )
        return ArenaPlan(
            setup=setup,
            n_walls=-(-self.games // len(setup.seating.tables)),
            folder=self.out or setup.usual_folder,
            rates=ErrorRates(self.error, self.margin),
            until_sure=self.until == "sure",
            uma=self.uma,
            recording=self.record,
        )

    def terminal(self) -> str:
        """Return the device in which a strategy may be debugged, empty if none.

        ``breakpoint()`` needs one process alone, and decisions that may take any time.
        """
        if self.jobs == 1 and not self.deadline_s and not self.on:
            with contextlib.suppress(OSError, AttributeError):  # no terminal; Windows
                return os.ttyname(0)
        return ""


def run(request: ArenaRequest) -> int:
    """Play or resume a run and show its figures."""
    with ending_at_once():
        if request.repro is not None:
            return repeat(request.repro)
        plan = request.plan()
        if request.fresh:
            erase_run(plan.folder)
    return _play(plan, request)


def _play(plan: ArenaPlan, request: ArenaRequest) -> int:
    console = Console(stderr=request.json)
    with Arena(plan) as arena:
        console.print(_heading(arena, request.games), highlight=False, soft_wrap=True)
        if arena.set_aside:
            console.print(arena.set_aside, highlight=False, markup=False, soft_wrap=True)
        interrupted, failure, processes = False, None, ""
        try:
            if not arena.is_over:
                processes = _play_missing(arena, request, console)
        except KeyboardInterrupt:
            interrupted = True
        except WorkerError as error:
            failure = WorkerError(f"{error}; kept: {plural(arena.accumulator.games, 'game')}")
        outcome = arena.outcome()
        kept = arena.accumulator.games
    save(outcome)
    if request.json:
        sys.stdout.buffer.write(_json_lines(outcome))
    show(console, outcome)
    if processes:
        console.print(processes, highlight=False)
    if interrupted:
        console.print(
            f"interrupted; kept: {plural(kept, 'game')}; run the same command to resume",
            highlight=False,
        )
        return ExitCode.INTERRUPTED
    if failure is not None:
        raise failure
    return ExitCode.FAILED if any(outcome.faults) or outcome.void else ExitCode.OK


def _play_missing(arena: Arena, request: ArenaRequest, console: Console) -> str:
    """Play what is left; return notes on the processes that did.

    Raises ``KeyboardInterrupt`` and :class:`WorkerError`.
    """
    if not request.on:
        with ending_at_once("mjbot arena"):
            prepare_own(arena.plan.setup, console)
    if request.terminal():  # a bar would write over the debugger
        console = Console(stderr=request.json, force_terminal=False)
    with (
        games_progress(console, arena) as games,
        _players(arena.plan, request, games.on_fault) as pool,
        stopping_between_steps() as look,
    ):
        arena.play(pool, games.on_game, look)
    return f"processes lost: {pool.replaced}{_peak()}"


def _peak() -> str:
    """Report the peak memory of this process and of its children."""
    try:
        import resource  # not on Windows
    except ImportError:
        return ""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    own, other = [resource.getrusage(process_type).ru_maxrss / unit for process_type in kinds]
    return f"; at most {own:.0f} MB here, {other:.0f} MB in the largest process"


def _players(plan: ArenaPlan, request: ArenaRequest, report: ReportFault) -> WorkerPool | RayPool:
    if request.on:
        return RayPool(plan.setup, request.on, request.jobs, plan.recording)
    return WorkerPool(
        plan.setup,
        request.jobs or os.cpu_count() or 1,
        recording=plan.recording,
        report=report,
        terminal=request.terminal(),
    )


def _heading(arena: Arena, asked: int) -> str:
    plan = arena.plan
    per_wall = len(plan.setup.seating.tables)
    kept = f", {arena.games_kept} of them kept from before" if arena.games_kept else ""
    rounded = f" (--games {asked}, rounded up to whole walls)" if asked < arena.n_games else ""
    draws = "pinned draws" if plan.setup.walls == "pinned" else "walls in order"
    return (
        f"{plural(arena.n_games, 'game')}{rounded}{kept}: {plural(plan.n_walls, 'wall')}"
        f" x {plural(per_wall, 'seating')}"
        f" ({plan.setup.format}), {plan.setup.game_rules}, seed {plan.setup.seed}, {draws};"
        f" in {plan.folder}\n{_open_hands(plan.setup)}"
    )


def _open_hands(setup: Setup) -> str:
    """Report which players see hidden hands; all other views are sealed."""
    if setup.seating.pairs:
        return "open hands: allies that share theirs, no other player"
    return "open hands: none, each sees its own and the table"


def save(outcome: RunOutcome) -> None:
    """Write the figures and the page into the run's folder."""
    if not len(outcome.rows):
        return
    folder = outcome.plan.folder
    with naming(folder / FIGURES_FILE):
        (folder / FIGURES_FILE).write_bytes(_json_lines(outcome))
    with naming(folder / REPORT_FILE):
        write_report(folder / REPORT_FILE, outcome, origin(outcome.plan))


def origin(plan: ArenaPlan) -> Origin:
    """Return the command of a run, the date and the commit of mjbot's checkout, if it is one."""
    setup = plan.setup
    command = ["mjbot", "arena", *map(shlex.quote, setup.strategies)]
    command += ["--format", setup.format, "--length", setup.length, "--seed", str(setup.seed)]
    command += ["--rules", str(setup.game_rules)] if setup.rules else []
    command += ["--games", str(plan.n_walls * len(setup.seating.tables))]
    command += ["--walls", setup.walls, "--deadline-s", f"{setup.deadline_s:g}"]
    command += ["--until", "sure"] if plan.until_sure else []
    return origin_of(command)


def show(console: Console, outcome: RunOutcome) -> None:
    """Print the tables, and notes on them."""
    lines = _show_figures(console, outcome) if len(outcome.rows) else []
    if not lines:
        lines.append("no wall is complete: no figures")
    lines.extend(t.trouble_lines(outcome))
    if outcome.plan.recording:
        lines.append(f"records: {outcome.plan.folder / RECORDS_FOLDER}")
    if len(outcome.rows):
        lines.append(f"page: {outcome.plan.folder / REPORT_FILE}")
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _show_figures(console: Console, outcome: RunOutcome) -> list[str]:
    setup = outcome.plan.setup
    console.print(t.figures_table(outcome))
    if len(setup.strategies) > 2:
        console.print(t.differences_table(outcome))
    if setup.seating.pairs:
        console.print(t.pairs_table(outcome))
    return [
        f"{plural(outcome.games, 'game')} on {plural(len(outcome.rows), 'wall')};"
        " ± is a 95 % interval clustered by wall",
        t.verdict_line(outcome),
        t.pairing_line(outcome),
    ]


def _json_lines(outcome: RunOutcome) -> bytes:
    return b"".join([msgspec.json.encode(record) + b"\n" for record in t.json_records(outcome)])


def repeat(path: Path) -> int:
    """Show the table and the decision; FAILED if it goes wrong again."""
    file = read_fault(path)
    print(f"{file.strategy}, seat {file.seat}, decision {file.decision} of game", end=" ")
    print(f"{file.setup.game_seed(file.game_id.wall)}: {file.kind}, {file.problem}")
    try:
        again = replay_decision(file, _announce)
    except BdbQuit:  # the user left the debugger
        return ExitCode.INTERRUPTED
    if not again.as_recorded:
        print("the game went another way this time: a new player decided on the recorded table")
    if again.trace:
        print(again.trace, end="")
        return ExitCode.FAILED
    limit = file.setup.deadline_s
    late = f", allowed are {limit:g} s" if limit and again.seconds > limit else ""
    print(f"chose {again.chosen} after {again.seconds:.3f} s{late}")
    allowed = again.chosen in [str(action) for action in again.view.legal]
    return ExitCode.OK if allowed and not late else ExitCode.FAILED


def _announce(view: View) -> None:
    wind = WIND_NAMES[view.round // 4]
    hand = " ".join(tile_names(view.tiles))
    print(f"{wind}{view.round % 4 + 1}-{view.honba}, {view.wall_left} tiles left; hand: {hand}")
    print(f"it may: {', '.join([str(action) for action in view.legal])}", flush=True)
