"""The lines of the ladder: a run of the arena each, in a folder of its own, and how it stands.

A line is one strategy in each seat of every wall against three of its opponent, and the opponent
against itself on the same walls.  The walls are the same for all lines, so that any two of them
are compared wall by wall.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from mjbot.arena.accumulator import WallAccumulator
from mjbot.arena.code_digest import code_digest
from mjbot.arena.decision_times import DecisionCost, decision_costs
from mjbot.arena.experiments import ExperimentContext, Run
from mjbot.arena.ladder.options import Options
from mjbot.arena.run_folder import GAMES_FILE, ResultsError, erase_run, read_run
from mjbot.arena.setup import Setup
from mjbot.arena.workers.files_read import FilesRead
from mjbot.game.statistics.figures import FIGURE_BY_KEY, WallSums
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec, built_in_names

SEATS: Final = 4
DEADLINE_S: Final = 120.0
"""An external AI that is late loses its seat; majiang took more than 30 s at a load of 27."""


@dataclass(frozen=True)
class LineStanding:
    """What is known of a line: ``rows`` and ``cost`` of its seat, of ``games`` that were asked for.

    ``walls`` has the numbers of the rows' walls.  ``is_opponent``: it is the opponent at a table of
    its own kind.  ``doubt``: why games of before do not count.
    """

    spec: Spec
    games: int
    walls: tuple[int, ...]
    rows: WallSums
    cost: DecisionCost
    faults: int = 0
    void: int = 0
    is_opponent: bool = False
    doubt: str = ""

    @property
    def played(self) -> int:
        """How many games count."""
        return len(self.rows) * SEATS

    @property
    def is_finished(self) -> bool:
        """Whether all was played that was asked for."""
        return (len(self.rows) + self.void) * SEATS >= self.games

    @property
    def rank(self) -> float:
        """The average rank, 4 if nothing is known."""
        return FIGURE_BY_KEY["rank"].estimate(self.rows).value if len(self.rows) else 4.0


@dataclass
class Ladder:
    """All lines of one request; ``problems`` has those that could not be run, and why."""

    request: ExperimentContext
    options: Options
    problems: list[str] = field(default_factory=list)
    _runs: dict[tuple[Spec, Spec], Run] = field(default_factory=dict)

    @cached_property
    def specs(self) -> tuple[Spec, ...]:
        """The strategies that can be run.  Raises ``StrategyError`` for a wrong name."""
        able = []
        for spec in self.options.lines:
            if self._games(spec) == 0:
                self.problems.append(f"`{spec}` is left out")
                continue
            try:
                code_digest([spec])
            except StrategyError as error:
                if not (spec.is_external or spec.name in built_in_names()) or spec.options:
                    raise
                self.problems.append(f"`{spec}` could not be run: {error}")
            else:
                able.append(spec)
        return tuple(sorted(able, key=lambda spec: str(spec) in self.options.games_of))

    def _games(self, spec: Spec) -> int:
        asked = self.options.games_of.get(str(spec), self.request.games)
        return -(-asked // SEATS) * SEATS

    def runs(self, specs: Iterable[Spec], opponent: Spec) -> list[Run]:
        """Return the runs of the lines against an opponent, whose own needs none."""
        pairs = [(spec, opponent) for spec in specs if spec != opponent]
        for pair in pairs:
            if pair not in self._runs:
                self._runs[pair] = self._new_run(*pair)
        return [self._runs[pair] for pair in pairs]

    def _new_run(self, spec: Spec, opponent: Spec) -> Run:
        names = (str(spec), str(opponent))
        setup = Setup(
            strategies=names,
            format="1v3",
            length=self.options.length,
            seed=self.request.seed,
            deadline_s=DEADLINE_S,
            code=code_digest((spec, opponent)),
        )
        label = f"{spec.label} against {opponent.label}"
        return Run(label, setup, self._games(spec) // SEATS, _folder(spec, opponent), timing=True)

    def refuse_other_code(self) -> None:
        """Erase the runs of other code if that was asked for.  Raises ``ResultsError`` if not."""
        for opponent in self.options.against:
            begun = [spec for spec in self.specs if self._is_begun(spec, opponent)]
            for run in self.runs(begun, opponent):
                folder = self.request.folder / run.folder
                try:
                    read_run(folder, run.setup)
                except ResultsError:
                    if not self.options.fresh:
                        raise
                    erase_run(folder)

    def _is_begun(self, spec: Spec, opponent: Spec) -> bool:
        return (self.request.folder / _folder(spec, opponent) / GAMES_FILE).exists()

    def standings(self, specs: Iterable[Spec], opponent: Spec) -> list[LineStanding]:
        """Return how the lines against an opponent stand, and the opponent itself; best first."""
        found: list[LineStanding] = []
        itself: LineStanding | None = None
        rivals = [spec for spec in specs if spec != opponent]
        for spec, run in zip(rivals, self.runs(rivals, opponent), strict=True):
            line, other = self._standing(spec, opponent, run)
            found.append(line)
            if itself is None or len(other.rows) > len(itself.rows):
                itself = other
        return sorted([*found, *([itself] if itself else [])], key=lambda line: line.rank)

    def _standing(self, spec: Spec, opponent: Spec, run: Run) -> tuple[LineStanding, LineStanding]:
        folder, games = self.request.folder / run.folder, run.n_walls * SEATS
        walls = WallAccumulator(run.setup.seating)
        lines = [line for line in read_run(folder, run.setup) if line.wall < run.n_walls]
        if doubt := FilesRead(folder).doubt(bool(lines)):
            lines = []
        for line in lines:
            walls.add(line)
        numbers = tuple([n for n in range(run.n_walls) if walls.row(n) is not None])
        rows = walls.rows(run.n_walls)
        faults = walls.faults_of(run.n_walls)
        costs = decision_costs(lines, run.setup.seating)
        void = len(walls.void)
        mine, theirs = [
            LineStanding(
                player, games, numbers, rows[:, k], costs[k], faults[k], void, k == 1, doubt
            )
            for k, player in enumerate((spec, opponent))
        ]
        return mine, theirs


def _folder(spec: Spec, opponent: Spec) -> str:
    """Return where a line's run lies inside the ladder's folder."""
    return "/".join(["strength", *[_file_name(str(each)) for each in (opponent, spec)]])


def _file_name(text: str) -> str:
    """Return a text as the name of a folder.

    >>> _file_name("my/bot.py:MyBot,luck=3")
    'my-bot.py-MyBot,luck=3'
    """
    return re.sub(r"[^\w.,=+-]+", "-", text).strip("-.")
