"""What a match says of players whose strategies went wrong: their processes write it down."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from mjbot.client.faults import FAULTS_VARIABLE, Fault, read_faults
from mjbot.match.players import Player


def log_file(folder: Path, place: int) -> Path:
    """Return the file of what the player at ``place`` says."""
    return folder / f"player-{place + 1}.txt"


def environ_for_faults(folder: Path, place: int) -> Mapping[str, str]:
    """Return what tells a player's process where to write its faults."""
    return {FAULTS_VARIABLE: str(_faults_file(folder, place).absolute())}


def fault_lines(folder: Path, players: Sequence[Player]) -> list[str]:
    """Return a line for each player of the match in ``folder`` whose strategy went wrong."""
    lines = []
    for place, player in enumerate(players):
        faults = read_faults(_faults_file(folder, place))
        if faults:
            where = log_file(folder, place)
            lines.append(f"player {place + 1}, {player.spec}: {_summary(faults)}; see {where}")
    return lines


def _summary(faults: Sequence[Fault]) -> str:
    """Count the faults and tell the first.

    >>> _summary([Fault("crash", False, "KeyError: 3"), Fault("late", True, "no decision")])
    '1 decision replaced, 1 start of a game or kyoku missed, first: KeyError: 3'
    """
    decisions = sum(fault.is_decision for fault in faults)
    starts = len(faults) - decisions
    counts = [f"{decisions} decision{'s'[: decisions != 1]} replaced"] if decisions else []
    if starts:
        counts.append(f"{starts} start{'s'[: starts != 1]} of a game or kyoku missed")
    return f"{', '.join(counts)}, first: {faults[0].problem}"


def _faults_file(folder: Path, place: int) -> Path:
    return folder / f"player-{place + 1}-faults.csv"
