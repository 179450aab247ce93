"""Many walls for one player, kept in a file line by line, so that finished walls are kept.

A player is selected by name; the file's header has a digest of all that its games depend on.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from mjbot.arena.code_digest import code_digest
from mjbot.learning.models.hand import FEATURE_SETS, FeatureSet, weights_name
from mjbot.learning.models.weights import WeightsError, load_manifest
from mjbot.runtime.append_log import AppendLog, Cures, LogError
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.processes import in_processes
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec, strategy_class
from papers.one_player.game import N_DRAWS, WALLS_PER_SEED, new_game
from papers.one_player.players import GreedyPlayer, RandomPlayer, SoloPlayer, play
from papers.one_player.search import SearchPlayer, UctPlayer
from papers.one_player.strategy_adapter import EvaluatorPlayer, StrategyAdapter

STRATEGY: Final = "strategy"
EVALUATOR: Final = "evaluator"
MOST_PLAYOUTS: Final = 100_000
FORMS: Final = "random, greedy, search, uct:PLAYOUTS, evaluator:FEATURES, strategy:NAME[,KEY=VALUE]"


class PlayerError(MjbotError, ValueError):
    """There is no such player; the text is one line."""


def make_player(name: str) -> SoloPlayer:
    """Return a player.  Raises :class:`PlayerError`.

    >>> type(make_player("greedy")).__name__
    'GreedyPlayer'
    """
    kind, _, rest = name.partition(":")
    try:
        match kind:
            case "random":
                return RandomPlayer()
            case "greedy":
                return GreedyPlayer()
            case "search":
                return SearchPlayer()
            case "uct":
                return UctPlayer(_playouts(rest))
            case "evaluator":
                return EvaluatorPlayer(_features(rest))
            case "strategy":
                return StrategyAdapter(Spec.read(rest))
            case _:
                raise PlayerError(f"player {name!r}: expected {FORMS}")
    except (StrategyError, WeightsError) as error:
        raise PlayerError(str(error)) from None


def digest_of(name: str) -> str:
    """Return a digest of the player's source, its weights and the rules.

    Raises :class:`PlayerError`.
    """
    digest = hashlib.sha256(source_digest(type(make_player(name)).__module__).encode())
    kind, _, rest = name.partition(":")
    if kind == STRATEGY:
        spec = Spec.read(rest)
        code = code_digest([spec]) if spec.is_outside else _source_of(spec)
        digest.update(code.encode())
    if kind == EVALUATOR:
        digest.update(load_manifest(weights_name(_features(rest))).digest.encode())
    return digest.hexdigest()[:12]


def _source_of(spec: Spec) -> str:
    return source_digest(strategy_class(spec.name).__module__)


def _features(text: str) -> FeatureSet:
    for features in FEATURE_SETS:
        if features == text:
            return features
    raise PlayerError(f"player evaluator:{text}: expected one of {', '.join(FEATURE_SETS)}")


def _playouts(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_PLAYOUTS:
        raise PlayerError(f"player uct:{text}: expected 1 to {MOST_PLAYOUTS} playouts")
    return int(text)


CHUNK: Final = 10
"""Walls in a line of the file."""

_CURES: Final = Cures("name another folder", "move the file away")


class RunError(MjbotError):
    """A file cannot be used or a player failed; the text is one line for the user."""


class WallsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a file."""

    player: str
    seed: int
    digest: str


class Line(msgspec.Struct, frozen=True, array_like=True):
    """Walls ``first`` and following: the draw that won each, 0 without a win."""

    first: int
    won: tuple[int, ...]


def winning_draws(
    name: str,
    seed: int,
    n_walls: int,
    folder: Path,
    jobs: int,
    on_walls: Callable[[int], None] = lambda _: None,
) -> NDArray[np.int8]:
    """Return the draw that won each of the walls 0.. of a seed, 0 without a win: int8[n_walls].

    Plays what ``folder`` does not hold yet, in ``jobs`` processes; ``on_walls`` receives the number
    of finished walls, first those kept.  Raises :class:`RunError` and
    :class:`~papers.one_player.runs.PlayerError`.
    """
    header = WallsHeader(player=name, seed=seed, digest=digest_of(name))
    path = folder / f"{name.replace(':', '-').replace('=', '-')}-{seed}-{header.digest}.jsonl"
    draws = np.full(-(-n_walls // CHUNK) * CHUNK, -1, np.int8)
    try:
        with AppendLog(path, header, _CURES, decode=_decode) as log:
            for line in log.lines:
                if line.first < len(draws):
                    draws[line.first : line.first + CHUNK] = line.won
            missing = [first for first in range(0, len(draws), CHUNK) if draws[first] < 0]
            on_walls(len(draws) - CHUNK * len(missing))
            for line in _play_all(name, seed, missing, jobs):
                log.append(line)
                draws[line.first : line.first + CHUNK] = line.won
                on_walls(int(np.count_nonzero(draws >= 0)))
    except LogError as error:
        raise RunError(str(error)) from None
    return draws[:n_walls]


def _decode(text: bytes) -> Line:
    return _checked(msgspec.json.decode(text, type=Line))


def _checked(line: Line) -> Line:
    if line.first < 0 or line.first % CHUNK or len(line.won) != CHUNK:
        raise ValueError(f"walls from {line.first}")
    if not all(0 <= won <= N_DRAWS for won in line.won):
        raise ValueError(f"a win at draw {max(line.won)}")
    return line


def _play_all(name: str, seed: int, firsts: Sequence[int], jobs: int) -> Iterator[Line]:
    if jobs == 1 or len(firsts) < 2:
        player = make_player(name) if firsts else None
        for first in firsts:
            assert player is not None
            yield _play_chunk(player, seed, first)
        return
    yield _play_chunk(make_player(name), seed, firsts[0])  # what it compiles, the others find
    yield from in_processes(partial(_play_in_worker, name, seed), firsts[1:], jobs)


def _play_chunk(player: SoloPlayer, seed: int, first: int) -> Line:
    """Play some walls.  The player's dice are those of the wall."""
    won = []
    for number in range(first, first + CHUNK):
        try:
            won.append(play(player, new_game(seed, number), seed * WALLS_PER_SEED + number))
        except ValueError as error:
            raise RunError(f"wall {number}: {error}") from error
    return Line(first, tuple(won))


def _play_in_worker(name: str, seed: int, first: int) -> Line:
    return _play_chunk(_player_of_this_process(name), seed, first)


_player_of_this_process: Final = cache(make_player)
