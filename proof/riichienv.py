"""Comparison with RiichiEnv: hanchan on equal walls with equal decisions, event by event.

Three games in four are ordinary; the fourth starts anywhere with a stacked kyoku.  All games of
three players are ordinary.  Each finished
batch is noted in a file, so that the proof can be interrupted and gone on with; batches of
other code do not count.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from mjbot.protocol.rules import Rules
from mjbot.runtime.processes import in_processes
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import progress
from proof.answers import Report
from proof.peer.lockstep import Lockstep
from proof.peer.plots import WRITERS

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = (
    "protocol",
    "mjbot/game/rules",
    "mjbot/game/table",
    "mjbot/game/referee",
    "proof/peer",
)
GAMES: Final = 10_000
BATCH: Final = 50
Batch = tuple[int, int, int]
"""First seed, number of games, and of players."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof riichienv``."""
    parser.add_argument("--games", type=int, default=GAMES, help="hanchan, by seeds from 0 on")
    parser.add_argument("--players", type=int, default=4, choices=(3, 4), help="at the table (4)")
    parser.add_argument("--jobs", type=int, default=worker_count(), help="processes")
    parser.add_argument(
        "--notes",
        type=Path,
        default=ROOT / "logs" / "runs" / "proof-riichienv.jsonl",
        help="file that remembers finished batches",
    )


def run(args: argparse.Namespace) -> int:
    """Play all games, print the report, return 1 if a difference is unexplained."""
    start = time.monotonic()
    report = prove(args.games, args.players, args.jobs, args.notes)
    for line in report.lines():
        print(line)
    print(f"{time.monotonic() - start:7,.0f} seconds in this run")
    return 1 if report.differences else 0


def prove(games: int, players: int, jobs: int, notes: Path) -> Report:
    """Play the games of seeds 0 .. ``games`` - 1, or what is left of them."""
    report = Report()
    code = code_digest()
    done = dict(_noted(notes, code))
    batches = [(start, min(BATCH, games - start), players) for start in range(0, games, BATCH)]
    for batch in batches:
        if batch in done:
            _add(report, done[batch])
    left = [batch for batch in batches if batch not in done]
    notes.parent.mkdir(parents=True, exist_ok=True)
    with (
        notes.open("a", encoding="utf-8") as file,
        progress(Console(stderr=True), "comparing", len(left), "batches") as step,
    ):
        for batch, outcome in zip(left, in_processes(play_batch, left, jobs), strict=True):
            file.write(json.dumps({"code": code, "batch": batch, **outcome}) + "\n")
            file.flush()
            _add(report, outcome)
            step()
    return report


def play_batch(batch: Batch) -> dict[str, Any]:
    """Play one batch and return its report as plain data."""
    report = Report()
    first, games, players = batch
    for seed in range(first, first + games):
        stacked = seed % 4 == 3 and players == 4
        writer = WRITERS[seed // 4 % len(WRITERS)] if stacked else None
        Lockstep(seed, report, writer, Rules(players=players)).play()
    return {
        "agreed": report.agreed,
        "explained": report.explained,
        "differences": report.differences,
    }


def code_digest() -> str:
    """Return a digest of all code whose change invalidates the kept results."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).glob("**/*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _noted(notes: Path, code: str) -> Iterator[tuple[Batch, dict[str, Any]]]:
    if not notes.exists():
        return
    for line in notes.read_text(encoding="utf-8").splitlines():
        noted = json.loads(line)
        if noted["code"] == code:
            yield tuple(noted["batch"]), noted


def _add(report: Report, outcome: dict[str, Any]) -> None:
    report.agreed.update(outcome["agreed"])
    report.explained.update(outcome["explained"])
    report.differences += outcome["differences"]
