"""The players' processes: started, started anew for the next game, never left behind.

Each writes the faults of its strategy to a file, which the match reports.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mjbot.play.client.faults import FAULTS_VARIABLE, read_faults
from mjbot.play.match.players import MatchPlayer, own_deadline_s
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.files import plural
from mjbot.runtime.processes import ChildProcess, describe_exit, stop_all
from mjbot.strategy.faults import Fault

MOST_REPORTED: Final = 5
"""Number of faults of one player that are reported while the match runs."""


def log_file(folder: Path, place: int) -> Path:
    """Return the output file of the player at ``place``."""
    return folder / f"player-{place + 1}.txt"


async def start_player(
    command: Sequence[str], player: MatchPlayer, place: int, folder: Path
) -> ChildProcess:
    """Start the process of a match's player, with a file for its faults.

    Raises ``OSError`` if it cannot be run.
    """
    faults = {FAULTS_VARIABLE: str(_faults_file(folder, place).absolute())}
    return await ChildProcess.start(command, log_file(folder, place), {**player.environ, **faults})


def fault_lines(folder: Path, players: Sequence[MatchPlayer]) -> list[str]:
    """Return a line for each player of the match in ``folder`` whose strategy went wrong."""
    lines = []
    for place, player in enumerate(players):
        faults = read_faults(_faults_file(folder, place))
        if faults:
            where = log_file(folder, place)
            lines.append(f"player {place + 1}, {player.spec}: {_summary(faults)}; see {where}")
    return lines


class RunningFaults:
    """Reports replaced decisions while a match runs, the first few of each player.

    ``note`` gets the lines.
    """

    def __init__(
        self, folder: Path, players: Sequence[MatchPlayer], note: Callable[[str], None]
    ) -> None:
        self._files: Final = [_faults_file(folder, place) for place in range(len(players))]
        self._note: Final = note
        self._read: Final[Counter[int]] = Counter()
        self._n_reported: Final[Counter[int]] = Counter()

    def news(self) -> Iterator[tuple[int, str]]:
        """Yield place and problem of what players of our own have written down since."""
        for place, file in enumerate(self._files):
            if self._n_reported[place] < MOST_REPORTED:
                faults = read_faults(file)
                new = faults[self._read[place] :]
                self._read[place] = len(faults)
                for fault in new:
                    what = "decision replaced" if fault.decision else "start missed"
                    yield place, f"{what}, {fault.kind}: {fault.problem}"

    def report(self, place: int, line: str) -> None:
        """Pass on a line about a player, unless enough were reported."""
        self._n_reported[place] += 1
        if self._n_reported[place] <= MOST_REPORTED:
            last = (
                "; more of this is only counted" if self._n_reported[place] == MOST_REPORTED else ""
            )
            self._note(f"{line}{last}")


def _summary(faults: Sequence[Fault]) -> str:
    """Count the faults and quote the first.

    >>> faults = Fault("crash", 2, 0, "KeyError: 3"), Fault("late", 2, 7, "late")
    >>> _summary(faults)
    '1 decision replaced, 1 start of a game or kyoku missed, first: KeyError: 3'
    >>> _summary([Fault("absent", 2, 7, "no player there"), *faults])
    '2 decisions replaced (1 absent), 1 start of a game or kyoku missed, first: no player there'
    """
    decisions = sum(fault.decision > 0 for fault in faults)
    starts = len(faults) - decisions
    absent = sum(fault.kind == "absent" for fault in faults)
    counts = [f"{plural(decisions, 'decision')} replaced"] if decisions else []
    if counts and absent:
        counts[0] += f" ({absent} absent)"
    if starts:
        counts.append(f"{plural(starts, 'start')} of a game or kyoku missed")
    return f"{', '.join(counts)}, first: {faults[0].problem}"


def _faults_file(folder: Path, place: int) -> Path:
    return folder / f"player-{place + 1}-faults.csv"


class MatchError(MjbotError):
    """The match cannot continue; the text is one line with the player and the reason."""


MOST_CRASHES: Final = 2
"""How often in a row a player may die without having played, where deaths are put up with."""


@dataclass(frozen=True)
class RestartPolicy:
    """Restarts players that end, for the next game.

    ``goes_on``: the table plays their game to its end without them; else it is void, and
    a player that ends without having played ends the match at once.  ``started(place, pid)`` and
    ``note(text)`` are called.
    """

    goes_on: bool = False
    started: Callable[[int, int], None] = lambda place, pid: None
    note: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Lineup:
    """The players: ``urls`` are the players' places.

    ``timeout_s`` is how long the table waits for a reply.
    """

    players: Sequence[MatchPlayer]
    urls: Sequence[str]
    games: int
    timeout_s: float


class PlayerProcesses:
    """The players of a party, each in a process of its own; ``folder`` takes their output."""

    def __init__(self, lineup: Lineup, folder: Path, restart_policy: RestartPolicy) -> None:
        self._players: Final = tuple(lineup.players)
        self._urls: Final = tuple(lineup.urls)
        self._games: Final = lineup.games
        self._deadline_s: Final = own_deadline_s(lineup.timeout_s)
        self._folder: Final = folder
        self._restart_policy: Final = restart_policy
        self._children: dict[int, ChildProcess] = {}
        self._at_table: dict[int, ChildProcess] = {}
        self._games_over = 0
        self._seating: Sequence[int] = ()
        self._void = False
        self._reported_dead: set[ChildProcess] = set()
        self._between_games = asyncio.Event()
        self._between_games.set()

    def game_begins(self, seating: Sequence[int]) -> None:
        """Take note that all have sat down, ``seating`` the places by seat.

        A player that ends now is absent until the game is over.
        """
        self._seating = seating
        self._at_table = dict(self._children)
        self._void = False
        self._between_games.clear()

    def game_over(self, *, void: bool = False) -> None:
        """Take note that a game has ended: its players may leave, after a void one all players."""
        self._games_over += 1
        self._void = void
        self._between_games.set()

    async def run(self) -> None:
        """Keep all players going until the last game.

        Raises :class:`MatchError` when one dies that nothing is to be hoped of.
        """
        async with asyncio.TaskGroup() as group:
            for place in range(len(self._players)):
                group.create_task(self._keep_going(place))

    async def stop(self) -> None:
        """End every process and whatever it started."""
        await stop_all(self._children.values())

    def describe(self, place: int, game: int | None = None) -> str:
        """Name a player, where it sits in ``game``, and its last output."""
        return f"{self.name(place, game)}{self._last_output(place)}"

    def name(self, place: int, game: int | None = None) -> str:
        """Name a player, and where it sits in ``game``, the one that began last.

        The seat is the one that logs and complaints name.
        """
        seat = "" if game is None else f" (seat {self._seating.index(place)} in game {game + 1})"
        return f"player {place + 1}{seat}, {self._players[place].spec}"

    async def exit_reason(self, place: int, patience_s: float) -> str:
        """Return how the game's player ended; nothing if that was reported or it still runs.

        By now another process may have been started for the next game.
        """
        child = self._at_table[place]
        if child in self._reported_dead:
            return ""
        try:
            async with asyncio.timeout(patience_s):
                return describe_exit(await child.wait())
        except TimeoutError:
            return ""

    async def _keep_going(self, place: int) -> None:
        player = self._players[place]
        crashes = 0
        while self._games_over < self._games:
            games_before = self._games_over
            child = await self._start(place)
            status = await child.wait()
            played = self._games_over > games_before
            finished = self._games_over >= self._games
            if finished or (played and (self._void or not player.plays_on)):
                continue
            sits = not self._between_games.is_set()
            crashes = 0 if sits or played else crashes + 1
            name = self.describe(place, self._games_over if sits else None)
            text = f"{name}: {describe_exit(status)}"
            if crashes >= (MOST_CRASHES if self._restart_policy.goes_on else 1):
                raise MatchError(text)
            self._reported_dead.add(child)
            self._restart_policy.note(f"{text}; {self._consequence(sits)}")
            await self._between_games.wait()

    def _consequence(self, sits: bool) -> str:
        if not sits:
            return "it is started again"
        if not self._restart_policy.goes_on:
            return "its game is void at its next turn"
        more = self._games_over + 1 < self._games
        then = ", then it is started again" if more else ""
        return f"the table plays its hand until the game is over{then}"

    async def _start(self, place: int) -> ChildProcess:
        player = self._players[place]
        command = player.command(self._urls[place], self._games, self._deadline_s)
        try:
            child = await start_player(command, player, place, self._folder)
        except OSError as error:
            raise MatchError(f"player {place + 1}, {player.spec}: cannot run: {error}") from None
        self._children[place] = child
        self._restart_policy.started(place, child.pid)
        return child

    def _last_output(self, place: int) -> str:
        child = self._children.get(place)
        output = child.last_output() if child else ""
        return f' (its last output: "{output}")' if output else ""
