"""Proof on records: every Phoenix game through the strict table, and what the record adds.

With ``--players 3`` the games are those of three players (``sanma-hanchan.zip``), and each wall of
``walls.zip`` is dealt and played on by the referee as the record was (:mod:`proof.walls`).

The strict table refuses any action outside our legal set and any payment, score, round or end
of game that our rules do not give.  In addition each win is compared by Tenhou's yaku ids, fu,
han, limit, points and liable player, each dora marker by its moment, each draw by its kind and
tenpai list.

With ``--round-trips`` instead every game goes through both formats of Tenhou and back
(:mod:`proof.round_trips`).
"""

import argparse
import os
import sys
import time
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.game.records.game import Game, RecordError
from mjbot.game.records.sources import Source, games_of, list_sources
from mjbot.game.table.mirror.mirror import TableError
from mjbot.runtime.processes import in_processes
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import progress
from proof.ledger import LedgerError, PointsLedger
from proof.round_trips import RoundTripError, check_round_trips
from proof.walls import PLAYERS, WallError, Walls, check_walls, read_walls
from proof.witness import ContradictionError, Witness

ARCHIVES: Final = {4: ("hanchan-2024.zip", "hanchan-2020.zip"), 3: ("sanma-hanchan.zip",)}
FOLDERS: Final = {4: "phoenix", 3: "sanma"}
BATCH: Final = 25
MOST_SHOWN: Final = 20


@dataclass(frozen=True)
class Extras:
    """What is known of games besides their records: walls, and which are of 2009."""

    walls: Walls = field(default_factory=dict)
    older: frozenset[str] = frozenset()


@dataclass
class RecordFindings:
    """How often each thing was checked, and what did not hold."""

    checked: Counter[str] = field(default_factory=Counter)
    mismatches: list[str] = field(default_factory=list)

    def add(self, other: "RecordFindings") -> None:
        """Take over what another process found."""
        self.checked += other.checked
        self.mismatches += other.mismatches


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof records``."""
    parser.add_argument("--jobs", type=int, default=worker_count(), help="processes")
    parser.add_argument("--limit", type=int, default=None, help="only the first N games of each")
    parser.add_argument(
        "--round-trips",
        action="store_true",
        help="instead: write every game as mjlog and as tenhou.net/6 and read it again",
    )
    parser.add_argument("--data", type=Path, default=None, help="folder with the Phoenix zips")
    parser.add_argument("--players", type=int, choices=(3, 4), default=4, help="of the games")


def run(args: argparse.Namespace) -> int:
    """Check all games, print the table, return 1 if anything did not hold."""
    folder = args.data or shared_folder() / "data" / FOLDERS[args.players]
    try:
        sources = [
            source
            for archive in ARCHIVES[args.players]
            for source in list_sources(folder / archive)[: args.limit]
        ]
    except OSError as error:
        print(f"proof: {error.filename}: {error.strerror}; see --data", file=sys.stderr)
        return 3
    walls = read_walls(folder / "walls.zip") if args.players == PLAYERS else {}
    extras = Extras(walls, older_games(folder / ARCHIVES[args.players][0]))
    start = time.monotonic()
    findings = check_all(sources, args.jobs, round_trips=args.round_trips, extras=extras)
    print_table(findings, time.monotonic() - start)
    return 1 if findings.mismatches else 0


def older_games(archive: Path) -> frozenset[str]:
    """Return the members of an archive whose manifest dates them before tenpai-yame."""
    with zipfile.ZipFile(archive) as members:
        if "MANIFEST.tsv" not in members.namelist():
            return frozenset()
        rows = members.read("MANIFEST.tsv").decode().splitlines()
    return frozenset(row.split("\t")[0] for row in rows if row.split("\t")[3] == "2009")


def shared_folder() -> Path:
    """Return the shared folder: ``MJBOT_SHARED``, or ``shared`` next to the checkout."""
    folder = Path(__file__).resolve().parent.parent.parent / "shared"
    return Path(os.environ.get("MJBOT_SHARED") or folder)


def check_all(
    sources: list[Source], jobs: int, *, round_trips: bool = False, extras: Extras = Extras()
) -> RecordFindings:
    """Check the games of all sources in ``jobs`` processes."""
    batches = [sources[start : start + BATCH] for start in range(0, len(sources), BATCH)]
    total = RecordFindings()
    check = partial(check_batch, round_trips=round_trips, extras=extras)
    every = in_processes(check, batches, jobs)
    with progress(Console(stderr=True), "checking", len(sources), "games") as step:
        for batch, findings in zip(batches, every, strict=True):
            total.add(findings)
            step(len(batch), f"{len(total.mismatches)} mismatches")
    return total


def check_batch(
    sources: list[Source], *, round_trips: bool = False, extras: Extras = Extras()
) -> RecordFindings:
    """Check the games of some sources."""
    findings = RecordFindings()
    for source in sources:
        try:
            for game in games_of(source, players=(3, 4)):
                if round_trips:
                    check_round_trips(source, game, findings.checked)
                else:
                    check_game(game, findings, older=source.member in extras.older)
            if extras.walls and not round_trips:
                (game,) = games_of(source, players=(3, 4))
                check_walls(game, Path(source.member or "").stem, extras.walls, findings.checked)
        except RecordError as error:
            findings.mismatches.append(str(error))
        except (RoundTripError, WallError) as error:
            findings.mismatches.append(f"{source.name}: {error}")
    return findings


def check_game(game: Game, findings: RecordFindings, *, older: bool = False) -> None:
    """Check one game up to its first mismatch; ``older`` as in :class:`proof.witness.Witness`."""
    witness = Witness(findings.checked, older)
    ledger = PointsLedger()
    findings.checked["games"] += 1
    for entry in game.entries:
        try:
            ledger.apply(entry.event)
            witness.apply(entry)
        except (TableError, ContradictionError, LedgerError) as error:
            position = game.place(entry.number)
            findings.mismatches.append(f"{game.name}: {position}: {error}\n  {entry.event}")
            break
    findings.mismatches += map(str, game.hands.unreadable)
    findings.checked += ledger.counts


def print_table(findings: RecordFindings, seconds: float) -> None:
    """Print what was checked how often, then the mismatches."""
    for what, count in sorted(findings.checked.items()):
        print(f"{count:>12,}  {what}")
    print(f"{seconds:>12,.0f}  seconds")
    for mismatch in findings.mismatches[:MOST_SHOWN]:
        print(mismatch)
    print(f"{len(findings.mismatches):>12,}  mismatches")
