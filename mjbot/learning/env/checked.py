"""Arguments of the environments, read and checked.

What is written to in compiled code is checked for type, shape and room: nothing there would stop a
write beyond an array's end.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.learning.env import tables
from mjbot.learning.env.actions import N_ACTIONS
from mjbot.learning.env.tables import RANDOM, TSUMOGIRI
from mjbot.runtime.checked_arguments import (
    INT64,
    SEEDS,
    shown,
    type_error,
    whole_number,
    whole_numbers,
)
from mjbot.runtime.errors import ArgumentError

MOST_TABLES: Final = 2**20
"""At 2 kB each more than any memory that is at hand."""
Ints = NDArray[np.int64]


def seats_of(players: object, n_tables: int, n_seats: int) -> NDArray[np.int8]:
    """Return the player of each seat: int8[n_tables, 4]."""
    given = whole_numbers("players", players)
    if given.shape not in ((n_seats,), (n_tables, n_seats)):
        shapes = f"({n_seats},) or ({n_tables}, {n_seats})"
        raise ArgumentError(f"players must have the shape {shapes}, not {given.shape}")
    if given.min() < RANDOM or given.max() > 127:
        raise ArgumentError(
            "players: 0..127 are asked, -1 discards what it drew, -2 plays at random"
        )
    seated = np.full((n_tables, 4), TSUMOGIRI, np.int8)
    seated[:, :n_seats] = given
    return seated


def first_seeds(seed: object, n_tables: int) -> Ints:
    """Return the seed of each table's first game."""
    if not isinstance(seed, np.ndarray) or not seed.shape:
        first = whole_number("seed", seed, range(SEEDS.stop - n_tables + 1))
        return np.arange(n_tables) + first
    seeds = whole_numbers("seed", seed)
    if seeds.shape != (n_tables,):
        raise ArgumentError(f"seed must be an integer or {n_tables} of them, one for each table")
    if seeds.min() < 0 or seeds.max() >= SEEDS.stop:
        raise ArgumentError(f"seed must be 0 to {SEEDS.stop - 1} for each table")
    return seeds.astype(np.int64)


def chosen_actions(actions: object, n_rows: int) -> Ints:
    """Return the action of each row."""
    try:
        given = whole_numbers("actions", actions)
    except TypeError:
        problem = f"actions must be whole numbers, one for each row, not {_described(actions)}"
        raise ArgumentError(problem) from None
    if given.shape != (n_rows,):
        raise ArgumentError(f"actions of shape {given.shape}, there are {n_rows} rows")
    if given.size and int(given.max()) not in INT64:
        raise ArgumentError(f"actions: {given.max()} is no action")
    return np.ascontiguousarray(given, np.int64)


def _described(value: object) -> str:
    try:
        return f"{np.asarray(value).dtype}: {shown(value)}"
    except (ValueError, TypeError, OverflowError):
        return shown(value)


def row_numbers(rows: object, n_rows: int) -> Ints:
    """Return the numbers of some rows, of all by default."""
    if rows is None:
        return np.arange(n_rows)
    given = whole_numbers("rows", rows)
    if given.ndim != 1:
        raise ArgumentError(f"rows must be numbers of rows, int64[k], not of shape {given.shape}")
    if given.size and (given.min() < 0 or given.max() >= n_rows):
        raise ArgumentError(f"rows must be 0 to {n_rows - 1}: there are {n_rows} rows")
    return np.ascontiguousarray(given, np.int64)


def to_fill(name: str, array: Any, dtype: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array that compiled code can fill: with at least so many rows, and in order."""
    kind = np.dtype(dtype)
    if not isinstance(array, np.ndarray) or array.dtype != kind:
        raise type_error(name, f"an array of {kind}", array)
    if array.ndim != len(shape) or array.shape[1:] != shape[1:] or len(array) < shape[0]:
        raise ArgumentError(f"{name} must have the shape {shape} or more rows, not {array.shape}")
    if not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
        raise ArgumentError(f"{name} must be a contiguous array that can be written to")
    return array


def random_actions(masks: NDArray[np.bool_], random: NDArray[np.uint64], actions: Ints) -> None:
    """Fill int64[rows] with a legal action of each row, all equally likely.

    ``random`` uint64[1] is the state of the random numbers (``random_source``) and is updated.
    """
    if not isinstance(masks, np.ndarray) or masks.dtype != np.bool_:
        raise type_error("masks", "an array of bool", masks)
    if masks.ndim != 2 or masks.shape[1] != N_ACTIONS:
        raise ArgumentError(f"masks must have the shape (rows, {N_ACTIONS}), not {masks.shape}")
    if not masks.any(axis=1).all():
        raise ArgumentError("masks: a row has no legal action")
    to_fill("random", random, np.uint64, (1,))
    to_fill("actions", actions, np.int64, (len(masks),))
    tables.random_actions(np.ascontiguousarray(masks), random, actions)


def names_of(names: object) -> tuple[str, ...]:
    """Return the names of four players."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise type_error("names", "a sequence of texts", names)
    if len(names) != 4 or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"names must be four texts, not {shown(names)}")
    return tuple(names)
