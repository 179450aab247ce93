"""What a process uses, and leaves behind: others that it started, logs and their state.

A process is recognised as one of ours by a variable of its environment, which its children
inherit: no change of group, session or parent loses it.
"""

import contextlib
import csv
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from mjbot.arena.run_folder import GAMES_FILE, read_games
from mjbot.game.records.evidence import ENDING, read_evidence
from mjbot.game.records.game import RecordError
from mjbot.game.records.replay import MismatchError, ReplaySummary, replay
from mjbot.game.records.sources import games_of, list_sources
from mjbot.runtime.append_log import LogError

PROC: Final = Path("/proc")
POLL_S: Final = 0.02
RECORDS: Final = (".mjson", ".jsonl.gz")
LINES: Final = (".mjson", ".jsonl", ".csv", ".ledger")
OUTPUT_SUFFIX: Final = ".txt"

Sample = dict[str, float]
"""What some processes use, by name and unit."""


def marked(variable: str, value: str) -> dict[int, str]:
    """Return the processes with that variable: their numbers and command lines."""
    wanted, found = f"{variable}={value}".encode(), {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    arguments = (folder / "cmdline").read_bytes().split(b"\0")
                    found[int(folder.name)] = (
                        b" ".join(arguments).decode("utf-8", "replace").strip()
                    )
    return found


def left_after(variable: str, value: str, until: float) -> dict[int, str]:
    """Return which marked processes are there at ``until`` (of the monotonic clock), if any."""
    while (found := marked(variable, value)) and time.monotonic() < until:
        time.sleep(POLL_S)
    return found


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler of its own for a signal."""
    with contextlib.suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "SigCgt":
                return bool(int(value, 16) >> (number - 1) & 1)
    return False


def used(name: str, pids: Sequence[int]) -> Sample:
    """Return the memory (MB), file handles and threads of some processes.

    Memory is what they have written (``Pss_Anon``): their share of mapped libraries goes up
    whenever another process that has these mapped ends.
    """
    memory = handles = threads = 0
    for pid in pids:
        folder = PROC / str(pid)
        with contextlib.suppress(OSError):  # it has just ended
            memory += _kilobytes(folder / "smaps_rollup", "Pss_Anon")
            handles += len(os.listdir(folder / "fd"))
            threads += _kilobytes(folder / "status", "Threads")
    found = {"MB": memory / 1024, "handles": handles, "threads": threads}
    return {f"{name} {unit}": float(value) for unit, value in found.items()}


def _kilobytes(file: Path, field_name: str) -> int:
    lines = file.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field_name}:"))


def damage(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the files below ``folder``, each named; a game may be unfinished."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            for problem in _damage_of(path):
                yield f"{path.relative_to(folder)}: {problem}"


def _damage_of(path: Path) -> Iterator[str]:
    name = path.name
    if name.endswith(".unfinished"):
        yield "a file that was not finished"
    if name.endswith(OUTPUT_SUFFIX) and "Traceback" in path.read_text("utf-8", "replace"):
        yield f"a traceback: {path.read_text('utf-8', 'replace').strip().splitlines()[-1]}"
    if name.endswith(LINES):
        yield from _torn_lines(path)
    try:
        if name.endswith(ENDING):
            list(read_evidence(path))
        elif name == GAMES_FILE:
            read_games(path.parent)
        elif name.endswith(RECORDS) and path.stat().st_size:
            replayed(path)
    except (MismatchError, RecordError, LogError, OSError) as error:
        yield str(error)


def _torn_lines(path: Path) -> Iterator[str]:
    text = path.read_bytes()
    if text and not text.endswith(b"\n"):
        yield f"the last line is torn: {text[-60:]!r}"
    if path.name.endswith(".csv"):
        rows = list(csv.reader(text.decode().splitlines()))
        if len({len(row) for row in rows}) > 1:
            yield "rows of different lengths"
        return
    for number, line in enumerate(text.splitlines(), 1):
        try:
            msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            yield f"line {number}: {error}"


def replayed(path: Path) -> ReplaySummary:
    """Hold every game of a record against the rules, as ``mjbot replay`` does.

    Raises :class:`MismatchError` and :class:`RecordError`.
    """
    summary = ReplaySummary()
    for source in list_sources(path):
        for game in games_of(source, players=(3, 4)):
            replay(game, summary)
    return summary


def replay_problems(log: Path) -> Iterator[str]:
    """Yield what a strict replay finds in the log of one game that ended by the rules."""
    try:
        summary = replayed(log)
    except (MismatchError, RecordError) as error:
        yield f"replay: {error}"
        return
    if (summary.games, summary.unfinished) != (1, 0):
        yield f"the log holds {summary}"


def lines_in(folder: Path) -> int:
    """Return how many lines of games have been written below ``folder``."""
    games = [path for path in folder.rglob("*.mjson")]
    count = sum(path.read_bytes().count(b"\n") for path in games)
    return count + sum(
        max(0, path.read_bytes().count(b"\n") - 1) for path in folder.rglob(GAMES_FILE)
    )


def end_all(variable: str, value: str) -> None:
    """Kill what is marked: a proof that fails must leave nothing, either."""
    for pid in marked(variable, value):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
