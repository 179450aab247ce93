"""What a match says of players whose strategies went wrong: their processes write it down."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from mjbot.client.faults import FAULTS_VARIABLE, Fault, read_faults
from mjbot.match.players import Player
from mjbot.match.processes import Child
from mjbot.records.wording import counted

MOST_TOLD: Final = 5
"""How many faults of one player are told while the match runs."""


def log_file(folder: Path, place: int) -> Path:
    """Return the file of what the player at ``place`` says."""
    return folder / f"player-{place + 1}.txt"


async def start_player(command: Sequence[str], player: Player, place: int, folder: Path) -> Child:
    """Start the process of a match's player, told where to write its faults.

    Raises ``OSError`` if it cannot be run.
    """
    faults = {FAULTS_VARIABLE: str(_faults_file(folder, place).absolute())}
    return await Child.start(command, log_file(folder, place), {**player.environ, **faults})


def fault_lines(folder: Path, players: Sequence[Player]) -> list[str]:
    """Return a line for each player of the match in ``folder`` whose strategy went wrong."""
    lines = []
    for place, player in enumerate(players):
        faults = read_faults(_faults_file(folder, place))
        if faults:
            where = log_file(folder, place)
            lines.append(f"player {place + 1}, {player.spec}: {_summary(faults)}; see {where}")
    return lines


class RunningFaults:
    """Tells of decisions that were replaced while a match runs, the first few of each player.

    ``note`` gets the lines.
    """

    def __init__(
        self, folder: Path, players: Sequence[Player], note: Callable[[str], None]
    ) -> None:
        self._files: Final = [_faults_file(folder, place) for place in range(len(players))]
        self._note: Final = note
        self._read: Final[Counter[int]] = Counter()
        self._told: Final[Counter[int]] = Counter()

    def news(self) -> Iterator[tuple[int, str]]:
        """Yield place and problem of what players of our own have written down since."""
        for place, file in enumerate(self._files):
            if self._told[place] < MOST_TOLD:
                faults = read_faults(file)
                new = faults[self._read[place] :]
                self._read[place] = len(faults)
                for fault in new:
                    what = "decision replaced" if fault.is_decision else "start missed"
                    yield place, f"{what}, {fault.kind}: {fault.problem}"

    def tell(self, place: int, line: str) -> None:
        """Pass on a line about a player, unless enough was told of it."""
        self._told[place] += 1
        if self._told[place] <= MOST_TOLD:
            last = "; more of this is only counted" if self._told[place] == MOST_TOLD else ""
            self._note(f"{line}{last}")


def _summary(faults: Sequence[Fault]) -> str:
    """Count the faults and tell the first.

    >>> _summary([Fault("crash", False, "KeyError: 3"), Fault("late", True, "no decision")])
    '1 decision replaced, 1 start of a game or kyoku missed, first: KeyError: 3'
    """
    decisions = sum(fault.is_decision for fault in faults)
    starts = len(faults) - decisions
    counts = [f"{counted(decisions, 'decision')} replaced"] if decisions else []
    if starts:
        counts.append(f"{counted(starts, 'start')} of a game or kyoku missed")
    return f"{', '.join(counts)}, first: {faults[0].problem}"


def _faults_file(folder: Path, place: int) -> Path:
    return folder / f"player-{place + 1}-faults.csv"
