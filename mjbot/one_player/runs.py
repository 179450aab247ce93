"""Many walls for one player, kept in a file line by line, so that what is done stays done."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from mjbot.append_log import AppendLog, Cures, LogError
from mjbot.match.processes import die_with_parent
from mjbot.one_player.game import N_DRAWS, WALLS_PER_SEED, new_game
from mjbot.one_player.names import digest_of, make_player
from mjbot.one_player.players import Player, play

CHUNK: Final = 10
"""Walls in a line of the file."""

_CURES: Final = Cures("name another folder", "move the file away")


class RunError(Exception):
    """A file cannot be used or a player failed; the text is one line for the user."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
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

    Plays what ``folder`` does not hold yet, in ``jobs`` processes; ``on_walls`` hears how many
    walls are known, first those kept.  Raises :class:`RunError` and
    :class:`~mjbot.one_player.names.PlayerError`.
    """
    header = Header(player=name, seed=seed, digest=digest_of(name))
    path = folder / f"{name.replace(':', '-').replace('=', '-')}-{seed}-{header.digest}.jsonl"
    found = np.full(-(-n_walls // CHUNK) * CHUNK, -1, np.int8)
    try:
        with AppendLog(path, header, _CURES, decode=_decode) as log:
            for line in log.lines:
                if line.first < len(found):
                    found[line.first : line.first + CHUNK] = line.won
            missing = [first for first in range(0, len(found), CHUNK) if found[first] < 0]
            on_walls(len(found) - CHUNK * len(missing))
            for line in _play_all(name, seed, missing, jobs):
                log.append(line)
                found[line.first : line.first + CHUNK] = line.won
                on_walls(int(np.count_nonzero(found >= 0)))
    except LogError as error:
        raise RunError(str(error)) from None
    return found[:n_walls]


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
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, _start_worker, (name, seed)) as pool:
        yield from pool.imap_unordered(_play_in_worker, firsts[1:])


def _play_chunk(player: Player, seed: int, first: int) -> Line:
    """Play some walls.  The player's dice are those of the wall."""
    won = []
    for number in range(first, first + CHUNK):
        try:
            won.append(play(player, new_game(seed, number), seed * WALLS_PER_SEED + number))
        except ValueError as error:
            raise RunError(f"wall {number}: {error}") from error
    return Line(first, tuple(won))


_worker: list[tuple[Player, int]] = []


def _start_worker(name: str, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    die_with_parent()
    _worker.append((make_player(name), seed))


def _play_in_worker(first: int) -> Line:
    player, seed = _worker[0]
    return _play_chunk(player, seed, first)
