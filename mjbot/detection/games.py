"""Records as counts, one game after the other, kept so that a long run goes on.

What is counted stands in ``counts.jsonl`` of the run's folder: a header that names the records, a
line per game.  In memory a game takes 0.7 kB.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from mjbot.append_log import AppendLog, Cures
from mjbot.detection.counting import GameCounts, Moment, count_game
from mjbot.detection.detectors import KEYS, N
from mjbot.errors import ArgumentError
from mjbot.training.positions import GameRef, GameStep, LeftOut, collect

COUNTS_FILE: Final = "counts.jsonl"
CURES: Final = Cures("name another --folder", "delete that file")


@dataclass(frozen=True)
class Games:
    """The counts of many games.

    ``numbers`` are those of the games among the records, ``names`` who sat where (by number in
    ``players``: int32[games, 4]), ``hits`` and ``chances`` int16[games, 4, 4, N] by actor, other
    and detector, ``scores`` int32[games, 4], ``kyoku`` int16[games].
    """

    players: Sequence[str]
    numbers: NDArray[np.int32]
    names: NDArray[np.int32]
    hits: NDArray[np.int16]
    chances: NDArray[np.int16]
    scores: NDArray[np.int32]
    kyoku: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, chosen: NDArray[np.intp] | slice) -> "Games":
        """Return some of the games."""
        return Games(
            players=self.players,
            numbers=self.numbers[chosen],
            names=self.names[chosen],
            hits=self.hits[chosen],
            chances=self.chances[chosen],
            scores=self.scores[chosen],
            kyoku=self.kyoku[chosen],
        )


class CountedGame(msgspec.Struct, frozen=True):
    """A line of the log: one game."""

    number: int
    names: tuple[str, str, str, str]
    scores: tuple[int, int, int, int]
    kyoku: int
    hits: list[int]
    chances: list[int]


class CountsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of the log: what is counted."""

    detect: tuple[str, ...] = KEYS
    records: tuple[str, ...]


def count_games(
    refs: Sequence[GameRef],
    jobs: int = 1,
    folder: Path | None = None,
    left_out: LeftOut | None = None,
    tell: Callable[[], object] = lambda: None,
) -> Games:
    """Count all games, or those that a folder does not have yet; ``tell`` is called for each.

    Raises :class:`~mjbot.append_log.LogError` if the folder is another run's.
    """
    lines: list[CountedGame] = []
    with ExitStack() as stack:
        log: AppendLog[CountsHeader, CountedGame] | None = None
        if folder is not None:
            named = tuple([f"{name} ({len(list(of))})" for name, of in groupby(refs, _file_of)])
            decode = partial(msgspec.json.decode, type=CountedGame)
            header = CountsHeader(records=named)
            log = stack.enter_context(AppendLog(folder / COUNTS_FILE, header, CURES, decode=decode))
            lines.extend(log.lines)
            for _ in lines:
                tell()
        done = {line.number for line in lines}
        missing = [ref for ref in refs if ref.number not in done]
        for line in collect(missing, _counted, jobs, left_out):
            if line is not None:
                lines.append(line)
                if log is not None:
                    log.append(line)
            tell()
    return _packed(sorted(lines, key=lambda line: line.number))


def moments_of(refs: Sequence[GameRef], jobs: int = 1) -> Iterator[tuple[int, GameCounts]]:
    """Yield games by number with all their hits, for those that are looked at closely."""
    yield from collect(refs, _with_moments, jobs)


def _file_of(ref: GameRef) -> str:
    return ref.source.name


def _with_moments(steps: Iterator[GameStep]) -> tuple[int, GameCounts]:
    first = next(steps)
    return first.game, count_game(_chained(first, steps))


def _chained(first: GameStep, rest: Iterator[GameStep]) -> Iterator[GameStep]:
    yield first
    yield from rest


def _counted(steps: Iterator[GameStep]) -> CountedGame | None:
    first = next(steps, None)
    if first is None:
        return None
    game = count_game(_chained(first, steps))
    if len(game.names) != 4 or not game.kyoku:
        return None
    east, south, west, north = game.names
    return CountedGame(
        number=first.game,
        names=(east, south, west, north),
        scores=(game.scores[0], game.scores[1], game.scores[2], game.scores[3]),
        kyoku=game.kyoku,
        hits=game.hits.ravel().tolist(),
        chances=game.chances.ravel().tolist(),
    )


def _packed(lines: Sequence[CountedGame]) -> Games:
    if not lines:
        raise ArgumentError("no game could be counted: nothing to look for pairs in")
    players = sorted({name for line in lines for name in line.names})
    place = {name: number for number, name in enumerate(players)}
    shape = (len(lines), 4, 4, N)
    return Games(
        players=players,
        numbers=np.array([line.number for line in lines], np.int32),
        names=np.array([[place[name] for name in line.names] for line in lines], np.int32),
        hits=np.array([line.hits for line in lines], np.int16).reshape(shape),
        chances=np.array([line.chances for line in lines], np.int16).reshape(shape),
        scores=np.array([line.scores for line in lines], np.int32),
        kyoku=np.array([line.kyoku for line in lines], np.int16),
    )


__all__ = ["Games", "Moment", "count_games", "moments_of"]
