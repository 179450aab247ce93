"""Recorded games as rows of counts, from a pool of processes, a few files of games at a time.

A game is a row of :data:`FIELDS` per seat, with the names, the day and the length.  All
formats of :mod:`mjbot.game.records` are read, and the folders of arena runs, whose games are
counted already (their records are not read again).  What a record leaves out is derived: the points
of a win from its payments, the final scores from all payments and the riichi sticks that are left.
"""

import datetime
import hashlib
import os
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from mjbot.arena.run_folder import GAMES_FILE, GameLine, ResultsHeader, read_games
from mjbot.arena.setup import Setup, labels
from mjbot.game.records.dates import day_of, moment_of_id
from mjbot.game.records.game import (
    EmptyRecordError,
    Game,
    GameDigester,
    GameIdentity,
    HandProblem,
    RecordError,
    hand_problems,
)
from mjbot.game.records.sources import RUNS_FOLDER, Source, games_of, join_hands, list_sources
from mjbot.game.statistics.figures import COLUMNS, EventCounter, as_rows, uma_points
from mjbot.game.table.settle import ranks_of
from mjbot.protocol import messages as m
from mjbot.protocol.errors import NOT_JSON
from mjbot.protocol.rules import LAST_ROUND, RANKED, Rules, announced_players, last_round
from mjbot.protocol.seats import by_seat
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.languages import marked
from mjbot.runtime.processes import in_processes

GAME_FIELDS: Final = ("games", "rank", "first", "second", "third", "fourth", "score", "uma")
_KEPT: Final = tuple(name for name in COLUMNS if not name.startswith("fed_"))
FIELDS: Final = (*GAME_FIELDS, *_KEPT, "tsumo")
"""The columns of a row; those of a game are 0 if it did not end.  ``uma`` is in thousands."""

_UMA: Final = FIELDS.index("uma")
UNKNOWN: Final = marked("unknown")
LENGTHS: Final = tuple(LAST_ROUND)
NO_LENGTH: Final = "unknown length"
LONGEST_NAME: Final = 100
"""Letters of a name that count: those of servers are shorter, and to look for a version in a name
may take the square of its length."""

FILES_PER_TASK: Final = 32
GAMES_PER_BATCH: Final = 512
MOST_STRIPED: Final = 8
"""With fewer files than this the games of each are shared among the processes."""

_EMPTY: Final = dict.fromkeys(GAME_FIELDS, 0)

CountRow = tuple[float, ...]


class BreakdownRows(NamedTuple):
    """One game: ``rows`` of :data:`FIELDS` by seat, as many as players.

    ``played`` is ``2026-11-24T21:03:12`` as far as it is known; ``length`` is ``tonpu``,
    ``hanchan``, or empty where nothing shows it; ``rules`` is what differs from the default ones,
    as a command line takes it.  ``kyoku`` counts those with a result, ``no_result`` the others.
    Games of one ``wall`` share their luck; empty: a record, of which no other game does.
    """

    names: tuple[str, ...]
    rows: tuple[CountRow, ...]
    played: str
    length: str
    rules: str
    kyoku: int
    ranks: tuple[int, ...]
    identity: GameIdentity
    wall: str = ""
    no_result: int = 0

    @property
    def day(self) -> str:
        """The day, ``2026-11-24``, or empty."""
        return self.played[:10]

    @property
    def rule_set(self) -> str:
        """The length and the rules: games of another rule set are not counted with this one."""
        return f"{self.length or NO_LENGTH}{self.rules}"

    @property
    def result(self) -> bytes:
        """A digest of names and results: equal for a game of an arena run and its record."""
        counts = [row[:_UMA] + row[_UMA + 1 :] for row in self.rows]
        return hashlib.sha256(repr((self.names, counts)).encode()).digest()[:16]


class UnreadableRecord(NamedTuple):
    """What cannot be read; ``is_game``: one game of a file, which is read on."""

    error: tuple[str, str, str]
    is_game: bool


Result = TypeVar("Result")


class GameBatch(NamedTuple, Generic[Result]):
    """What was made of some games in the order of the records, and what could not be read.

    ``hands`` are bad hands, and those without a result, of the games.
    """

    games: list[Result]
    problems: list[UnreadableRecord]
    hands: tuple[HandProblem, ...] = ()


@dataclass(frozen=True)
class Work:
    """What is to be counted: folders of arena runs, and the files of records."""

    runs: tuple[Path, ...]
    sources: tuple[Source, ...]

    def __len__(self) -> int:
        return len(self.runs) + len(self.sources)


def list_work(paths: Iterable[Path], rules: Rules | None = None) -> Work:
    """List the runs and files of records at ``paths``, each once; ``rules`` replace theirs.

    Raises ``OSError`` or :class:`~mjbot.game.records.game.RecordError` for a path that holds
    nothing.
    """
    runs: dict[Path, None] = {}
    sources: dict[Source, None] = {}
    for path in paths:
        inside = list(_runs_in(path)) if path.is_dir() else []
        runs.update(dict.fromkeys(inside))
        if path in inside:
            continue
        try:
            listed = list_sources(path, rules)
        except EmptyRecordError:
            if not inside:
                raise
            continue
        listed = [source for source in listed if not any(map(source.path.is_relative_to, inside))]
        sources.update(dict.fromkeys(sorted(listed, key=lambda source: source.name)))
    return Work(tuple(runs), tuple(filter(None, join_hands([*sources]))))


def _runs_in(folder: Path) -> Iterator[Path]:
    """Yield the folders of arena runs; ``runs`` below ``folder`` must be named to be meant."""
    for here, folders, files in os.walk(folder):
        if GAMES_FILE in files:
            folders.clear()
            yield Path(here)
        folders[:] = sorted(name for name in folders if name != RUNS_FOLDER)


def count_games(
    work: Work, jobs: int = 1, file_dates: bool = False
) -> Iterator[GameBatch[BreakdownRows]]:
    """Yield all games in batches, in the order of the records.

    With ``file_dates`` a game whose record has no day gets that of its file.  Raises
    :class:`~mjbot.runtime.append_log.LogError` for a damaged run.
    """
    for run in work.runs:
        yield from _games_of_run(run)
    counted = partial(_counted, file_dates=file_dates)
    yield from each_game(work.sources, counted, jobs, players=(3, 4))


def _counted(game: Game, source: Source, file_dates: bool) -> BreakdownRows:
    return count_game(game, file_day(source) if file_dates else "")


Extract = Callable[[Game, Source], Result]


def each_game(
    sources: Sequence[Source],
    extract: Extract[Result],
    jobs: int = 1,
    players: Collection[int] = (4,),
) -> Iterator[GameBatch[Result]]:
    """Yield what ``extract`` makes of each recorded game, in batches in the order of the records.

    ``extract`` is a function at the top of a module, or a ``functools.partial`` of one; games of
    other numbers of ``players`` are named and left out.
    """
    tasks = list(_tasks(sources, jobs))
    task = partial(_extract, extract=extract, players=players)
    yield from in_processes(task, tasks, jobs)


class _Task(NamedTuple):
    sources: Sequence[Source]
    stripe: int = 0
    stripes: int = 1


def _tasks(sources: Sequence[Source], jobs: int) -> Iterator[_Task]:
    if jobs > 1 and len(sources) < MOST_STRIPED:
        for source in sources:
            yield from (_Task([source], stripe, jobs) for stripe in range(jobs))
        return
    for at in range(0, len(sources), FILES_PER_TASK):
        yield _Task(sources[at : at + FILES_PER_TASK])


def _extract(task: _Task, extract: Extract[Result], players: Collection[int]) -> GameBatch[Result]:
    batch: GameBatch[Result] = GameBatch([], [])
    hands: list[HandProblem] = []
    for source in task.sources:
        try:
            for index, game in enumerate(games_of(source, players)):
                if index % task.stripes == task.stripe:
                    _extract_one(game, source, extract, batch)
                    hands += hand_problems(game)
        except EmptyRecordError:
            continue
        except RecordError as error:
            if task.stripe == 0:
                batch.problems.append(_problem(error, is_game=False))
    return batch._replace(hands=tuple(hands))


def _extract_one(
    game: Game, source: Source, extract: Extract[Result], batch: GameBatch[Result]
) -> None:
    try:
        batch.games.append(extract(game, source))
    except RecordError as error:
        batch.problems.append(_problem(error, is_game=True))


def _problem(error: RecordError, is_game: bool) -> UnreadableRecord:
    return UnreadableRecord((error.name, error.place, error.problem), is_game)


# --- one record -------------------------------------------------------------------------------


def count_game(game: Game, file_date: str = "") -> BreakdownRows:
    """Return a recorded game as counts.  Raises :class:`RecordError` as its entries do."""
    counter, scores, digester = EventCounter(), ScoreKeeper(), GameDigester()
    start = m.StartGame()
    for entry in game.entries:
        event = entry.event
        if isinstance(event, m.Tsumo):  # half of all events, and counted nowhere
            continue
        counter.add(event)
        scores.add(event)
        digester.add(event)
        if isinstance(event, m.StartGame):
            start = event
    players = announced_players(start.mjbot_rules)
    counts = as_rows(counter.counts)[:players]
    final = (scores.final or ())[:players]
    ranks = tuple(ranks_of(final)) if final else ()
    length, rules = rule_set(start, scores)
    return BreakdownRows(
        names=_named(start.names or (), players),
        rows=_with_results(counts, final, ranks, scores.rules or Rules(players=players)),
        played=played_at(game) or file_date,
        length=length,
        rules=rules,
        kyoku=counts[0][0],
        ranks=ranks,
        identity=digester.identity(by_players=True),
        no_result=scores.no_result,
    )


def played_at(game: Game) -> str:
    """Return when a game was played, by its record or its name; empty where neither has it."""
    return game.played or moment_of_id(game.name) or day_of(game.name)


def _named(names: Sequence[str], players: int) -> tuple[str, ...]:
    """Return the names of all players; one that is missing is that of its seat."""
    given = enumerate([*names, *[""] * players][:players])
    return tuple([name[:LONGEST_NAME] or f"seat {seat}" for seat, name in given])


def rule_set(start: m.StartGame, scores: "ScoreKeeper") -> tuple[str, str]:
    """Return a game's length ("" where nothing shows it) and how its rules differ from default."""
    return _length(start, scores), _differences(scores.rules)


def _rules_of(start: m.StartGame) -> Rules | None:
    """Return the rules that are announced; ``None`` for those of a newer or foreign table."""
    if start.mjbot_rules is None:
        return RANKED
    try:
        return Rules.read(start.mjbot_rules, players=(3, 4))
    except ValueError:
        return None


def _differences(rules: Rules | None) -> str:
    return ",rules of another program" if rules is None else str(rules).removeprefix(rules.length)


def _with_results(
    rows: Sequence[Sequence[int]], final: Sequence[int], ranks: Sequence[int], rules: Rules
) -> tuple[CountRow, ...]:
    """Return rows of :data:`FIELDS` of rows of counts and, if the game ended, its results."""
    counts = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    made: list[CountRow] = []
    uma = [points / 1000 for points in rules.uma]
    for seat, count in enumerate(counts):
        row: dict[str, float] = dict(_EMPTY)
        if final:
            rank = ranks[seat]
            row |= {"games": 1, "rank": rank, GAME_FIELDS[1 + rank]: 1, "score": final[seat]}
            row["uma"] = uma_points(final[seat], rank, uma, rules)
        fed = sum(other[f"fed_{seat}"] for other in counts)
        row |= {name: count[name] for name in _KEPT} | {"tsumo": count["wins"] - fed}
        made.append(tuple([row[name] for name in FIELDS]))
    return tuple(made)


class ScoreKeeper:
    """Takes the events of a game; :attr:`final` are its final scores once it has ended.

    Where ``end_game`` has no scores, they are the last ones with the sticks that are left, which go
    to first place.  ``no_result`` counts the kyoku that another one, or the end, follows without a
    win or draw.  ``rules`` are the announced ones, ``None`` for those of another program.
    """

    def __init__(self) -> None:
        self.final: tuple[int, ...] | None = None
        self.rules: Rules | None = RANKED
        self.last_kyoku = -1
        self.no_result = 0
        self._has_result = True
        self._start = by_seat([RANKED.start_points] * 4)
        self._scores: list[int] = []
        self._sticks = 0

    def add(self, event: m.Event) -> None:
        """Take in one event."""
        match event:
            case m.StartGame():
                self.rules = _rules_of(event)
                rules = self.rules or RANKED
                dealt = [rules.start_points] * rules.players
                self._start = by_seat([*dealt, 0][:4])
            case m.StartKyoku():
                self._end_kyoku()
                self._has_result = False
                number = 4 * "ESWN".index(event.bakaze) + event.kyoku - 1
                self.last_kyoku = max(self.last_kyoku, number)
                self._scores = list(event.scores or self._scores or self._start)
                self._sticks = event.kyotaku
            case m.ReachAccepted():
                self._scores[event.actor] -= (self.rules or RANKED).stick_points
                self._sticks += 1
            case m.Hora():
                self._pay(event)
                self._sticks = 0
            case m.Ryukyoku():
                self._pay(event)
            case m.EndKyoku():
                self._end_kyoku()
            case m.EndGame():
                self._end_kyoku()
                self.final = event.scores or self._left()

    def _end_kyoku(self) -> None:
        self.no_result += not self._has_result
        self._has_result = True

    def _pay(self, event: m.Hora | m.Ryukyoku) -> None:
        self._has_result = True
        if event.deltas is not None:
            pairs = zip(self._scores, event.deltas, strict=True)
            self._scores = [score + delta for score, delta in pairs]
        elif event.scores is not None:
            self._scores = list(event.scores)

    def _left(self) -> tuple[int, ...] | None:
        if not self._scores:
            return None
        scores = list(self._scores)
        stick = (self.rules or RANKED).stick_points
        scores[ranks_of(tuple(scores)).index(1)] += stick * self._sticks
        return tuple(scores)


def _length(start: m.StartGame, scores: ScoreKeeper) -> str:
    """Return the length that is announced, else what the last kyoku shows of it, else nothing.

    Before its last round only a score below 0 ends a hanchan; an East-only game in which nobody has
    the target goes on into South until a player has.
    """
    announced, rules = start.mjbot_rules, scores.rules
    if announced is not None and (rules is None or "length" in announced):
        return rules.length if rules else ""
    players = announced_players(announced)
    has_ended = scores.final is not None and min(scores.final) >= 0
    if scores.last_kyoku < last_round("hanchan", players) and has_ended:
        return "tonpu"
    return "hanchan" if scores.last_kyoku > last_round("tonpu", players) else ""


@lru_cache(maxsize=4)
def file_day(source: Source) -> str:
    """Return the day on which a file, or a member of a zip, was last changed; else empty."""
    try:
        if source.member is None:
            moment = source.path.stat().st_mtime
            return datetime.datetime.fromtimestamp(moment).date().isoformat()
        year, month, day, *_ = _zip_times(source.path)[source.place]
        return datetime.date(year, month, day).isoformat()
    except (OSError, ValueError, zipfile.BadZipFile):
        return ""


@lru_cache(maxsize=1)
def _zip_times(path: Path) -> list[tuple[int, ...]]:
    with zipfile.ZipFile(path) as archive:
        return [info.date_time for info in archive.infolist()]


# --- runs of the arena ------------------------------------------------------------------------


def refuse_other_code(runs: Iterable[Path]) -> None:
    """Raise ``ArgumentError`` if a strategy's games in two runs may be those of different code."""
    codes: dict[str, tuple[str, Path]] = {}
    for run in runs:
        for label, code in _setup_of(run).code_by_label.items():
            kept, first = codes.setdefault(label, (code, run))
            if code != kept:
                problem = f"{first} and {run} do not have the same code of {label}"
                raise ArgumentError(f"{problem}; count each by itself")


def _games_of_run(folder: Path) -> Iterator[GameBatch[BreakdownRows]]:
    """Yield the games of a run; all games of a wall are in one batch."""
    setup = _setup_of(folder)
    lines = sorted([game for game in read_games(folder) if not game.void], key=_order)
    walls = (list(games) for _, games in groupby(lines, lambda game: game.wall))
    while some := list(islice(walls, max(1, GAMES_PER_BATCH // len(setup.seating.tables)))):
        games = [_game_of_run(game, setup) for game in chain(*some)]
        yield GameBatch(games, [])


def _order(game: GameLine) -> tuple[int, int]:
    return game.wall, game.seating


def _setup_of(folder: Path) -> Setup:
    with (folder / GAMES_FILE).open("rb") as file:
        try:
            return msgspec.json.decode(file.readline(), type=ResultsHeader).setup
        except NOT_JSON as error:
            raise RecordError(str(folder / GAMES_FILE), "line 1", str(error)) from None


def _game_of_run(game: GameLine, setup: Setup) -> BreakdownRows:
    names, rules = labels(setup.specs), setup.game_rules
    ranks = tuple(ranks_of(game.scores))
    played = (setup.identity, game.wall, game.seating, game.scores, game.counts)
    drawn = "" if setup.walls == "order" else f",walls={setup.walls}"
    return BreakdownRows(
        names=tuple([names[strategy] for strategy in setup.seating.tables[game.seating]]),
        rows=_with_results(game.counts, game.scores, ranks, rules),
        played="",
        length=setup.length,
        rules=f"{_differences(rules)}{drawn}",
        kyoku=game.counts[0][0],
        ranks=ranks,
        identity=GameIdentity(hashlib.sha256(repr(played).encode()).digest()[:16], (), True),
        wall=f"{setup.identity}/{game.wall}",
    )
