"""A run's folder: ``games.jsonl`` with a line per game, and the records of the games.

The first line of ``games.jsonl`` is the run's setup (:mod:`mjbot.runtime.append_log`).  A game is a
function of the setup and its :class:`~mjbot.arena.setup.GameId`, hence after any end of
the program the rest comes out as if nothing had happened.

A record is one gzipped file of mjai lines.  It is there whole or not at all, and before its game
counts, so that a run which was killed resumes without gaps.  ``mjbot replay``, ``convert`` and
``train`` take the folder as it is.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from mjbot.arena.protocol import PROTOCOL_FILE
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.fault_files import FAULT_FOLDER, FAULT_NAME
from mjbot.arena.workers.files_read import FILES_COPY, FILES_FILE
from mjbot.game.records.game import Talk
from mjbot.game.records.mjai_log import log_line
from mjbot.game.statistics.figures import COLUMNS
from mjbot.protocol.messages import Event
from mjbot.runtime.append_log import (
    AppendLog,
    Cures,
    LogError,
    emptied,
    encode_checked,
    read_log,
)
from mjbot.runtime.files import naming

RECORDS_FOLDER: Final = "records"


def packed(events: Iterable[Event], talk: Mapping[int, Talk], players: int) -> bytes:
    """Return the record of a game of so many players; equal games give equal bytes.

    ``talk`` has what players remarked, by the number of the event, from 0.
    """
    lines = [log_line(event, talk.get(number, ()), players) for number, event in enumerate(events)]
    return gzip.compress(b"".join(lines), 6, mtime=0)


def record_path(folder: Path, game_id: GameId) -> Path:
    """Return where the record of a game lies in a run's folder; names sort as games do.

    >>> record_path(Path("run"), GameId(12, 3)).as_posix()
    'run/records/0000012-03.jsonl.gz'
    """
    return folder / RECORDS_FOLDER / f"{game_id.wall:07}-{game_id.seating:02}.jsonl.gz"


def save_record(folder: Path, game_id: GameId, record: bytes) -> None:
    """Keep a record.  Raises ``OSError``."""
    path = record_path(folder, game_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    with naming(path):
        unfinished.write_bytes(record)
        unfinished.replace(path)


GAMES_FILE: Final = "games.jsonl"
FIGURES_FILE: Final = "figures.jsonl"
REPORT_FILE: Final = "report.html"

ResultsError = LogError
"""The file is another run's, damaged or in use; the text is one line for the user."""

_CURES: Final = Cures("name another --out", "use --fresh")
_RECORD: Final = re.compile(r"\.?\d{7,}-\d{2,}\.jsonl\.gz(\.unfinished)?")


class ResultsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line.  ``fields`` explains the columns of the games' counts."""

    setup: Setup
    fields: tuple[str, ...] = COLUMNS


class GameLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One game: scores by seat, counts as :func:`mjbot.game.statistics.figures.as_rows` has them.

    ``faults`` is how many decisions had to be replaced, by seat, nothing if none.  A ``void`` game
    has the reason instead.  ``times`` has what the decisions cost, by seat, if that was asked for
    (:mod:`mjbot.arena.decision_times`).
    """

    wall: int
    seating: int
    scores: tuple[int, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()
    faults: tuple[int, ...] = ()
    void: str = ""
    times: tuple[dict[int, int], ...] = ()

    @property
    def game_id(self) -> GameId:
        """Which game this is."""
        return GameId(self.wall, self.seating)


def encode_game(game: GameLine) -> bytes:
    """Return the line's text, with a checksum of all the rest as its last field.

    >>> encode_game(GameLine(wall=0, seating=1, void="why"))
    b'{"wall":0,"seating":1,"void":"why","check":"778da3a1"}'
    """
    return encode_checked(game)


def decode_game(text: bytes) -> GameLine:
    """Return what :func:`encode_game` was given.

    Raises :class:`msgspec.DecodeError` if that is no game, or not as it was written.
    """
    game = msgspec.json.decode(text, type=GameLine)
    if text != encode_game(game):
        raise msgspec.ValidationError("this game is not as it was written (its checksum differs)")
    return game


def read_games(folder: Path) -> list[GameLine]:
    """Return the games of a run that is not being written.

    Raises ``OSError`` and :class:`ResultsError`.
    """
    return read_log(folder / GAMES_FILE, ResultsHeader, decode_game, _CURES)


def read_run(folder: Path, setup: Setup) -> list[GameLine]:
    """Return the games of a run, also while it is written; none if it was not started.

    Raises ``OSError``, and :class:`ResultsError` if the folder holds another run than this one.
    """
    path = folder / GAMES_FILE
    if not path.exists():
        return []
    with path.open("rb") as file:
        if not file.readline().endswith(b"\n"):
            return []
    expected = ResultsHeader(setup=setup)
    return read_log(
        path, ResultsHeader, decode_game, _CURES, lambda kept: _difference(kept, expected)
    )


def erase_run(folder: Path) -> None:
    """Erase the run in a folder: the files that a run writes, and nothing else.

    Raises :class:`ResultsError`, and nothing was erased, if the folder holds things but no run, or
    a run that is being written.
    """
    with emptied(folder / GAMES_FILE, ResultsHeader, decode_game, _CURES.elsewhere):
        for path in list(_written(folder)):
            path.unlink(missing_ok=True)
        for inside in (RECORDS_FOLDER, FAULT_FOLDER):
            with suppress(OSError):  # not there, or something else is in it
                (folder / inside).rmdir()


def _written(folder: Path) -> Iterator[Path]:
    """Yield the paths in a folder that have the names of what a run writes next to its games."""
    for name in (FIGURES_FILE, REPORT_FILE, FILES_FILE, FILES_COPY, PROTOCOL_FILE):
        if (folder / name).exists():
            yield folder / name
    for inside, pattern in ((RECORDS_FOLDER, _RECORD), (FAULT_FOLDER, FAULT_NAME)):
        if (folder / inside).is_dir():
            paths = (folder / inside).iterdir()
            yield from (path for path in paths if pattern.fullmatch(path.name))


class Results:
    """The games of one run so far, and the file that keeps them.

    Opening creates the folder, or resumes an earlier run of the same setup.
    Raises :class:`ResultsError`, and nothing was touched, where files of these names are not
    this run's: there are no games with them.
    """

    def __init__(self, folder: Path, setup: Setup) -> None:
        games = folder / GAMES_FILE
        begun = games.exists() and games.stat().st_size
        if not begun and (stray := next(_written(folder), None)):
            problem = f"{stray} stands there without a run's games, and would be overwritten"
            raise ResultsError(f"{problem}; {_CURES.elsewhere} or move it away")
        self._log: Final = AppendLog(
            games,
            ResultsHeader(setup=setup),
            _CURES,
            decode=decode_game,
            encode=encode_game,
            difference=_difference,
        )
        self.path: Final = self._log.path
        self.lines: Final = self._log.lines

    def append(self, game: GameLine) -> None:
        """Keep one more game, whatever happens to this program next."""
        self._log.append(game)

    def close(self) -> None:
        """Make sure of everything."""
        self._log.close()


def _difference(kept: ResultsHeader, expected: ResultsHeader) -> str | None:
    for field in Setup.__struct_fields__:
        old, new = getattr(kept.setup, field), getattr(expected.setup, field)
        if old != new:
            return "other code of the strategies" if field == "code" else f"{field} {old!r}"
    return None
