"""``mjbot arena A B [C D]``: thousands of games on shared walls, and figures with intervals.

With ``--repro FILE``: one recorded decision, made again.
"""

import shlex
import sys
from bdb import BdbQuit
from dataclasses import replace
from pathlib import Path

import msgspec
from rich.console import Console

from mjbot.arena.protocol import (
    FixedProtocol,
    ProtocolCheck,
    deviations_of,
    fix_protocol,
    kept_protocol,
    look_deviations,
)
from mjbot.arena.report import text as t
from mjbot.arena.report.page import write_report
from mjbot.arena.repro import replay_decision
from mjbot.arena.run import Arena, ArenaPlan, RunOutcome
from mjbot.arena.run_folder import FIGURES_FILE, RECORDS_FOLDER, REPORT_FILE, erase_run
from mjbot.arena.runs import GamesProgress, games_progress, prepare_own
from mjbot.arena.setup import Setup
from mjbot.arena.workers.fault_files import read_fault
from mjbot.arena.workers.on_ray import RayPool
from mjbot.arena.workers.pool import WorkerError, WorkerPool
from mjbot.cli.arena_request import ArenaRequest, GivenProtocol, overridden, read_protocol
from mjbot.game.statistics.origin import Origin, origin_of
from mjbot.game.table.view import View
from mjbot.protocol.tiles import WIND_NAMES, tile_names
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.files import naming, plural
from mjbot.runtime.interruption import ending_at_once, stopping_between_steps
from mjbot.runtime.processors import worker_count
from mjbot.runtime.system import peak_memory_bytes


def run(request: ArenaRequest) -> int:
    """Play or resume a run and show its figures."""
    with ending_at_once():
        if request.repro is not None:
            return repeat(request.repro)
        given = read_protocol(request.protocol) if request.protocol else None
        plan = request.plan()
        if request.fresh:
            erase_run(plan.folder)
    return _play(plan, request, given)


def _play(plan: ArenaPlan, request: ArenaRequest, given: GivenProtocol | None) -> int:
    console = Console(stderr=request.json)
    with Arena(plan) as arena:
        if given is None:
            fixed = kept_protocol(plan.folder)
        else:
            fixed = fix_protocol(plan.folder, given.text, arena.games_kept)
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
        outcome = replace(outcome, protocol=_check_protocol(outcome, request, given, fixed))
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


def _check_protocol(
    outcome: RunOutcome,
    request: ArenaRequest,
    given: GivenProtocol | None,
    fixed: FixedProtocol | None,
) -> ProtocolCheck | None:
    """Return in which points the run deviates from its protocol; ``None`` without one."""
    if fixed is None:
        return None
    deviations = deviations_of(fixed, given and given.text)
    if given is not None:
        keys = given.keys
        deviations += overridden(request, keys)
        if len(outcome.void) > keys.most_void:
            walls = plural(len(outcome.void), "wall")
            deviations.append(f"{walls} void (most_void: {keys.most_void})")
        if not (outcome.is_complete or outcome.plan.until_sure):
            deviations += look_deviations(outcome.games, keys.games, keys.looks)
    return ProtocolCheck(protocol=fixed, deviations=tuple(deviations))


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
        _players(arena.plan, request, games) as pool,
        stopping_between_steps() as look,
    ):
        arena.play(pool, games.on_game, look)
    return f"processes lost: {pool.replaced}{_peak()}"


def _peak() -> str:
    """Report the peak memory of this process and of its children."""
    peaks = peak_memory_bytes()
    if peaks is None:
        return ""
    own, other = (peak / 2**20 for peak in peaks)
    return f"; at most {own:.0f} MB here, {other:.0f} MB in the largest process"


def _players(plan: ArenaPlan, request: ArenaRequest, games: GamesProgress) -> WorkerPool | RayPool:
    if request.on:
        return RayPool(plan.setup, request.on, request.jobs, plan.recording, games.note)
    return WorkerPool(
        plan.setup,
        request.jobs or worker_count(),
        recording=plan.recording,
        report=games.on_fault,
        terminal=request.terminal(),
    )


def _heading(arena: Arena, asked: int) -> str:
    plan = arena.plan
    per_wall = len(plan.setup.seating.tables)
    n_kept = min(arena.games_kept, arena.n_games)
    kept = f", {n_kept} of them kept from before" if n_kept else ""
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
    if outcome.protocol is not None:
        lines.append(str(outcome.protocol))
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
