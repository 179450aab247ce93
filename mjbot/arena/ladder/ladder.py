"""A ladder: every strategy against copies of one opponent, the strongest few of others, too.

A line is one strategy in each seat of every wall against three (of three players two) of its
opponent, and the opponent against itself on the same walls.  Each line is a run of the arena in a
folder of its own, on the same walls as all others, so that any two of them are compared wall by
wall.  What is played stays played: the same command resumes, with other lines, more games or more
opponents as well; runs of other code are refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from mjbot.arena.accumulator import WallAccumulator
from mjbot.arena.code_digest import code_digest
from mjbot.arena.decision_times import DecisionCost, decision_costs
from mjbot.arena.run import RunOutcome
from mjbot.arena.run_folder import GAMES_FILE, ResultsError, erase_run, read_run
from mjbot.arena.runs import Run
from mjbot.arena.setup import Setup, require_seed
from mjbot.arena.workers.files_read import FilesRead
from mjbot.game.statistics.figures import FIGURE_BY_KEY, WallSums
from mjbot.game.statistics.seating import ONE_AGAINST
from mjbot.protocol.rules import LAST_ROUND, Length, Rules
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import safe_name
from mjbot.runtime.requests import option
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec, built_in_names, strategy_info

AGAINST: Final = {
    3: ("fold-recognition-plus", "fast-riichi-a", "fast-policy"),
    4: ("fold-recognition-plus", "fast-riichi-a", "supervised"),
}
"""Number of players -> the usual opponents."""
FOLDERS: Final = {3: "strength-three-players", 4: "strength"}
"""Number of players -> the folder of all lines."""
DEADLINE_S: Final = 120.0
"""An external AI that is late loses its seat; majiang took more than 30 s at a load of 27."""


def _names_option(help_: str) -> Any:
    return option((), help_, nargs="+", metavar="NAME,KEY=VALUE")


@dataclass(frozen=True, kw_only=True)
class LadderPlan:
    """What is played: ``games`` of each line, those of ``games_of`` aside, and who plays.

    With ``show`` nothing is played; with ``fresh`` runs of other code are erased.
    """

    games: int = option(2000, "number of games of a line, rounded up to whole walls", type=int)
    players: int = option(4, "number of players", type=int, choices=[*AGAINST])
    seed: int = option(2021, "random seed of the walls", type=int)
    lines: tuple[str, ...] = _names_option("strategies to measure (default: all of strategies/)")
    also: tuple[str, ...] = _names_option("further strategies, such as external:majiang")
    against: tuple[str, ...] = _names_option(
        "copies of the first are everybody's opponents, copies of each other one those of the"
        f" strongest few (default: {' '.join(AGAINST[4])}; of three players the last is"
        f" {AGAINST[3][-1]})"
    )
    strongest: int = option(4, "number of these few", type=int, metavar="N")
    games_of: tuple[str, ...] = option(
        (),
        "other games than --games for some lines; 0 leaves one out",
        action="extend",
        nargs="+",
        metavar="NAME,KEY=VALUE=GAMES",
    )
    length: Length = option("hanchan", "length of a game", choices=list(LAST_ROUND))
    show: bool = option(False, "play nothing, report what has been played", shown=False)
    fresh: bool = option(False, "erase runs of other code, seed or length", shown=False)
    records: Path | None = option(
        None, "people's games, to list (default: none)", type=Path, metavar="FILE"
    )
    report: Path | None = option(
        None,
        "file for the tables, which are also printed",
        type=Path,
        metavar="FILE",
        writes=(),
        shown=False,
    )

    def __post_init__(self) -> None:
        require_seed(self.seed)
        for name, least in (("games", 1), ("strongest", 0)):
            if (value := getattr(self, name)) < least:
                raise ArgumentError(f"--{name} {value}: at least {least}")

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The strategies to measure: without ``lines`` all of ours for so many players.

        Raises ``StrategyError``.
        """
        ours = [] if self.lines else map(strategy_info, built_in_names())
        able = [each.name for each in ours if each.problem or self.players in each.players]
        return tuple(dict.fromkeys([*map(Spec.read, able), *self.named]))

    @property
    def named(self) -> tuple[Spec, ...]:
        """Those of them that the user named.  Raises ``StrategyError``."""
        return _unique([*self.lines, *self.also])

    @property
    def opponents(self) -> tuple[Spec, ...]:
        """Everybody's opponent, and further ones for the strongest few."""
        return _unique(self.against or AGAINST[self.players])

    @cached_property
    def games_by_line(self) -> dict[str, int]:
        """The games of the lines that ``games_of`` names.  Raises ``ArgumentError``."""
        games_by_line = {}
        for text in self.games_of:
            name, _, games = text.rpartition("=")
            if not name or not games.isdecimal():
                raise ArgumentError(f"--games-of {text}: expected NAME=GAMES")
            try:
                spec = Spec.read(name)
            except StrategyError as error:
                raise ArgumentError(f"--games-of {name}: {error}") from None
            if spec not in self.specs:
                raise ArgumentError(f"--games-of {text}: {spec} is none of the lines")
            games_by_line[str(spec)] = int(games)
        return games_by_line

    def walls_of(self, spec: Spec) -> int:
        """Return how many walls a line is played on."""
        return -(-self.games_by_line.get(str(spec), self.games) // self.players)


def _unique(names: Iterable[str]) -> tuple[Spec, ...]:
    return tuple(dict.fromkeys(map(Spec.read, names)))


@dataclass(frozen=True)
class LineStanding:
    """What is known of a line: ``rows`` and ``cost`` of its seat, of ``games`` that were asked for.

    ``walls`` has the numbers of the rows' walls, each of as many games as ``players``.
    ``is_opponent``: it is the opponent at a table of its own kind.  ``doubt``: why games of before
    do not count.
    """

    spec: Spec
    players: int
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
        return len(self.rows) * self.players

    @property
    def is_finished(self) -> bool:
        """Whether all was played that was asked for."""
        return (len(self.rows) + self.void) * self.players >= self.games

    @property
    def rank(self) -> float:
        """The average rank, the last one if nothing is known."""
        return FIGURE_BY_KEY["rank"].estimate(self.rows).value if len(self.rows) else self.players


@dataclass
class Ladder:
    """All lines of a plan, with their runs in ``folder``.

    ``problems`` has a sentence for each line that could not be run.
    """

    plan: LadderPlan
    folder: Path
    problems: list[str] = field(default_factory=list)
    _runs: dict[tuple[Spec, Spec], Run] = field(default_factory=dict)

    def play(self, play: Callable[[Sequence[Run]], Iterator[RunOutcome]]) -> Iterator[None]:
        """Play what is missing; yields after each line."""
        for number, opponent in enumerate(self.plan.opponents):
            specs = self.specs if number == 0 else self.strongest()
            for _ in play(self.runs(specs, opponent)):
                yield

    @cached_property
    def specs(self) -> tuple[Spec, ...]:
        """The strategies that can be run.  Raises ``StrategyError`` for one that was named."""
        able = []
        for spec in self.plan.specs:
            if self.plan.walls_of(spec) == 0:
                self.problems.append(f"`{spec}` is left out")
                continue
            try:
                code_digest([spec], self.plan.players)
            except StrategyError as error:
                if spec in self.plan.named:
                    raise
                self.problems.append(f"`{spec}` could not be run: {error}")
            else:
                able.append(spec)
        return tuple(sorted(able, key=lambda spec: str(spec) in self.plan.games_by_line))

    def strongest(self) -> tuple[Spec, ...]:
        """Return the few with the best ranks against everybody's opponent, itself included."""
        known = [standing for standing in self.against_first() if len(standing.rows)]
        return tuple([standing.spec for standing in known[: self.plan.strongest]])

    def against_first(self) -> list[LineStanding]:
        """Return how all lines stand against everybody's opponent; best first."""
        return self.standings(self.specs, self.plan.opponents[0])

    def runs(self, specs: Iterable[Spec], opponent: Spec) -> list[Run]:
        """Return the runs of the lines against an opponent, whose own needs none."""
        pairs = [(spec, opponent) for spec in specs if spec != opponent]
        for pair in pairs:
            if pair not in self._runs:
                self._runs[pair] = self._new_run(*pair)
        return [self._runs[pair] for pair in pairs]

    def _new_run(self, spec: Spec, opponent: Spec) -> Run:
        players = self.plan.players
        setup = Setup(
            strategies=(str(spec), str(opponent)),
            format=ONE_AGAINST[players],
            length=self.plan.length,
            rules=Rules(players=players).differences,
            seed=self.plan.seed,
            deadline_s=DEADLINE_S,
            code=code_digest((spec, opponent), players),
        )
        label = f"{spec.label} against {opponent.label}"
        folder = self._folder_of(spec, opponent)
        return Run(label, setup, self.plan.walls_of(spec), folder, timing=True)

    def _folder_of(self, spec: Spec, opponent: Spec) -> str:
        """Return where a line's run lies inside the ladder's folder."""
        names = [_file_name(str(each)) for each in (opponent, spec)]
        return "/".join([FOLDERS[self.plan.players], *names])

    def refuse_other_code(self) -> None:
        """Erase the runs of other code if that was asked for.  Raises ``ResultsError`` if not."""
        for opponent in self.plan.opponents:
            begun = [
                spec
                for spec in self.specs
                if (self.folder / self._folder_of(spec, opponent) / GAMES_FILE).exists()
            ]
            for run in self.runs(begun, opponent):
                try:
                    read_run(self.folder / run.folder, run.setup)
                except ResultsError:
                    if not self.plan.fresh:
                        raise
                    erase_run(self.folder / run.folder)

    def standings(self, specs: Iterable[Spec], opponent: Spec) -> list[LineStanding]:
        """Return how the lines against an opponent stand, and the opponent itself; best first."""
        lines: list[LineStanding] = []
        itself: LineStanding | None = None
        rivals = [spec for spec in specs if spec != opponent]
        for spec, run in zip(rivals, self.runs(rivals, opponent), strict=True):
            standing, other = self._standing(spec, opponent, run)
            lines.append(standing)
            if itself is None or len(other.rows) > len(itself.rows):
                itself = other
        return sorted([*lines, *([itself] if itself else [])], key=lambda standing: standing.rank)

    def _standing(self, spec: Spec, opponent: Spec, run: Run) -> tuple[LineStanding, LineStanding]:
        folder = self.folder / run.folder
        walls = WallAccumulator(run.setup.seating, rules=run.setup.game_rules)
        games = [game for game in read_run(folder, run.setup) if game.wall < run.n_walls]
        if doubt := FilesRead(folder).doubt(bool(games)):
            games = []
        for game in games:
            walls.add(game)
        numbers = tuple([n for n in range(run.n_walls) if walls.row(n) is not None])
        rows = walls.rows(run.n_walls)
        faults = walls.faults_of(run.n_walls)
        costs = decision_costs(games, run.setup.seating)
        mine, theirs = [
            LineStanding(
                spec=player,
                players=self.plan.players,
                games=run.n_walls * self.plan.players,
                walls=numbers,
                rows=rows[:, k],
                cost=costs[k],
                faults=faults[k],
                void=len(walls.void),
                is_opponent=k == 1,
                doubt=doubt,
            )
            for k, player in enumerate((spec, opponent))
        ]
        return mine, theirs


def _file_name(text: str) -> str:
    """Return a text as the name of a folder.

    >>> _file_name("my/bot.py:MyBot,luck=3")
    'my-bot.py-MyBot,luck=3'
    """
    return safe_name(re.sub(r"[^\w.,=+-]+", "-", text).strip("-."))
