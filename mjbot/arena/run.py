"""A whole run: which games, in which order, until when, and what came of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from numpy.typing import NDArray

from mjbot.arena.accumulator import WallAccumulator
from mjbot.arena.protocol import PROTOCOL_FILE, ProtocolCheck
from mjbot.arena.run_folder import (
    FIGURES_FILE,
    GAMES_FILE,
    RECORDS_FOLDER,
    REPORT_FILE,
    Results,
    record_path,
    save_record,
)
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.stop_rule import SequentialTester
from mjbot.arena.workers.fault_files import FAULT_FOLDER, save_faults
from mjbot.arena.workers.files_read import FILES_COPY, FILES_FILE, ChangedError, FilesRead
from mjbot.arena.workers.playing import PlayedGame
from mjbot.arena.workers.pool import WorkerError
from mjbot.game.statistics.figures import Figure, figures_of
from mjbot.game.statistics.sequential import ErrorRates, TestOutcome
from mjbot.runtime.files import plural

MOST_VOID: Final = 10
"""After so many void games the run ends, unless they were fewer than one in ten."""


@dataclass(frozen=True, kw_only=True)
class ArenaPlan:
    """What to do: at most ``n_walls`` walls, or until the test with these ``rates`` is sure.

    ``uma`` has the bonus of each rank, in thousands of points (``None``: that of Tenhou).  With
    ``recording`` the folder also gets a record of every game.
    """

    setup: Setup
    n_walls: int
    folder: Path
    rates: ErrorRates
    until_sure: bool = False
    uma: tuple[float, ...] | None = None
    recording: bool = False


class GameBackend(Protocol):
    """Plays the games: processes here, or machines elsewhere."""

    def play(
        self, game_ids: Iterable[GameId], look: Callable[[], None] = ...
    ) -> Iterator[PlayedGame]:
        """Play the games and return each as soon as it is finished, in whatever order.

        ``look`` is called every second or oftener, and ends it by raising something.
        """


@dataclass(frozen=True)
class RunOutcome:
    """What is known at the end, from the first ``n_walls`` walls.

    ``rows`` and ``pairs`` have the sums of every complete wall
    (:mod:`mjbot.game.statistics.figures`). ``verdict`` is that of the sequential test on the first
    strategy against the second, after ``test_walls`` walls.  ``faults`` counts the decisions of
    each strategy that were replaced, ``void`` has the reason why a wall does not count.
    """

    plan: ArenaPlan
    rows: NDArray[Any]
    pairs: NDArray[Any]
    games: int
    n_walls: int
    verdict: TestOutcome
    test_walls: int
    faults: tuple[int, ...]
    void: dict[int, str]
    protocol: ProtocolCheck | None = None

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of these games."""
        return figures_of(self.plan.setup.game_rules.players)

    @property
    def is_complete(self) -> bool:
        """Whether every wall that was to be played has been."""
        return len(self.rows) + len(self.void) == self.n_walls


class Arena:
    """One run and its file; use it as a context manager.

    Raises :class:`~mjbot.arena.run_folder.ResultsError` when the folder holds another run.
    """

    def __init__(self, plan: ArenaPlan) -> None:
        self.plan: Final = plan
        self.accumulator: Final = WallAccumulator(
            plan.setup.seating, plan.uma, plan.setup.game_rules
        )
        self._results = Results(plan.folder, plan.setup)
        self._files = FilesRead(plan.folder)
        self.set_aside: Final = self._set_aside()
        """What was done with earlier games, or what they depend on, in a line for the user."""

        for line in self._results.lines:
            self.accumulator.add(line)
        self._results.lines.clear()
        self.games_kept: Final = self.accumulator.games
        self._tester: Final = SequentialTester(self.accumulator, plan.rates)

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *_: object) -> None:
        self._results.close()

    @property
    def n_games(self) -> int:
        """How many games the plan has at most."""
        return self.plan.n_walls * len(self.plan.setup.seating.tables)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to play."""
        return self._is_sure() or next(self._missing(), None) is None

    def play(
        self,
        players: GameBackend,
        on_game: Callable[[PlayedGame], None],
        look: Callable[[], None] = lambda: None,
    ) -> None:
        """Play what is missing.  Every game is in the file before ``on_game`` receives it.

        Raises what ``look`` raises, which is called every second or oftener, and
        :class:`~mjbot.arena.workers.pool.WorkerError` if game after game is void.
        """
        void = games = 0
        for played in players.play(self._missing(), look):
            if played.record:
                save_record(self.plan.folder, played.line.game_id, played.record)
            if self.accumulator.has(played.line.wall, played.line.seating):
                continue  # played again for its record only
            self._note_files(played)
            save_faults(self.plan.folder, self.plan.setup, played.line.game_id, played.faults)
            self._results.append(played.line)
            self.accumulator.add(played.line)
            on_game(played)
            games += 1
            void += bool(played.line.void)
            if void >= MOST_VOID and 10 * void > games:
                raise WorkerError(f"{void} of {games} games are void: {played.line.void}")
            if self._is_sure():
                return

    def outcome(self) -> RunOutcome:
        """Return the outcome so far; it does not depend on the order in which games finish."""
        self._tester.look(self.plan.n_walls)
        decided = self.plan.until_sure and self._tester.verdict != "open"
        n_walls = self._tester.walls if decided else self.plan.n_walls
        rows = self.accumulator.rows(n_walls)
        return RunOutcome(
            plan=self.plan,
            rows=rows,
            pairs=self.accumulator.pairs(n_walls),
            games=len(rows) * len(self.plan.setup.seating.tables),
            n_walls=n_walls,
            verdict=self._tester.verdict,
            test_walls=self._tester.walls,
            faults=self.accumulator.faults_of(n_walls),
            void={wall: why for wall, why in self.accumulator.void.items() if wall < n_walls},
        )

    def _note_files(self, played: PlayedGame) -> None:
        try:
            self._files.add(played.files)
        except ChangedError as error:
            raise WorkerError(f"{error}: the same command starts again") from None

    def _set_aside(self) -> str:
        """Move the games of other files out of the way, and begin anew."""
        games = len(self._results.lines)
        if not (doubt := self._files.doubt(bool(games))):
            return self._files.mend() if games else ""
        self._results.close()
        target = set_aside(self.plan.folder)
        self._results = Results(self.plan.folder, self.plan.setup)
        self._files = FilesRead(self.plan.folder)
        if not games:
            return ""
        return f"{doubt}: played anew; {plural(games, 'game')} of before: {target}"

    def _is_sure(self) -> bool:
        return self.plan.until_sure and self._tester.look(self.plan.n_walls)

    def _missing(self) -> Iterator[GameId]:
        for wall in range(self.plan.n_walls):
            for seating in range(len(self.plan.setup.seating.tables)):
                game_id = GameId(wall, seating)
                if not self.accumulator.has(wall, seating) or self._lacks_record(game_id):
                    yield game_id

    def _lacks_record(self, game_id: GameId) -> bool:
        if not self.plan.recording or game_id.wall in self.accumulator.void:
            return False
        path = record_path(self.plan.folder, game_id)
        return not path.exists() or not path.stat().st_size  # empty: the power failed


def set_aside(folder: Path) -> Path:
    """Move what a run has left in its folder into one of its own inside; return that."""
    files = (GAMES_FILE, FILES_FILE, FILES_COPY, FIGURES_FILE, REPORT_FILE, PROTOCOL_FILE)
    names = (*files, FAULT_FOLDER, RECORDS_FOLDER)
    number = 1
    while (target := folder / f"earlier-{number}").exists():
        number += 1
    target.mkdir()
    for name in names:
        if (folder / name).exists():
            (folder / name).rename(target / name)
    return target
