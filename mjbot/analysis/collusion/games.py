"""Records as sums, game by game, kept so that a run can be resumed; and who met in them.

What is counted stands in ``counts.jsonl`` of the run's folder: a header that names the weights and
the code, a line per game under the digest of its record.  So a folder serves for any records, and a
record that has changed is counted again.  In memory a game takes 5 kB.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.collusion.hidden import CLASSES, N_SCORES, SCORES, Floats, HiddenHandModel
from mjbot.analysis.collusion.residuals import PAIRS, SPREADS, Residuals
from mjbot.analysis.stats.counted_games import ScoreKeeper, rule_set
from mjbot.game.records.game import RecordError
from mjbot.learning.training.positions import GameRef, GameStep, LeftOut, collect, games_at
from mjbot.protocol import messages as m
from mjbot.protocol.rules import announced_players
from mjbot.runtime.append_log import AppendLog, Cures, decode_checked, encode_checked
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.errors import ArgumentError

COUNTS_FILE: Final = "counts.jsonl"
DIGITS: Final = 4
Models = Mapping[int, HiddenHandModel]
"""The expectations by the number of players."""
CURES: Final = Cures("name another --folder", "delete that file")


@dataclass(frozen=True)
class GameCounts:
    """The counts of many games of as many players each.

    ``numbers`` are those of the games among the records, ``names`` the players by seat (by number
    in ``players``: int32[games, seats]), ``scores`` int32[games, seats], ``kyoku`` int16[games].
    ``t``, ``base``, ``level`` and ``products`` float32 are those of
    :class:`mjbot.analysis.collusion.residuals.Residuals`, by game.
    """

    players: Sequence[str]
    numbers: NDArray[np.int32]
    names: NDArray[np.int32]
    scores: NDArray[np.int32]
    kyoku: NDArray[np.int16]
    t: NDArray[np.float32]
    base: NDArray[np.float32]
    level: NDArray[np.float32]
    products: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def seats(self) -> int:
        """How many play a game."""
        return int(self.names.shape[1])

    def take(self, chosen: NDArray[np.intp] | slice) -> "GameCounts":
        """Return some of the games."""
        return GameCounts(
            players=self.players,
            numbers=self.numbers[chosen],
            names=self.names[chosen],
            scores=self.scores[chosen],
            kyoku=self.kyoku[chosen],
            t=self.t[chosen],
            base=self.base[chosen],
            level=self.level[chosen],
            products=self.products[chosen],
        )


class CountedGame(msgspec.Struct, frozen=True):
    """A line of the log: one game, and the digest of its record."""

    digest: str
    number: int
    names: tuple[str, ...]
    scores: tuple[int, ...]
    length: str
    rules: str
    kyoku: int
    t: list[float]
    base: list[float]
    level: list[float]
    products: list[float]


class CountsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of the log: what is counted, and by which weights and code."""

    detect: tuple[str, ...] = SCORES
    weights: str
    code: str


def count_games(
    refs: Sequence[GameRef],
    models: Models,
    jobs: int = 1,
    folder: Path | None = None,
    left_out: LeftOut | None = None,
    step: Callable[[], object] = lambda: None,
    choose: Callable[[list[CountedGame]], list[CountedGame]] = lambda lines: lines,
) -> GameCounts:
    """Count all games, or those that a folder does not have yet; ``step`` is called for each.

    ``choose`` returns those that are reported, all of as many players.

    Raises :class:`~mjbot.runtime.append_log.LogError` if the folder is another run's.
    """
    lines: list[CountedGame] = []
    digests: dict[int, str] = {}
    with ExitStack() as stack:
        log: AppendLog[CountsHeader, CountedGame] | None = None
        if folder is not None:
            decode, header = partial(decode_checked, type=CountedGame), header_of(models)
            log = stack.enter_context(
                AppendLog(folder / COUNTS_FILE, header, CURES, decode=decode, encode=encode_checked)
            )
            digests = record_digests(refs)
            lines = _kept(log.lines, digests)
            for _ in lines:
                step()
        done = {line.number for line in lines}
        missing = [ref for ref in refs if ref.number not in done]
        for line in collect(missing, partial(_counted, models=models), jobs, left_out):
            if line is not None:
                lines.append(line)
                if log is not None and (digest := digests.get(line.number)):
                    log.append(msgspec.structs.replace(line, digest=digest))
            step()
    return _packed(choose(sorted(lines, key=lambda line: line.number)))


def header_of(models: Models) -> CountsHeader:
    """Return what a log of counts by these models and this code begins with."""
    return CountsHeader(weights=_digest(models), code=source_digest(__name__))


def record_digests(refs: Sequence[GameRef]) -> dict[int, str]:
    """Return the digest of all events of each game that can be read, by its number."""
    found = {}
    for ref, game in games_at(refs):
        digest = hashlib.sha256()
        try:
            for entry in game.entries:
                digest.update(msgspec.json.encode(entry.event))
        except RecordError:
            continue  # reported where it is counted
        found[ref.number] = digest.hexdigest()[:32]
    return found


def _kept(lines: Iterable[CountedGame], digests: Mapping[int, str]) -> list[CountedGame]:
    """Return the kept lines of games, numbered as these."""
    by_digest = {line.digest: line for line in lines}
    return [
        msgspec.structs.replace(by_digest[digest], number=number)
        for number, digest in digests.items()
        if digest in by_digest
    ]


def _digest(models: Models) -> str:
    arrays = [array for players in sorted(models) for array in models[players]]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def _counted(steps: Iterator[GameStep], models: Models) -> CountedGame | None:
    residuals, number = None, 0
    start, keeper = m.StartGame(names=()), ScoreKeeper()
    players, scores = 4, (0, 0, 0, 0)
    for game, event, state in steps:
        if isinstance(event, m.StartGame):
            start = event
            players = announced_players(start.mjbot_rules)
        if residuals is None:
            number = game
            residuals = Residuals(models[players], number)
        residuals.add(event, state)
        keeper.add(event)
        if isinstance(event, m.EndGame) and event.scores is not None:
            scores = event.scores
    names = unique_names((("",) * players if start.names is None else start.names)[:players])
    if residuals is None or len(names) != players or not residuals.kyoku:
        return None
    length, rules = rule_set(start, keeper)
    sums = residuals.seated
    return CountedGame(
        digest="",
        number=number,
        names=names,
        scores=scores[:players],
        length=length,
        rules=rules,
        kyoku=len(residuals.kyoku),
        t=_rounded(sums.t),
        base=_rounded(sums.base),
        level=_rounded(sums.level),
        products=_rounded(residuals.products()),
    )


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are equal.

    >>> unique_names(["a", "b", "a", ""])
    ('a', 'b', 'a #2', 'seat 3')
    """
    seen: Counter[str] = Counter()
    apart = []
    for seat, name in enumerate(names):
        name = name or f"seat {seat}"
        seen[name] += 1
        apart.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return tuple(apart)


def _rounded(values: Floats) -> list[float]:
    rounded: list[float] = values.ravel().round(DIGITS).tolist()
    return rounded


def _packed(lines: Sequence[CountedGame]) -> GameCounts:
    if not lines:
        raise ArgumentError("no game could be counted: there are no players to compare")
    players = sorted({name for line in lines for name in line.names})
    place = {name: number for number, name in enumerate(players)}
    n = len(lines[0].names)
    return GameCounts(
        players=players,
        numbers=np.array([line.number for line in lines], np.int32),
        names=np.array([[place[name] for name in line.names] for line in lines], np.int32),
        scores=np.array([line.scores for line in lines], np.int32),
        kyoku=np.array([line.kyoku for line in lines], np.int16),
        t=_shaped([line.t for line in lines], n, n, N_SCORES),
        base=_shaped([line.base for line in lines], n, n, N_SCORES, CLASSES),
        level=_shaped([line.level for line in lines], n, N_SCORES, CLASSES, 2),
        products=_shaped(
            [line.products for line in lines], len(PAIRS[n]), SPREADS, N_SCORES, N_SCORES
        ),
    )


def _shaped(rows: Sequence[Sequence[float]], *shape: int) -> NDArray[np.float32]:
    return np.array(rows, np.float32).reshape(len(rows), *shape)


# --- pairs that met ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Met:
    """Pairs of players and the games in which they met.

    ``pairs`` int32[pairs, 2] are players, the lower number first; ``games`` has for each pair
    places in the games, ``seats`` int8[games, 2] where the two sat in each.
    """

    pairs: NDArray[np.int32]
    games: list[NDArray[np.intp]]
    seats: list[NDArray[np.int8]]


def who_met(games: GameCounts, least: int) -> Met:
    """Return the pairs that met in at least so many games, in the order of their players."""
    found = []
    for one in range(games.seats):
        for other in range(games.seats):
            if one != other:
                pair = games.names[:, [one, other]]
                places = np.flatnonzero(pair[:, 0] < pair[:, 1])
                seats = np.broadcast_to(np.array([one, other]), (len(places), 2))
                found.append(np.column_stack([pair[places], places, seats]))
    table = np.concatenate(found)
    table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
    pairs, starts, counts = np.unique(table[:, :2], axis=0, return_index=True, return_counts=True)
    chosen = np.flatnonzero(counts >= least)
    parts = [table[starts[k] : starts[k] + counts[k]] for k in chosen]
    return Met(
        pairs[chosen].astype(np.int32),
        [part[:, 2].astype(np.intp) for part in parts],
        [part[:, 3:].astype(np.int8) for part in parts],
    )
