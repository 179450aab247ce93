"""Recorded games as positions to learn from: every event, and the table before it.

Games are numbered by their place: files sorted by name inside each path given, the games of a
log in their order, path after path.  So ``hanchan-2024.zip`` alone has games 0..4443.
The records are trusted (``mjbot replay`` checks them): nothing is validated again.  Unreadable
records are skipped, reported and counted (:class:`LeftOut`); games are numbered without them.
An unreadable hand is reported and counted, and costs that hand only.
"""

import hashlib
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from mjbot.game.records.copies import Distinct
from mjbot.game.records.game import (
    EmptyRecordError,
    ForeignRecordError,
    Game,
    RecordError,
    game_identity,
    hand_problems,
)
from mjbot.game.records.sources import Source, games_of, list_sources
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.state import State
from mjbot.protocol.messages import Event
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import plural
from mjbot.runtime.processes import in_processes

logger = logging.getLogger(__name__)

GAMES_PER_TASK: Final = 16
"""How many games a process replays before it hands over what it found."""

Result = TypeVar("Result")


class GameStep(NamedTuple):
    """One event of a game and the table before it.

    ``game`` is the game's number.  ``state`` is the table's own record and changes with the next
    step: take what you need out of it, or :func:`mjbot.game.table.state.copy_state` it.  All hands
    are known as far as the record shows them (``state["hand_known"]``).
    """

    game: int
    event: Event
    state: State


class GameRef(NamedTuple):
    """Where game ``number`` lies: the ``place``-th (from 0) of ``source``."""

    number: int
    source: Source
    place: int


@dataclass
class LeftOut:
    """Unreadable records, reported as they are found: files from some place on, and games."""

    files: int = 0
    games: int = 0
    hands: int = 0
    """Hands that could not be read, of games that were: each counts without a result."""
    first: RecordError | None = None
    """The first file that could not be read."""
    duplicates: int = 0
    """Games found again in this or another file or format: not an error."""

    def add_file(self, error: RecordError) -> None:
        """Report a file, of which only the games before the damage count."""
        self.files += 1
        self.first = self.first or error
        logger.warning("left out: %s", error)

    def add_game(self, number: int, error: RecordError) -> None:
        """Report a game."""
        self.games += 1
        logger.warning("game %d is left out: %s", number, error)

    def add_hands(self, game: Game) -> None:
        """Report the hands of a game that was walked which could not be read."""
        for problem in hand_problems(game):
            if problem.is_loss:
                self.hands += 1
                logger.warning("%s", one_line(problem.text))

    def require(self, games: Sequence[object], paths: Iterable[Path], purpose: str) -> None:
        """Raise ``ArgumentError`` with the reason if there is no game."""
        if not games:
            reason = self.first or ", ".join(map(str, paths))
            more = "" if self.files < 2 else f" (and {plural(self.files - 1, 'other file')})"
            raise ArgumentError(f"no game to {purpose}: {reason}{more}")

    @property
    def duplicates_text(self) -> str:
        """The end of a sentence on duplicates, empty if there are none.

        >>> LeftOut(duplicates=2).duplicates_text
        '; 2 duplicates of other games are counted once'
        """
        if not self.duplicates:
            return ""
        verb = "is" if self.duplicates == 1 else "are"
        noun = "duplicate of another game" if self.duplicates == 1 else "duplicates of other games"
        return f"; {self.duplicates} {noun} {verb} counted once"

    def __bool__(self) -> bool:
        return self.files + self.games + self.hands > 0

    def __str__(self) -> str:
        """Return the end of a sentence, nothing if all could be read.

        >>> str(LeftOut(files=2, games=1)), str(LeftOut())
        ('; 2 files and 1 game that cannot be read are left out', '')
        >>> str(LeftOut(hands=1))
        '; 1 hand that cannot be read has no result'
        """
        parts = [(self.files, "file"), (self.games, "game")]
        reasons = " and ".join(plural(n, noun) for n, noun in parts if n)
        verb = "is" if self.files + self.games == 1 else "are"
        text = f"; {reasons} that cannot be read {verb} left out" if reasons else ""
        if self.hands:
            verb = "has" if self.hands == 1 else "have"
            text += f"; {plural(self.hands, 'hand')} that cannot be read {verb} no result"
        return text


def index_games(
    paths: Iterable[Path], left_out: LeftOut | None = None, players: Collection[int] = (4,)
) -> list[GameRef]:
    """List all games of so many players at ``paths`` in their order; nothing is replayed.

    Raises ``OSError`` or :class:`~mjbot.game.records.game.RecordError` for a path at which nothing
    can be read.
    """
    listed = _listed(paths, LeftOut() if left_out is None else left_out, players)
    return [GameRef(number, source, place) for number, (source, place, _) in enumerate(listed)]


def _listed(
    paths: Iterable[Path], left_out: LeftOut, players: Collection[int]
) -> Iterator[tuple[Source, int, Game]]:
    """Yield where each game lies, and the game, to be walked before the next."""
    sources = [
        source
        for path in paths
        for source in sorted(list_sources(path), key=lambda source: source.name)
    ]
    for source in sources:
        try:
            for place, game in enumerate(games_of(source, players)):
                yield source, place, game
        except EmptyRecordError as error:
            logger.warning("%s", error)
        except RecordError as error:
            left_out.add_file(error)


@dataclass
class DistinctGames:
    """Lists each game once, whatever its file, format, packing or names (:class:`Distinct`).

    What was listed before, for another purpose, is a duplicate as well: so no game is learned from
    and checked with.
    """

    left_out: LeftOut
    players: Collection[int] = (4,)
    copies: Distinct[GameRef] = field(default_factory=Distinct)

    def index(self, paths: Iterable[Path]) -> list[GameRef]:
        """List the games at ``paths`` as :func:`index_games` does, numbered without duplicates.

        Reads all of each game, and reports its hands that cannot be read.  Raises as
        :func:`index_games`.
        """
        found: list[GameRef] = []
        before = self.copies.duplicates
        for number, (source, place, game) in enumerate(_listed(paths, self.left_out, self.players)):
            ref = GameRef(number, source, place)
            try:
                identity = game_identity(game)
            except ForeignRecordError as error:
                self.left_out.add_file(error)  # games_at opens games of any number of players
                continue
            except RecordError:
                found.append(ref)  # reported where it is replayed
                continue
            self.left_out.add_hands(game)
            if (new := self.copies.add(identity, ref)) is not None:
                found.append(new)
        found += self.copies.rest()
        self.left_out.duplicates += self.copies.duplicates - before
        return [ref._replace(number=number) for number, ref in enumerate(sorted(found))]


def file_digests(refs: Iterable[GameRef]) -> dict[Path, str]:
    """Return the SHA-256 of each file in which games lie, hexadecimal; raises ``OSError``."""
    found = {}
    for path in {ref.source.path for ref in refs}:
        with path.open("rb") as file:
            found[path] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def replay_trusted(game: Game, number: int = 0) -> Iterator[GameStep]:
    """Yield every event of a game with the table before it.

    Raises :class:`~mjbot.game.records.game.RecordError` at a line or tag that cannot be read.
    """
    table = _TrustingTable()
    state = table.state
    for entry in game.entries:
        yield GameStep(number, entry.event, state)
        try:
            table.take(entry.event)
        except (ValueError, OverflowError) as error:
            problem = f"cannot be applied: {error}"
            raise RecordError(game.name, game.place(entry.number), problem) from None


def games_at(refs: Sequence[GameRef]) -> Iterator[tuple[GameRef, Game]]:
    """Yield each game and where it lies; walk each before the next."""
    for start, stop in _runs(refs):
        opened = islice(games_of(refs[start].source, (3, 4)), refs[start].place, None)
        yield from zip(refs[start:stop], opened, strict=False)


def steps(refs: Sequence[GameRef]) -> Iterator[Iterator[GameStep]]:
    """Yield the steps of each game; walk each before the next."""
    for ref, game in games_at(refs):
        yield replay_trusted(game, ref.number)


def collect(
    refs: Sequence[GameRef],
    extract: Callable[[Iterator[GameStep]], Result],
    jobs: int = 1,
    left_out: LeftOut | None = None,
) -> Iterator[Result]:
    """Yield ``extract(steps of the game)`` of each game in order, from ``jobs`` processes.

    ``extract`` is a function at the top of a module (or a ``functools.partial`` of one), and so
    are its results plain data.  A game that cannot be read is left out.
    """
    left_out = LeftOut() if left_out is None else left_out
    tasks = [refs[at : at + GAMES_PER_TASK] for at in range(0, len(refs), GAMES_PER_TASK)]
    task = partial(_extracted, extract)
    every = in_processes(task, tasks, jobs)
    for some, found in zip(tasks, every, strict=True):
        for ref, result in zip(some, found, strict=False):
            if isinstance(result, RecordError):
                left_out.add_game(ref.number, result)
            else:
                yield result


def _extracted(
    extract: Callable[[Iterator[GameStep]], Result], refs: Sequence[GameRef]
) -> list[Result | RecordError]:
    results: list[Result | RecordError] = []
    for game in steps(refs):
        try:
            results.append(extract(game))
        except RecordError as error:
            results.append(RecordError(error.name, error.place, error.problem))
    return results


def _runs(refs: Sequence[GameRef]) -> Iterator[tuple[int, int]]:
    """Yield where stretches of neighbouring games of one source begin and end."""
    start = 0
    for at in range(1, len(refs) + 1):
        if at == len(refs) or refs[at][1:] != (refs[at - 1].source, refs[at - 1].place + 1):
            yield start, at
            start = at


class _TrustingTable(Mirror):
    """A table that believes every event: half the work of a replay is doubting it."""

    def take(self, event: Event) -> None:
        self._apply(event, None)
