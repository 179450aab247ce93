"""The results of a server's games on disk, ``results.jsonl``, and the standings that they give.

A line is a game that was played to its end.  It stays when the record of its game is removed
(``--keep-games``), and has no ``type``, so that no reader of records takes it for a log.  Its last
field is a checksum, which lines of before do not have; a damaged line costs only its game, and is
named in the server's log.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Annotated, Final

import msgspec

from mjbot.game.statistics.figures import uma_points
from mjbot.game.table.settle import ranks_of
from mjbot.protocol.errors import NOT_JSON
from mjbot.protocol.rules import Rules
from mjbot.runtime.append_log import decode_checked, encode_checked
from mjbot.runtime.files import append_lines, plural
from mjbot.runtime.system import lock_file, open_own_file

logger = logging.getLogger(__name__)

RESULTS: Final = "results.jsonl"


_Score = Annotated[int, msgspec.Meta(ge=-1_000_000_000, le=1_000_000_000)]


class PlayedGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game that was played to its end; ``names``, ``scores`` and ``uma`` are by seat.

    ``ended`` is UTC in ISO 8601, ``game`` its number, ``record`` the name of its record, ``uma``
    what its scores are worth by the rules of the game, in thousands of points.
    """

    ended: str
    game: int
    table: str
    names: tuple[str, ...]
    scores: tuple[_Score, ...]
    uma: tuple[float, ...]
    record: str | None = None


def uma_of(scores: Sequence[int], rules: Rules) -> tuple[float, ...]:
    """Return the value of each seat's score, in thousands of points.

    >>> uma_of((40000, 30000, 20000, 10000), Rules())
    (50.0, 10.0, -20.0, -40.0)
    """
    by_rank = [points / 1000 for points in rules.uma]
    pairs = zip(scores, ranks_of(scores), strict=True)
    return tuple([round(uma_points(score, rank, by_rank, rules), 1) for score, rank in pairs])


@dataclass
class Standing:
    """What a player's games add up to; ``uma`` in thousands of points."""

    name: str
    ranks: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    uma: float = 0.0
    last: str = ""
    """When the last of them ended."""

    @property
    def games(self) -> int:
        """How many there were."""
        return sum(self.ranks)

    @property
    def mean_rank(self) -> float:
        """From 1 on."""
        return sum(rank * count for rank, count in enumerate(self.ranks, 1)) / self.games


class Results:
    """The games of a server of ``players`` a table, those before its start too.

    ``folder`` has the file; without it, or where another server has it, results are kept in memory.
    No method raises ``OSError``: a file that cannot be written is logged, and games go on.
    """

    def __init__(self, folder: Path | None, players: int) -> None:
        self._players: Final = players
        self._standings: Final[dict[str, Standing]] = {}
        self._file: FileIO | None = None
        self._path: Final = (folder or Path()) / RESULTS
        self.earlier: Final[list[PlayedGame]] = []
        """The games of the file, in its order."""
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._open()
        except OSError as error:
            self._report(error.strerror or str(error))
        for game in self.earlier:
            self._count(game)

    @property
    def last_number(self) -> int:
        """The highest number of an earlier game; 0 if there was none."""
        return max([game.game for game in self.earlier], default=0)

    def add(self, game: PlayedGame) -> None:
        """Take in a game that has just ended."""
        self._count(game)
        if self._file is not None:
            try:
                append_lines(self._file, self._path, encode_checked(game) + b"\n")
            except OSError as error:
                self._report(error.strerror or str(error))
                self.close()

    def standings(self) -> list[Standing]:
        """Return the players by uma, the highest first."""
        return sorted(self._standings.values(), key=lambda each: (-each.uma, each.name))

    def close(self) -> None:
        """Give the file to the next server."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        file = open_own_file(self._path)
        text = file.read()
        games, damaged = _decoded(text)
        self.earlier.extend(games)
        if damaged:
            self._report_damage(damaged)
        if not lock_file(file):
            self._report("another server writes it")
            file.close()
            return
        self._file = file
        if text and not text.endswith(b"\n"):  # the program was killed as it wrote
            append_lines(file, self._path, b"\n")

    def _count(self, game: PlayedGame) -> None:
        if len(game.scores) != self._players:
            return
        for name, rank, uma in zip(game.names, ranks_of(game.scores), game.uma, strict=True):
            standing = self._standings.setdefault(name, Standing(name))
            standing.ranks[rank - 1] += 1
            standing.uma += uma
            standing.last = max(standing.last, game.ended)

    def _report_damage(self, numbers: Sequence[int]) -> None:
        more = f" and {plural(len(numbers) - 1, 'other')}" if numbers[1:] else ""
        logger.warning(
            "%s: line %d%s: damaged, so that its game does not count; the others do",
            self._path,
            numbers[0],
            more,
        )

    def _report(self, problem: str) -> None:
        logger.warning("%s: %s; the standings of this server are not kept", self._path, problem)


def _decoded(text: bytes) -> tuple[list[PlayedGame], list[int]]:
    """Return the games of a file, and the numbers of the lines that are none, from 1."""
    games, damaged = [], []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line:
            try:
                games.append(_game_of(line))
            except (ValueError, *NOT_JSON):
                damaged.append(number)
    return games, damaged


def _game_of(line: bytes) -> PlayedGame:
    """Return the game of a line; raises ``ValueError`` or ``RecursionError`` if it is none."""
    game = decode_checked(line, PlayedGame)
    if game.game <= 0 or len({len(game.names), len(game.scores), len(game.uma)}) != 1:
        raise ValueError("no game has such a number, or such seats")
    return game
